"""The network's people: users with a credential, known by their handles."""

from __future__ import annotations

import re

from keyplan.errors import Fault, Refused, ValueTaken
from keyplan_systems.pages.people import Person
from keyplan_systems.social.design import Social
from keyplan_systems.social.entities import User

__all__ = ["SocialPeople"]

_HANDLE = re.compile(r"[a-z0-9](?:[._-]?[a-z0-9]){1,29}")


class SocialPeople:
    """Users with a credential."""

    def __init__(self, social: Social) -> None:
        self._social = social

    def person(self, user_id: str) -> Person | None:
        """A user by their id."""
        user = self._social.profile(user_id)
        return None if user is None else self._person(user)

    def known(self, login: str) -> Person | None:
        """A user by their handle."""
        handle = login.strip().removeprefix("@").lower()
        user = self._social.user_by_handle(handle) if 1 <= len(handle) <= 50 else None
        return None if user is None else self._person(user)

    def join(self, login: str, name: str, password_hash: str) -> Person:
        """A new user."""
        handle = login.strip().removeprefix("@").lower()
        if not _HANDLE.fullmatch(handle):
            raise Refused(
                "it can't be taken", faults=[Fault("login", "2 to 30 letters, digits, and single dots or hyphens")]
            )
        try:
            user = self._social.join(handle, name, password_hash)
        except ValueTaken:
            raise Refused("it is taken", faults=[Fault("login", "somebody has it")]) from None
        return Person(user.user_id, user.name, password_hash)

    def _person(self, user: User) -> Person | None:
        credential = self._social.credential(user.user_id)
        return None if credential is None else Person(user.user_id, user.name, credential.password_hash)
