"""Sign-in and sign-out, with a password or an identity provider.

A sign-in opens a new session and ends the browser's previous one, which prevents session fixation. A provider's
response is accepted only in the browser that started the sign-in: the state is signed and stored in a cookie.
"""

from __future__ import annotations

import logging

from starlette.responses import RedirectResponse, Response

from keyplan.errors import Refused
from keyplan_systems.blog import accounts
from keyplan_systems.blog.entities import User
from keyplan_systems.blog.site.providers import Identity, OfflineProvider, Provider, ProviderError
from keyplan_systems.blog.site.site import Turn
from keyplan_systems.site.incoming import Form, local_path
from keyplan_systems.site.problems import Problem, not_found
from keyplan_systems.site.signing import random_token

_LOG = logging.getLogger("keyplan_systems.blog")
STATE = "blog_state"
STATE_SECONDS = 600


def sign_in_form(turn: Turn) -> Response:
    if turn.visitor.user is not None:
        return turn.go(local_path(turn.query.get("next", "/")))
    return _sign_in_page(turn, Form({"next": local_path(turn.query.get("next", "/"))}))


def _sign_in_page(turn: Turn, form: Form, status: int = 200) -> Response:
    return turn.page("sign_in.html", status, form=form, providers=turn.site.settings.providers)


def sign_in(turn: Turn) -> Response:
    form = turn.form
    login = form.text("login", "Email or username", accounts.EMAIL_MAX)
    password = form.password("password", "Password")
    if not form:
        return _sign_in_page(turn, form, 422)
    known = f"login {login.lower()}"
    turn.limit("sign-in from an address", turn.address)
    turn.limit("sign-in", f"{turn.address} {known}")
    turn.limit("sign-in to an account", known)  # limits guesses of a password, also from many addresses
    try:
        with turn.site.hashing:
            user = accounts.sign_in(turn.blog, login, password)
    except Refused as error:
        form.take(error)
        return _sign_in_page(turn, form, 422)
    return open_visit(turn, user, form["next"])


def open_visit(turn: Turn, user: User, target: str, done: str | None = None) -> Response:
    """Open a new session in the visitor's browser, and redirect."""
    turn.site.visitors.sign_in(turn.visitor, user, turn.request.headers.get("user-agent", ""))
    return turn.go(local_path(target or "/"), done)


def sign_out(turn: Turn) -> Response:
    turn.site.visitors.sign_out(turn.visitor)
    return turn.go("/")


def sign_up_page(turn: Turn, form: Form, status: int = 200) -> Response:
    """The sign-up page, with known fields filled in."""
    identity = identity_of(turn, form["identity"]) if form["identity"] else None
    providers = () if identity is not None else turn.site.settings.providers
    return turn.page("sign_up.html", status, form=form, identity=identity, providers=providers)


# Identity providers


def _provider(turn: Turn) -> Provider:
    provider = turn.site.settings.provider(turn.path("provider"))
    if provider is None:
        raise not_found()
    return provider


def _callback(turn: Turn, provider: Provider) -> str:
    return f"{turn.site.origin(turn.request)}/sign-in/with/{provider.name}/callback"


def go_to_provider(turn: Turn) -> Response:
    provider = _provider(turn)
    nonce = random_token()
    state = {"nonce": nonce, "next": local_path(turn.query.get("next", "/")), "provider": provider.name}
    try:
        response = RedirectResponse(provider.authorize_url(nonce, _callback(turn, provider)), status_code=303)
    except ProviderError as error:
        raise _unavailable(provider, error) from None
    settings = turn.site.settings
    response.set_cookie(
        STATE,
        turn.site.signer.pack("state", state, settings.clock() + STATE_SECONDS),
        max_age=STATE_SECONDS,
        path="/sign-in/with/",
        secure=settings.secure,
        httponly=True,
        samesite="lax",
    )
    return response


def choose(turn: Turn) -> Response:
    provider = _provider(turn)
    if not isinstance(provider, OfflineProvider):
        raise not_found()
    return turn.page("choose.html", provider=provider, state=turn.query.get("state", ""), form=Form())


def callback(turn: Turn) -> Response:
    provider = _provider(turn)
    state = turn.site.signer.unpack("state", turn.request.cookies.get(STATE, ""), turn.site.settings.clock())
    if state is None or state["provider"] != provider.name or state["nonce"] != turn.query.get("state"):
        raise Problem(400, "The sign-in has expired", "The sign-in began in another browser, or too long ago.", _AGAIN)
    try:
        identity = provider.identity(turn.query, _callback(turn, provider))
    except ProviderError as error:
        raise _unavailable(provider, error) from None
    if identity is None:
        raise Problem(400, "Sign-in failed", f"{provider.title.capitalize()} didn't confirm your identity.", _AGAIN)
    response = _known(turn, provider, identity, state["next"])
    response.delete_cookie(STATE, path="/sign-in/with/")
    return response


def _unavailable(provider: Provider, error: ProviderError) -> Problem:
    _LOG.warning("the identity provider %s failed: %s", provider.name, error)
    return Problem(503, "Sign-in isn't available", f"The request to {provider.title} failed. Try again later.", _AGAIN)


_AGAIN = (("Start again", "/sign-in"), ("Front page", "/"))


def _known(turn: Turn, provider: Provider, identity: Identity, target: str) -> Response:
    user = turn.blog.user_by_provider(provider.name, identity.external_id)
    if turn.visitor.user is not None:
        if user is None:
            turn.blog.link_provider(turn.user.user_id, provider.name, identity.external_id)
        elif user.user_id != turn.user.user_id:
            raise Problem(409, "Identity taken", "Another account has this identity.", (("Account", "/account"),))
        return turn.go("/account", "linked")
    if user is not None:
        if user.status != "active":
            raise Problem(403, "This account is inactive", "Contact the moderators if this is a mistake.")
        return open_visit(turn, user, target)
    facts = {"provider": provider.name, "id": identity.external_id, "email": identity.email, "name": identity.name}
    signed = turn.site.signer.pack("identity", facts, turn.site.settings.clock() + STATE_SECONDS)
    form = Form({"identity": signed, "email": identity.email or "", "name": identity.name})
    return sign_up_page(turn, form)


def identity_of(turn: Turn, signed: str) -> tuple[str, Identity] | None:
    """The signed identity in a form; None if it is forged or has expired."""
    facts = turn.site.signer.unpack("identity", signed, turn.site.settings.clock())
    return None if facts is None else (facts["provider"], Identity(facts["id"], facts["email"], facts["name"]))
