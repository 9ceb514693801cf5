"""Visitors: who makes a request, their cookies, and the token that a form must contain.

A visitor who isn't signed in gets a random cookie when a form is first shown to them. A form's token is the signature
of that cookie's value, or of the session's token, so it is useless in another browser and after a sign-in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

from starlette.requests import HTTPConnection
from starlette.responses import Response

from keyplan_systems.site.sessions import SESSION_SECONDS, Session, SessionOwner, Sessions, SignedIn
from keyplan_systems.site.signing import Signer, random_token

P = TypeVar("P", bound=SessionOwner)


@dataclass
class BaseVisitor(Generic[P]):
    """The visitor who makes a request."""

    signer: Signer
    visit: str | None = None
    theme: Literal["light", "dark"] | None = None
    signed_in: SignedIn[P] | None = None
    """The person and the session; None for visitors who aren't signed in."""
    fresh: bool = False
    """Whether ``visit`` is new, and its cookie must be set."""
    changes: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """Cookies to set in the response: their values, or None to delete one."""

    @property
    def person(self) -> P | None:
        return None if self.signed_in is None else self.signed_in.person

    @property
    def session(self) -> Session | None:
        return None if self.signed_in is None else self.signed_in.session

    @cached_property
    def once(self) -> str:
        """A random string for the forms of this page, which identifies a form that is sent twice."""
        return random_token()[:16]

    @property
    def csrf(self) -> str:
        """The token for the forms of this page. A visitor without any cookie gets one."""
        if self.signed_in is None and self.visit is None:
            self.visit, self.fresh = random_token(), True
        return self.signer.signature("csrf", self.bound)

    def knows(self, token: str) -> bool:
        if self.signed_in is None and self.visit is None:
            return False
        return self.signer.matches("csrf", self.bound, token)

    @property
    def bound(self) -> str:
        return f"visit {self.visit}" if self.signed_in is None else f"session {self.signed_in.token}"


V = TypeVar("V", bound="BaseVisitor[Any]")
SameSite = Literal["lax", "strict"]


class Visitors(Generic[V, P]):
    """Reads visitors from requests, and writes their cookies into responses."""

    def __init__(self, kind: type[V], sessions: Sessions[P], signer: Signer, system: str, *, secure: bool) -> None:
        self.kind = kind
        self.sessions = sessions
        self.signer = signer
        # Browsers store cookies by host, not by port, so systems on one machine need different cookie names.
        self.session_name = f"{system}_session"
        self.visit_name = f"{system}_visit"
        self.form_token_name = f"{system}_form_token"
        """A copy of the CSRF token that scripts of this origin can read, for the API's page."""
        self.secure = secure
        self._prefix = "__Host-" if secure else ""

    def anonymous(self) -> V:
        return self.kind(self.signer)

    @property
    def session_cookie(self) -> str:
        return self._prefix + self.session_name

    def is_named(self, request: HTTPConnection) -> bool:
        """Whether an API request has a token, valid or not. Without one, the store isn't read."""
        return "authorization" in request.headers or bool(request.cookies.get(self.session_cookie))

    def of(self, request: HTTPConnection) -> V:
        """The visitor who makes a request. An unknown, forged or ended session is ignored."""
        cookies = request.cookies
        visitor = self.anonymous()
        theme = cookies.get("theme")
        visitor.theme = "light" if theme == "light" else "dark" if theme == "dark" else None
        visit = cookies.get(self._prefix + self.visit_name)
        if visit is not None and 20 <= len(visit) <= 100 and visit.isascii():
            visitor.visit = visit
        token = cookies.get(self.session_cookie)
        if token:
            visitor.signed_in = self.sessions.of(token)
            if visitor.signed_in is None:
                visitor.changes[self.session_name] = None
        return visitor

    def sign_in(self, visitor: V, person: P, label: str = "") -> None:
        """Open a session for the visitor's browser. Its previous one ends."""
        self._end(visitor)
        token = self.sessions.open(person, label=label)
        visitor.changes |= {self.session_name: token, self.visit_name: None}

    def sign_out(self, visitor: V) -> None:
        self._end(visitor)
        visitor.signed_in = None
        visitor.changes |= {self.session_name: None, self.visit_name: None}

    def _end(self, visitor: V) -> None:
        if visitor.session is not None:
            self.sessions.end(visitor.session.user_id, visitor.session.session_id)

    def finish(self, visitor: V, response: Response) -> Response:
        """Write the cookies that changed. A page made for one visitor must not be cached for another."""
        if visitor.fresh:
            visitor.changes.setdefault(self.visit_name, visitor.visit)
        for name, value in visitor.changes.items():
            lasts = name == self.session_name
            self._cookie(response, self._prefix + name, value, lasts=lasts, httponly=True, samesite="lax")
            if lasts:
                token = None if value is None else self.signer.signature("csrf", f"session {value}")
                self._cookie(response, self.form_token_name, token, lasts=True, httponly=False, samesite="strict")
        if visitor.signed_in is not None or visitor.changes:
            response.headers["cache-control"] = "private, no-store"
        response.headers.setdefault("cache-control", "private, no-cache")
        return response

    def _cookie(
        self, response: Response, name: str, value: str | None, *, lasts: bool, httponly: bool, samesite: SameSite
    ) -> None:
        age = 0 if value is None else SESSION_SECONDS if lasts else None
        response.set_cookie(name, value or "", max_age=age, secure=self.secure, httponly=httponly, samesite=samesite)
