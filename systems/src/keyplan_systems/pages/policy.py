"""Who may call which pattern of the API, and as whom: a table, as ``keyplan.web`` asks it of an application.

A caller is known by the session's cookie, as pages are, or by a session's text as a bearer token. With the cookie a
write also needs the form token of that session, in the header ``X-CSRF-Token``. What a rule says to be the caller is
filled in here, and never taken from the caller.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import HTTPConnection

from keyplan import Page
from keyplan.errors import AccessDenied, ItemNotFound, TooManyRequests
from keyplan_systems.pages.people import Person
from keyplan_systems.pages.site import SmallSite

__all__ = ["Rule", "TablePolicy"]

_SAFE = {"GET", "HEAD", "OPTIONS"}


@dataclass(frozen=True)
class Rule:
    """Who may call a pattern: ``anyone``, a ``person`` who is signed in, or a role. ``own`` are the parameters that are
    the caller's id. ``check`` looks at the arguments besides, and raises what the caller is answered.
    """

    who: str = "person"
    own: tuple[str, ...] = ()
    check: Callable[[Person | None, dict[str, Any]], None] | None = None
    shown: Callable[[Person | None, Any], bool] | None = None
    """Whether an answer, or an entry of one, is there for the caller."""
    done: Callable[[Mapping[str, Any]], None] | None = None
    """What is done with the arguments of a call that was carried out."""


class TablePolicy:
    """An application's word on its API (``keyplan.web.policy.Policy``): what the table doesn't name isn't there."""

    def __init__(self, site: SmallSite[Any], rules: Mapping[str, Rule]) -> None:
        unknown = rules.keys() - site.design.compiled.patterns.keys()
        assert not unknown, unknown  # noqa: S101 - a slip in a table of this repository
        self.site = site
        self.rules = rules
        self.patterns: Collection[str] = frozenset(rules)
        self.closed: Collection[str] = frozenset(name for name, rule in rules.items() if rule.who != "anyone")

    @property
    def security(self) -> Mapping[str, Mapping[str, Any]]:
        """How a caller makes itself known."""
        if self.site.people is None:
            return {}
        return {
            "bearer": {"type": "http", "scheme": "bearer", "description": "A session's text."},
            "session": {
                "type": "apiKey",
                "in": "cookie",
                "name": self.site.visitors.session_cookie,
                "description": "The cookie of a sign-in. Writes need the session's form token in X-CSRF-Token, too.",
                "x-form-token-cookie": self.site.visitors.names.form_token,
            },
        }

    def filled(self, pattern: str) -> Collection[str]:
        """The parameters that the caller doesn't give."""
        return self.rules[pattern].own

    def caller(self, request: HTTPConnection) -> Person | None:
        """Who makes a request. Raises AccessDenied for a token or a session that isn't one."""
        if not self.site.visitors.is_named(request):
            return None
        claim = request.headers.get("authorization")
        if claim is not None:
            scheme, _, signed = claim.partition(" ")
            person = self.site.sessions.person(signed.strip(), time.time()) if scheme.lower() == "bearer" else None
            if person is None:
                raise AccessDenied("the token isn't one, or is over", hint="sign in again")
            return person
        visitor = self.site.visitor(request)
        known = visitor.knows(request.headers.get("x-csrf-token", ""))
        if visitor.person is not None and request.scope["method"] not in _SAFE and not known:
            raise AccessDenied(
                "the session's form token is missing or wrong", hint="send it in X-CSRF-Token, or use a bearer token"
            )
        return visitor.person

    def fill(self, pattern: str, caller: Person | None) -> Mapping[str, Any]:
        """The caller's id wherever it is asked for."""
        return {} if caller is None else dict.fromkeys(self.filled(pattern), caller.user_id)

    def admit(self, pattern: str, arguments: dict[str, Any], caller: Person | None) -> dict[str, Any]:
        """Return the arguments to call with. A write counts against the site's limit for forms. Raises AccessDenied,
        TooManyRequests, and ItemNotFound for items that the caller can't access.
        """
        rule = self.rules[pattern]
        if rule.who not in {"anyone", "person"} and (caller is None or rule.who not in caller.roles):
            raise AccessDenied(f"{pattern} is for those who are {rule.who}", place=pattern)
        if pattern in self.site.design.compiled.writes:
            wait = self.site.wait_seconds("write", "anonymous" if caller is None else caller.user_id)
            if wait:
                error = TooManyRequests("too many writes", place=pattern, hint=f"wait {wait:.0f} seconds")
                error.retry_after_s = max(1, round(wait + 0.5))
                raise error
        if rule.check is not None:
            rule.check(caller, arguments)
        return arguments

    def shown(self, pattern: str, arguments: Mapping[str, Any], answer: Any, caller: Person | None) -> Any:
        """The answer, but for what isn't there for the caller."""
        rule = self.rules[pattern]
        if rule.done is not None:
            rule.done(arguments)
        is_shown = rule.shown
        if is_shown is None or answer is None:
            return answer
        if isinstance(answer, list):
            return [value for value in answer if is_shown(caller, value)]
        if isinstance(answer, Page):
            return replace(answer, items=[value for value in answer.items if is_shown(caller, value)])
        if not is_shown(caller, answer):
            raise ItemNotFound("it isn't there", place=pattern)
        return answer
