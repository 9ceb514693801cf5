"""Sign-up: the form, and the page of the mailed link.

The response doesn't reveal whether an address is registered; its owner gets a mail.
"""

from __future__ import annotations

from functools import partial

from starlette.responses import Response

from keyplan.errors import Refused
from keyplan_systems.blog import accounts
from keyplan_systems.blog.site.pages.signing import identity_of, open_visit, sign_up_page
from keyplan_systems.blog.site.site import Turn
from keyplan_systems.site.incoming import Form
from keyplan_systems.site.problems import Problem, used_link

_WAYS = (("Sign in", "/sign-in"), ("Join", "/sign-up"))


def sign_up_form(turn: Turn) -> Response:
    if turn.visitor.user is not None:
        return turn.go("/desk")
    return sign_up_page(turn, Form())


def sign_up(turn: Turn) -> Response:
    """Send the sign-up link to a new address; to a registered one, a reminder."""
    form = turn.form
    identity = identity_of(turn, form["identity"]) if form["identity"] else None
    if form["identity"] and identity is None:
        raise Problem(400, "The sign-in has expired", "Sign in again.", (("Sign in", "/sign-in"),))
    email = form.text("email", "Email", accounts.EMAIL_MAX)
    username = form.text("username", "Username", accounts.USERNAME_MAX)
    name = form.text("name", "Name", accounts.NAME_MAX)
    if form:
        try:
            accounts.check_joining(turn.blog, email, username, name)
        except Refused as error:
            form.take(error)
    if not form:
        return sign_up_page(turn, form, 422)
    turn.limit("sign-up", turn.address)
    said = {"email": email.strip().lower(), "username": username, "name": name, "writes": form["writes"]}
    if identity is not None:
        said |= {"provider": identity[0], "external_id": identity[1].external_id}
    turn.after.append(partial(turn.site.mailing.joining, said, turn.site.origin(turn.request)))
    return turn.page("joined.html", email=email, logged=turn.site.mailing.joins.logged)


def finish_form(turn: Turn) -> Response:
    """The page of the link. It changes nothing, because mail programs also open links."""
    token = turn.query.get("token", "")
    said = _said(turn, token)
    return _page(turn, said, Form({"token": token, "username": said["username"]}), 200)


def finish(turn: Turn) -> Response:
    """Create the account. After that, the link is invalid, because the address is registered."""
    form = turn.form
    said = _said(turn, form["token"])
    username = form.text("username", "Username", accounts.USERNAME_MAX)
    password = None
    if "provider" not in said:
        password = form.password("password", "Password", shortest=accounts.PASSWORD_MIN)
    turn.limit("sign-in from an address", turn.address)
    if not form:
        return _page(turn, said, form, 422)
    authors = turn.site.settings.file.authors
    writes = bool(said["writes"]) and authors == "open"
    try:
        with turn.site.hashing:
            user = accounts.register(
                turn.blog,
                email=said["email"],
                username=username,
                name=said["name"],
                password=password,
                role="author" if writes else "reader",
                provider=said.get("provider"),
                external_id=said.get("external_id"),
            )
    except Refused as error:
        if {fault.place for fault in error.errors} & {"email", "provider"}:
            raise used_link(*_WAYS) from None
        form.take(error)
        return _page(turn, said, form, 422)
    if writes:
        return open_visit(turn, user, "/desk", "welcome")
    if said["writes"] and authors == "reviewed":
        accounts.request_authorship(turn.blog, user)
        return open_visit(turn, user, "/", "author-requested")
    return open_visit(turn, user, "/", "joined")


def _page(turn: Turn, said: dict[str, str], form: Form, status: int) -> Response:
    return turn.page("finish.html", status, form=form, said=said)


def _said(turn: Turn, token: str) -> dict[str, str]:
    said = turn.site.mailing.joins.said(token)
    if said is None or turn.blog.user_by_email(said["email"]) is not None:
        raise used_link(*_WAYS)
    return said
