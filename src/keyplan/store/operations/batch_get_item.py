"""BatchGetItem: read up to 100 items by key; keys beyond 16 MB are returned as unprocessed."""

from __future__ import annotations

from typing import Any

from keyplan.dynamodb.capacity import ConsumedByTable, read_units
from keyplan.dynamodb.expressions import BoundProjection
from keyplan.dynamodb.limits import BATCH_GET_BYTES_MAX, BATCH_GET_KEYS_MAX
from keyplan.dynamodb.operations.registry import mixture
from keyplan.dynamodb.service_errors import THROTTLING, ResourceNotFoundException, ValidationException
from keyplan.errors import DynamoDBError
from keyplan.store.database import Database
from keyplan.store.items.stored_items import decode
from keyplan.store.requests.request_expressions import Answer, Request, consumed_capacity, only_projection
from keyplan.store.tables.item_keys import Key, SchemaFault, check_key_values, check_scalars, key_of_request
from keyplan.store.tables.table import Table
from keyplan.store.work_budget import spend_on_copies, spend_on_items

_DUPLICATES = "Provided list of item keys contains duplicates"


def batch_get_item(database: Database, request: Request) -> Answer:
    request_items: dict[str, dict[str, Any]] = request["RequestItems"]
    if sum(len(of_table["Keys"]) for of_table in request_items.values()) > BATCH_GET_KEYS_MAX:
        raise ValidationException("Too many items requested for the BatchGetItem call")
    members = ("AttributesToGet", "ProjectionExpression")
    if all(any(of_table.get(member) is not None for of_table in request_items.values()) for member in members):
        raise mixture(members[:1], members[1:])
    projections = [only_projection(of_table) for of_table in request_items.values()]
    try:
        tables = [database.table(name) for name in request_items]
        keys = [_keys(table, of_table) for table, of_table in zip(tables, request_items.values(), strict=True)]
    except (ResourceNotFoundException, SchemaFault):
        for of_table in request_items.values():
            _check_alone(of_table["Keys"])
        raise
    for table, projection in zip(tables, projections, strict=True):
        if projection is not None:
            check_scalars(table, projection.nested)
    read = _Reading(database)
    for (name, of_table), table, projection, its_keys in zip(
        request_items.items(), tables, projections, keys, strict=True
    ):
        read.table(name, table, of_table, projection, its_keys)
    if read.throttled is not None and not any(consumed.table_units for consumed in read.units.values()):
        raise read.throttled
    capacity = consumed_capacity(request, read.units)
    return {"Responses": read.responses, "UnprocessedKeys": read.unprocessed, **capacity}


def _keys(table: Table, of_table: dict[str, Any]) -> list[Key]:
    keys = [key_of_request(table, key) for key in of_table["Keys"]]
    if len(set(keys)) < len(keys):
        raise ValidationException(_DUPLICATES)
    return keys


def _check_alone(keys: list[dict[str, Any]]) -> None:
    """Errors of keys that don't depend on the table: the service reports them before a missing table."""
    for key in keys:
        check_key_values(key)
    if any(key in keys[:number] for number, key in enumerate(keys)):
        raise ValidationException(_DUPLICATES)


class _Reading:
    """The items read so far, over all tables."""

    def __init__(self, database: Database) -> None:
        self._show = database.show
        self._meter = database.meter
        self.throttled: DynamoDBError | None = None
        """Why keys remain unprocessed."""
        self.responses: dict[str, list[Answer]] = {}
        self.unprocessed: dict[str, Answer] = {}
        self.units = ConsumedByTable("Read")
        self._shown: dict[str, str] = {}
        """The table name or ARN in the response, by table name."""
        self._read: dict[str, set[Key]] = {}
        """The keys read, by table name."""
        self._size_bytes = 0

    def table(
        self, name: str, table: Table, of_table: dict[str, Any], projection: BoundProjection | None, keys: list[Key]
    ) -> None:
        """Read the items of a table. A table that is given by name and by ARN has one result, and so does a key that is
        given under both (measured on the service by ExtendDB in July 2026).
        """
        consistent = bool(of_table.get("ConsistentRead"))
        bodies: list[bytes] = []
        before = self._read.get(table.name)
        self._read[table.name] = {*(before or ()), *keys}
        consumed = self.units[table.name]
        for number, key in enumerate(keys):
            if before is not None and key in before:
                continue
            row = table.stored.get(*key)
            size = 0 if row is None else row[0]
            self._size_bytes += size
            units = read_units(size, consistent=consistent)
            if self._size_bytes > BATCH_GET_BYTES_MAX or not self._is_let_in(table, key, units):
                rest = {member: value for member, value in of_table.items() if value is not None}
                self.unprocessed[name] = {**rest, "Keys": of_table["Keys"][number:]}
                break
            consumed.table_units += units
            if row is not None:
                bodies.append(row[1])
        shown = self.responses.setdefault(self._shown.setdefault(table.name, name), [])
        if projection is None:
            spend_on_copies(sum(map(len, bodies)))
            shown += map(self._show, bodies)
        else:
            spend_on_items(bodies, shown=len(projection.paths))
            shown += [projection.project(decode(body)) for body in bodies]

    def _is_let_in(self, table: Table, key: Key, units: float) -> bool:
        if self._meter is None:
            return True
        try:
            self._meter.read(table, None, key[:1], units)
        except THROTTLING as error:
            self.throttled = error
            return False
        return True
