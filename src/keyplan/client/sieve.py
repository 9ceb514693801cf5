"""What a key condition lets through besides the answer, and how it is kept out.

One condition may have to serve several entities, whose keys lie in several intervals; and some bounds that exclude
their end are asked for with it. What is read is compared with each entity's own interval, and with the ranges
themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keyplan.client.bounds import Interval, interval_of
from keyplan.design.compiled.plans import QueryPlan
from keyplan.design.declared.entity import Entity
from keyplan.design.declared.parameters import Range

__all__ = ["Sieve", "sieve_of"]


@dataclass(frozen=True, slots=True)
class Sieve:
    """Lets through the items of one call's answer."""

    ranges: tuple[tuple[str, Range[Any]], ...]
    intervals: Mapping[type[Entity], tuple[tuple[str, Interval], ...]]

    def passes(self, instance: Entity, item: Mapping[str, Mapping[str, Any]]) -> bool:
        """Whether an item of one of the plan's entities belongs to the answer."""
        for attribute, interval in self.intervals.get(type(instance), ()):
            if not interval.holds(item[attribute][interval.kind]):
                return False
        return all(bound.holds(getattr(instance, name)) for name, bound in self.ranges)


def sieve_of(plan: QueryPlan, values: Mapping[str, Any]) -> Sieve | None:
    """The sieve for the values of one call; None where the key condition says everything."""
    if plan.one_interval:
        return None
    ranges = tuple((name, value) for name, value in values.items() if value.__class__ is Range)
    intervals: dict[type[Entity], tuple[tuple[str, Interval], ...]] = {}
    if len(plan.matches) > 1:
        for match in plan.matches:
            own = ((part.attribute.name, interval_of(part, values)) for part in match.sort)
            intervals[match.entity.cls] = tuple(own)
    return Sieve(ranges, intervals) if ranges or intervals else None
