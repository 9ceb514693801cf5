"""The visitors of the blog: users, and what their roles allow."""

from __future__ import annotations

from dataclasses import dataclass

from keyplan_systems.blog.entities import User
from keyplan_systems.site.visitors import BaseVisitor


@dataclass
class Visitor(BaseVisitor[User]):
    """The visitor who makes a request."""

    @property
    def user(self) -> User | None:
        return self.person

    @property
    def author(self) -> bool:
        return self.user is not None and self.user.role in {"author", "moderator"}

    @property
    def moderator(self) -> bool:
        return self.user is not None and self.user.role == "moderator"
