"""Builds the conversation of a read pattern's call from the plan, the result shape and the arguments.

This module handles limits, cursors and missing items; ``read_plans``, ``merged_partitions`` and ``junction_reads``
execute plans.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from keyplan.client.conversations import Conversation, Request, Target, together
from keyplan.client.counting import SegmentsReader, exists, how_many, total_of
from keyplan.client.cursors import Position, read_cursor, signing_key, write_cursor
from keyplan.client.junction_reads import FanOutReader, ThroughReader, UnionReader, end_values, query_reader
from keyplan.client.key_conditions import answer_filter_of, interval_of, partition_texts, value_sets
from keyplan.client.merged_partitions import CompletingReader, MergeReader, PartedReader
from keyplan.client.read_plans import ChunkReader, QueryReader, ScanReader, batch_entities, get_item, read_claimed
from keyplan.client.time_buckets import BucketsReader
from keyplan.errors import ItemNotFound
from keyplan.model.compiled import plans
from keyplan.model.compiled.return_types import Member, ShapeKind
from keyplan.model.compiled.signatures import ParameterKind
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.parameters import Page

STREAM_CHUNK = 100
"""Number of items that an iterator reads at a time."""
MERGED_CHUNK_MAX = 1000
"""The maximum for merged partitions, where each part restarts in all partitions. An iterator doesn't read ahead more
items than it has returned.
"""


def reader_of(plan: plans.Plan, target: Target) -> ChunkReader | None:
    """The reader of a plan with many items; None for a plan with one item."""
    match plan:
        case plans.ScanPlan():
            if plan.segments > 1:
                return SegmentsReader(plan, target)
            return CompletingReader(plan, target) if plan.completed else ScanReader(plan, target)
        case plans.QueryPlan():
            return query_reader(plan, target)
        case plans.ThroughPlan(also=(_, *_)):
            return UnionReader(plan, target)
        case plans.ThroughPlan(junction=plans.QueryPlan() as junction, end=plans.GetPlan() as end):
            return ThroughReader(plan, junction, end, target)
        case plans.ThroughPlan(junction=plans.QueryPlan() as junction, end=plans.QueryPlan() as end):
            return FanOutReader(plan, junction, end, target)
        case _:
            return None


def plan_text(plan: plans.Plan) -> str:
    """A description of a plan's keys and direction."""
    match plan:
        case plans.QueryPlan():
            keys = "; ".join(f"{match.entity.name}.{match.key}" for match in plan.matches)
            buckets = "" if plan.buckets is None else f" by {plan.buckets.unit}"
            return f"{keys} {'forward' if plan.forward else 'backward'} {' '.join(plan.each)}{buckets}"
        case plans.ThroughPlan():
            return " + ".join(f"{plan_text(way.junction)} -> {plan_text(way.end)}" for way in plan.ways)
        case plans.ScanPlan(index=index):
            name = plan.operation if index is None else f"{plan.operation} {index.name}"
            return name if plan.segments == 1 else f"{name} in {plan.segments}"
        case _:
            return plan.operation


class Answer:
    """A read pattern on a table. A call with bound arguments returns a conversation."""

    def __init__(self, pattern: plans.ReadPattern, target: Target, secret: bytes) -> None:
        self.pattern = pattern
        self.target = target = replace(target, lenient=True) if pattern.shape.lenient else target
        self.secret = secret
        self._cursor_key = signing_key(secret)
        self._strong: Answer | None = None
        self._plan_text = plan_text(pattern.plan)
        """A cursor is a position in one order: it is invalid with another key or direction."""
        kinds = {parameter.kind: parameter.name for parameter in pattern.signature.parameters}
        self._constants = dict(pattern.constants)
        self._limit = kinds.get(ParameterKind.LIMIT)
        self._cursor = kinds.get(ParameterKind.CURSOR)
        plan, shape = pattern.plan, pattern.shape
        self._reader = reader_of(plan, target)
        self.converse: Callable[[dict[str, Any]], Conversation[Any]] = self._converse_of(plan, shape.kind)
        self._turned: Answer | None = None
        self._directed = pattern.direction is not None
        if self._directed:
            self.converse = partial(self._in_direction, self.converse)

    def _converse_of(self, plan: plans.Plan, kind: ShapeKind) -> Callable[[dict[str, Any]], Conversation[Any]]:
        if kind is ShapeKind.COUNT:
            total = self.pattern.options.total
            return partial(self._told, how_many if total is None else partial(total_of, total))
        if kind is ShapeKind.EXISTS:
            return partial(self._told, exists)
        match plan:
            case plans.QueryPlan() if kind is ShapeKind.COLLECTION:
                return self._collection
            case plans.GetPlan():
                return partial(self._get, plan)
            case plans.ClaimPlan():
                return partial(self._claimed, plan)
            case plans.BatchGetPlan():
                return partial(self._batch, plan)
            case plans.ThroughPlan() if kind is ShapeKind.ONE:
                return partial(self._through_one, plan)
            case plans.QueryPlan() if kind is ShapeKind.ONE:
                return partial(self._first, query_reader(plan, self.target))
            case _:
                return self._page if kind is ShapeKind.PAGE else self._list

    def _in_direction(
        self, straight: Callable[[dict[str, Any]], Conversation[Any]], arguments: dict[str, Any]
    ) -> Conversation[Any]:
        other = self._turned_for(arguments)
        return straight(arguments) if other is None else other.converse(arguments)

    def _turned_for(self, arguments: Mapping[str, Any]) -> Answer | None:
        asked = self.pattern.as_called(arguments)
        if asked is self.pattern:
            return None
        if self._turned is None:
            self._turned = Answer(asked, self.target, self.secret)
        return self._turned

    def strongly(self) -> Answer:
        """The same pattern with strongly consistent reads, if DynamoDB supports them, for the reads of a write."""
        if self._strong is None:
            self._strong = Answer(self.pattern, replace(self.target, consistent=True), self.secret)
        return self._strong

    def _told(
        self, tell: Callable[[plans.Plan, Target, Mapping[str, Any]], Conversation[Any]], arguments: dict[str, Any]
    ) -> Conversation[Any]:
        return (yield from tell(self.pattern.plan, self.target, arguments | self._constants))

    # One item

    def _get(self, plan: plans.GetPlan, arguments: dict[str, Any]) -> Conversation[Entity | None]:
        entity = plan.entity
        values = arguments | self._constants
        key = entity.item_key(entity.primary, values)
        result = yield from get_item(self.target, entity, key, consistent=plan.consistent, values=values)
        return result if result is not None else self._missing(arguments)

    def _claimed(self, plan: plans.ClaimPlan, arguments: dict[str, Any]) -> Conversation[Entity | None]:
        claim = plan.entity.item_key(plan.claim, arguments | self._constants)
        entity = yield from read_claimed(self.target, plan.entity, claim, consistent=plan.consistent)
        return entity if entity is not None else self._missing(arguments)

    def _first(
        self,
        reader: QueryReader | MergeReader | PartedReader | CompletingReader | BucketsReader,
        arguments: dict[str, Any],
    ) -> Conversation[Entity | None]:
        entity = yield from reader.first(arguments | self._constants)
        return entity if entity is not None else self._missing(arguments)

    def _through_one(self, plan: plans.ThroughPlan, arguments: dict[str, Any]) -> Conversation[Any]:
        values = arguments | self._constants
        link = yield from self._link(plan, values)
        if link is None:
            return self._missing(arguments)
        known = end_values(plan, link, values)
        if isinstance(plan.end, plans.GetPlan):
            entity = plan.end.entity
            key = entity.item_key(entity.primary, known)
            end = yield from get_item(self.target, entity, key, consistent=plan.end.consistent, values=known)
        else:
            end = yield from query_reader(plan.end, self.target).first(known)
        return end if end is not None else self._missing(arguments)

    def _link(self, plan: plans.ThroughPlan, values: Mapping[str, Any]) -> Conversation[Entity | None]:
        junction = plan.junction
        if isinstance(junction, plans.QueryPlan):
            return (yield from query_reader(junction, self.target).first(values))
        if isinstance(junction, plans.ClaimPlan):
            claim = junction.entity.item_key(junction.claim, values)
            return (yield from read_claimed(self.target, junction.entity, claim, consistent=junction.consistent))
        key = junction.entity.item_key(junction.entity.primary, values)
        consistent = junction.consistent
        return (yield from get_item(self.target, junction.entity, key, consistent=consistent, values=values))

    def _missing(self, arguments: Mapping[str, Any]) -> Any:
        """The result if the item is missing: None if the pattern can return None; otherwise, raises ItemNotFound."""
        if self.pattern.shape.optional:
            return None
        asked = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        name = self.pattern.shape.entities[0].__name__
        raise ItemNotFound(f"no {name} with {asked}", place=self.pattern.place)

    # Many items

    def _page(self, arguments: dict[str, Any]) -> Conversation[Page[Any]]:
        limit = arguments[self._limit] if self._limit else STREAM_CHUNK
        cursor = arguments.get(self._cursor) if self._cursor else None
        bound = {name: value for name, value in arguments.items() if name not in {self._limit, self._cursor}}
        bound[""] = self._plan_text
        position = None
        if cursor is not None:
            position = read_cursor(cursor, self.pattern.place, bound, self._cursor_key)
        chunk = yield from self._chunks().chunk(arguments | self._constants, limit, position)
        following = None
        if chunk.position is not None:
            following = write_cursor(chunk.position, self.pattern.place, bound, self._cursor_key)
        return Page([entry.instance for entry in chunk.entries], following)

    def _list(self, arguments: dict[str, Any]) -> Conversation[list[Any]]:
        limit = arguments[self._limit] if self._limit else None
        chunk = yield from self._chunks().chunk(arguments | self._constants, limit, None)
        return [entry.instance for entry in chunk.entries]

    def part(
        self, arguments: dict[str, Any], position: Position | None, given: int
    ) -> Conversation[tuple[list[Any], Position | None]]:
        """The next part of an iterator's items. ``given``: the number of items that were already returned."""
        other = self._turned_for(arguments) if self._directed else None
        if other is not None:
            return (yield from other.part(arguments, position, given))
        if isinstance(self._reader, SegmentsReader):
            chunk = yield from self._reader.part(arguments | self._constants, position)
            return [entry.instance for entry in chunk.entries], chunk.position
        limit = arguments[self._limit] if self._limit else None
        plan = self.pattern.plan
        merged = isinstance(self._reader, FanOutReader | UnionReader) or (
            isinstance(plan, plans.QueryPlan) and plan.merged and not plan.completed
        )
        size = min(max(STREAM_CHUNK, given), MERGED_CHUNK_MAX) if merged else STREAM_CHUNK
        size = size if limit is None else min(size, limit - given)
        chunk = yield from self._chunks().chunk(arguments | self._constants, size, position)
        more = chunk.position if limit is None or given + len(chunk.entries) < limit else None
        return [entry.instance for entry in chunk.entries], more

    def _chunks(self) -> ChunkReader:
        if self._reader is None:  # pragma: no cover
            raise TypeError(self.pattern.plan)
        return self._reader

    def _batch(self, plan: plans.BatchGetPlan, arguments: dict[str, Any]) -> Conversation[list[Any]]:
        values = arguments | self._constants
        entity = plan.entity
        keys = {
            str(key := entity.item_key(entity.primary, each)): (key, each) for each in value_sets(plan.each, values)
        }
        once, made_of = [key for key, _ in keys.values()], [each for _, each in keys.values()]
        entities = yield from batch_entities(self.target, entity, once, consistent=plan.consistent, values=made_of)
        there = [element for element in entities if element is not None]
        return there if self._limit is None else there[: arguments[self._limit]]

    # Item collections

    def _collection(self, arguments: dict[str, Any]) -> Conversation[Any]:
        shape = self.pattern.shape
        values = arguments | self._constants
        if any(member.many for member in shape.members):
            chunk = yield from self._chunks().chunk(values, None, None)
            instances = [entry.instance for entry in chunk.entries]
        else:
            instances = yield from self._firsts(self._chunks(), values)
        result = {member.name: _members(member, instances) for member in shape.members}
        missing = [
            member
            for member in shape.members
            if not member.many and not member.optional and result[member.name] is None
        ]
        if missing or (shape.optional and not any(result.values())):
            return self._missing(arguments)
        return shape.factory(**result)

    def _firsts(self, reader: ChunkReader, values: Mapping[str, Any]) -> Conversation[list[Entity]]:
        """The first item of each entity. The first request reads as many items as the plan has entities."""
        if isinstance(reader, PartedReader):
            parts = yield from together([self._firsts(part, values) for part in reader.readers])
            return [instance for instances in parts for instance in instances]
        if not isinstance(reader, QueryReader):
            chunk = yield from reader.chunk(values, None, None)
            return [entry.instance for entry in chunk.entries]
        plan, answer_filter = reader.plan, answer_filter_of(reader.plan, values)
        request = reader.request(values, partition_texts(plan.matches[0], values))
        last_member = _last_member(plan, values)
        result: dict[type[Entity], Entity] = {}
        while request is not None:
            request["Limit"] = reader.page_size(request, len(plan.matches))
            response = yield Request("Query", request)
            for item in response["Items"]:
                instance = reader.instance(item)
                if instance is not None and (answer_filter is None or answer_filter.passes(instance, item)):
                    result.setdefault(type(instance), instance)
            last = response.get("LastEvaluatedKey")
            if last is None or len(result) == len(plan.matches) or last_member in result:
                break
            request = {**request, "ExclusiveStartKey": last}
        return list(result.values())


def _last_member(plan: plans.QueryPlan, values: Mapping[str, Any]) -> type[Entity] | None:
    """The entity whose items are last in read order; None if the entities' intervals overlap."""
    intervals = {match.entity.gives: interval_of(match.sort[0], values) for match in plan.matches if match.sort}
    for cls, own in intervals.items():
        others = [interval for other, interval in intervals.items() if other is not cls]
        if len(intervals) == len(plan.matches) and all(
            interval.before(own, forward=plan.forward) for interval in others
        ):
            return cls
    return None


def _members(member: Member, instances: list[Entity]) -> Any:
    own = [instance for instance in instances if type(instance) is member.gives]
    if member.many:
        return own
    return own[0] if own else None
