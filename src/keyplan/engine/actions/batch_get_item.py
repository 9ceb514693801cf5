"""BatchGetItem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyplan.engine.database import Database
from keyplan.engine.items import decode
from keyplan.engine.keys import Key, key_of_request
from keyplan.engine.requests import Answer, Request, consumed_list, only_projection, wants_capacity
from keyplan.engine.tables import Table
from keyplan.expressions import BoundProjection
from keyplan.wire.capacity import Consumed, read_units
from keyplan.wire.errors import ValidationException
from keyplan.wire.limits import BATCH_GET_BYTES_MAX, BATCH_GET_KEYS_MAX


def batch_get_item(database: Database, request: Request) -> Answer:
    """Read up to a hundred items by their keys; what exceeds 16 MB comes back as unprocessed keys."""
    asked: dict[str, dict[str, Any]] = request["RequestItems"]
    if sum(len(of_table["Keys"]) for of_table in asked.values()) > BATCH_GET_KEYS_MAX:
        raise ValidationException("Too many items requested for the BatchGetItem call")
    prepared = [(name, database.table(name), of_table, only_projection(of_table)) for name, of_table in asked.items()]
    read = _Reading(database.show)
    keyed = [
        (name, table, of_table, projection, _keys(table, of_table)) for name, table, of_table, projection in prepared
    ]
    for name, table, of_table, projection, keys in keyed:
        read.table(name, table, of_table, projection, keys)
    answer: Answer = {"Responses": read.responses, "UnprocessedKeys": read.unprocessed}
    level = wants_capacity(request)
    if level is not None:
        answer["ConsumedCapacity"] = consumed_list(read.units, level)
    return answer


def _keys(table: Table, of_table: dict[str, Any]) -> list[Key]:
    keys = [key_of_request(table, key) for key in of_table["Keys"]]
    if len(set(keys)) < len(keys):
        raise ValidationException("Provided list of item keys contains duplicates")
    return keys


class _Reading:
    """What was read so far, over all tables."""

    def __init__(self, show: Callable[[bytes], Any]) -> None:
        self._show = show
        self.responses: dict[str, list[Answer]] = {}
        self.unprocessed: dict[str, Answer] = {}
        self.units: dict[str, Consumed] = {}
        self._size_bytes = 0

    def table(
        self,
        name: str,
        table: Table,
        of_table: dict[str, Any],
        projection: BoundProjection | None,
        keys: list[Key],
    ) -> None:
        consistent = bool(of_table.get("ConsistentRead"))
        items = self.responses[name] = []
        consumed = self.units.setdefault(table.name, Consumed(table.name, "Read"))
        for number, key in enumerate(keys):
            row = table.stored.get(*key)
            size = 0 if row is None else row[0]
            self._size_bytes += size
            if self._size_bytes > BATCH_GET_BYTES_MAX:
                rest = {member: value for member, value in of_table.items() if value is not None}
                self.unprocessed[name] = {**rest, "Keys": of_table["Keys"][number:]}
                return
            consumed.table_units += read_units(size, consistent=consistent)
            if row is not None:
                items.append(self._show(row[1]) if projection is None else projection.project(decode(row[1])))
