"""What a write changes: one item before and after it. What that costs is in ``keyplan.analysis.cost.item_changes``."""

from __future__ import annotations

from dataclasses import dataclass

from keyplan.dynamodb import values
from keyplan.dynamodb.values import Item

__all__ = ["Mutation"]


@dataclass(frozen=True)
class Mutation:
    """One item before and after a write; None: it isn't there. A condition alone leaves it as it is.

    ``what`` names it in words: ``Create Article``.
    """

    what: str
    before: Item | None
    after: Item | None

    @property
    def size_bytes(self) -> int:
        """What the table's units are counted by: the larger of before and after."""
        return max(values.item_size(element) if element is not None else 0 for element in (self.before, self.after))
