"""Sign-up: immediately if the login is a public handle, by a mailed link if it is an email address.

The response doesn't reveal whether an address is registered; its owner gets a mail.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from starlette.responses import Response

from keyplan.errors import Refused
from keyplan_systems.pages.people import PASSWORD_MIN
from keyplan_systems.pages.site import Turn
from keyplan_systems.site.incoming import Form
from keyplan_systems.site.joining import FINISH
from keyplan_systems.site.passwords import hash_password
from keyplan_systems.site.problems import used_link

_WAYS = (("Sign in", "/sign-in"), ("Join", "/sign-up"))


def sign_up_form(turn: Turn[Any]) -> Response:
    return turn.go("/") if turn.visitor.person is not None else _sign_up_page(turn, 200)


def _sign_up_page(turn: Turn[Any], status: int) -> Response:
    return turn.page("sign_up.html", status, password_min=PASSWORD_MIN)


def sign_up(turn: Turn[Any]) -> Response:
    form, people = turn.form, turn.people
    login = form.text("login", turn.site.look.login, 254)
    name = form.text("name", "Name", 80)
    password = "" if people.by_mail else form.password("password", "Password", shortest=PASSWORD_MIN)
    if form:
        turn.limit("sign-up", turn.address)
        try:
            if not people.by_mail:
                return _join(turn, login, name, password)
            people.check(login)
        except Refused as error:
            form.take(error)
        else:
            turn.after.append(partial(_write, turn, login, name, turn.site.origin(turn.request)))
            return turn.page("joined.html", email=login, logged=turn.site.joining.logged)
    return _sign_up_page(turn, 422)


def _join(turn: Turn[Any], login: str, name: str, password: str) -> Response:
    with turn.site.hashing:
        person = turn.people.join(login, name, hash_password(password))
    turn.sign_in(person)
    return turn.go("/", "welcome")


def _write(turn: Turn[Any], login: str, name: str, origin: str) -> None:
    known = turn.people.known(login)
    if known is None:
        turn.site.joining.invite(login, name, {"login": login, "name": name}, origin)
    else:
        turn.site.joining.remind(login, known.name, origin)


def finish_form(turn: Turn[Any]) -> Response:
    token = turn.query.get("token", "")
    return _finish_page(turn, _said(turn, token), Form({"token": token}), 200)


def _finish_page(turn: Turn[Any], said: dict[str, str], form: Form, status: int) -> Response:
    return turn.page("finish.html", status, form=form, said=said, password_min=PASSWORD_MIN)


def finish(turn: Turn[Any]) -> Response:
    """Create the account. After that, the link is invalid, because the address is registered."""
    form = turn.form
    said = _said(turn, form["token"])
    password = form.password("password", "Password", shortest=PASSWORD_MIN)
    turn.limit("sign-in from an address", turn.address)
    if not form:
        return _finish_page(turn, said, form, 422)
    try:
        return _join(turn, said["login"], said["name"], password)
    except Refused:  # another request has used the link
        raise used_link(*_WAYS) from None


def _said(turn: Turn[Any], token: str) -> dict[str, str]:
    said = turn.site.joining.said(token)
    if said is None or turn.people.known(said["login"]) is not None:
        raise used_link(*_WAYS)
    return said


PAGES = (("/sign-up", sign_up_form, "anyone"), (FINISH, finish_form, "anyone"))
FORMS = (("/sign-up", sign_up, "anyone"), (FINISH, finish, "anyone"))
