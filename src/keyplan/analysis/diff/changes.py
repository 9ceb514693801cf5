"""A change between two designs: its severity for deployed data, its effect, and what to do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from functools import partial
from typing import Any


class Severity(Enum):
    """The severity of a change, highest first."""

    BREAKING = "breaking"
    """The new design fails on deployed data, or returns wrong results, until you act."""
    MIGRATION = "migration"
    """The design works, but existing items aren't found, protected or cleaned up until you migrate them."""
    API = "api"
    """The data is unaffected; code that calls the design must change."""
    SAFE = "safe"
    """Nothing to do."""

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Change:
    """One change between two designs. ``code`` is the stable name of the kind of change, and ``place`` is a path, such
    as ``Shop.Order.by_merchant``. ``what`` describes the difference, ``effect`` the consequence for deployed data or
    for callers, and ``action`` the required work, if any. Code in an action is between backticks.
    """

    severity: Severity
    code: str
    place: str
    what: str
    effect: str = ""
    action: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"severity": self.severity.value}


breaking = partial(Change, Severity.BREAKING)
migration = partial(Change, Severity.MIGRATION)
api = partial(Change, Severity.API)
safe = partial(Change, Severity.SAFE)
