"""The items that a typical call of a read finds: how many, how large, in how many partitions.

The traffic file and the decorators set the numbers; others are assumed, and noted. ``simulated_reads.py`` predicts
the requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keyplan.analysis.cost.read_ranges import End, ExpectedItem, ExpectedRange, Found
from keyplan.analysis.cost.simulated_reads import requests_of
from keyplan.analysis.cost.unit_counts import Line, Request, mixed
from keyplan.analysis.traffic.item_counts import ITEMS_ASSUMED, Finds
from keyplan.analysis.traffic.traffic_file import Traffic
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.client.key_conditions import COMBINATIONS_MAX
from keyplan.model.compiled.collisions import neighbours
from keyplan.model.compiled.plans import (
    BatchGetPlan,
    ClaimPlan,
    GetPlan,
    KeyMatch,
    Plan,
    QueryPlan,
    ReadPattern,
    ScanPlan,
    ThroughPlan,
)
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.pattern_load import Load
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey

__all__ = ["Facts", "ReadCost", "multiplied"]

SIMULATED_MAX = 20_000
"""Items that are simulated one by one; beyond that, units are scaled."""
ENDS_SIMULATED_MAX = 200_000
"""The same, of the items that a page's junction leads to: what is beyond the page's end isn't read."""
BUCKETS_ASSUMED = 2
"""Assumed time buckets of a range."""
PARTS_SIMULATED_MAX = 5_000
"""The same for iterators, which read the junction again for each part."""


@dataclass(frozen=True)
class ReadCost:
    """The requests of one typical call of a read. ``notes``: the assumptions."""

    requests: list[Request]
    notes: tuple[str, ...] = ()


class Facts:
    """Typical finds of a design's reads."""

    def __init__(self, typical: Typical, traffic: Traffic) -> None:
        self.typical = typical
        self.traffic = traffic
        self.finds = Finds(traffic)

    def read(
        self,
        pattern: ReadPattern,
        *,
        arguments: Mapping[str, Any] | None = None,
        strongly: bool = False,
        nothing: bool = False,
    ) -> ReadCost:
        """The requests of one typical call, or of one that finds ``nothing``.

        ``arguments`` set the limit and the number of values of an ``Each``. ``strongly``: the read is part of a
        write. Raises Problem for an entity without a typical item.
        """
        given = self.finds.arguments(pattern) if arguments is None else arguments
        pattern = pattern.as_called(given)
        finder = _Finder(self, pattern, given, within_a_write=strongly)
        if nothing:
            return ReadCost(requests_of(pattern, _emptied(finder.found()[0]), finder.limit, strongly=strongly))
        mixture = self._mixture(pattern)
        if mixture:
            calls = [(weight, facts.read(pattern, arguments=arguments, strongly=strongly)) for weight, facts in mixture]
            notes = tuple(dict.fromkeys(note for _, call in calls for note in call.notes))
            return ReadCost(mixed([(weight, call.requests) for weight, call in calls]), notes)
        result, times = finder.found()
        requests = requests_of(pattern, result, finder.limit, strongly=strongly)
        if times != 1:
            why = "since a part of the items was gone through"
            requests = [multiplied(request, times, why) for request in requests]
        return ReadCost(requests, tuple(dict.fromkeys(finder.notes)))

    def _mixture(self, pattern: ReadPattern) -> list[tuple[float, Facts]]:
        """The typical items of each combination of fields, with their weights; none if no share is set. An index
        doesn't contain items without its key fields.
        """
        names = {entity.name for entity in _entities_in(pattern.plan)}
        result = [(weight, typical) for weight, typical in self.typical.mixture(names) if _held(pattern.plan, typical)]
        return [(weight, Facts(typical, self.traffic)) for weight, typical in result if typical is not self.typical]

    def assumed_items(self, pattern: ReadPattern) -> float | None:
        """The assumed number of items that match a typical call; None if it is known, or nothing depends on it.
        Raises Problem.
        """
        finder = _Finder(self, pattern, self.finds.arguments(pattern), within_a_write=False)
        finder.found()
        return finder.assumed


class _Finder:
    """The items that one call of one read finds. ``notes``: the assumptions."""

    def __init__(
        self, facts: Facts, pattern: ReadPattern, arguments: Mapping[str, Any], *, within_a_write: bool
    ) -> None:
        self.facts = facts
        self.typical = facts.typical
        self.pattern = pattern
        self.arguments = arguments
        self.within_a_write = within_a_write
        self.load = facts.finds.load(pattern)
        self.limit = facts.finds.limit(pattern, arguments)
        self.notes: list[str] = []
        self.assumed: float | None = None
        """The number of items, if it isn't set."""

    # How many

    def count(self, limit: int | None) -> float:
        """The number of items before the limit."""
        finds = self.facts.finds
        number, note = finds.count(self.pattern, limit, within_a_write=self.within_a_write, buckets=self.buckets())
        if note is not None:
            self.notes.append(note)
            self.assumed = number
        return number

    def _values(self, each: str) -> int | None:
        """The number of values of an ``Each``, if the arguments are known."""
        given = self.arguments.get(each, self.pattern.constants.get(each))
        return None if given is None else len(given)

    def _values_assumed(self, each: str) -> int:
        """The number of values of an ``Each``: known, or assumed and noted."""
        known = self._values(each)
        if known is not None:
            return known
        assumed = self.facts.finds.values(self.pattern, each)
        self.notes.append(f"{assumed} values of {each} are given")
        return assumed

    def _keys_asked(self, plan: BatchGetPlan) -> float:
        """The number of keys of a batch: one per combination of values."""
        if self.load.items is not None and any(self._values(name) is None for name in plan.each):
            return self.load.items
        if all(self._values(name) is not None for name in plan.each):
            return math.prod(self._values_assumed(name) for name in plan.each)
        self.assumed = math.prod(self._values_assumed(name) for name in plan.each)
        return self.assumed

    def buckets(self) -> int:
        """How many buckets of time a call reaches over."""
        known = self.facts.finds.buckets(self.pattern, self.arguments)
        if known is not None:
            return known
        buckets = self.pattern.buckets
        assert buckets is not None  # noqa: S101 - else they are one
        self.notes.append(
            f"{BUCKETS_ASSUMED} {buckets.unit}s of {buckets.field} are read: set arguments in the traffic file"
        )
        return BUCKETS_ASSUMED

    # Found items

    def found(self) -> tuple[Found, float]:
        """The items, and the factor for the units."""
        plan, load = self.pattern.plan, self.load
        match plan:
            case GetPlan():
                return Found((load.item_bytes or self._item_bytes(plan.entity),)), 1
            case ClaimPlan():
                return Found((self._claim_bytes(plan.entity, plan.claim), self._item_bytes(plan.entity))), 1
            case BatchGetPlan():
                count, times = _capped(self._keys_asked(plan), None)
                return Found((load.item_bytes or self._item_bytes(plan.entity),) * count), times
            case ThroughPlan():
                return self._through(plan)
            case ScanPlan():
                return self._scanned(plan)
            case QueryPlan():
                return self._queried(plan)

    def _queried(self, plan: QueryPlan) -> tuple[Found, float]:
        kinds, kept = self._kinds(plan, self.load), self.load.kept or 1
        shape = self.pattern.shape.kind
        if shape is ShapeKind.COLLECTION and self.load.items is None:
            kinds, times = self._collection(kinds)
            count, kept = len(kinds), 1
        else:
            single = shape in {ShapeKind.ONE, ShapeKind.EXISTS} and self.load.items is None
            count, times = _capped(1 / kept if single else self.count(self.limit), self.limit)
        whole = len(plan.matches) > 1 and (shape is ShapeKind.COLLECTION or self.limit is None)
        result: list[tuple[ExpectedRange, ...]] = []
        for part in plan.parts:
            own = self._spread(plan, kinds, count, kept, of=part)
            result.append(self._among_others(part, own, times) if whole else own)
        return Found(stretches=result[0], also=tuple(result[1:])), times

    def _among_others(
        self, plan: QueryPlan, stretches: tuple[ExpectedRange, ...], times: float
    ) -> tuple[ExpectedRange, ...]:
        """The ranges, with the items of other entities between those of the read."""
        sizes: list[int] = []
        for entity, _ in neighbours(plan, self.typical.design.entities.values()):
            usual = self.facts.finds.per_partition(entity)
            if usual is None:
                self.notes.append(f"no {entity.name} is between: set per_partition in the traffic file")
            sizes += [self._item_bytes(entity)] * math.ceil((usual or 0) / times)
        if not sizes or not stretches or not stretches[0].met:
            return stretches
        first, *rest = stretches[0].met
        between = [ExpectedItem(size, None, (at / len(sizes) / 2 + 0.25,)) for at, size in enumerate(sizes)]
        return (ExpectedRange([first, *between, *rest], stretches[0].last_kind), *stretches[1:])

    def _collection(self, kinds: Sequence[tuple[str, int]]) -> tuple[list[tuple[str, int]], float]:
        """One item of each member, and of a list's entity as many as a partition has; and what the units are
        multiplied by.
        """
        sizes = dict(kinds)
        counts: list[tuple[str, int]] = []
        for member in self.pattern.shape.members:
            name = member.entity.__name__
            usual = self.facts.finds.per_partition(self.typical.design.by_name[name]) if member.many else 1
            if usual is None:
                usual = ITEMS_ASSUMED
                self.notes.append(
                    f"{ITEMS_ASSUMED} {name} items in a collection: set per_partition in the traffic file"
                )
            counts.append((name, usual))
        times = max(1.0, sum(count for _, count in counts) / SIMULATED_MAX)
        return [entry for name, count in counts for entry in [(name, sizes[name])] * math.ceil(count / times)], times

    def _through(self, plan: ThroughPlan) -> tuple[Found, float]:
        junction, load = plan.junction, self.load
        if isinstance(junction, GetPlan):
            size = load.item_bytes or self._item_bytes(junction.entity)
            return Found((size,), link=self._end((0, plan), 0, 1)), 1
        if isinstance(junction, ClaimPlan):
            claim = self._claim_bytes(junction.entity, junction.claim)
            return Found((claim, self._item_bytes(junction.entity)), link=self._end((0, plan), 0, 1)), 1
        single = self.pattern.shape.kind is ShapeKind.ONE and load.items is None
        limit = None if isinstance(plan.end, QueryPlan) else self.limit
        count, times = _capped(1 if single else self.count(limit), limit)
        ends = [self._ends_of(way.end) for way in plan.ways if isinstance(way.end, QueryPlan)]
        if ends:
            count, times = self._fewer(count, times, ends)
        ways = [self._way(number, way, count) for number, way in enumerate(plan.ways)]
        return Found(stretches=ways[0], also=tuple(ways[1:])), times

    def _fewer(self, count: int, times: float, ends: Sequence[tuple[int, float]]) -> tuple[int, float]:
        """How many junction items to simulate if each leads to many, and the factor for the units: an iterator has
        more parts, each with more to read.
        """
        iterated = self.pattern.shape.kind is ShapeKind.ITERATOR
        most = PARTS_SIMULATED_MAX if iterated else SIMULATED_MAX if self.limit is None else ENDS_SIMULATED_MAX
        fewer = min(count, max(1, most // max(1, *(looked_at for looked_at, _ in ends))))
        times *= count / max(1, fewer)
        return fewer, (times**2 if iterated else times) * max(more for _, more in ends)

    def _way(self, number: int, plan: ThroughPlan, count: int) -> tuple[ExpectedRange, ...]:
        """The items of one junction, each with what it leads to: no two junctions lead to the same."""
        assert isinstance(plan.junction, QueryPlan)  # noqa: S101 - the others lead to one end
        kinds = self._kinds(plan.junction, self.load)
        return self._spread(plan.junction, kinds, count, self.load.kept or 1, (number, plan))

    def _end(self, way: tuple[int, ThroughPlan], position: int, count: int) -> End:
        """What one of ``count`` junction items leads to. The items of the ends alternate in the order of the
        result.
        """
        number, plan = way
        if isinstance(plan.end, GetPlan):
            return End((number, position), self._item_bytes(plan.end.entity))
        looked_at, _ = self._ends_of(plan.end)
        stretches = self._spread(plan.end, self._kinds(plan.end, Load()), looked_at)
        return End(
            (number, position), None, tuple(_placed(stretch, (position, count, number)) for stretch in stretches)
        )

    def _ends_of(self, end: QueryPlan) -> tuple[int, float]:
        """How many items of one end's partitions to go through, and what the units are multiplied by."""
        entity = end.matches[0].entity
        usual = self.facts.finds.per_partition(entity)
        if usual is None:
            usual = ITEMS_ASSUMED if self.limit is None else self.limit + 2
            self.notes.append(f"{usual} items in each {entity.name} partition: set per_partition in the traffic file")
        return _capped(usual if self.limit is None else min(usual, self.limit + 2), None)

    def _scanned(self, plan: ScanPlan) -> tuple[Found, float]:
        own = [entity.name for entity in plan.entities]
        counts = {name: stored.count for name, stored in self.facts.traffic.entities.items() if stored.count}
        if plan.index is not None:
            standing = self._standing(plan.index)
            counts = {name: count for name, count in counts.items() if name in standing}
        weights = counts or dict.fromkeys(own, 1.0)
        count, times = _capped(self.count(self.limit), self.limit)
        total = sum(weights.values())
        met: list[ExpectedItem] = []
        for name, weight in weights.items():
            entity = self.typical.design.by_name[name]
            size = self.load.item_bytes or self._entry_bytes(plan.index, entity)
            start = len(met)
            share = round(count * weight / total)
            end = End(None, self._item_bytes(entity)) if plan.completed else None
            met += [
                ExpectedItem(
                    size, name if name in own else None, (start + at,), end and end._replace(identity=start + at)
                )
                for at in range(share)
            ]
        return Found(stretches=(ExpectedRange(met),)), times

    def _standing(self, index: Index) -> set[str]:
        """The entities that have a key on an index."""
        entities = self.typical.design.entities.values()
        return {
            entity.name
            for entity in entities
            for key in entity.index_keys
            if key.index and key.index.name == index.name
        }

    def _spread(
        self,
        plan: QueryPlan,
        kinds: Sequence[tuple[str, int]],
        count: int,
        kept: float = 1,
        leads: tuple[int, ThroughPlan] | None = None,
        of: QueryPlan | None = None,
    ) -> tuple[ExpectedRange, ...]:
        """Items distributed evenly over the partitions of a query, in the order of the result. ``of``: the items
        that one of its narrower queries reads.
        """
        read = {match.entity.name for match in (of or plan).matches}
        partitions, buckets = plan.shards, self.buckets()
        for name in plan.each:
            partitions *= self._values_assumed(name)
        if len(plan.each) > 1:
            partitions = min(partitions, plan.shards * COMBINATIONS_MAX)
        met: list[list[ExpectedItem]] = [[] for _ in range(partitions * buckets)]
        for at in range(count):
            name, size = kinds[at % len(kinds)]
            passes = int((at + 1) * kept) > int(at * kept)
            end = None if leads is None else self._end(leads, at, count)
            if plan.completed:
                end = End(at, self._item_bytes(self.typical.design.by_name[name]))
            place = (at,) if leads is None else (at, leads[0])
            if name not in read:
                continue
            first = at * buckets // count * partitions
            item = ExpectedItem(size, name if passes else None, place, end, filtered=not passes)
            met[first + at % partitions].append(item)
        return tuple(ExpectedRange(items, bucket=at // partitions) for at, items in enumerate(met))

    # How large

    def _kinds(self, plan: QueryPlan, load: Load) -> list[tuple[str, int]]:
        """The entities in the order in which they are read, each with the bytes of one item."""
        return [
            (match.entity.name, load.item_bytes or self._match_bytes(plan, match))
            for part in plan.parts
            for match in part.matches
        ]

    def _match_bytes(self, plan: QueryPlan, match: KeyMatch) -> int:
        """What a query reads of one typical item: all of it, or its entry in the index."""
        return self._entry_bytes(plan.index, match.entity, match.key)

    def _entry_bytes(self, index: Index | None, entity: CompiledEntity, key: CompiledKey | None = None) -> int:
        """The bytes of a typical item in an index, or in the table. ``key``: its key there."""
        if index is None:
            return self._item_bytes(entity)
        number = self.typical.sizes(entity).entries.get(index.name)
        if number is not None:
            return number
        own = (
            compiled_key
            for compiled_key in entity.index_keys
            if compiled_key.index is not None and compiled_key.index.name == index.name
        )
        standing = key or next(own, None)
        known = {} if standing is None else {name: allowed[0] for name, allowed in standing.when.items()}
        return self.typical.entries(entity, known).get(index.name, self._item_bytes(entity))

    def _item_bytes(self, entity: CompiledEntity) -> int:
        return self.typical.sizes(entity).item_bytes

    def _claim_bytes(self, entity: CompiledEntity, claim: CompiledKey) -> int:
        return self.typical.claim_bytes(entity, claim) or 0


def _entities_in(plan: Plan) -> Iterator[CompiledEntity]:
    """The entities whose items a plan reads, junctions among them."""
    match plan:
        case ThroughPlan():
            for way in plan.ways:
                yield from _entities_in(way.junction)
                yield from _entities_in(way.end)
        case QueryPlan():
            yield from (match.entity for match in plan.matches)
        case ScanPlan():
            yield from plan.entities
        case _:
            yield plan.entity


def _held(plan: Plan, typical: Typical) -> bool:
    """Whether the indexes of a plan contain the typical items."""
    if isinstance(plan, ThroughPlan):
        return all(_held(way.junction, typical) and _held(way.end, typical) for way in plan.ways)
    if isinstance(plan, ScanPlan) and plan.index is not None:
        return all(plan.index.name in typical.sizes(entity).entries for entity in plan.entities)
    if not isinstance(plan, QueryPlan) or plan.index is None:
        return True
    return all(plan.index.name in typical.sizes(match.entity).entries for match in plan.matches)


def _placed(stretch: ExpectedRange, among: tuple[int, int, int]) -> ExpectedRange:
    """The stretch with its items' places between those of others: its position, how many these are, and the number of
    the junction that leads to them.
    """
    position, count, number = among
    return ExpectedRange([met._replace(place=(met.place[0] * count + position, number)) for met in stretch.met])


def _emptied(result: Found) -> Found:
    """The same places with nothing there."""
    first, *further = (
        tuple(ExpectedRange(bucket=stretch.bucket) for stretch in stretches)
        for stretches in (result.stretches, *result.also)
    )
    return Found((None,) * len(result.items), first, tuple(further))


def _capped(count: float, limit: int | None) -> tuple[int, float]:
    """How many items to go through, and what the units are multiplied by."""
    return int(min(count, SIMULATED_MAX)), 1 if limit is not None else max(1, count / SIMULATED_MAX)


def multiplied(request: Request, times: float, why: str) -> Request:
    """The request with its units multiplied. ``why``: the reason in the arithmetic."""
    lines = (
        Line(line.direction, line.target, line.units * times, f"{line.why}; × {times:g}, {why}")
        for line in request.lines
    )
    return Request(request.operation, tuple(lines))
