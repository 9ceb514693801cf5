"""The network's people: users with a credential, known by their handles."""

from __future__ import annotations

import re

from keyplan_systems.pages.people import People
from keyplan_systems.social.design import Social
from keyplan_systems.social.entities import User

HANDLE_CHARACTERS_MAX = 50
_HANDLE = re.compile(r"[a-z0-9](?:[._-]?[a-z0-9]){1,29}")


class SocialPeople(People[Social, User]):
    """Users with a credential."""

    def user(self, user_id: str) -> User | None:
        return self._design.profile(user_id)

    def user_known_as(self, login: str) -> User | None:
        handle = _handle(login)
        return self._design.user_by_handle(handle) if 1 <= len(handle) <= HANDLE_CHARACTERS_MAX else None

    def login(self, user: User) -> str:
        return user.handle

    def fault_of(self, login: str) -> str | None:
        """The error in a handle, if any."""
        return None if _HANDLE.fullmatch(_handle(login)) else "use 2 to 30 letters, digits, and single dots or hyphens"

    def add(self, login: str, name: str, password_hash: str) -> User:
        return self._design.join(_handle(login), name, password_hash)


def _handle(login: str) -> str:
    return login.strip().removeprefix("@").lower()
