"""Reads junction items, the items that they connect, and the union of the items of several junctions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from keyplan.client.conversations import Conversation, Target
from keyplan.client.cursors import Position
from keyplan.client.key_conditions import value_sets
from keyplan.client.merged_partitions import CompletingReader, MergeReader, PartedReader, Place, entries_reader
from keyplan.client.read_plans import Chunk, Entry, Item, QueryReader, batch_entities, gather_entries
from keyplan.client.time_buckets import BucketsReader
from keyplan.model.compiled.plans import GetPlan, QueryPlan, ThroughPlan
from keyplan.model.declared.entity import Entity


def query_reader(
    plan: QueryPlan, target: Target
) -> QueryReader | MergeReader | PartedReader | CompletingReader | BucketsReader:
    """The reader for entries: one query, merged queries, time buckets, or a partial index completed from the table."""
    reader = CompletingReader(plan, target) if plan.completed else entries_reader(plan, target)
    return reader if plan.buckets is None else BucketsReader(plan, reader)


def end_values(plan: ThroughPlan, link: Entity, values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an end that the junction item contains."""
    result = {name: getattr(link, source) for name, source in plan.fields.items()}
    result.update({name: values[name] for name in plan.arguments})
    return result


class ThroughReader:
    """A junction's items, and the ends that they refer to, which are read by key in batches."""

    def __init__(self, plan: ThroughPlan, junction: QueryPlan, end: GetPlan, target: Target) -> None:
        self.plan = plan
        self.target = target
        self.end = end
        self._junction = MergeReader(junction, target) if junction.merged else QueryReader(junction, target)

    def chunk(self, values: Mapping[str, Any], size: int | None, position: Position | None) -> Conversation[Chunk]:
        """The next ends in the junction's order; a junction item whose end is missing is skipped."""

        def part(wanted: int | None, start: Position | None) -> Conversation[tuple[list[Entry], Position | None]]:
            links = yield from self._junction.chunk(values, wanted, start)
            return (yield from self.ends(links, values)), links.position

        return (yield from gather_entries(part, size, position, self._junction.position))

    def ends(self, links: Chunk, values: Mapping[str, Any]) -> Conversation[list[Entry]]:
        """The ends of some junction items. Each end's entry contains the junction item."""
        entity = self.end.entity
        keys = [entity.item_key(entity.primary, end_values(self.plan, link.instance, values)) for link in links.entries]
        ends = yield from batch_entities(self.target, entity, keys, consistent=self.end.consistent)
        return [Entry(end, link.item) for end, link in zip(ends, links.entries, strict=True) if end is not None]


class FanOutReader:
    """The items of all partitions that a junction's items refer to, merged in order."""

    def __init__(self, plan: ThroughPlan, junction: QueryPlan, end: QueryPlan, target: Target) -> None:
        self.plan = plan
        self._junction = query_reader(junction, target)
        self._ends = MergeReader(end, target)

    def chunk(self, values: Mapping[str, Any], size: int | None, position: Position | None) -> Conversation[Chunk]:
        """The next items of all partitions."""
        links = yield from self._junction.chunk(values, None, None)
        sets = [end_values(self.plan, link.instance, values) for link in links.entries]
        partitions = [value_set for known in sets for value_set in value_sets(self._ends.plan.each, known)]
        return (yield from self._ends.merge(partitions, size, position))


class UnionReader:
    """The ends of several junctions in key order, without duplicates."""

    def __init__(self, plan: ThroughPlan, target: Target) -> None:
        ordering = next(way.end for way in plan.ways if isinstance(way.end, QueryPlan))
        self._order = MergeReader(ordering, target)
        self._key = ordering.key
        self._forward = ordering.forward
        self._ways: list[FanOutReader | _Pointers] = []
        for through_plan in plan.ways:
            way = replace(through_plan, also=())
            if not isinstance(way.junction, QueryPlan):  # pragma: no cover - the compiler rejects other plans
                raise TypeError(way.junction)
            if isinstance(way.end, GetPlan):
                self._ways.append(_Pointers(way, way.junction, way.end, target))
            else:
                self._ways.append(FanOutReader(way, way.junction, way.end, target))

    def chunk(self, values: Mapping[str, Any], size: int | None, position: Position | None) -> Conversation[Chunk]:
        """The next ends of all junctions, in key order."""
        after = None if position is None else self._order.place_of(position)
        result: dict[Place, tuple[Position, Entry]] = {}
        more = False
        for way in self._ways:
            # _Pointers has at most one item at the position, which may have been returned already: read one more item
            wanted = size + 1 if size is not None and position is not None and isinstance(way, _Pointers) else size
            chunk = yield from way.chunk(values, wanted, position)
            more = more or chunk.position is not None
            for entry in chunk.entries:
                at = self._position(way, entry)
                place = self._order.place_of(at)
                if after is None or self._order.before(after, place):
                    result[place] = (at, entry)
        ordered = [result[place] for place in sorted(result, reverse=not self._forward)]
        if size is None or (len(ordered) <= size and not more):
            return Chunk([entry for _, entry in ordered], None)
        shown = ordered[:size]
        return Chunk([entry for _, entry in shown], shown[-1][0] if shown else None)

    def _position(self, way: FanOutReader | _Pointers, entry: Entry) -> Position:
        if isinstance(way, FanOutReader):
            return self._order.position(entry.item)
        entity = way.entity
        values = entity.field_values(entry.instance)
        item: Item = {**entity.item_key(self._key, values), **entity.item_key(entity.primary, values)}
        return self._order.position(item)


class _Pointers:
    """A junction whose items have the same sort keys as their ends, which are read by key."""

    def __init__(self, plan: ThroughPlan, junction: QueryPlan, end: GetPlan, target: Target) -> None:
        self.entity = end.entity
        self._links = QueryReader(junction, target)
        self._through = ThroughReader(plan, junction, end, target)

    def chunk(self, values: Mapping[str, Any], size: int | None, position: Position | None) -> Conversation[Chunk]:
        """The next ends from the position's sort key on, inclusive."""
        cut = None if position is None else position[0]

        def part(wanted: int | None, start: Position | None) -> Conversation[tuple[list[Entry], Position | None]]:
            links = yield from self._links.chunk(values, wanted, start, cut)
            return (yield from self._through.ends(links, values)), links.position

        return (yield from gather_entries(part, size, None, self._links.position))
