"""Authorization of the REST API, as a table of rules.

Parameters that must be the caller's id are filled in here, never taken from the caller. ``keyplan_systems.site.policy``
identifies and counts callers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from keyplan import Page
from keyplan.errors import AccessDenied, ItemNotFound
from keyplan_systems.pages.people import Person
from keyplan_systems.pages.site import SmallSite
from keyplan_systems.site.policy import BasePolicy


@dataclass(frozen=True)
class Rule:
    """Who can call a pattern: ``anyone``, a ``person`` who is signed in, or a role. ``own`` are the parameters with the
    caller's id. ``check`` validates the arguments, and raises the error of the response.
    """

    who: str = "person"
    own: tuple[str, ...] = ()
    check: Callable[[Person | None, dict[str, Any]], None] | None = None
    shown: Callable[[Person | None, Sequence[Any]], list[Any]] | None = None
    """Returns the items of a result that the caller can see."""
    done: Callable[[Mapping[str, Any]], None] | None = None
    """Called with the arguments after a successful call."""


class TablePolicy(BasePolicy[Person]):
    """A policy (``keyplan.web.policy.Policy``) defined by a table: the API doesn't have patterns without a rule."""

    def __init__(self, site: SmallSite[Any], rules: Mapping[str, Rule]) -> None:
        unknown = rules.keys() - site.design.compiled.patterns.keys()
        assert not unknown, unknown  # noqa: S101 - checks a table in this repository
        super().__init__(site)
        self.site = site
        self.rules = rules
        self.patterns: Collection[str] = frozenset(rules)
        self.closed: Collection[str] = frozenset(name for name, rule in rules.items() if rule.who != "anyone")

    def filled(self, pattern: str) -> Collection[str]:
        return self.rules[pattern].own

    def fill(self, pattern: str, caller: Person | None) -> Mapping[str, Any]:
        return {} if caller is None else dict.fromkeys(self.filled(pattern), caller.user_id)

    def admit(self, pattern: str, arguments: dict[str, Any], caller: Person | None) -> dict[str, Any]:
        """Return the arguments to call with. A write counts against the site's limit for forms. Raises AccessDenied,
        TooManyRequests, and ItemNotFound for items that the caller can't access.
        """
        rule = self.rules[pattern]
        if rule.who not in {"anyone", "person"} and (caller is None or rule.who not in caller.roles):
            raise AccessDenied(f"{pattern} requires the role {rule.who}", place=pattern)
        if pattern in self.site.design.compiled.writes:
            self.count("write", "anonymous" if caller is None else caller.user_id)
            self.check_texts(pattern, arguments)
        if rule.check is not None:
            rule.check(caller, arguments)
        return arguments

    def shown(self, pattern: str, arguments: Mapping[str, Any], answer: Any, caller: Person | None) -> Any:
        rule = self.rules[pattern]
        if rule.done is not None:
            rule.done(arguments)
        if rule.shown is None or answer is None:
            return answer
        if isinstance(answer, list):
            return rule.shown(caller, answer)
        if isinstance(answer, Page):
            return replace(answer, items=rule.shown(caller, answer.items))
        if not rule.shown(caller, [answer]):
            raise ItemNotFound("the item doesn't exist", place=pattern)
        return answer
