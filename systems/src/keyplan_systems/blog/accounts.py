"""Accounts: registration, sign-in, passwords, external identities. Called by the site.

Passwords are hashed (``site.passwords``); the store never sees them. ``people`` has the writes. Invalid input is
reported by field, together, in one ``Refused``.
"""

from __future__ import annotations

import re
from typing import Literal

from keyplan import Delete, SetRemove, Update, now
from keyplan.errors import ErrorDetail, ItemNotFound, Refused, UniqueValueTaken, WriteFailed
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import ContactMessage, Credential, ProviderUser, User
from keyplan_systems.blog.people import identity
from keyplan_systems.site.passwords import hash_password, needs_rehash, password_fits
from keyplan_systems.site.sessions import Sessions
from keyplan_systems.site.signing import Signer
from keyplan_systems.words import EMAIL, is_storable

IMPORTED_DOMAIN = "imported.invalid"
"""The domain in the email addresses of imported authors, until a person claims the account."""
EMAIL_MAX = 254
NAME_MAX = 80
USERNAME_MAX = 40
PASSWORD_MIN = 10
PASSWORD_MAX = 200

_USERNAME = re.compile(r"[a-z0-9](?:-?[a-z0-9]){2,39}")


# Registration


def register(
    blog: Blog,
    *,
    email: str,
    username: str,
    name: str,
    password: str | None = None,
    role: Literal["reader", "author"] = "reader",
    provider: str | None = None,
    external_id: str | None = None,
) -> User:
    """Register a user with a password, an external identity, or both.

    Raises Refused with an error for each invalid field: ``email``, ``username``, ``name``, ``password``, ``provider``.
    Of two concurrent registrations with one email or username, one fails.
    """
    email, username, name = _folded(email, username, name)
    faults = [*_email_faults(email), *_username_faults(username), *_name_faults(name)]
    linked = provider is not None and external_id is not None
    if password is not None or not linked:
        faults += _password_faults(password or "", email, username)
    if faults:
        raise _refused(faults)
    user = User(username=username, name=name, role=role)
    hashed = None if password is None else hash_password(password)
    credential = Credential(user_id=user.user_id, email=email, password_hash=hashed)
    known = None
    if provider is not None and external_id is not None:
        known = ProviderUser(provider=provider, external_id=external_id, user_id=user.user_id)
    try:
        return blog.register(user, credential, known)
    except WriteFailed:
        taken = _taken(blog, email, username, known)
        if not taken:
            raise
        raise _refused(taken) from None


def check_joining(blog: Blog, email: str, username: str, name: str) -> None:
    """Raises Refused for invalid fields, as ``register``, but doesn't reveal whether an email address is registered.
    Usernames are public.
    """
    email, username, name = _folded(email, username, name)
    faults = [*_email_faults(email), *_username_faults(username), *_name_faults(name)]
    if not faults and blog.user_to_sign_in(username) is not None:
        faults = [ErrorDetail("username", "this username is taken", "choose another")]
    if faults:
        raise _refused(faults)


def _folded(email: str, username: str, name: str) -> tuple[str, str, str]:
    return email.strip().lower(), username.strip().lower(), " ".join(name.split())


def _taken(blog: Blog, email: str, username: str, known: ProviderUser | None) -> list[ErrorDetail]:
    faults: list[ErrorDetail] = []
    if blog.user_by_email(email) is not None:
        faults.append(ErrorDetail("email", "this address is already registered", "sign in, or use another address"))
    if blog.user_to_sign_in(username) is not None:
        faults.append(ErrorDetail("username", "this username is taken", "choose another"))
    if known is not None and blog.provider_user(known.provider, known.external_id) is not None:
        faults.append(ErrorDetail("provider", "this identity is linked to another account", "sign in to that account"))
    return faults


def _email_faults(email: str) -> list[ErrorDetail]:
    if len(email) > EMAIL_MAX or not EMAIL.fullmatch(email) or not is_storable(email):
        return [ErrorDetail("email", "invalid email address", "use the form ada@example.com, at most 254 characters")]
    return []


def _username_faults(username: str) -> list[ErrorDetail]:
    if _USERNAME.fullmatch(username) and len(username) <= USERNAME_MAX:
        return []
    return [
        ErrorDetail("username", "invalid username", "use 3 to 40 letters a–z, digits, and single hyphens between them")
    ]


def _name_faults(name: str) -> list[ErrorDetail]:
    if 1 <= len(name) <= NAME_MAX and is_storable(name) and name.isprintable():
        return []
    return [ErrorDetail("name", "invalid name", "use 1 to 80 printable characters")]


def _password_faults(password: str, email: str, username: str, field: str = "password") -> list[ErrorDetail]:
    if not PASSWORD_MIN <= len(password) <= PASSWORD_MAX or not is_storable(password):
        return [ErrorDetail(field, "invalid password", f"use {PASSWORD_MIN} to {PASSWORD_MAX} characters")]
    if password.lower() in {email, username, email.partition("@")[0]} or len(set(password)) < 5:
        return [ErrorDetail(field, "the password is too easy to guess", "use several unrelated words")]
    return []


def _refused(faults: list[ErrorDetail]) -> Refused:
    return Refused("invalid account data", place="account", errors=faults)


# Sign-in


def sign_in(blog: Blog, login: str, password: str) -> User:
    """The active user with this email or username and this password. Raises Refused, at ``password``.

    An unknown login and a wrong password have the same error and timing. Reads are strongly consistent. A hash with
    outdated parameters is replaced.
    """
    login = login.strip().lower()
    user, credential = None, None
    if is_storable(login) and 0 < len(login) <= EMAIL_MAX:
        user = blog.user_by_email(login) if "@" in login else blog.user_to_sign_in(login)
    if user is not None:
        credential = blog.get(Credential, user_id=user.user_id, consistent=True)
    hashed = None if credential is None else credential.password_hash
    fits = len(password) <= PASSWORD_MAX and is_storable(password) and password_fits(hashed, password)
    if not fits or user is None or hashed is None:
        raise _refused([ErrorDetail("password", "the email, username or password is wrong")])
    _check_active(user)
    if needs_rehash(hashed):
        blog.transact([Update(Credential, user_id=user.user_id).set(password_hash=hash_password(password))])
    return user


def _check_active(user: User) -> None:
    if user.status != "active":
        raise _refused([ErrorDetail("password", f"this account is {user.status}", "contact the moderators")])


# Authors


def request_authorship(blog: Blog, user: User) -> None:
    """Send the moderators a reader's request to become an author."""
    credential = blog.get(Credential, user_id=user.user_id, consistent=True)
    if credential is None:
        raise ItemNotFound(f"there is no user {user.user_id!r}", place="account")
    text = (
        f"@{user.username} requests to become an author. To approve, choose “Make author” on /moderation?order=newest."
    )
    blog.send_message(ContactMessage(name=user.name, email=credential.email, subject="Author request", text=text))


def is_unclaimed(blog: Blog, user_id: str) -> bool:
    """Whether a user was created by an import and the account is unclaimed."""
    credential = blog.get(Credential, user_id=user_id)
    return credential is not None and credential.email.endswith(f"@{IMPORTED_DOMAIN}")


# Changes


def sessions_of(blog: Blog, signer: Signer) -> Sessions[User]:
    def active(user_id: str) -> User | None:
        user = blog.get(User, user_id=user_id, consistent=True)
        return user if user is not None and user.status == "active" else None

    return Sessions(blog, active, signer)


def change_password(blog: Blog, user_id: str, old: str, new: str) -> None:
    """Change a password; all sessions of the user end.

    A user without a password needs no ``old``. Raises Refused at ``old`` or ``new``, ItemNotFound.
    """
    user, credential = _credential(blog, user_id)
    if credential.password_hash is not None and not password_fits(credential.password_hash, old[: PASSWORD_MAX + 1]):
        raise _refused([ErrorDetail("old", "the password is wrong")])
    reset_password(blog, user, credential, new)


def reset_password(blog: Blog, user: User, credential: Credential, new: str) -> None:
    """Set the password of a verified user; all sessions end. Raises Refused at ``new``, and ConditionFailed if the
    password was changed after ``credential`` was read.
    """
    faults = _password_faults(new, credential.email, user.username, "new")
    if faults:
        raise _refused(faults)
    blog.set_password(user.user_id, credential.password_hash, hash_password(new))


def check_email_change(blog: Blog, user_id: str, password: str, email: str) -> None:
    """Check whether a user can request another email address: the password, and the address's form. Raises Refused at
    ``password`` or ``email``, ItemNotFound; doesn't reveal whether the address is registered.
    """
    _, credential = _credential(blog, user_id)
    faults = _email_faults(email.strip().lower())
    if credential.password_hash is not None and not password_fits(
        credential.password_hash, password[: PASSWORD_MAX + 1]
    ):
        faults.append(ErrorDetail("password", "the password is wrong"))
    if faults:
        raise _refused(faults)


def change_email(blog: Blog, user_id: str, email: str) -> None:
    """Change the email address of a user who confirmed it; the old one becomes available. Raises Refused at ``email``
    for a registered address, ItemNotFound.
    """
    email = email.strip().lower()
    _, credential = _credential(blog, user_id)
    if faults := _email_faults(email):
        raise _refused(faults)
    if email == credential.email:
        return
    try:
        blog.update(credential, email=email, changed_at=now())
    except UniqueValueTaken:
        raise _refused([ErrorDetail("email", "this address is already registered", "use another address")]) from None


def unlink(blog: Blog, user_id: str, provider: str, external_id: str) -> bool:
    """Remove an external identity from a user; returns whether they had it. Raises Refused, at ``provider``, for the
    only way to sign in.
    """
    _, credential = _credential(blog, user_id)
    named = identity(provider, external_id)
    if named not in credential.providers:
        return False
    if credential.password_hash is None and len(credential.providers) == 1:
        raise _refused([ErrorDetail("provider", "this is your only way to sign in", "set a password first")])
    # The condition on the identities prevents two concurrent calls from removing the last two ways to sign in.
    update = Update(credential, providers=SetRemove({named})).only_if(
        providers=credential.providers, password_hash=credential.password_hash
    )
    blog.transact([update, Delete(ProviderUser, provider=provider, external_id=external_id).only_if(user_id=user_id)])
    return True


def _credential(blog: Blog, user_id: str) -> tuple[User, Credential]:
    user = blog.get(User, user_id=user_id, consistent=True)
    credential = blog.get(Credential, user_id=user_id, consistent=True)
    if user is None or credential is None:
        raise ItemNotFound(f"there is no user {user_id!r}", place="account")
    return user, credential
