"""TransactGetItems: read up to 100 items in one snapshot."""

from __future__ import annotations

from typing import Any

from keyplan.dynamodb.capacity import ConsumedByTable, read_units
from keyplan.dynamodb.expressions import BoundProjection
from keyplan.dynamodb.limits import TRANSACT_BYTES_MAX
from keyplan.dynamodb.service_errors import THROTTLING, TransactionCanceledException, ValidationException
from keyplan.store.database import Database
from keyplan.store.items.stored_items import decode
from keyplan.store.requests.request_expressions import Answer, Request, consumed_capacity, only_projection
from keyplan.store.requests.write_preparation import without_idle
from keyplan.store.simulation import Meter, cancellation_of
from keyplan.store.storage.key_layouts import Row
from keyplan.store.storage.storage_transactions import Reader
from keyplan.store.tables.item_keys import Key, SchemaFault, check_key_values, check_scalars, key_of_request
from keyplan.store.tables.table import Table
from keyplan.store.work_budget import spend_on_items


def transact_get_items(database: Database, request: Request) -> Answer:
    gets = [action["Get"] for action in request["TransactItems"]]
    for get in gets:
        check_key_values(get["Key"])
    projections = [only_projection(without_idle(get)) for get in gets]
    tables = [database.table(get["TableName"]) for get in gets]
    keys = _keys(tables, gets, projections)
    rows = read_together(database, tables, keys)
    responses: list[Answer] = []
    for row, projection in zip(rows, projections, strict=True):
        if row is None:
            responses.append({})
        else:
            item = database.show(row[1]) if projection is None else projection.project(decode(row[1]))
            responses.append({"Item": item})
    return {"Responses": responses, **read_capacity(request, tables, rows)}


def read_together(database: Database, tables: list[Table], keys: list[Key]) -> list[Row | None]:
    """Read items in one snapshot. Raises ValidationException, or TransactionCanceledException if throttled."""
    if len({(table.name, key) for table, key in zip(tables, keys, strict=True)}) < len(keys):
        raise ValidationException("Transaction request cannot include multiple operations on one item")

    def work(reader: Reader) -> list[Row | None]:
        rows: list[Row | None] = []
        size_bytes = 0
        for table, key in zip(tables, keys, strict=True):
            row = reader.get(table.stored, *key)
            rows.append(row)
            size_bytes += 0 if row is None else row[0]
            if size_bytes > TRANSACT_BYTES_MAX:
                raise ValidationException("Collection size of items in the transaction exceeds the limit of 4 MB")
        return rows

    rows = database.storage.read(work)
    spend_on_items([row[1] for row in rows if row is not None])
    if database.meter is not None:
        _charge(database.meter, tables, keys, rows)
    return rows


def read_capacity(request: Request, tables: list[Table], rows: list[Row | None]) -> Answer:
    units = ConsumedByTable("Read")
    for table, row in zip(tables, rows, strict=True):
        units[table.name].table_units += read_units(0 if row is None else row[0], transactional=True)
    return consumed_capacity(request, units, by_direction=True)


def _charge(meter: Meter, tables: list[Table], keys: list[Key], rows: list[Row | None]) -> None:
    reasons: list[dict[str, Any]] = []
    for table, key, row in zip(tables, keys, rows, strict=True):
        try:
            meter.read(table, None, key[:1], read_units(0 if row is None else row[0], transactional=True))
            reasons.append({"Code": "None"})
        except THROTTLING as error:
            reasons.append(cancellation_of(error))
    if any(reason["Code"] != "None" for reason in reasons):
        raise TransactionCanceledException(reasons)


def _keys(tables: list[Table], gets: list[dict[str, Any]], projections: list[BoundProjection | None]) -> list[Key]:
    keys: list[Key] = []
    reasons: list[dict[str, Any]] = []
    for table, get, projection in zip(tables, gets, projections, strict=True):
        try:
            key = key_of_request(table, get["Key"])
            if projection is not None:
                check_scalars(table, projection.nested)
            keys.append(key)
            reasons.append({"Code": "None"})
        except SchemaFault as fault:
            reasons.append({"Code": "ValidationError", "Message": fault.message})
    if len(keys) < len(gets):
        first = next(number for number, reason in enumerate(reasons) if reason["Code"] != "None")
        raise TransactionCanceledException([*reasons[: first + 1], *[{"Code": "None"}] * (len(gets) - first - 1)])
    return keys
