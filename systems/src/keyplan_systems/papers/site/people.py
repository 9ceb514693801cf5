"""The users of the catalogue's site: authors with a password. The operator sets passwords; there is no registration."""

from __future__ import annotations

from keyplan.errors import Refused
from keyplan_systems.pages.people import People
from keyplan_systems.papers.design import Author, Papers
from keyplan_systems.papers.records import handle_of


class PapersPeople(People[Author]):
    """Authors with a password, by handle."""

    can_join = False

    def __init__(self, papers: Papers) -> None:
        self._papers = papers

    def user(self, user_id: str) -> Author | None:
        return self._papers.author(user_id)

    def user_known_as(self, login: str) -> Author | None:
        """An author by handle, or by a name with that handle."""
        handle = handle_of(login)
        return self._papers.author(handle) if handle else None

    def password_hash(self, user_id: str) -> str | None:
        credential = self._papers.credential(user_id)
        return None if credential is None else credential.password_hash

    def login(self, user: Author) -> str:
        return user.handle

    def fault_of(self, login: str) -> str | None:  # noqa: ARG002 - no registration
        return None

    def add(self, login: str, name: str, password_hash: str) -> Author:  # noqa: ARG002 - no registration
        """Raises Refused: no registration."""
        raise Refused("ask the catalogue's operator for an account", place="sign-up")

    def set_password(self, user_id: str, old_hash: str, password_hash: str) -> None:
        """Replace a password. Raises ConditionFailed if the stored hash isn't ``old_hash``."""
        self._papers.set_password(user_id, old_hash, password_hash)
