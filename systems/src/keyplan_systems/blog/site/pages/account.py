"""The account page: profile, password, email address, sessions, API tokens, linked providers."""

from __future__ import annotations

import json
from functools import partial

from starlette.responses import Response

from keyplan.errors import Refused
from keyplan_systems.blog import accounts, removing
from keyplan_systems.blog.entities import Credential, User
from keyplan_systems.blog.site.pages.signing import open_visit
from keyplan_systems.blog.site.site import Turn
from keyplan_systems.site.incoming import Form
from keyplan_systems.site.passwords import password_fits
from keyplan_systems.site.problems import Problem, not_found

BIO_CHARACTERS_MAX = 500


def show(turn: Turn) -> Response:
    return _page(turn)


def _page(turn: Turn, form: Form | None = None, status: int = 200, token: str | None = None) -> Response:
    user = turn.user
    credential = turn.blog.get(Credential, user_id=user.user_id, consistent=True)
    if credential is None:
        raise not_found()
    return turn.page(
        "account.html",
        status,
        form=Form({"name": user.name, "bio": user.bio}) if form is None else form,
        email=credential.email,
        has_password=credential.password_hash is not None,
        linked={named.partition(":")[0] for named in credential.providers},
        providers=turn.site.settings.providers,
        sessions=turn.site.visitors.sessions.listed(user),
        token=token,
    )


def profile(turn: Turn) -> Response:
    form = turn.form
    name = form.text("name", "Name", accounts.NAME_MAX)
    bio = form.text("bio", "About you", BIO_CHARACTERS_MAX, required=False, lines=True)
    if form:
        turn.blog.edit_profile(turn.user.user_id, name, bio)
        return turn.go("/account", "account")
    return _page(turn, form, 422)


def change_password(turn: Turn) -> Response:
    """Change the password, or set the first one; all other sessions end."""
    form = _with_profile(turn)
    credential = turn.blog.get(Credential, user_id=turn.user.user_id, consistent=True)
    has_one = credential is not None and credential.password_hash is not None
    old = form.password("old", "Current password") if has_one else ""
    new = form.password("new", "New password", shortest=accounts.PASSWORD_MIN)
    if form:
        turn.limit("sign-in", f"{turn.address} {turn.user.user_id}")
        try:
            with turn.site.hashing:
                accounts.change_password(turn.blog, turn.user.user_id, old, new)
        except Refused as error:
            form.take(error, ("old", "new"))
        else:
            user = turn.blog.get(User, user_id=turn.user.user_id, consistent=True)
            if user is None:
                raise not_found()
            return open_visit(turn, user, "/account", "password")
    return _page(turn, form, 422)


def change_email(turn: Turn) -> Response:
    """Request another email address. It changes when the link in the mail is used."""
    form = _with_profile(turn)
    email = form.text("email", "New address", accounts.EMAIL_MAX)
    password = form.password("password", "Password")
    if form:
        turn.limit("sign-in", f"{turn.address} {turn.user.user_id}")
        try:
            with turn.site.hashing:
                accounts.check_email_change(turn.blog, turn.user.user_id, password, email)
        except Refused as error:
            form.take(error, ("email", "password"))
        else:
            turn.limit("mail", f"from {turn.address}", f"of {turn.user.user_id}")
            origin = turn.site.origin(turn.request)
            turn.after.append(partial(turn.site.mailing.address_asked, turn.user, email.strip().lower(), origin))
            return turn.go("/account", "email")
    return _page(turn, form, 422)


def _with_profile(turn: Turn) -> Form:
    """The submitted form, with the page's other fields unchanged."""
    turn.form.typed = {"name": turn.user.name, "bio": turn.user.bio, **turn.form.typed}
    return turn.form


def unlink(turn: Turn) -> Response:
    name = turn.form["provider"]
    credential = turn.blog.get(Credential, user_id=turn.user.user_id, consistent=True)
    form = _with_profile(turn)
    for named in sorted(credential.providers) if credential is not None else ():
        provider, _, external_id = named.partition(":")
        if provider == name:
            try:
                accounts.unlink(turn.blog, turn.user.user_id, provider, external_id)
            except Refused as error:
                form.take(error)
                return _page(turn, form, 409)
    return turn.go("/account", "unlinked")


def become_author(turn: Turn) -> Response:
    """Make a reader an author, or send the request to the moderators, depending on the site's settings."""
    authors = turn.site.settings.file.authors
    if turn.user.role != "reader":
        return turn.go("/desk", "welcome")
    if authors == "open":
        turn.blog.set_role(turn.user.user_id, "author")
        return turn.go("/desk", "welcome")
    if authors == "invited":
        raise not_found()
    turn.limit("contact", turn.address)
    accounts.request_authorship(turn.blog, turn.user)
    return turn.go("/account", "author-requested")


def end_session(turn: Turn) -> Response:
    turn.site.visitors.sessions.end(turn.user.user_id, turn.form["session"][:100] or "-")
    return turn.go("/account", "ended")


def make_token(turn: Turn) -> Response:
    """Create an API token. It is shown once."""
    form = _with_profile(turn)
    label = form.text("label", "Description", 60)
    if not form:
        return _page(turn, form, 422)
    turn.limit("write", turn.user.user_id)
    sessions, seconds = turn.site.visitors.sessions, turn.site.settings.token_seconds
    token = sessions.open(turn.user, seconds=seconds, kind="token", label=label)
    form.typed.pop("label")
    return _page(turn, form, token=token)


# Data export and deletion


def export(turn: Turn) -> Response:
    turn.limit("export", turn.user.user_id)
    content = json.dumps(removing.export_of(turn.blog, turn.user.user_id), ensure_ascii=False, indent=2)
    headers = {"content-disposition": f'attachment; filename="{turn.user.username}.json"'}
    return Response(content.encode("utf-8", "replace"), media_type="application/json", headers=headers)


def delete_form(turn: Turn) -> Response:
    return _delete_page(turn, Form())


def _delete_page(turn: Turn, form: Form, status: int = 200) -> Response:
    credential = turn.blog.get(Credential, user_id=turn.user.user_id, consistent=True)
    has_password = credential is not None and credential.password_hash is not None
    return turn.page("delete_account.html", status, form=form, has_password=has_password)


def delete(turn: Turn) -> Response:
    """Delete the account, after its username and password were typed. A moderator's can't be deleted."""
    form, user = turn.form, turn.user
    if user.role == "moderator":
        raise Problem(409, "Moderators can't delete their account", "Ask another moderator to change your role first.")
    turn.limit("sign-in", f"{turn.address} {user.user_id}")
    credential = turn.blog.get(Credential, user_id=user.user_id, consistent=True)
    hashed = None if credential is None else credential.password_hash
    form.labels |= {"username": "Username", "password": "Password"}
    if form["username"].strip().lower() != user.username:
        form.fault("username", "type your username to confirm")
    if hashed is not None:
        with turn.site.hashing:
            if not password_fits(hashed, form["password"][: accounts.PASSWORD_MAX + 1]):
                form.fault("password", "the password is wrong")
    if not form:
        form.typed.pop("password", None)
        return _delete_page(turn, form, 422)
    stays = removing.delete_account(turn.blog, user.user_id, turn.site.files, turn.site.search)
    turn.blog.refresh_front_page(force=True)
    turn.site.visitors.sign_out(turn.visitor)
    return turn.page("gone.html", stays=stays)
