"""The CMS's members, identified by email address, and the permissions of roles."""

from __future__ import annotations

from collections.abc import Collection

from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.entities import Article, Member, Role
from keyplan_systems.pages.people import People, Person
from keyplan_systems.words import EMAIL

_MAY: dict[Role, tuple[str, ...]] = {
    "none": (),
    "author": ("author",),
    "editor": ("author", "editor"),
    "admin": ("author", "editor", "admin"),
}
"""An editor has an author's permissions, an administrator has an editor's."""


class CmsPeople(People[Cms, Member]):
    """Members with a credential."""

    taken = "this address already has an account"
    by_mail = True

    def user(self, user_id: str) -> Member | None:
        return self._design.member(user_id)

    def user_known_as(self, login: str) -> Member | None:
        return self._design.member_by_email(login) if 3 <= len(login.strip()) <= 254 else None

    def fault_of(self, login: str) -> str | None:
        return None if EMAIL.fullmatch(login.strip()) else "invalid email address"

    def add(self, login: str, name: str, password_hash: str) -> Member:
        """A new member: the first one is administrator, others wait for a role."""
        return self._design.join(Member(email=login, name=name), password_hash)

    def login(self, user: Member) -> str:
        return user.email

    def roles(self, user: Member) -> Collection[str]:
        return _MAY[user.role]


def may_write(person: Person | None, article: Article) -> bool:
    """Whether a user can save drafts of an article: editors all, authors their own."""
    if person is None or "author" not in person.roles:
        return False
    return "editor" in person.roles or article.author_id == person.user_id


def may_publish(person: Person | None) -> bool:
    return person is not None and "editor" in person.roles
