"""BatchWriteItem: put and delete items, not atomically. Other writers run between the transactions of a large batch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from keyplan.dynamodb.capacity import ConsumedByTable
from keyplan.dynamodb.limits import BATCH_WRITE_REQUESTS_MAX
from keyplan.dynamodb.service_errors import THROTTLING, ResourceNotFoundException, ValidationException
from keyplan.dynamodb.values import check_item
from keyplan.errors import DynamoDBError
from keyplan.store.database import Database
from keyplan.store.items.item_writes import Outcome, add_units, perform
from keyplan.store.items.write_outcome import Write, checked_size
from keyplan.store.operations.common import collection_metrics
from keyplan.store.requests import write_preparation as prepare
from keyplan.store.requests.request_expressions import Answer, Request, consumed_capacity, wants_capacity
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.tables.item_keys import MISMATCH, KeyFault, SchemaFault, check_key_values

_TRANSACTION_BYTES_MAX = 2_000_000


def batch_write_item(database: Database, request: Request) -> Answer:
    request_items: dict[str, list[dict[str, Any]]] = request["RequestItems"]
    if sum(len(requests) for requests in request_items.values()) > BATCH_WRITE_REQUESTS_MAX:
        raise ValidationException("Too many items requested for the BatchWriteItem call")
    actions = [(name, _one_action(each)) for name, requests in request_items.items() for each in requests]
    try:
        writes = [_prepare(database, name, action) for name, action in actions]
    except (SchemaFault, ResourceNotFoundException):
        for _, action in actions:
            _check_values(action)
        raise
    if len({(write.table.name, write.key) for write in writes}) < len(writes):
        raise ValidationException("Provided list of item keys contains duplicates")

    results: list[Outcome | DynamoDBError] = []
    for part in _parts(writes):
        results += database.write(partial(_perform, database, part))
    unprocessed: dict[str, list[Answer]] = {}
    done: list[tuple[Write, Outcome]] = []
    for write, result, (name, action) in zip(writes, results, actions, strict=True):
        if isinstance(result, Outcome):
            done.append((write, result))
        else:
            unprocessed.setdefault(name, []).append(action)
    if not done and isinstance(results[0], DynamoDBError):
        raise results[0]
    units = ConsumedByTable("Write")
    if wants_capacity(request) is not None:
        for write, outcome in done:
            add_units(units[write.table.name], write.table, outcome)
    answer: Answer = {"UnprocessedItems": unprocessed, **consumed_capacity(request, units)}
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        answer["ItemCollectionMetrics"] = _metrics(writes, actions)
    return answer


def _parts(writes: list[Write]) -> Iterator[list[Write]]:
    """The writes of each transaction: as many as have ``_TRANSACTION_BYTES_MAX``, or one that is larger."""
    part: list[Write] = []
    size_bytes = 0
    for write in writes:
        written_bytes = 0 if write.put is None else write.put.size
        if part and size_bytes + written_bytes > _TRANSACTION_BYTES_MAX:
            yield part
            part, size_bytes = [], 0
        part.append(write)
        size_bytes += written_bytes
    yield part


def _perform(database: Database, part: list[Write], writer: Writer) -> list[Outcome | DynamoDBError]:
    results: list[Outcome | DynamoDBError] = []
    for write in part:
        try:
            results.append(perform(writer, write, database.charge))
        except THROTTLING as error:
            results.append(error)
    return results


def _one_action(action: dict[str, Any]) -> dict[str, Any]:
    if sum(action.get(kind) is not None for kind in ("PutRequest", "DeleteRequest")) != 1:
        # The service reports the same error for an action with both members and for an action with neither.
        raise ValidationException(
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "
            "supported datatypes"
        )
    return action


def _check_values(action: dict[str, Any]) -> None:
    """Reject invalid attribute values and items over 400 KB: AWS validates all actions before any table."""
    put: dict[str, Any] | None = action.get("PutRequest")
    if put is not None:
        checked_size(check_item(put["Item"]))
    else:
        check_key_values(action["DeleteRequest"]["Key"])


def _prepare(database: Database, name: str, action: dict[str, Any]) -> Write:
    put: dict[str, Any] | None = action.get("PutRequest")
    if put is not None:
        try:
            return prepare.put(database, {"TableName": name, "Item": put["Item"]})
        except KeyFault:
            # The service has one error message for all keys that don't match the table's schema.
            raise SchemaFault(MISMATCH) from None
    return prepare.delete(database, {"TableName": name, "Key": action["DeleteRequest"]["Key"]})


def _metrics(writes: list[Write], actions: list[tuple[str, dict[str, Any]]]) -> dict[str, list[Answer]]:
    metrics: dict[str, list[Answer]] = {}
    for write, (_, action) in zip(writes, actions, strict=True):
        if write.table.has_local_indexes:
            put = action.get("PutRequest")
            item = put["Item"] if put is not None else action["DeleteRequest"]["Key"]
            metric = collection_metrics(write.table, item)
            of_table = metrics.setdefault(write.table.name, [])
            if metric not in of_table:
                of_table.append(metric)
    return metrics
