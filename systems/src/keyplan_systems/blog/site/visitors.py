"""Who makes a request: cookies, sessions, and the token that a form must carry.

A signed-in visitor's cookie holds the session's token, signed; the store knows the session by a hash of it. Who isn't
signed in has a random cookie as soon as a form is shown to them, and nothing before. A form's token is the signature
of either, so that it is worth nothing in another browser, nor after a sign-in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from starlette.requests import HTTPConnection
from starlette.responses import Response

from keyplan_systems.blog.accounts import SignedIn, rotate, session_of
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Session, User
from keyplan_systems.blog.site.settings import Settings
from keyplan_systems.site.signing import Signer, random_token

__all__ = ["SESSION", "Visitor", "Visitors"]

SESSION = "blog_session"
VISIT = "blog_visit"
CSRF_COOKIE = "csrf_token"
"""A copy of the form token that scripts of this origin can read, for the API's page."""
_TOKEN_CHARACTERS_MAX = 400


@dataclass
class Visitor:
    """Who makes a request. ``user`` is None for those who aren't signed in."""

    signer: Signer
    signed_in: SignedIn | None = None
    visit: str | None = None
    theme: Literal["light", "dark"] | None = None
    changes: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """Cookies to write into the response: their values, or None for those to be removed."""

    @property
    def user(self) -> User | None:
        """The user."""
        return None if self.signed_in is None else self.signed_in.user

    @property
    def session(self) -> Session | None:
        """The user's session."""
        return None if self.signed_in is None else self.signed_in.session

    @property
    def author(self) -> bool:
        """Whether the user may write."""
        return self.user is not None and self.user.role in {"author", "moderator"}

    @property
    def moderator(self) -> bool:
        """Whether the user moderates."""
        return self.user is not None and self.user.role == "moderator"

    @property
    def csrf(self) -> str:
        """The token for the forms of this page. Asking for it gives a visitor without any cookie one."""
        if self.session is not None:
            return self.signer.signature("csrf", f"session {self.session.session_id}")
        if self.visit is None:
            self.visit = random_token()
            self.changes[VISIT] = self.visit
        return self.signer.signature("csrf", f"visit {self.visit}")

    def knows(self, token: str) -> bool:
        """Whether a form's token is this visitor's."""
        if self.session is None and self.visit is None:
            return False
        bound = f"visit {self.visit}" if self.session is None else f"session {self.session.session_id}"
        return self.signer.matches("csrf", bound, token)


class Visitors:
    """Reads visitors from requests, and writes their cookies into responses."""

    def __init__(self, blog: Blog, settings: Settings, signer: Signer) -> None:
        self.blog = blog
        self.settings = settings
        self.signer = signer
        self._prefix = "__Host-" if settings.secure else ""

    def cookie_name(self, name: str) -> str:
        """A cookie's name; with https one that no other host of the domain can set."""
        return self._prefix + name

    def of(self, request: HTTPConnection, *, rotating: bool = True) -> Visitor:
        """The visitor. A session that is unknown, forged, over or of a suspended user is none.

        Only where ``finish`` writes cookies may a session's secret be changed (``rotating``).
        """
        cookies = request.cookies
        theme = cookies.get("theme")
        visitor = Visitor(self.signer, theme=theme if theme in {"light", "dark"} else None)  # type: ignore[arg-type]
        visit = cookies.get(self._prefix + VISIT)
        if visit is not None and 20 <= len(visit) <= 100 and visit.isascii():
            visitor.visit = visit
        signed = cookies.get(self._prefix + SESSION)
        if signed:
            token = self.token(signed)
            visitor.signed_in = None if token is None else session_of(self.blog, token)
            if visitor.signed_in is None:
                visitor.changes[SESSION] = None
            elif token is not None and visitor.signed_in.rotate and rotating:
                fresh = rotate(self.blog, token, seconds=self.settings.session_seconds)
                if fresh is not None:  # else another request of this browser has it
                    self.keep(visitor, fresh)
        return visitor

    def token(self, signed: str) -> str | None:
        """The session's token in a cookie or a bearer's header; None for what this site never signed."""
        return self.signer.unsign("session", signed) if len(signed) <= _TOKEN_CHARACTERS_MAX else None

    def signed(self, token: str) -> str:
        """A session's token as it goes out."""
        return self.signer.sign("session", token)

    def keep(self, visitor: Visitor, token: str) -> None:
        """Let the visitor's browser hold a session from now on."""
        visitor.changes |= {SESSION: self.signed(token), VISIT: None}

    def leave(self, visitor: Visitor) -> None:
        """Let the visitor's browser forget its session."""
        visitor.changes |= {SESSION: None, VISIT: None}

    def finish(self, visitor: Visitor, response: Response) -> Response:
        """Write the cookies that changed, and say that a page made for somebody is nobody else's."""
        for name, value in visitor.changes.items():
            self._cookie(response, name, value, self.settings.session_seconds if name == SESSION else None)
            if name == SESSION:
                self._form_token(response, value)
        if visitor.user is not None or visitor.changes:
            response.headers["cache-control"] = "private, no-store"
        response.headers.setdefault("cache-control", "private, no-cache")
        return response

    def _form_token(self, response: Response, signed: str | None) -> None:
        """The session's form token for scripts of this origin: the API's page sends it along."""
        session_id = "" if signed is None else signed.split(".")[1]
        response.set_cookie(
            CSRF_COOKIE,
            "" if signed is None else self.signer.signature("csrf", f"session {session_id}"),
            max_age=0 if signed is None else self.settings.session_seconds,
            path="/",
            secure=self.settings.secure,
            samesite="strict",
        )

    def _cookie(self, response: Response, name: str, value: str | None, seconds: int | None) -> None:
        response.set_cookie(
            self._prefix + name,
            value or "",
            max_age=0 if value is None else seconds,
            path="/",
            secure=self.settings.secure,
            httponly=True,
            samesite="lax",
        )
