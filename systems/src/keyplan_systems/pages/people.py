"""The users who sign in to a small site, behind one interface; ``site.sessions`` has their sessions."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar, cast

from keyplan import Design
from keyplan.errors import ErrorDetail, Refused, UniqueValueTaken

__all__ = ["PASSWORD_MIN", "People", "Person"]

PASSWORD_MIN = 10


@dataclass(frozen=True)
class Person:
    """A signed-in user. ``login`` is an email address or a handle, as stored."""

    user_id: str
    name: str
    password_hash: str = field(repr=False)
    roles: Collection[str] = ()
    login: str = ""

    @property
    def session_mark(self) -> str:
        """A digest of the password hash: sessions and mailed links end when the password changes."""
        return hashlib.sha256(self.password_hash.encode()).hexdigest()[:16]


class StoredUser(Protocol):
    """A stored user of a system."""

    @property
    def user_id(self) -> str: ...
    @property
    def name(self) -> str: ...


class StoredPassword(Protocol):
    @property
    def password_hash(self) -> str: ...


class PasswordPatterns(Protocol):
    """The patterns of a design that stores passwords."""

    @property
    def credential(self) -> Callable[[str], StoredPassword | None]: ...
    @property
    def set_password(self) -> Callable[[str, str, str], object]: ...


U = TypeVar("U", bound=StoredUser)
D = TypeVar("D", bound=Design)


class People(ABC, Generic[D, U]):
    """The users of a system, which stores the password hash of each separately; without one, a user can't sign in.

    ``add`` raises UniqueValueTaken; ``set_password`` ends all sessions, and raises ConditionFailed if the stored
    hash isn't ``old_hash``.
    """

    taken = "already taken"
    """The error for a login of another user."""
    can_join = True
    """Whether visitors can create an account."""
    by_mail = False
    """Whether the login is an email address: pages don't reveal whether it is registered."""

    def __init__(self, design: D) -> None:
        self._design = design
        self._passwords = cast("PasswordPatterns", design)  # mypy can't check decorated methods of a TypeVar's bound

    @abstractmethod
    def user(self, user_id: str) -> U | None: ...

    @abstractmethod
    def user_known_as(self, login: str) -> U | None: ...

    @abstractmethod
    def fault_of(self, login: str) -> str | None: ...

    @abstractmethod
    def add(self, login: str, name: str, password_hash: str) -> U: ...

    def set_password(self, user_id: str, old_hash: str, password_hash: str) -> None:
        self._passwords.set_password(user_id, old_hash, password_hash)

    def roles(self, user: U) -> Collection[str]:  # noqa: ARG002 - most systems have no roles
        return ()

    @abstractmethod
    def login(self, user: U) -> str: ...

    def person(self, user_id: str) -> Person | None:
        """The person with this id; None if they can't sign in."""
        return self._person(self.user(user_id))

    def known(self, login: str) -> Person | None:
        """The person with this login; None if they can't sign in."""
        return self._person(self.user_known_as(login))

    def check(self, login: str) -> None:
        """Raises Refused, at ``login``, for an invalid one."""
        fault = self.fault_of(login)
        if fault is not None:
            raise Refused("invalid login", errors=[ErrorDetail("login", fault)])

    def join(self, login: str, name: str, password_hash: str) -> Person:
        """Create an account. Raises Refused, at ``login``."""
        self.check(login)
        try:
            user = self.add(login, name, password_hash)
        except UniqueValueTaken:
            raise Refused("the account already exists", errors=[ErrorDetail("login", self.taken)]) from None
        return Person(user.user_id, user.name, password_hash, self.roles(user), self.login(user))

    def _person(self, user: U | None) -> Person | None:
        credential = self._passwords.credential(user.user_id) if user else None
        if user is None or credential is None:
            return None
        return Person(user.user_id, user.name, credential.password_hash, self.roles(user), self.login(user))
