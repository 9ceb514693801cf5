"""Filters for items that match a key condition but not the access pattern.

One condition can serve several entities with different intervals; an exclusive bound can be read inclusively; and a
prefix of an unescaped value can extend into the next value. Each item is compared with its entity's interval and with
the ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from keyplan.client.key_conditions import Interval, interval_of
from keyplan.model.compiled.plans import QueryPlan
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.parameters import InvalidItem, Range
from keyplan.model.stored.key_templates import Variable
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["AnswerFilter", "answer_filter_of"]

Item = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class AnswerFilter:
    """Accepts the items that belong to one call's result."""

    ranges: tuple[tuple[str, Range[Any]], ...]
    intervals: Mapping[type[Entity], tuple[tuple[str, Interval], ...]]
    readers: Mapping[type[Entity], Callable[[Item], Entity]] = field(default_factory=dict[Any, Any])
    """How to read items whose instances lack the fields of the ranges: those of views."""
    ranks: Mapping[str, Callable[[Any], int]] = field(default_factory=dict[str, Any])
    """The order of fields without a natural order."""
    equal: Mapping[type[Entity], tuple[CompiledEntity, Mapping[str, Any]]] = field(default_factory=dict[Any, Any])
    """Fields of unescaped keys, in which different values can have the same key."""

    def passes(self, instance: Any, item: Item) -> bool:
        """Whether an item of one of the plan's entities belongs to the result."""
        if type(instance) is InvalidItem:
            return True  # its fields are unknown: trust the key condition
        if type(instance) in self.equal:
            entity, values = self.equal[type(instance)]
            if not entity.holds(item, values):
                return False
        for attribute, interval in self.intervals.get(type(instance), ()):
            if not interval.holds(item[attribute][interval.kind]):
                return False
        if self.readers and self.ranges and type(instance) in self.readers:
            instance = self.readers[type(instance)](item)
        if self.ranks:
            return all(
                bound.ranked(self.ranks[name]).holds(self.ranks[name](getattr(instance, name)))
                if name in self.ranks
                else bound.holds(getattr(instance, name))
                for name, bound in self.ranges
            )
        return all(bound.holds(getattr(instance, name)) for name, bound in self.ranges)


def answer_filter_of(plan: QueryPlan, values: Mapping[str, Any]) -> AnswerFilter | None:
    """The filter for the values of one call; None if the key condition is sufficient."""
    equal: dict[type[Entity], tuple[CompiledEntity, Mapping[str, Any]]] = {}
    for match in plan.matches:
        if match.key.is_raw:
            known = [*(v.field for _, template in match.key.partition for v in template.variables)]
            known += [v.field for part in match.sort for v in part.known if isinstance(v, Variable)]
            equal[match.entity.gives] = (match.entity, {name: values[name] for name in known if name in values})
    if plan.one_interval:
        return AnswerFilter((), {}, equal=equal) if equal else None
    ranges = tuple((name, value) for name, value in values.items() if value.__class__ is Range)
    intervals: dict[type[Entity], tuple[tuple[str, Interval], ...]] = {}
    for match in plan.matches:
        own = tuple((part.attribute.name, interval_of(part, values)) for part in match.sort)
        if len(plan.matches) > 1 or any(interval.ends for _, interval in own):
            intervals[match.entity.gives] = own
    return AnswerFilter(ranges, intervals, plan.sifted, plan.ranks, equal) if ranges or intervals or equal else None
