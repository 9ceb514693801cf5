"""The number of items that a call of a read finds, from the traffic file or assumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyplan.analysis.traffic.traffic_file import Traffic
from keyplan.errors import ArgumentError, KeyFieldError
from keyplan.model.compiled.constants import domain_of
from keyplan.model.compiled.plans import QueryPlan, ReadPattern, ScanPlan, ThroughPlan
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.pattern_load import Load
from keyplan.model.stored.stored_entity import CompiledEntity

ITEMS_ASSUMED = 10
"""The assumed number of items of a read, keys of a batch, and values of an ``Each``."""


class Finds:
    """Estimates the number of items that each read of a design finds, from the design's traffic."""

    def __init__(self, traffic: Traffic) -> None:
        self.traffic = traffic

    def load(self, pattern: ReadPattern) -> Load:
        return self.traffic.patterns.get(pattern.name, Load())

    def arguments(self, pattern: ReadPattern) -> dict[str, Any]:
        """The arguments of a typical call, from the traffic file. Raises Problem if an argument is invalid."""
        given = self.load(pattern).arguments
        try:
            return {} if not given else pattern.signature.some(given)
        except ArgumentError as error:
            raise Problem(f"the arguments of {pattern.name} in the traffic file are invalid: {error}") from None

    def buckets(self, pattern: ReadPattern, arguments: Mapping[str, Any] | None = None) -> int | None:
        """The number of time buckets that a call with these arguments reads; None if unknown. Raises Problem."""
        buckets = pattern.buckets
        if buckets is None:
            return 1
        given = self.arguments(pattern) if arguments is None else arguments
        try:
            return buckets.count(given.get(buckets.field))
        except (ArgumentError, KeyFieldError) as error:
            raise Problem(str(error)) from None

    def values(self, pattern: ReadPattern, each: str) -> int:
        """The assumed number of values of an ``Each``, at most the number of values of its type."""
        parameter = pattern.signature.by_name.get(each)
        domain = None if parameter is None else domain_of(parameter.value_type)
        return ITEMS_ASSUMED if domain is None else min(ITEMS_ASSUMED, len(domain))

    def items(self, pattern: ReadPattern, arguments: Mapping[str, Any]) -> int:
        """The number of items that a typical call within a write finds."""
        limit = self.limit(pattern, arguments)
        count = int(self.count(pattern, limit, within_a_write=True)[0])
        return count if limit is None else min(count, limit)

    def limit(self, pattern: ReadPattern, arguments: Mapping[str, Any]) -> int | None:
        """The limit of a call: the argument, or the parameter's default, or an assumed limit without a default."""
        parameter = pattern.limit
        if parameter is None:
            return None
        given = arguments.get(parameter.name, ITEMS_ASSUMED if parameter.required else parameter.default)
        return None if given is None else int(given)

    def count(
        self, pattern: ReadPattern, limit: int | None, *, within_a_write: bool, buckets: int = 1
    ) -> tuple[float, str | None]:
        """The number of items that match before the limit applies, and the assumption, if the number is unknown."""
        load = self.load(pattern)
        if load.items is not None:
            return load.items, None
        held = self._held(pattern)
        if held is not None:
            return held * buckets, None
        if limit is not None and pattern.shape.kind is not ShapeKind.ITERATOR and not within_a_write:
            return (limit + 2) / (load.kept or 1), f"more items match than the limit of {limit}"
        return ITEMS_ASSUMED, f"{ITEMS_ASSUMED} items match: set items in the traffic file"

    def _held(self, pattern: ReadPattern) -> float | None:
        """The number of items of the result's entities in a partition, or in the table, from the traffic file."""
        plan = pattern.plan
        if isinstance(plan, ScanPlan) and plan.index is not None:
            return None  # the number of index entries is unknown
        if isinstance(plan, ScanPlan):
            counts = [stored.count for stored in self.traffic.entities.values()]
            return sum(count or 0 for count in counts) if any(counts) else None
        query = plan.junction if isinstance(plan, ThroughPlan) else plan
        if not isinstance(query, QueryPlan) or query.index is not None:
            return None
        usual = [self.per_partition(match.entity) for match in query.matches]
        return sum(number or 0 for number in usual) if any(usual) else None

    def per_partition(self, entity: CompiledEntity) -> int | None:
        """The number of items of an entity in an item collection; None if unknown."""
        stored = self.traffic.entities.get(entity.name)
        return None if stored is None or stored.per_partition is None else int(stored.per_partition)
