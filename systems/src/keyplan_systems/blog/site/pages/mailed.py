"""Password reset and change of address: the pages of mailed links."""

from __future__ import annotations

from functools import partial

from starlette.responses import Response

from keyplan.errors import Refused
from keyplan_systems.blog.accounts import EMAIL_MAX, PASSWORD_MIN
from keyplan_systems.blog.site.site import Turn
from keyplan_systems.site.incoming import Form
from keyplan_systems.site.problems import used_link

ADDRESS = {"field": "email", "label": "Email"}
NEW = {"field": "new", "password_min": PASSWORD_MIN}
"""Names of the shared template's fields."""


def forgotten_form(turn: Turn) -> Response:
    return turn.page("forgotten.html", **ADDRESS)


def forgotten(turn: Turn) -> Response:
    """Send a link if the address is registered; the response is the same otherwise."""
    email = turn.form.text("email", "Email", EMAIL_MAX).lower()
    if turn.form and "@" not in email:
        turn.form.fault("email", "invalid email address")
    if not turn.form:
        return turn.page("forgotten.html", 422, **ADDRESS)
    turn.limit("mail", f"from {turn.address}", f"to {email}")
    turn.after.append(partial(turn.site.mailing.password_forgotten, email, turn.site.origin(turn.request)))
    return turn.go("/sign-in", "sent")


def reset_form(turn: Turn) -> Response:
    token = turn.query.get("token", "")
    known = turn.site.mailing.may_reset(token)
    if known is None:
        raise used_link(("Request a new link", "/password/forgotten"))
    return turn.page("reset.html", form=Form({"token": token, "username": known.user.username}), **NEW)


def reset(turn: Turn) -> Response:
    """Set a new password. After that, the link is invalid, and all sessions end."""
    form, token = turn.form, turn.form["token"]
    new = form.password("new", "New password", shortest=PASSWORD_MIN)
    turn.limit("sign-in from an address", turn.address)
    if form:
        try:
            with turn.site.hashing:
                done = turn.site.mailing.reset(token, new)
        except Refused as error:
            form.take(error, ("new",))
        else:
            if not done:
                raise used_link(("Request a new link", "/password/forgotten"))
            turn.site.visitors.sign_out(turn.visitor)
            return turn.go("/sign-in", "reset")
    return turn.page("reset.html", 422, **NEW)


def confirm_form(turn: Turn) -> Response:
    """The page of the link. It changes nothing, because mail programs also open links."""
    return turn.page(
        "verify.html", token=turn.query.get("token", "")[:400], address=turn.query.get("address", "")[:254]
    )


def confirm(turn: Turn) -> Response:
    turn.limit("sign-in from an address", turn.address)
    if not turn.site.mailing.confirm(turn.form["token"], turn.form["address"]):
        raise used_link(("Request a new link", "/account"))
    return turn.go("/account" if turn.visitor.user is not None else "/sign-in", "verified")
