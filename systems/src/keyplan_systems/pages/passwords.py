"""Changing a password, and resetting a forgotten one by a mailed link.

The response doesn't reveal whether an address is registered. A link's token contains the user, the expiry and a digest
of the current password, so it works once.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from starlette.responses import Response

from keyplan.errors import ConditionFailed
from keyplan_systems.pages.people import PASSWORD_MIN, Person
from keyplan_systems.pages.site import Turn
from keyplan_systems.site.incoming import Form
from keyplan_systems.site.passwords import hash_password, password_fits
from keyplan_systems.site.problems import used_link

LINK_SECONDS = 3600


def change_form(turn: Turn[Any]) -> Response:
    return turn.page("password.html", password_min=PASSWORD_MIN)


def change(turn: Turn[Any]) -> Response:
    form, person = turn.form, turn.person
    old = form.password("old", "Current password")
    new = form.password("new", "New password", shortest=PASSWORD_MIN)
    turn.limit("sign-in", f"{turn.address} {person.user_id}")
    if form:
        with turn.site.hashing:
            if password_fits(person.password_hash, old):
                turn.people.set_password(person.user_id, person.password_hash, hash_password(new))
                fresh = turn.people.person(person.user_id)
                if fresh is not None:
                    turn.sign_in(fresh)
                return turn.go("/password", "password")
        form.fault("old", "the password is wrong")
    return turn.page("password.html", 422, password_min=PASSWORD_MIN)


def forgotten_form(turn: Turn[Any]) -> Response:
    return turn.page("forgotten.html", field="login", label=turn.site.look.login)


def forgotten(turn: Turn[Any]) -> Response:
    """Send a link if the address is registered; the response is the same otherwise."""
    login = turn.form.text("login", turn.site.look.login, 254)
    if not turn.form:
        return turn.page("forgotten.html", 422, field="login", label=turn.site.look.login)
    turn.limit("mail", f"from {turn.address}", f"to {login.lower()}")
    turn.after.append(partial(_write, turn, login, turn.site.origin(turn.request)))
    return turn.go("/sign-in", "sent")


def _write(turn: Turn[Any], login: str, origin: str) -> None:
    person = turn.people.known(login)
    if person is None:
        return
    facts = {"user": person.user_id, "mark": person.session_mark}
    token = turn.site.signer.pack("reset", facts, time.time() + LINK_SECONDS)
    title = turn.site.look.title
    turn.site.joining.mail.send(
        person.login,
        f"Reset your password for {title}",
        f"Hello {person.name},\n\n"
        f"Use this link within an hour to set a new password for {title}:\n\n"
        f"{origin}/password/reset?token={token}\n\n"
        "If you didn't request this, ignore this email: your password stays unchanged.\n",
    )


def reset_form(turn: Turn[Any]) -> Response:
    token = turn.query.get("token", "")
    known = {"token": token, "username": _whose(turn, token).login}
    return turn.page("reset.html", form=Form(known), field="password", password_min=PASSWORD_MIN)


def reset(turn: Turn[Any]) -> Response:
    """Set a new password. After that, the link is invalid, and all sessions end."""
    form = turn.form
    turn.limit("sign-in from an address", turn.address)
    person = _whose(turn, form["token"])
    password = form.password("password", "Password", shortest=PASSWORD_MIN)
    if not form:
        return turn.page("reset.html", 422, field="password", password_min=PASSWORD_MIN)
    with turn.site.hashing:
        try:
            turn.people.set_password(person.user_id, person.password_hash, hash_password(password))
        except ConditionFailed:  # another request has used the link
            raise used_link(("Request a new link", "/password/forgotten")) from None
    turn.site.visitors.sign_out(turn.visitor)
    return turn.go("/sign-in", "reset")


def _whose(turn: Turn[Any], token: str) -> Person:
    """The user whose password a link can set. Raises Problem for an invalid, expired or used token."""
    facts = turn.site.signer.unpack("reset", token, time.time())
    person: Person | None = None if facts is None else turn.people.person(facts["user"])
    if facts is None or person is None or person.session_mark != facts["mark"]:
        raise used_link(("Request a new link", "/password/forgotten"))
    return person


PAGES = (("/password", change_form, "person"),)
FORMS = (("/password", change, "person"),)
FORGOTTEN_PAGES = (("/password/forgotten", forgotten_form, "anyone"), ("/password/reset", reset_form, "anyone"))
FORGOTTEN_FORMS = (("/password/forgotten", forgotten, "anyone"), ("/password/reset", reset, "anyone"))
