"""What the answers of single writes have in common."""

from __future__ import annotations

from typing import Any

from keyplan.dynamodb.capacity import Consumed
from keyplan.store.items.item_writes import Outcome, add_units
from keyplan.store.requests.request_expressions import Answer, Request, wants_capacity
from keyplan.store.tables.table import Table


def write_answer(request: Request, table: Table, outcome: Outcome, attributes: dict[str, Any] | None) -> Answer:
    """The answer of a single write; ``attributes`` are those it returns, if any."""
    answer: Answer = {}
    if attributes:
        answer["Attributes"] = attributes
    level = wants_capacity(request)
    if level is not None:
        consumed = Consumed(table.name, "Write")
        add_units(consumed, table, outcome)
        answer["ConsumedCapacity"] = consumed.as_json(level)
    if request.get("ReturnItemCollectionMetrics") == "SIZE" and table.has_local_indexes:
        item = request.get("Item") or request["Key"]
        answer["ItemCollectionMetrics"] = collection_metrics(table, item)
    return answer


def collection_metrics(table: Table, item: dict[str, Any]) -> Answer:
    """The ``ItemCollectionMetrics`` of an item's collection. The size is an estimate, as it is with
    DynamoDB.
    """
    name = table.partition.name
    return {
        "ItemCollectionKey": {name: item[name]},
        "SizeEstimateRangeGB": [0.0, 1.0],
    }
