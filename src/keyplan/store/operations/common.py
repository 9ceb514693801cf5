"""Shared functions of operations: the response of a single write, and pages of short lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keyplan.dynamodb.capacity import Consumed
from keyplan.dynamodb.service_errors import ValidationException
from keyplan.store.items.item_writes import Outcome, add_units
from keyplan.store.requests.request_expressions import Answer, Request, wants_capacity
from keyplan.store.tables.table import Table


def write_answer(request: Request, table: Table, outcome: Outcome, attributes: dict[str, Any] | None) -> Answer:
    """The response of a single write; ``attributes`` are the returned attributes, if any."""
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
    """The ``ItemCollectionMetrics`` of an item's collection. The size is an estimate, as in DynamoDB."""
    name = table.partition.name
    return {"ItemCollectionKey": {name: item[name]}, "SizeEstimateRangeGB": [0.0, 1.0]}


_DIGITS = 16
"""A token consists of groups of this many hexadecimal digits, as the API's model requires."""


def page_answer(member: str, entries: Sequence[Any], limit: int, token: str | None, groups: int = 1) -> Answer:
    """The response with up to ``limit`` entries, starting at ``token``, and the next token, if any; ``groups`` is the
    number of digit groups in a token. Raises ValidationException for an invalid token.
    """
    start = 0 if token is None else _start(token)
    end = start + limit
    answer: Answer = {member: list(entries[start:end])}
    if end < len(entries):
        answer["NextToken"] = f"{end:0{_DIGITS * groups}x}"
    return answer


def _start(token: str) -> int:
    if token and len(token) % _DIGITS == 0 and len(token) <= 64 * _DIGITS:
        try:
            return int(token, 16)
        except ValueError:
            pass
    raise ValidationException(f"Invalid Request: Provided nextToken is invalid: {token}")
