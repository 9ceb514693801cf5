"""Who makes a request, as far as all sites have it: cookies, and the token that a form must carry.

Whoever isn't signed in has a random cookie as soon as a form is shown to them, and nothing before. A form's token is
the signature of it, or of the session, so that it is worth nothing in another browser, nor after a sign-in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from starlette.requests import HTTPConnection
from starlette.responses import Response

from keyplan_systems.site.signing import Signer, random_token

__all__ = ["BaseVisitor", "BaseVisitors", "CookieNames"]


@dataclass(frozen=True)
class CookieNames:
    """What a system's cookies are called. A browser keeps cookies by host and not by port, so two systems on one
    machine need names of their own.
    """

    system: str

    @property
    def session(self) -> str:
        """The cookie of whoever is signed in."""
        return f"{self.system}_session"

    @property
    def visit(self) -> str:
        """The cookie of whoever isn't."""
        return f"{self.system}_visit"

    @property
    def form_token(self) -> str:
        """A copy of the form token that scripts of this origin can read, for the API's page."""
        return f"{self.system}_form_token"


@dataclass
class BaseVisitor:
    """Who makes a request."""

    signer: Signer
    visit: str | None = None
    theme: Literal["light", "dark"] | None = None
    fresh: bool = False
    """Whether ``visit`` was made for this page, and the browser has yet to hear of it."""
    form_token: tuple[str, str] | None = field(default=None, repr=False)
    """The token for this page's forms, with what it is bound to."""
    changes: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """Cookies to write into the response: their values, or None for those to be removed."""

    @property
    def session_id(self) -> str | None:
        """What the session is known by; None for those who aren't signed in."""
        return None

    @property
    def csrf(self) -> str:
        """The token for the forms of this page. Asking for it gives a visitor without any cookie one."""
        if self.session_id is None and self.visit is None:
            self.visit, self.fresh = random_token(), True
        bound = self._bound
        if self.form_token is None or self.form_token[0] != bound:  # a page has as many forms as it has rows
            self.form_token = (bound, self.signer.signature("csrf", bound))
        return self.form_token[1]

    def knows(self, token: str) -> bool:
        """Whether a form's token is this visitor's."""
        if self.session_id is None and self.visit is None:
            return False
        return self.signer.matches("csrf", self._bound, token)

    @property
    def _bound(self) -> str:
        return f"visit {self.visit}" if self.session_id is None else f"session {self.session_id}"


V = TypeVar("V", bound=BaseVisitor)


class BaseVisitors(ABC, Generic[V]):
    """Reads visitors from requests, and writes their cookies into responses."""

    def __init__(self, signer: Signer, names: CookieNames, *, secure: bool, session_seconds: int) -> None:
        self.signer = signer
        self.names = names
        self.secure = secure
        self.session_seconds = session_seconds
        self._prefix = "__Host-" if secure else ""

    @abstractmethod
    def nobody(self) -> V:
        """A visitor of whom nothing is known."""

    @abstractmethod
    def know(self, visitor: V, signed: str) -> None:
        """Let a visitor be who the session's signed text says; without a session that holds, nobody is."""

    def session_id(self, signed: str) -> str:
        """What the session of a signed text is known by."""
        return signed

    @property
    def session_cookie(self) -> str:
        """The name of the cookie that holds a session."""
        return self._prefix + self.names.session

    def is_named(self, request: HTTPConnection) -> bool:
        """Whether a request to the API says who makes it, truly or not: else the store needn't be asked."""
        return "authorization" in request.headers or bool(request.cookies.get(self.session_cookie))

    def of(self, request: HTTPConnection) -> V:
        """The visitor who makes a request. A session that is unknown, forged or over is none."""
        cookies = request.cookies
        made = self.nobody()
        match cookies.get("theme"):
            case "light" | "dark" as theme:
                made.theme = theme
            case _:
                pass
        visit = cookies.get(self._prefix + self.names.visit)
        if visit is not None and 20 <= len(visit) <= 100 and visit.isascii():
            made.visit = visit
        signed = cookies.get(self.session_cookie)
        if signed:
            self.know(made, signed)
            if made.session_id is None:
                made.changes[self.names.session] = None
        return made

    def keep(self, visitor: V, signed: str) -> None:
        """Let the visitor's browser hold a session from now on."""
        visitor.changes |= {self.names.session: signed, self.names.visit: None}

    def leave(self, visitor: V) -> None:
        """Let the visitor's browser forget its session."""
        visitor.changes |= {self.names.session: None, self.names.visit: None}

    def finish(self, visitor: V, response: Response) -> Response:
        """Write the cookies that changed, and say that a page made for somebody is nobody else's."""
        if visitor.fresh:
            visitor.changes.setdefault(self.names.visit, visitor.visit)
        for name, value in visitor.changes.items():
            self._cookie(response, self._prefix + name, value, lasting=name == self.names.session)
            if name == self.names.session:
                self._form_token(response, value)
        if visitor.session_id is not None or visitor.changes:
            response.headers["cache-control"] = "private, no-store"
        response.headers.setdefault("cache-control", "private, no-cache")
        return response

    def _form_token(self, response: Response, signed: str | None) -> None:
        """The session's form token for scripts of this origin: the API's page sends it along."""
        token = None if signed is None else self.signer.signature("csrf", f"session {self.session_id(signed)}")
        response.set_cookie(
            self.names.form_token,
            token or "",
            max_age=0 if token is None else self.session_seconds,
            path="/",
            secure=self.secure,
            samesite="strict",
        )

    def _cookie(self, response: Response, name: str, value: str | None, *, lasting: bool) -> None:
        response.set_cookie(
            name,
            value or "",
            max_age=0 if value is None else self.session_seconds if lasting else None,
            path="/",
            secure=self.secure,
            httponly=True,
            samesite="lax",
        )
