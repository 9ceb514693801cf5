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
    form_token: tuple[str, str] | None = field(default=None, repr=False)
    """The token of this page's forms, with what it is bound to."""
    changes: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """Cookies to set in the response: their values, or None to delete one."""

    @property
    def person(self) -> P | None:
        return None if self.signed_in is None else self.signed_in.person

    @property
    def session(self) -> Session | None:
        """The session of the person who is signed in."""
        return None if self.signed_in is None else self.signed_in.session

    @cached_property
    def once(self) -> str:
        """A random text for the forms of this page, by which a form that is sent twice is recognized."""
        return random_token()[:16]

    @property
    def csrf(self) -> str:
        """The token for the forms of this page. A visitor without any cookie gets one."""
        if self.signed_in is None and self.visit is None:
            self.visit, self.fresh = random_token(), True
        bound = self.bound
        if self.form_token is None or self.form_token[0] != bound:  # a page has as many forms as it has rows
            self.form_token = (bound, self.signer.signature("csrf", bound))
        return self.form_token[1]

    def knows(self, token: str) -> bool:
        """Whether a form's token is this visitor's."""
        if self.signed_in is None and self.visit is None:
            return False
        return self.signer.matches("csrf", self.bound, token)

    @property
    def bound(self) -> str:
        """What this visitor's forms are bound to."""
        return f"visit {self.visit}" if self.signed_in is None else f"session {self.signed_in.token}"


V = TypeVar("V", bound="BaseVisitor[Any]")


class Visitors(Generic[V, P]):
    """Reads visitors from requests, and writes their cookies into responses."""

    def __init__(
        self,
        kind: type[V],
        sessions: Sessions[P],
        signer: Signer,
        system: str,
        *,
        secure: bool,
    ) -> None:
        self.kind = kind
        self.sessions = sessions
        self.signer = signer
        # Browsers keep cookies by host, not by port, so systems on one machine need different names.
        self.session_name = f"{system}_session"
        self.visit_name = f"{system}_visit"
        self.form_token_name = f"{system}_form_token"
        """A copy of the form token that scripts of this origin can read, for the API's page."""
        self.secure = secure
        self._prefix = "__Host-" if secure else ""

    def anonymous(self) -> V:
        """A visitor without cookies."""
        return self.kind(self.signer)

    @property
    def session_cookie(self) -> str:
        """The name of the cookie that holds a session's token."""
        return self._prefix + self.session_name

    def is_named(self, request: HTTPConnection) -> bool:
        """Whether an API request names its caller, with a valid token or not. Otherwise the store isn't read."""
        return "authorization" in request.headers or bool(request.cookies.get(self.session_cookie))

    def of(self, request: HTTPConnection) -> V:
        """The visitor who makes a request. A session that is unknown, forged or has ended is ignored."""
        cookies = request.cookies
        visitor = self.anonymous()
        match cookies.get("theme"):
            case "light" | "dark" as theme:
                visitor.theme = theme
            case _:
                pass
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
        """Open a session for the visitor's browser. The one that it had ends."""
        self._end(visitor)
        token = self.sessions.open(person, label=label)
        visitor.changes |= {self.session_name: token, self.visit_name: None}

    def sign_out(self, visitor: V) -> None:
        """End the visitor's session, and delete its cookies."""
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
            self._cookie(response, self._prefix + name, value, lasting=name == self.session_name)
            if name == self.session_name:
                self._form_token(response, value)
        if visitor.signed_in is not None or visitor.changes:
            response.headers["cache-control"] = "private, no-store"
        response.headers.setdefault("cache-control", "private, no-cache")
        return response

    def _form_token(self, response: Response, session_token: str | None) -> None:
        """The session's form token, for scripts of this origin: the API's page sends it."""
        token = None if session_token is None else self.signer.signature("csrf", f"session {session_token}")
        response.set_cookie(
            self.form_token_name,
            token or "",
            max_age=0 if token is None else SESSION_SECONDS,
            path="/",
            secure=self.secure,
            samesite="strict",
        )

    def _cookie(self, response: Response, name: str, value: str | None, *, lasting: bool) -> None:
        response.set_cookie(
            name,
            value or "",
            max_age=0 if value is None else SESSION_SECONDS if lasting else None,
            path="/",
            secure=self.secure,
            httponly=True,
            samesite="lax",
        )
