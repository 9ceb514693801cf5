"""What patterns take at their peak, as numbers: how they are estimated is in ``demand.py``."""

from __future__ import annotations

from dataclasses import dataclass, field

from keyplan.dynamodb.limits import PARTITION_READ_UNITS_MAX, PARTITION_WRITE_UNITS_MAX
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey

__all__ = ["BusiestPartition", "Demand", "Demands", "busiest_partitions"]


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


@dataclass(frozen=True, slots=True)
class BusiestPartition:
    """What all patterns take of the busiest partition of one place, by the same templates; ``kind``: of unit."""

    place: str
    templates: tuple[str, ...]
    kind: str
    demands: tuple[Demand, ...]

    @property
    def limit(self) -> int:
        """Units a second that one partition gives."""
        return PARTITION_WRITE_UNITS_MAX if self.kind == "write" else PARTITION_READ_UNITS_MAX

    @property
    def per_second(self) -> float:
        """Units a second that are taken of it."""
        return sum(demand.per_second for demand in self.demands)

    @property
    def worst(self) -> Demand:
        """The pattern that takes most."""
        return max(self.demands, key=lambda demand: demand.per_second)


def busiest_partitions(demands: Demands) -> list[BusiestPartition]:
    """The busiest partitions, each with all that is taken of it."""
    groups: dict[tuple[str, tuple[str, ...], str], list[Demand]] = {}
    for partition in demands.partitions:
        sources = tuple(template.source for _, template in partition.key.partition)
        groups.setdefault((partition.key.place, sources, partition.kind), []).append(partition)
    return [BusiestPartition(*group, tuple(own)) for group, own in groups.items()]
