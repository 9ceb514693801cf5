"""How many items a question has, whether any, and the sum of a field: paged to the end, without whole items.

Where nothing else can lie in what a query names, the store counts (Select=COUNT). Elsewhere the keys are asked for, and
those of the entity are counted here; both cost the same units, since what is read is paid for and not what is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from keyplan.client.argument_combinations import value_sets
from keyplan.client.conversations import Conversation, Request
from keyplan.client.extra_item_filters import answer_filter_of
from keyplan.client.junction_reads import query_reader
from keyplan.client.key_conditions import partition_texts
from keyplan.client.read_plans import (
    Item,
    QueryReader,
    ScanReader,
    base_request,
    batch_entities,
    get_item,
    projection_of,
)
from keyplan.client.segments import SegmentsReader
from keyplan.client.target import Target
from keyplan.client.time_buckets import PARALLEL_MAX, bucket_sets
from keyplan.model.compiled.plans import BatchGetPlan, ClaimPlan, GetPlan, Plan, QueryPlan, ScanPlan

__all__ = ["exists", "how_many", "total_of"]

Measure = Callable[[Any], int]
"""What an item adds to the answer."""


def how_many(plan: Plan, target: Target, values: Mapping[str, Any]) -> Conversation[int]:
    """How many items the plan names."""
    return _measured(plan, target, values, lambda _: 1)


def total_of(name: str, plan: Plan, target: Target, values: Mapping[str, Any]) -> Conversation[int]:
    """The sum of a field of the items that the plan names."""
    # What an estimate takes for an item has no fields
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
        case _:  # pragma: no cover - the compiler makes no other plan for a count
            raise TypeError(plan)


def exists(plan: Plan, target: Target, values: Mapping[str, Any]) -> Conversation[bool]:
    """Whether there is any item that the plan names."""
    match plan:
        case GetPlan():
            key = plan.entity.item_key(plan.entity.primary, values)
            return (yield from get_item(target, plan.entity, key, consistent=plan.consistent)) is not None
        case ClaimPlan():  # a claim is there as long as its owner is
            request = base_request(target, consistent=plan.consistent) | projection_of(target.table.key_names)
            request["Key"] = plan.entity.item_key(plan.claim, values)
            return "Item" in (yield Request("GetItem", request))
        case QueryPlan():
            return (yield from query_reader(plan, target).first(values)) is not None
        case ScanPlan():
            return bool((yield from ScanReader(plan, target).chunk(values, 1, None)).entries)
        case _:  # pragma: no cover - the compiler makes no other plan for it
            raise TypeError(plan)


def _count(plan: QueryPlan, target: Target, values: Mapping[str, Any], measure: Measure) -> Conversation[int]:
    """All partitions, some in parallel, each to its end."""
    counted = 0
    readers = (QueryReader(part, target) for part in plan.parts)
    pending = [(reader, *pair) for reader in readers for pair in _requests(reader, values)]
    while pending:
        now, pending = pending[:PARALLEL_MAX], pending[PARALLEL_MAX:]
        sent = [Request("Query", request) for _, _, request in now]
        responses = [(yield sent[0])] if len(sent) == 1 else (yield sent)
        for (reader, asked, request), response in zip(now, responses, strict=True):
            own = reader.plan.counted
            counted += response["Count"] if own else _counted(reader, asked, response["Items"], measure)
            last = response.get("LastEvaluatedKey")
            if last is not None:
                pending.append((reader, asked, {**request, "ExclusiveStartKey": last}))
    return counted


def _requests(reader: QueryReader, values: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    """The first request of each partition, once each, with the values that it is for."""
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
