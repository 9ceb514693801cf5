"""What is there for one typical call of a read: how many items, how large, in how many partitions.

Numbers come from the traffic file and the decorators; where neither says one, it is assumed, and told as a note. Which
requests are made for it is ``reading.py``'s affair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keyplan import values
from keyplan.cost.reading import End, Found, Met, Stretch, requests_of
from keyplan.cost.units import Line, Request
from keyplan.design.entity import CompiledEntity
from keyplan.design.keys import CompiledKey
from keyplan.design.plans import (
    BatchGetPlan,
    ClaimPlan,
    GetPlan,
    KeyMatch,
    QueryPlan,
    ReadPattern,
    ScanPlan,
    ThroughPlan,
)
from keyplan.design.shapes import ShapeKind
from keyplan.design.sizes import entry_bytes
from keyplan.design.traffic import Load, Traffic
from keyplan.design.typical import Typical

__all__ = ["ITEMS_ASSUMED", "Facts", "ReadCost", "multiplied"]

ITEMS_ASSUMED = 10
"""Items that a question finds, keys of a batch, values of an ``Each``: where nobody says."""
SIMULATED_MAX = 20_000
"""Items that a read is gone through by one by one; of more, the units are taken in proportion."""


@dataclass(frozen=True)
class ReadCost:
    """The requests of one typical call of a read. ``notes`` tells what was assumed."""

    requests: list[Request]
    notes: tuple[str, ...] = ()


@dataclass
class Facts:
    """Typical finds of a design's reads."""

    typical: Typical
    traffic: Traffic
    _notes: list[str] = field(default_factory=list[str])
    _arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    _within_a_write: bool = False

    def read(
        self,
        pattern: ReadPattern,
        *,
        arguments: Mapping[str, Any] | None = None,
        strongly: bool = False,
        nothing: bool = False,
    ) -> ReadCost:
        """The requests of one typical call, or of one that finds ``nothing``. ``arguments``, where they are known, say
        the limit and how many values an ``Each`` has. Raises Problem for an entity without a typical item.
        """
        self._notes = []
        self._arguments = arguments or {}
        self._within_a_write = strongly
        if nothing:
            partitions = getattr(pattern.plan, "shards", 1)
            return ReadCost(requests_of(pattern, Found(stretches=(Stretch(),) * partitions), 1, strongly=strongly))
        load = self.traffic.patterns.get(pattern.name, Load())
        limit = self._limit(pattern)
        found, times = self._found(pattern, load, limit)
        requests = requests_of(pattern, found, limit, strongly=strongly)
        if times != 1:
            why = f"since {SIMULATED_MAX:,} items were gone through"
            requests = [multiplied(one, times, why) for one in requests]
        return ReadCost(requests, tuple(dict.fromkeys(self._notes)))

    def items(self, pattern: ReadPattern, arguments: Mapping[str, Any]) -> int:
        """How many items a typical call within a write finds, before a limit."""
        self._notes = []
        self._arguments = arguments
        self._within_a_write = True
        load = self.traffic.patterns.get(pattern.name, Load())
        return int(self._count(pattern, load, self._limit(pattern)))

    # How many

    def _limit(self, pattern: ReadPattern) -> int | None:
        """The limit of a call: as given, or the default, or a page's usual length where a call must give one."""
        parameter = pattern.limit
        if parameter is None:
            return None
        if parameter.name in self._arguments:
            given = self._arguments[parameter.name]
            return None if given is None else int(given)
        default = ITEMS_ASSUMED if parameter.required else parameter.default
        return None if default is None else int(default)

    def _count(self, pattern: ReadPattern, load: Load, limit: int | None) -> float:
        if load.items is not None:
            return load.items
        held = self._held(pattern)
        if held is not None:
            return held
        if limit is not None and pattern.shape.kind is not ShapeKind.ITERATOR and not self._within_a_write:
            self._notes.append(f"more than the limit of {limit} items are there")
            return (limit + 2) / (load.kept or 1)
        self._notes.append(f"{ITEMS_ASSUMED} items assumed: say items in the traffic file")
        return ITEMS_ASSUMED

    def _held(self, pattern: ReadPattern) -> float | None:
        """How many items a partition of the answer's entities has, by the traffic file."""
        plan = pattern.plan
        if isinstance(plan, ScanPlan):
            counts = [stored.count for stored in self.traffic.entities.values()]
            return sum(one or 0 for one in counts) if any(counts) else None
        query = plan.junction if isinstance(plan, ThroughPlan) else plan
        if not isinstance(query, QueryPlan):
            return None
        usual = [self._per_partition(match.entity) for match in query.matches]
        return sum(one or 0 for one in usual) if any(usual) else None

    def _per_partition(self, entity: CompiledEntity) -> float | None:
        stored = self.traffic.entities.get(entity.name)
        return None if stored is None else stored.per_partition

    def _values(self, each: str) -> int | None:
        """How many values an ``Each`` has, where the arguments are known."""
        given = self._arguments.get(each)
        return None if given is None else len(given)

    # What is there

    def _found(self, pattern: ReadPattern, load: Load, limit: int | None) -> tuple[Found, float]:
        plan = pattern.plan
        match plan:
            case GetPlan():
                return Found((load.item_bytes or self._item_bytes(plan.entity),)), 1
            case ClaimPlan():
                return Found((self._claim_bytes(plan.entity, plan.claim), self._item_bytes(plan.entity))), 1
            case BatchGetPlan():
                count = self._values(plan.each) or int(self._count(pattern, load, None))
                return Found((load.item_bytes or self._item_bytes(plan.entity),) * count), 1
            case ThroughPlan():
                return self._through(pattern, plan, load, limit)
            case ScanPlan():
                return self._scanned(pattern, plan, load, limit)
            case QueryPlan():
                kinds = self._kinds(plan, load)
                if pattern.shape.kind is ShapeKind.COLLECTION and load.items is None:
                    kinds = self._collection(pattern, kinds)
                    return Found(stretches=self._spread(plan, kinds, len(kinds), 1, None)), 1
                one = pattern.shape.kind is ShapeKind.ONE and load.items is None
                wanted = 1 / (load.kept or 1) if one else self._count(pattern, load, limit)
                count, times = _capped(wanted, limit)
                return Found(stretches=self._spread(plan, kinds, count, load.kept or 1, None)), times

    def _collection(self, pattern: ReadPattern, kinds: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        """One item of each member, and of a list's entity as many as a partition has."""
        sizes = dict(kinds)
        found: list[tuple[str, int]] = []
        for member in pattern.shape.members:
            name = member.entity.__name__
            usual = self._per_partition(self.typical.design.by_name[name]) if member.many else 1
            if usual is None:
                usual = ITEMS_ASSUMED
                self._notes.append(
                    f"{ITEMS_ASSUMED} {name} in a collection assumed: say per_partition in the traffic file"
                )
            found += [(name, sizes[name])] * int(usual)
        return found

    def _through(self, pattern: ReadPattern, plan: ThroughPlan, load: Load, limit: int | None) -> tuple[Found, float]:
        junction = plan.junction
        if isinstance(junction, GetPlan):
            size = load.item_bytes or self._item_bytes(junction.entity)
            return Found((size,), link=self._end(plan, 0, limit)), 1
        if isinstance(junction, ClaimPlan):
            claim = self._claim_bytes(junction.entity, junction.claim)
            return Found((claim, self._item_bytes(junction.entity)), link=self._end(plan, 0, limit)), 1
        one = pattern.shape.kind is ShapeKind.ONE and load.items is None
        wanted = 1 if one else self._count(pattern, load, None if isinstance(plan.end, QueryPlan) else limit)
        ways = [self._way(way, wanted, load, limit) for way in plan.ways]
        return Found(stretches=ways[0][0], also=tuple(stretches for stretches, _ in ways[1:])), ways[0][1]

    def _way(
        self, plan: ThroughPlan, wanted: float, load: Load, limit: int | None
    ) -> tuple[tuple[Stretch, ...], float]:
        """The items of one junction, each with what it leads to."""
        junction = plan.junction
        assert isinstance(junction, QueryPlan)  # noqa: S101 - the others lead to one end
        count, times = _capped(wanted, None if isinstance(plan.end, QueryPlan) else limit)
        return self._spread(junction, self._kinds(junction, load), count, load.kept or 1, (plan, limit)), times

    def _end(self, plan: ThroughPlan, position: int, limit: int | None) -> End:
        """What one junction's item leads to."""
        if isinstance(plan.end, GetPlan):
            return End(position, self._item_bytes(plan.end.entity))
        usual = self._per_partition(plan.end.matches[0].entity)
        if usual is None:
            usual = ITEMS_ASSUMED if limit is None else limit + 2
            self._notes.append(
                f"{usual} items in each {plan.end.matches[0].entity.name} partition assumed: say per_partition"
            )
        count = int(usual if limit is None else min(usual, limit + 2))
        return End(position, None, self._spread(plan.end, self._kinds(plan.end, Load()), count, 1, None))

    def _scanned(self, pattern: ReadPattern, plan: ScanPlan, load: Load, limit: int | None) -> tuple[Found, float]:
        own = {entity.name for entity in plan.entities}
        counts = {name: stored.count for name, stored in self.traffic.entities.items() if stored.count}
        weights = counts or dict.fromkeys(own, 1.0)
        count, times = _capped(self._count(pattern, load, limit), limit)
        total = sum(weights.values())
        met: list[Met] = []
        for name, weight in weights.items():
            size = load.item_bytes or self._item_bytes(self.typical.design.by_name[name])
            start = len(met)
            share = round(count * weight / total)
            met += [Met(size, name if name in own else None, (start + at,)) for at in range(share)]
        return Found(stretches=(Stretch(met),)), times

    def _spread(
        self,
        plan: QueryPlan,
        kinds: Sequence[tuple[str, int]],
        count: int,
        kept: float,
        ends: tuple[ThroughPlan, int | None] | None,
    ) -> tuple[Stretch, ...]:
        """Items spread evenly over the partitions that a query reads, in the order of its answer."""
        partitions = plan.shards
        if plan.each is not None:
            values_of_each = self._values(plan.each)
            if values_of_each is None:
                self._notes.append(f"{ITEMS_ASSUMED} values of {plan.each} assumed")
            partitions *= values_of_each or ITEMS_ASSUMED
        met: list[list[Met]] = [[] for _ in range(partitions)]
        for at in range(count):
            name, size = kinds[at % len(kinds)]
            passes = int((at + 1) * kept) > int(at * kept)
            end = None if ends is None else self._end(ends[0], at, ends[1])
            met[at % partitions].append(Met(size, name if passes else None, (at,), end))
        return tuple(Stretch(one) for one in met)

    # How large

    def _kinds(self, plan: QueryPlan, load: Load) -> list[tuple[str, int]]:
        return [(match.entity.name, load.item_bytes or self._match_bytes(plan, match)) for match in plan.matches]

    def _match_bytes(self, plan: QueryPlan, match: KeyMatch) -> int:
        """What a query reads of one typical item: all of it, or its entry in the index."""
        if plan.index is None:
            return self._item_bytes(match.entity)
        found = self.typical.sizes(match.entity).entries.get(plan.index.name)
        if found is not None:
            return found
        known = {name: allowed[0] for name, allowed in match.key.when.items()}
        instance = self.typical.instance(match.entity, known)
        entries: Mapping[str, int] = entry_bytes(self.typical.design.table, self.typical.item(instance))
        return entries.get(plan.index.name, self._item_bytes(match.entity))

    def _item_bytes(self, entity: CompiledEntity) -> int:
        return self.typical.sizes(entity).item_bytes

    def _claim_bytes(self, entity: CompiledEntity, claim: CompiledKey) -> int:
        found = entity.field_values(self.typical.instance(entity))
        return values.item_size(entity.claim_item(claim, found))


def _capped(count: float, limit: int | None) -> tuple[int, float]:
    """How many items to go through, and what the units are multiplied by."""
    if limit is not None or count <= SIMULATED_MAX:
        return int(min(count, SIMULATED_MAX)), 1
    return SIMULATED_MAX, count / SIMULATED_MAX


def multiplied(request: Request, times: float, why: str) -> Request:
    """The request with its units multiplied; ``why`` goes into the arithmetic."""
    lines = (
        Line(one.direction, one.target, one.units * times, f"{one.why}; × {times:g}, {why}") for one in request.lines
    )
    return Request(request.operation, tuple(lines))
