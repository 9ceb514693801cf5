"""Who makes a request of the blog: users, known by sessions that the store keeps.

A signed-in visitor's cookie holds the session's token, signed; the store knows the session by a hash of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from keyplan_systems.blog.accounts import SignedIn, rotate, session_of
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Session, User
from keyplan_systems.blog.site.settings import Settings
from keyplan_systems.site.signing import Signer
from keyplan_systems.site.visitors import BaseVisitor, BaseVisitors, CookieNames

__all__ = ["Visitor", "Visitors"]

COOKIES = CookieNames("blog")
_TOKEN_CHARACTERS_MAX = 400


@dataclass
class Visitor(BaseVisitor):
    """Who makes a request. ``user`` is None for those who aren't signed in."""

    signed_in: SignedIn | None = None
    token: str | None = None
    """The session's token, where a cookie of this request holds it."""

    @property
    def user(self) -> User | None:
        """The user."""
        return None if self.signed_in is None else self.signed_in.user

    @property
    def session(self) -> Session | None:
        """The user's session."""
        return None if self.signed_in is None else self.signed_in.session

    @property
    def session_id(self) -> str | None:
        """The session's id."""
        return None if self.session is None else self.session.session_id

    @property
    def author(self) -> bool:
        """Whether the user may write."""
        return self.user is not None and self.user.role in {"author", "moderator"}

    @property
    def moderator(self) -> bool:
        """Whether the user moderates."""
        return self.user is not None and self.user.role == "moderator"


class Visitors(BaseVisitors[Visitor]):
    """Users with sessions that the store keeps."""

    def __init__(self, blog: Blog, settings: Settings, signer: Signer) -> None:
        super().__init__(signer, COOKIES, secure=settings.secure, session_seconds=settings.session_seconds)
        self.blog = blog

    def nobody(self) -> Visitor:
        """A visitor of whom nothing is known."""
        return Visitor(self.signer)

    def know(self, visitor: Visitor, signed: str) -> None:
        """Let a visitor be who the cookie says; a suspended user is nobody."""
        visitor.token = self.session_token(signed)
        visitor.signed_in = None if visitor.token is None else session_of(self.blog, visitor.token)

    def session_id(self, signed: str) -> str:
        """The id of a session, which its token has in the middle."""
        return signed.split(".")[1]

    def rotated(self, visitor: Visitor) -> Visitor:
        """The visitor, whose session gets a new secret if it is time. Only for what writes cookies: see ``finish``."""
        if visitor.signed_in is not None and visitor.signed_in.rotate and visitor.token is not None:
            fresh = rotate(self.blog, visitor.token, seconds=self.session_seconds)
            if fresh is not None:  # else another request of this browser has it
                self.keep(visitor, self.signed(fresh))
        return visitor

    def session_token(self, signed: str) -> str | None:
        """The session's token in a cookie or a bearer's header; None for what this site never signed."""
        return self.signer.unsign("session", signed) if len(signed) <= _TOKEN_CHARACTERS_MAX else None

    def signed(self, token: str) -> str:
        """A session's token as it goes out."""
        return self.signer.sign("session", token)
