"""What patterns take at their peak, as numbers: how they are estimated is in ``demand.py``."""

from __future__ import annotations

from dataclasses import dataclass, field

from keyplan.design.stored.entity import CompiledEntity
from keyplan.design.stored.keys import CompiledKey

__all__ = ["Demand", "Demands"]


@dataclass(frozen=True, slots=True)
class Demand:
    """What one pattern takes of the busiest partition of a key, in units a second. ``line`` is the arithmetic.
    ``one_item``: most of it goes to a single item, which no shards spread.
    """

    entity: CompiledEntity
    key: CompiledKey
    kind: str
    per_second: float
    line: str
    one_item: bool = False


@dataclass
class Demands:
    """All that is taken. ``totals``: by place and kind of unit, each pattern with its units a second; ``partitions``:
    what is taken of busiest partitions.
    """

    totals: dict[tuple[str, str], list[tuple[str, float]]] = field(default_factory=dict)
    partitions: list[Demand] = field(default_factory=list)
