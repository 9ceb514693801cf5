"""Counts and sums, which read all pages, and existence checks, which read until the first match.

Queries and scans return the items' keys, so that items of other entities and programs can be ignored. Select=COUNT
would consume the same read units, because DynamoDB bills the data read, not the data returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from keyplan.client.conversations import Conversation, Request, Target
from keyplan.client.cursors import Position
from keyplan.client.junction_reads import query_reader
from keyplan.client.key_conditions import answer_filter_of, partition_texts, value_sets
from keyplan.client.read_plans import (
    FILTERED_PAGE,
    Chunk,
    Entry,
    Item,
    QueryReader,
    ScanReader,
    base_request,
    batch_entities,
    get_item,
    projection_of,
)
from keyplan.client.time_buckets import PARALLEL_MAX, bucket_sets
from keyplan.model.compiled.plans import BatchGetPlan, ClaimPlan, GetPlan, Plan, QueryPlan, ScanPlan

Measure = Callable[[Any], int]
"""An item's contribution to the result."""


def how_many(plan: Plan, target: Target, values: Mapping[str, Any]) -> Conversation[int]:
    return _measured(plan, target, values, lambda _: 1)


def total_of(name: str, plan: Plan, target: Target, values: Mapping[str, Any]) -> Conversation[int]:
    """The sum of a field over the items of a plan."""
    # Cost estimates pass placeholder instances without fields
    return _measured(plan, target, values, lambda value: getattr(value, name, None) or 0)


def _measured(plan: Plan, target: Target, values: Mapping[str, Any], measure: Measure) -> Conversation[int]:
    match plan:
        case QueryPlan():
            return (yield from _count(plan, target, values, measure))
        case ScanPlan() if plan.segments > 1:
            return (yield from SegmentsReader(plan, target).total(values, measure))
        case ScanPlan():
            return (yield from _count_scanned(ScanReader(plan, target), values, measure))
        case BatchGetPlan():
            entity = plan.entity
            keys = {
                str(key): key
                for key_values in value_sets(plan.each, values)
                for key in [entity.item_key(entity.primary, key_values)]
            }
            entities = yield from batch_entities(target, entity, list(keys.values()), consistent=plan.consistent)
            return sum(measure(entity) for entity in entities if entity is not None)
        case _:  # pragma: no cover - the compiler creates no other plan for a count or a sum
            raise TypeError(plan)


def exists(plan: Plan, target: Target, values: Mapping[str, Any]) -> Conversation[bool]:
    match plan:
        case GetPlan():
            key = plan.entity.item_key(plan.entity.primary, values)
            found = yield from get_item(target, plan.entity, key, consistent=plan.consistent, values=values)
            return found is not None
        case ClaimPlan():  # a claim exists if and only if its owner exists
            request = base_request(target, consistent=plan.consistent) | projection_of(target.table.key_names)
            request["Key"] = plan.entity.item_key(plan.claim, values)
            return "Item" in (yield Request("GetItem", request))
        case QueryPlan():
            return (yield from query_reader(plan, target).first(values)) is not None
        case ScanPlan():
            return bool((yield from ScanReader(plan, target).chunk(values, 1, None)).entries)
        case _:  # pragma: no cover - the compiler creates no other plan for an existence check
            raise TypeError(plan)


def _count(plan: QueryPlan, target: Target, values: Mapping[str, Any], measure: Measure) -> Conversation[int]:
    counted = 0
    readers = (QueryReader(part, target) for part in plan.parts)
    pending = [(reader, *pair) for reader in readers for pair in _requests(reader, values)]
    while pending:
        now, pending = pending[:PARALLEL_MAX], pending[PARALLEL_MAX:]
        sent = [Request("Query", request) for _, _, request in now]
        responses = [(yield sent[0])] if len(sent) == 1 else (yield sent)
        for (reader, asked, request), response in zip(now, responses, strict=True):
            counted += _counted(reader, asked, response["Items"], measure)
            last = response.get("LastEvaluatedKey")
            if last is not None:
                pending.append((reader, asked, {**request, "ExclusiveStartKey": last}))
    return counted


def _requests(reader: QueryReader, values: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    """The values and the first request of each distinct partition."""
    plan = reader.plan
    seen: set[tuple[str, ...]] = set()
    for asked in (element for _, named in bucket_sets(plan, values) for element in value_sets(plan.each, named)):
        for shard in range(plan.shards):
            partition = partition_texts(plan.matches[0], asked, plan.key.suffix(shard))
            request = reader.request(asked, partition)
            if request is not None and tuple(partition) not in seen:
                seen.add(tuple(partition))
                yield asked, request


def _counted(reader: QueryReader, values: Mapping[str, Any], items: list[Item], measure: Measure) -> int:
    answer_filter = answer_filter_of(reader.plan, values)
    instances = ((reader.instance(item), item) for item in items)
    return sum(
        measure(entity)
        for entity, item in instances
        if entity is not None and (answer_filter is None or answer_filter.passes(entity, item))
    )


def _count_scanned(reader: ScanReader, values: Mapping[str, Any], measure: Measure) -> Conversation[int]:
    request, counted = reader.request(values), 0
    while True:
        response = yield Request("Scan", request)
        instances = map(reader.instance, response["Items"])
        counted += sum(measure(instance) for instance in instances if instance is not None)
        last = response.get("LastEvaluatedKey")
        if last is None:
            return counted
        request = {**request, "ExclusiveStartKey": last}


_ENDED = "null"


class SegmentsReader:
    """Scans in parallel segments. A position contains, for each segment, its next key or a mark for its end."""

    def __init__(self, plan: ScanPlan, target: Target) -> None:
        self.plan = plan
        self._reader = ScanReader(plan, target)

    def chunk(self, values: Mapping[str, Any], size: int | None, position: Position | None) -> Conversation[Chunk]:
        """All entries or, with ``size``, one page. Items read beyond the page are read again for the next page."""
        entries: list[Entry] = []
        places = self._places(position)
        while any(place != _ENDED for place in places):
            going_on = sum(place != _ENDED for place in places)
            limit = None if size is None else max(size + 1 - len(entries), FILTERED_PAGE) // going_on + 1
            for segment, items, following in (yield from self._round(values, places, limit)):
                for item in items:
                    instance = self._reader.instance(item)
                    if instance is not None and len(entries) == size:
                        return Chunk(entries, places)
                    if instance is not None:
                        entries.append(Entry(instance, item))
                    if size is not None:
                        places[segment] = _text(self._reader.key_of(item))
                places[segment] = following
        return Chunk(entries, None)

    def part(self, values: Mapping[str, Any], position: Position | None) -> Conversation[Chunk]:
        """The entries of the next round, which sends one request for each unfinished segment."""
        places = self._places(position)
        entries: list[Entry] = []
        for segment, items, following in (yield from self._round(values, places)):
            instances = ((self._reader.instance(item), item) for item in items)
            entries += [Entry(instance, item) for instance, item in instances if instance is not None]
            places[segment] = following
        return Chunk(entries, None if all(place == _ENDED for place in places) else places)

    def total(self, values: Mapping[str, Any], measure: Callable[[Any], int]) -> Conversation[int]:
        """The sum of ``measure`` over all items."""
        counted = 0
        places = self._places(None)
        while any(place != _ENDED for place in places):
            for segment, items, following in (yield from self._round(values, places)):
                counted += sum(measure(entity) for entity in map(self._reader.instance, items) if entity is not None)
                places[segment] = following
        return counted

    def _places(self, position: Position | None) -> list[str]:
        return [""] * self.plan.segments if position is None else list(position)

    def _round(
        self, values: Mapping[str, Any], places: Sequence[str], limit: int | None = None
    ) -> Conversation[list[tuple[int, list[Item], str]]]:
        """Send the next request of each unfinished segment. Returns each segment with its items and next position."""
        asked = [segment for segment, place in enumerate(places) if place != _ENDED]
        requests: list[Request] = []
        for segment in asked:
            request = {**self._reader.request(values), "Segment": segment, "TotalSegments": self.plan.segments}
            if places[segment]:
                request["ExclusiveStartKey"] = orjson.loads(places[segment])
            if limit is not None:
                request["Limit"] = limit
            requests.append(Request("Scan", request))
        responses = yield requests
        return [
            (segment, response["Items"], _text(response.get("LastEvaluatedKey")))
            for segment, response in zip(asked, responses, strict=True)
        ]


def _text(key: Mapping[str, Any] | None) -> str:
    return orjson.dumps(key).decode()
