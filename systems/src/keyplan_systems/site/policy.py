"""Callers of the REST API, and their rate limits: the part of a policy (``keyplan.web.policy.Policy``) that all systems
share.

A caller is identified by the session cookie, as on pages, or by a session token as a bearer token. With the cookie, a
write also needs the session's CSRF token in the header ``X-CSRF-Token``, which pages of other sites can't send.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from starlette.requests import HTTPConnection

from keyplan.errors import AccessDenied, ArgumentError, ErrorDetail, TooManyRequests
from keyplan_systems.site.incoming import text_fault
from keyplan_systems.site.serving import BaseSite, address_of
from keyplan_systems.site.sessions import SessionOwner

_SAFE = {"GET", "HEAD", "OPTIONS"}
_LINES = {"abstract", "bio", "body", "content", "description", "excerpt", "text"}
"""Arguments, and members of arguments, that can have several lines."""

P = TypeVar("P", bound=SessionOwner)


class BasePolicy(Generic[P]):
    """Identifies callers, and counts their requests."""

    def __init__(self, site: BaseSite[Any, Any]) -> None:
        self._site = site

    @property
    def security(self) -> Mapping[str, Mapping[str, Any]]:
        visitors = self._site.visitors
        return {
            "bearer": {"type": "http", "scheme": "bearer", "description": "A session's token."},
            "session": {
                "type": "apiKey",
                "in": "cookie",
                "name": visitors.session_cookie,
                "description": "The session cookie. Writes also require the session's CSRF token in X-CSRF-Token.",
                "x-form-token-cookie": visitors.form_token_name,
            },
        }

    def caller(self, request: HTTPConnection) -> P | None:
        """The user who makes a request; None for an anonymous caller. Raises AccessDenied for an invalid token or
        session, TooManyRequests for a read beyond the limit.
        """
        person = self._named(request)
        if request.scope["method"] in _SAFE:
            self.count("read", address_of(request) if person is None else person.user_id)
        return person

    def check_texts(self, pattern: str, arguments: Mapping[str, Any]) -> None:
        """Raises ArgumentError for strings of a write, also nested ones, that no form accepts."""
        faults: list[ErrorDetail] = []
        values: list[tuple[str, Any]] = list(arguments.items())
        for name, value in values:  # nested values are appended during the loop
            if isinstance(value, Mapping):
                values += value.items()
            elif isinstance(value, list):
                values += ((name, each) for each in value)
            elif value and isinstance(value, str) and (fault := text_fault(value, lines=name in _LINES)):
                faults.append(ErrorDetail(name, fault))
        if faults:
            raise ArgumentError("invalid arguments", place=pattern, errors=faults)

    def count(self, action: str, subject: str) -> None:
        """Count a call against one of the site's limits. Raises TooManyRequests."""
        wait = self._site.wait_seconds(action, subject)
        if wait:
            error = TooManyRequests("too many requests", hint=f"wait {wait:.0f} seconds")
            error.retry_after_s = max(1, round(wait + 0.5))
            raise error

    def _named(self, request: HTTPConnection) -> P | None:
        visitors = self._site.visitors
        if not visitors.is_named(request):
            return None
        claim = request.headers.get("authorization")
        if claim is not None:
            scheme, _, token = claim.partition(" ")
            signed_in = visitors.sessions.of(token.strip()) if scheme.lower() == "bearer" else None
            if signed_in is None:
                raise AccessDenied("the bearer token is invalid or has expired", hint="sign in again")
            bearer: P = signed_in.person
            return bearer
        visitor = visitors.of(request)
        known = visitor.knows(request.headers.get("x-csrf-token", ""))
        if visitor.person is not None and request.scope["method"] not in _SAFE and not known:
            raise AccessDenied(
                "the session's CSRF token is missing or wrong", hint="send it in X-CSRF-Token, or use a bearer token"
            )
        person: P | None = visitor.person
        return person
