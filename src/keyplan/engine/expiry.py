"""The removal of expired items: those whose time-to-live attribute, a Number of seconds since the epoch, has passed.

As with the service ("Using time to live" in the developer guide): an expired item is there, and is returned, until it
is removed; a time more than five years in the past is left alone; what isn't a Number never expires; a removal
consumes nothing.
"""

from __future__ import annotations

from keyplan.engine.database import Database
from keyplan.engine.judging import Write
from keyplan.engine.storage.transactions import Reader, Writer
from keyplan.engine.writes import perform

REMOVED_TOGETHER = 200
"""Items of one transaction, so that other writers wait some milliseconds and no longer."""
PAST_S_MAX = 5 * 365 * 86_400.0


def sweep(database: Database, items_max: int) -> int:
    """Remove up to ``items_max`` expired items with their index entries, in one transaction for each table.

    While nothing has expired, nothing is written, and no other writer waits.

    Returns:
        The number of items removed.
    """
    until_s = database.clock()
    removed = 0
    for name in database.storage.read(lambda reader: _tables_with_expired(database, reader, until_s)):
        if removed < items_max:
            removed += _remove(database, name, until_s, items_max - removed)
    return removed


def index_expiring_tables(database: Database) -> None:
    """Give each table whose items expire the means to find them quickly: files of before have settings only."""

    def work(writer: Writer) -> None:
        for table in database.fresh(writer).values():
            attribute: str | None = table.definition.get("TimeToLive")
            if attribute is not None:
                writer.expire_by(table.stored, attribute)

    if any(table.definition.get("TimeToLive") for table in database.storage.read(database.fresh).values()):
        database.write(work)


def _tables_with_expired(database: Database, reader: Reader, until_s: float) -> list[str]:
    return [
        table.name
        for table in database.fresh(reader).values()
        if table.definition.get("TimeToLive") is not None
        and reader.expired(table.stored, table.definition["TimeToLive"], until_s - PAST_S_MAX, until_s, 1)
    ]


def _remove(database: Database, name: str, until_s: float, items_max: int) -> int:
    def work(writer: Writer) -> int:
        # Everything is judged anew: the table may be gone, and an item may have been given more time.
        table = database.fresh(writer).get(name)
        attribute = None if table is None else table.definition.get("TimeToLive")
        if table is None or attribute is None:
            return 0
        keys = writer.expired(table.stored, attribute, until_s - PAST_S_MAX, until_s, items_max)
        for key in keys:
            perform(writer, Write(table, key, removes=True, by_expiry=True))
        return len(keys)

    return database.write(work)
