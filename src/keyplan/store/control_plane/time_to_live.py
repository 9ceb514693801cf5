"""Time to live: removing items whose TTL attribute, a Number of seconds since the epoch, is in the past.

As in the service ("Using time to live" in the developer guide): an expired item is returned until it is removed; a time
more than five years in the past is ignored; values of other types never expire; removal consumes no capacity.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import orjson

from keyplan.store.background_work import begin_work, is_given_up
from keyplan.store.chunked_work import TableWork, finish
from keyplan.store.database import Database
from keyplan.store.items.item_writes import perform
from keyplan.store.items.write_outcome import Write
from keyplan.store.state_delays import EXPIRY, SETTLING, Definition, is_usable
from keyplan.store.storage.key_layouts import ROW_MAX
from keyplan.store.storage.storage_transactions import Reader, Writer
from keyplan.store.tables.table import Table

PAST_S_MAX = 5 * 365 * 86_400.0
_KIND = "expiring"
"""The kind of the records with the progress of a table's first search for expired items."""


def sweep(database: Database, items_max: int) -> int:
    """Remove up to ``items_max`` expired items, in one transaction per table; returns their number."""
    until_s = database.clock()
    removed = 0
    for name in database.storage.read(lambda reader: _tables_with_expired(database, reader, until_s)):
        if removed < items_max:
            removed += _remove(database, name, until_s, items_max - removed)
    return removed


def expire_by(writer: Writer, table: Table, attribute: str | None) -> TableWork | None:
    """Set or remove a table's TTL attribute; returns the remaining search for existing items that expire, if any."""
    table_id = table.stored.layout.id
    writer.archives.drop_record(_KIND, str(table_id))
    writer.expire_by(table.stored, attribute)
    last = writer.last_row(table.stored)
    after = None if attribute is None else writer.fill_expiry(table.stored, attribute, 0, last)
    if after is None:
        return None
    expiring = TableWork(table.name, table_id, begin_work())
    _keep(writer, expiring, after, last)
    return expiring


def begin_expiry(
    before: Mapping[str, Any], attribute: str, *, enables: bool, now_s: float, state_delay_s: float
) -> Definition:
    """The definition after a valid UpdateTimeToLive for this attribute."""
    after = {**before, "TimeToLive": attribute if enables else None}
    if not state_delay_s:
        return after
    note = {"Attribute": attribute, "Until": now_s + state_delay_s}
    return {**after, SETTLING: {**(before.get(SETTLING) or {}), EXPIRY: note}}


def finish_expiring(database: Database, expiring: TableWork) -> None:
    """Find the remaining expiring items in chunks. An error ends the search until the next start. Raises StoreError."""
    finish(database, expiring.worker, partial(database.write, partial(_look_through, database, expiring)), None)


def _look_through(database: Database, expiring: TableWork, writer: Writer) -> bool:
    table = database.fresh(writer).get(expiring.table)
    body = writer.archives.record(_KIND, str(expiring.table_id))
    if table is None or body is None or table.stored.layout.id != expiring.table_id:
        return True
    note = orjson.loads(body)
    if note["Worker"] != expiring.worker:
        return True
    last: int = note.get("Last", ROW_MAX)  # later writes record their items' expiry times themselves
    after = writer.fill_expiry(table.stored, table.definition["TimeToLive"], note["Row"], last)
    if after is None:
        writer.archives.drop_record(_KIND, str(expiring.table_id))
    else:
        _keep(writer, expiring, after, last)
    return after is None


def _keep(writer: Writer, expiring: TableWork, row: int, last: int) -> None:
    note = {"Worker": expiring.worker, "Row": row, "Last": last}
    writer.archives.keep_record(_KIND, str(expiring.table_id), orjson.dumps(note))


def go_on_expiring(database: Database) -> None:
    """Finish abandoned searches, and search tables of older files, which contain no expiry times. Raises StoreError."""
    while database.storage.read(partial(_left, database)) is not None:
        expiring = database.write(partial(_take_over, database))
        if expiring is not None:
            finish_expiring(database, expiring)


def _left(database: Database, reader: Reader) -> Table | None:
    notes = {name: orjson.loads(body) for name, body in reader.archives.records(_KIND)}
    for table in database.fresh(reader).values():
        if table.definition.get("TimeToLive") is not None and _is_usable(database, table):
            note = notes.get(str(table.stored.layout.id))
            if is_given_up(note["Worker"]) if note is not None else not reader.expires(table.stored):
                return table
    return None


def _take_over(database: Database, writer: Writer) -> TableWork | None:
    table = _left(database, writer)
    if table is None:
        return None
    body = writer.archives.record(_KIND, str(table.stored.layout.id))
    if body is None:
        return expire_by(writer, table, table.definition["TimeToLive"])
    expiring = TableWork(table.name, table.stored.layout.id, begin_work())
    note = orjson.loads(body)
    _keep(writer, expiring, note["Row"], note.get("Last", ROW_MAX))
    return expiring


def _is_usable(database: Database, table: Table) -> bool:
    return table.is_settled or is_usable(database.states(table))


def _tables_with_expired(database: Database, reader: Reader, until_s: float) -> list[str]:
    return [
        table.name
        for table in database.fresh(reader).values()
        if table.definition.get("TimeToLive") is not None
        and _is_usable(database, table)
        and reader.expired(table.stored, until_s - PAST_S_MAX, until_s, 1)
    ]


def _remove(database: Database, name: str, until_s: float, items_max: int) -> int:
    def work(writer: Writer) -> int:
        # Check again in the transaction: the table may have been deleted, or items may have a new expiry time.
        table = database.fresh(writer).get(name)
        if table is None or table.definition.get("TimeToLive") is None:
            return 0
        keys = writer.expired(table.stored, until_s - PAST_S_MAX, until_s, items_max)
        for key in keys:
            perform(writer, Write(table, key, removes=True, by_expiry=True))
        return len(keys)

    return database.write(work)
