"""The people who sign in to a small site, behind one interface; their sessions are in ``site.sessions``."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from keyplan.errors import ErrorDetail, Refused, UniqueValueTaken

__all__ = ["PASSWORD_MIN", "People", "Person", "StoredPeople"]

PASSWORD_MIN = 10


@dataclass(frozen=True)
class Person:
    """Somebody who is signed in: their id, the name that is shown, what they may do, the hash of their password."""

    user_id: str
    name: str
    password_hash: str = field(repr=False)
    roles: Collection[str] = ()
    login: str = ""
    """What they sign in with, as stored: an email address, or a handle."""

    @property
    def session_mark(self) -> str:
        """A hash of the password's hash: sessions and links by mail end when the password changes."""
        return hashlib.sha256(self.password_hash.encode()).hexdigest()[:16]


class People(Protocol):
    """The people of a system."""

    def person(self, user_id: str) -> Person | None:
        """Somebody by their id; None where there is nobody, or nobody who may sign in."""
        ...

    def known(self, login: str) -> Person | None:
        """Somebody by what they sign in with."""
        ...

    @property
    def by_mail(self) -> bool:
        """Whether people sign in with an address, and so join by a letter that goes there."""
        ...

    @property
    def can_join(self) -> bool:
        """Whether visitors can create an account."""
        ...

    def check(self, login: str) -> None:
        """Raises Refused with a fault of ``login`` for what can't be one, whoever has it."""
        ...

    def set_password(self, user_id: str, old_hash: str, password_hash: str) -> None:
        """Replace a password. Raises ConditionFailed if the stored hash isn't ``old_hash``."""
        ...

    def join(self, login: str, name: str, password_hash: str) -> Person:
        """Somebody new. Raises Refused with a fault for each field that can't be taken: ``login``, ``name``."""
        ...


class StoredUser(Protocol):
    """What a system stores of somebody."""

    @property
    def user_id(self) -> str:
        """Their id."""
        ...

    @property
    def name(self) -> str:
        """Their name."""
        ...


U = TypeVar("U", bound=StoredUser)


class StoredPeople(ABC, Generic[U]):
    """People of a system that stores each user, and the hash of their password apart from it."""

    taken = "somebody has it"
    """What is said of a login that somebody else has."""
    can_join = True
    by_mail = False
    """Whether the login is an address: then it is nobody's business who has it."""

    @abstractmethod
    def user(self, user_id: str) -> U | None:
        """A user by their id."""

    @abstractmethod
    def user_known_as(self, login: str) -> U | None:
        """A user by what they sign in with."""

    @abstractmethod
    def password_hash(self, user_id: str) -> str | None:
        """The hash of a user's password; None for those who have none, and can't sign in."""

    @abstractmethod
    def fault_of(self, login: str) -> str | None:
        """What is wrong with a login for somebody new."""

    @abstractmethod
    def add(self, login: str, name: str, password_hash: str) -> U:
        """Store somebody new. Raises UniqueValueTaken where somebody has the login."""

    @abstractmethod
    def set_password(self, user_id: str, old_hash: str, password_hash: str) -> None:
        """Replace a password; its sessions end. Raises ConditionFailed if the stored hash isn't ``old_hash``."""

    def roles(self, user: U) -> Collection[str]:  # noqa: ARG002 - most systems have none
        """What a user may do besides."""
        return ()

    @abstractmethod
    def login(self, user: U) -> str:
        """What a user signs in with, as stored."""

    def person(self, user_id: str) -> Person | None:
        """Somebody by their id."""
        return self._person(self.user(user_id))

    def known(self, login: str) -> Person | None:
        """Somebody by what they sign in with."""
        return self._person(self.user_known_as(login))

    def check(self, login: str) -> None:
        """Raises Refused with a fault of ``login`` for what can't be one."""
        fault = self.fault_of(login)
        if fault is not None:
            raise Refused("it can't be taken", errors=[ErrorDetail("login", fault)])

    def join(self, login: str, name: str, password_hash: str) -> Person:
        """Somebody new. Raises Refused with a fault of ``login``."""
        self.check(login)
        try:
            user = self.add(login, name, password_hash)
        except UniqueValueTaken:
            raise Refused("it is taken", errors=[ErrorDetail("login", self.taken)]) from None
        return Person(user.user_id, user.name, password_hash, self.roles(user), self.login(user))

    def _person(self, user: U | None) -> Person | None:
        kept = None if user is None else self.password_hash(user.user_id)
        if user is None or kept is None:
            return None
        return Person(user.user_id, user.name, kept, self.roles(user), self.login(user))
