"""The users of the catalogue's site: authors with a password. The operator sets passwords; there is no registration."""

from __future__ import annotations

from keyplan.errors import Refused
from keyplan_systems.pages.people import People
from keyplan_systems.papers.design import Author, Papers
from keyplan_systems.papers.records import handle_of


class PapersPeople(People[Papers, Author]):
    """Authors with a password, by handle."""

    can_join = False

    def user(self, user_id: str) -> Author | None:
        return self._design.author(user_id)

    def user_known_as(self, login: str) -> Author | None:
        """An author by handle, or by a name with that handle."""
        handle = handle_of(login)
        return self._design.author(handle) if handle else None

    def login(self, user: Author) -> str:
        return user.handle

    def fault_of(self, login: str) -> str | None:  # noqa: ARG002 - users can't register
        return None

    def add(self, login: str, name: str, password_hash: str) -> Author:  # noqa: ARG002 - users can't register
        """Raises Refused: no registration."""
        raise Refused("users can't register", place="sign-up", hint="ask the catalogue's operator for an account")
