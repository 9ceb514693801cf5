"""The number, the sizes and the partitions of the items that a typical call of a read finds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from keyplan.analysis.cost.read_requests import FoundItem, Group, Place, ReadRequests
from keyplan.analysis.cost.unit_counts import Request, mixed
from keyplan.analysis.traffic.item_counts import ITEMS_ASSUMED, Finds
from keyplan.analysis.traffic.traffic_file import Traffic
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.client.key_conditions import COMBINATIONS_MAX
from keyplan.client.results import MERGED_CHUNK_MAX, STREAM_CHUNK
from keyplan.model.compiled import plans
from keyplan.model.compiled.collisions import neighbours
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.pattern_load import Load
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey

SIMULATED_MAX = 20_000
"""The maximum number of items that are counted individually; the units of further items are extrapolated."""
BUCKETS_ASSUMED = 2
"""The assumed number of time buckets in a range."""

_Chunk: TypeAlias = Callable[[int | None, Place | None], tuple[list[FoundItem], bool]]
"""Reads the next items (None: all) after a place. Returns them, and whether there are more."""


@dataclass(frozen=True)
class ReadCost:
    """The requests of one typical call of a read. ``notes``: the assumptions of the estimate."""

    requests: list[Request]
    notes: tuple[str, ...] = ()


class Facts:
    """Predicts the requests of the read patterns of a design from typical items."""

    def __init__(self, typical: Typical, traffic: Traffic) -> None:
        self.typical = typical
        self.traffic = traffic
        self.finds = Finds(traffic)

    def read(
        self,
        pattern: plans.ReadPattern,
        *,
        arguments: Mapping[str, Any] | None = None,
        strongly: bool = False,
        nothing: bool = False,
    ) -> ReadCost:
        """The requests of one typical call; with ``nothing``, of a call that finds no items.

        ``arguments`` set the limit and the number of values of an ``Each``. ``strongly``: the read is strongly
        consistent, as part of a write. Raises Problem for an entity without a typical item.
        """
        mixture = [] if nothing else self._mixture(pattern)
        if mixture:
            calls = [(weight, facts.read(pattern, arguments=arguments, strongly=strongly)) for weight, facts in mixture]
            notes = tuple(dict.fromkeys(note for _, call in calls for note in call.notes))
            return ReadCost(mixed([(weight, call.requests) for weight, call in calls]), notes)
        call = _Call(self, pattern, arguments, strongly=strongly, nothing=nothing)
        requests = call.run()
        if call.times != 1 and not nothing:
            requests = [_multiplied(request, call.times) for request in requests]
        return ReadCost(requests, () if nothing else tuple(dict.fromkeys(call.notes)))

    def _mixture(self, pattern: plans.ReadPattern) -> list[tuple[float, Facts]]:
        names = {entity.name for entity in plans.entities_read(pattern.plan)}
        result = [(weight, typical) for weight, typical in self.typical.mixture(names) if _held(pattern.plan, typical)]
        return [(weight, Facts(typical, self.traffic)) for weight, typical in result if typical is not self.typical]

    def assumed_items(self, pattern: plans.ReadPattern) -> float | None:
        """The assumed number of items that match a call; None if the number is known or irrelevant. Raises Problem."""
        call = _Call(self, pattern, None)
        call.run()
        return call.assumed


class _Call:
    """One call of a read. ``notes``: assumptions. ``times``: the factor that extrapolates units to uncounted items."""

    def __init__(
        self,
        facts: Facts,
        pattern: plans.ReadPattern,
        arguments: Mapping[str, Any] | None,
        *,
        strongly: bool = False,
        nothing: bool = False,
    ) -> None:
        self.finds = facts.finds
        self.traffic = facts.traffic
        self.typical = facts.typical
        self.arguments = facts.finds.arguments(pattern) if arguments is None else arguments
        self.pattern = pattern = pattern.as_called(self.arguments)
        self.within_a_write = strongly
        self.nothing = nothing
        self.load = facts.finds.load(pattern)
        self.limit = facts.finds.limit(pattern, self.arguments)
        self.shape = pattern.shape.kind
        self.reads = ReadRequests(strongly=strongly)
        self.notes: list[str] = []
        self.times: float = 1
        self.assumed: float | None = None

    # Requests

    def run(self) -> list[Request]:
        plan, reads = self.pattern.plan, self.reads
        match plan:
            case plans.GetPlan() | plans.ClaimPlan():
                self._by_key(plan)
            case plans.BatchGetPlan():
                count = self._capped(self._keys(plan), None)
                size = None if self.nothing else self._bytes(plan.entity)
                reads.batch([size] * count, plan.entity.name, consistent=plan.consistent)
            case plans.QueryPlan():
                self._query(plan)
            case plans.ScanPlan():
                scanned = [Group(plan, [self._scanned(plan)])]
                self._result(lambda size, after: reads.chunk(scanned, size, after), merged=False)
            case plans.ThroughPlan():
                self._through(plan)
        return reads.requests

    def _by_key(self, plan: plans.GetPlan | plans.ClaimPlan) -> None:
        """Read an item by its key, or a claim and then the claim's item."""
        entity, consistent = plan.entity, plan.consistent
        if isinstance(plan, plans.ClaimPlan):
            claim = None if self.nothing else self.typical.claim_bytes(entity, plan.claim) or 0
            self.reads.get(claim, f"claim {plan.claim.name}", consistent=consistent)
            if self.nothing or self.shape is ShapeKind.EXISTS:
                return
        size = self._item_bytes(entity) if isinstance(plan, plans.ClaimPlan) else self._bytes(entity)
        self.reads.get(None if self.nothing else size, entity.name, consistent=consistent)

    def _result(self, chunk: _Chunk, *, merged: bool) -> None:
        """Read the items that the return type needs: the first item, a page, all items, or one chunk after another."""
        if self.shape is ShapeKind.COUNT:
            chunk(None, None)
        elif self.shape in {ShapeKind.ONE, ShapeKind.EXISTS}:
            chunk(1, None)
        elif self.shape is not ShapeKind.ITERATOR:
            chunk(STREAM_CHUNK if self.limit is None and self.shape is ShapeKind.PAGE else self.limit, None)
        else:
            given, after, more = 0, None, True
            while more and (self.limit is None or given < self.limit):
                size = min(max(STREAM_CHUNK, given), MERGED_CHUNK_MAX) if merged else STREAM_CHUNK
                items, more = chunk(size if self.limit is None else min(size, self.limit - given), after)
                given += len(items)
                after = items[-1].place if items else None

    def _query(self, plan: plans.QueryPlan) -> None:
        kinds, kept = self._kinds(plan, self.load), self.load.kept or 1
        collection = self.shape is ShapeKind.COLLECTION
        if collection and self.load.items is None:
            kinds, kept = self._collection(kinds), 1
            count = len(kinds)
        else:
            single = self.shape in {ShapeKind.ONE, ShapeKind.EXISTS} and self.load.items is None
            count = self._capped(1 / kept if single else self._count(self.limit), self.limit)
        groups = self._spread(plan, kinds, count, kept)
        if len(plan.matches) > 1 and (collection or self.limit is None):
            groups[: len(plan.parts)] = map(self._among_others, groups[: len(plan.parts)])
        if self.shape in {ShapeKind.ONE, ShapeKind.EXISTS}:
            self.reads.first(groups)
        elif collection and not plan.merged and not any(member.many for member in self.pattern.shape.members):
            for at, group in enumerate(groups):  # read the first item of each entity
                self.reads.pages(group, len(plan.parts[at % len(plan.parts)].matches))
        else:
            merged = plan.merged and not plan.completed
            self._result(lambda size, after: self.reads.chunk(groups, size, after), merged=merged)

    # Junctions

    def _through(self, plan: plans.ThroughPlan) -> None:
        junction, one = plan.junction, self.shape is ShapeKind.ONE
        if not isinstance(junction, plans.QueryPlan):
            self._by_key(junction)
            if not self.nothing:
                self._end(plan, 0, 1)
            return
        single = one and self.load.items is None
        limit = None if isinstance(plan.end, plans.QueryPlan) else self.limit
        count = self._capped(1 if single else self._count(limit), limit)
        looked_at = [self._looked_at(way.end) for way in plan.ways if isinstance(way.end, plans.QueryPlan)]
        if looked_at:
            count = self._fewer(count, looked_at)
        ways = [
            (way, self._spread(way.junction, self._kinds(way.junction, self.load), count, self.load.kept or 1))
            for way in plan.ways
            if isinstance(way.junction, plans.QueryPlan)
        ]
        if one:
            way, links = ways[0]
            if self.reads.first(links) is not None:
                self._end(way, 0, 1)
            return
        merged = bool(plan.also) or isinstance(plan.end, plans.QueryPlan)
        self._result(lambda size, after: self._ways(ways, size, after, count), merged=merged)

    def _ways(
        self, ways: Sequence[tuple[plans.ThroughPlan, list[Group]]], size: int | None, after: Place | None, count: int
    ) -> tuple[list[FoundItem], bool]:
        """The next items that any of several junctions leads to."""
        result: list[FoundItem] = []
        more = False
        for way, links in ways:
            if isinstance(way.end, plans.QueryPlan):
                found, _ = self.reads.chunk(links, None)
                partitions = [items for link in found for items in self._end_items(way.end, link.place[1], count)]
                items, further = self.reads.merge(way.end, partitions, size, after)
            else:
                # Read one more junction item than needed, and check that its end item exists
                found, _ = self.reads.chunk(links, None if size is None else size + 1, after)
                end = way.end.entity
                self.reads.batch([self._item_bytes(end)] * len(found), end.name, consistent=way.end.consistent)
                items, further = found[:size], size is not None and len(found) > size
            result += items
            more = more or further
        result.sort()
        return result[:size], more or (size is not None and len(result) > size)

    def _end(self, way: plans.ThroughPlan, position: int, count: int) -> None:
        if isinstance(way.end, plans.GetPlan):
            self.reads.get(self._item_bytes(way.end.entity), way.end.entity.name, consistent=way.end.consistent)
        else:
            self.reads.first([Group(way.end, self._end_items(way.end, position, count))])

    def _end_items(self, end: plans.QueryPlan, position: int, count: int) -> list[list[FoundItem]]:
        """The end items of one of ``count`` junction items. The end items of different junction items alternate."""
        groups = self._spread(end, self._kinds(end, Load()), min(self._looked_at(end), SIMULATED_MAX))
        return [
            [item._replace(place=(0, item.place[1] * count + position)) for item in items]
            for group in groups
            for items in group.partitions
        ]

    def _looked_at(self, end: plans.QueryPlan) -> int:
        entity = end.matches[0].entity
        usual = self.finds.per_partition(entity)
        if usual is None:
            usual = ITEMS_ASSUMED if self.limit is None else self.limit + 2
            self.notes.append(f"{usual} items in each {entity.name} partition: set per_partition in the traffic file")
        return usual if self.limit is None else min(usual, self.limit + 2)

    # Numbers of items, values and time buckets

    def _capped(self, count: float, limit: int | None) -> int:
        """The number of items to count individually. Units of further items are extrapolated by ``times``."""
        if limit is None:
            self.times = max(1, count / SIMULATED_MAX)
        return int(min(count, SIMULATED_MAX))

    def _fewer(self, count: int, looked_at: Sequence[int]) -> int:
        """The number of junction items to count if each leads to many items. An iterator's units grow quadratically."""
        iterated = self.shape is ShapeKind.ITERATOR
        most = SIMULATED_MAX // 4 if iterated else SIMULATED_MAX
        fewer = min(count, max(1, most // min(SIMULATED_MAX, max(1, *looked_at))))
        self.times *= count / max(1, fewer)
        self.times = (self.times**2 if iterated else self.times) * max(1, max(looked_at) / SIMULATED_MAX)
        return fewer

    def _count(self, limit: int | None) -> float:
        within = self.within_a_write
        number, note = self.finds.count(self.pattern, limit, within_a_write=within, buckets=self._buckets())
        if note is not None:
            self.notes.append(note)
            self.assumed = number
        return number

    def _values(self, each: str) -> int:
        """The number of values of an ``Each``. If it's unknown, assume a number and add a note."""
        given = self.arguments.get(each, self.pattern.constants.get(each))
        if given is not None:
            return len(given)
        assumed = self.finds.values(self.pattern, each)
        self.notes.append(f"{assumed} values of {each} are passed")
        return assumed

    def _keys(self, plan: plans.BatchGetPlan) -> float:
        known = {**self.pattern.constants, **self.arguments}
        if all(known.get(name) is not None for name in plan.each):
            return math.prod(map(self._values, plan.each))
        if self.load.items is not None:
            return self.load.items
        self.assumed = math.prod(map(self._values, plan.each))
        return self.assumed

    def _buckets(self) -> int:
        known = self.finds.buckets(self.pattern, self.arguments)
        buckets = self.pattern.buckets
        if known is not None or buckets is None:
            return known or 0
        self.notes.append(
            f"{BUCKETS_ASSUMED} {buckets.unit}s of {buckets.field} are read: set arguments in the traffic file"
        )
        return BUCKETS_ASSUMED

    # Items

    def _spread(
        self, plan: plans.QueryPlan, kinds: Sequence[tuple[CompiledEntity, int]], count: int, kept: float = 1
    ) -> list[Group]:
        """Items distributed evenly over the partitions of a query, in the order of the result."""
        buckets = self._buckets()
        partitions = plan.shards * math.prod(map(self._values, plan.each))
        if len(plan.each) > 1:
            partitions = min(partitions, plan.shards * COMBINATIONS_MAX)
        parts = plan.parts
        own = {match.entity.name: at for at, part in enumerate(parts) for match in part.matches}
        result = [[list[FoundItem]() for _ in range(partitions)] for _ in range(buckets * len(parts))]
        for at in range(0 if self.nothing else count):
            entity, size = kinds[at % len(kinds)]
            number = at * buckets // count * len(parts) + own[entity.name]
            passes = int((at + 1) * kept) > int(at * kept)
            own_bytes = self._item_bytes(entity) if plan.completed else 0
            result[number][at % partitions].append(FoundItem((number, at), size, passes, own_bytes))
        return [Group(parts[number % len(parts)], found) for number, found in enumerate(result)]

    def _among_others(self, group: Group) -> Group:
        """The group, with items of other entities inserted after its first item."""
        assert isinstance(group.plan, plans.QueryPlan)  # noqa: S101 - callers pass only queries
        sizes: list[int] = []
        for entity, _ in neighbours(group.plan, self.typical.design.entities.values()):
            usual = self.finds.per_partition(entity)
            if usual is None:
                self.notes.append(f"the query range has no {entity.name} items: set per_partition in the traffic file")
            sizes += [self._item_bytes(entity)] * math.ceil((usual or 0) / self.times)
        if not sizes or not group.partitions or not group.partitions[0]:
            return group
        first, *rest = group.partitions[0]
        between = [FoundItem(first.place, size, passes=False) for size in sizes]
        return group._replace(partitions=[[first, *between, *rest], *group.partitions[1:]])

    def _collection(self, kinds: Sequence[tuple[CompiledEntity, int]]) -> list[tuple[CompiledEntity, int]]:
        """One item for each single member, and for each list member the items of its entity in a partition."""
        sizes = {entity.name: (entity, size) for entity, size in kinds}
        counts: dict[str, int] = {}
        for member in self.pattern.shape.members:
            name = member.entity.__name__
            usual = self.finds.per_partition(self.typical.design.by_name[name]) if member.many else 1
            if usual is None:
                usual = ITEMS_ASSUMED
                self.notes.append(
                    f"{ITEMS_ASSUMED} {name} items in a collection: set per_partition in the traffic file"
                )
            counts[name] = usual
        self.times = max(1.0, sum(counts.values()) / SIMULATED_MAX)
        return [sizes[name] for name, count in counts.items() for _ in range(math.ceil(count / self.times))]

    def _scanned(self, plan: plans.ScanPlan) -> list[FoundItem]:
        """The items that a scan evaluates: items of all entities in proportion to their counts, or index entries."""
        own = {entity.name for entity in plan.entities}
        stored = {name: stored.count for name, stored in self.traffic.entities.items() if stored.count}
        if plan.index is not None:
            stored = {name: count for name, count in stored.items() if self._keys_on(plan.index, name)}
        weights = stored or dict.fromkeys((entity.name for entity in plan.entities), 1.0)
        count = self._capped(self._count(self.limit), self.limit)
        result: list[FoundItem] = []
        for name, weight in {} if self.nothing else weights.items():
            entity = self.typical.design.by_name[name]
            size = self.load.item_bytes or self._entry_bytes(plan.index, entity)
            own_bytes = self._item_bytes(entity) if plan.completed else 0
            for _ in range(round(count * weight / sum(weights.values()))):
                result.append(FoundItem((0, len(result)), size, name in own, own_bytes))
        return result

    def _keys_on(self, index: Index, name: str) -> list[CompiledKey]:
        keys = self.typical.design.by_name[name].index_keys
        return [key for key in keys if key.index is not None and key.index.name == index.name]

    # Sizes

    def _kinds(self, plan: plans.QueryPlan, load: Load) -> list[tuple[CompiledEntity, int]]:
        """The entities in the order in which they are read, each with the bytes of one item or entry."""
        return [
            (match.entity, load.item_bytes or self._entry_bytes(plan.index, match.entity, match.key))
            for part in plan.parts
            for match in part.matches
        ]

    def _entry_bytes(self, index: Index | None, entity: CompiledEntity, key: CompiledKey | None = None) -> int:
        """The bytes of a typical item in an index, or in the table. ``key``: the item's key in the index."""
        if index is None:
            return self._item_bytes(entity)
        number = self.typical.sizes(entity).entries.get(index.name)
        if number is not None:
            return number
        own = key or next(iter(self._keys_on(index, entity.name)), None)
        known = {} if own is None else {name: allowed[0] for name, allowed in own.when.items()}
        return self.typical.entries(entity, known).get(index.name, self._item_bytes(entity))

    def _bytes(self, entity: CompiledEntity) -> int:
        return self.load.item_bytes or self._item_bytes(entity)

    def _item_bytes(self, entity: CompiledEntity) -> int:
        return self.typical.sizes(entity).item_bytes


def _held(plan: plans.Plan, typical: Typical) -> bool:
    return all(
        element.index.name in typical.sizes(entity).entries
        for element in plans.plans_in(plan)
        if isinstance(element, plans.QueryPlan | plans.ScanPlan) and element.index is not None
        for entity in plans.entities_read(element)
    )


def _multiplied(request: Request, times: float) -> Request:
    why = f"× {times:g}, since only a part of the items is counted"
    lines = (replace(line, units=line.units * times, why=f"{line.why}; {why}") for line in request.lines)
    return Request(request.operation, tuple(lines))
