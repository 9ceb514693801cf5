"""A change between two designs: how grave it is for what is deployed, what it does, and what is to be done about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

__all__ = ["Change", "Severity"]


class Severity(Enum):
    """How grave a change is, the gravest first."""

    BREAKING = "breaking"
    """The new design fails on the deployed data, or answers wrongly, until something has been done."""
    MIGRATION = "migration"
    """It works, but items written before aren't found, protected or cleaned up, until something has been done."""
    API = "api"
    """The data stays as it is; code that calls the design must change."""
    SAFE = "safe"
    """Nothing needs to be done before."""

    @property
    def rank(self) -> int:
        """0 for the gravest."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Change:
    """One change. ``code`` is stable; ``place`` is a path such as ``Shop.Order.by_merchant``; ``what`` says what is
    different, ``effect`` what that does to deployed data or to callers, ``action`` what to do, where there is anything.
    """

    severity: Severity
    code: str
    place: str
    what: str
    effect: str = ""
    action: str = ""

    def as_json(self) -> dict[str, Any]:
        """The change as JSON data."""
        return {
            "severity": self.severity.value,
            "code": self.code,
            "place": self.place,
            "what": self.what,
            "effect": self.effect,
            "action": self.action,
        }
