"""Reads of one table, each with one SQL statement."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, cast
from zlib import crc32

import apsw

from keyplan.store.arns import REGION
from keyplan.store.storage import sql
from keyplan.store.storage import sqlite_errors as faults
from keyplan.store.storage.connections import FilePool, MemoryPool
from keyplan.store.storage.key_layouts import Bounds, KeyText, Row, StaleTableError, TableLayout
from keyplan.store.storage.sqlite_errors import unreadable


class Medium:
    """A SQLite file or a store in memory. Failures raise StoreError.

    ``place`` is the path or ``:memory:``; ``statements`` counts statements (approximate with several threads);
    ``thrown_away`` counts removals that are cleared in chunks; ``clock`` returns seconds since the epoch; ``verifies``
    is set before tables are opened if reads compare checksums.
    """

    def __init__(self, pool: FilePool | MemoryPool) -> None:
        self.place = pool.place
        self.statements = 0
        self.thrown_away = 0
        self.clock: Callable[[], float] = time.time
        self.region = REGION
        self.verifies = False
        self.pool = pool

    def fault(self, error: apsw.Error) -> Exception:
        if isinstance(error, apsw.SQLError) and "no such table: items_" in str(error):
            return StaleTableError(str(error))
        return faults.store_error(error, self.place)


PAUSE_S = 0.0002
"""A pause in which waiting threads take a lock."""
_FETCHED_AT_ONCE_MAX = 32
"""Pages up to this limit are fetched with one call, even if their items are large."""


class StoredTable:
    """The reads of one table."""

    def __init__(self, storage: Medium, layout: TableLayout) -> None:
        self.storage = storage
        self.layout = layout

    @cached_property
    def texts(self) -> sql.TableTexts:
        return sql.TableTexts(self.layout, with_checksums=self.storage.verifies)

    def get(self, partition: KeyText, sort: KeyText) -> Row | None:
        storage = self.storage
        pool = storage.pool
        connection = pool.take()
        try:
            storage.statements += 1
            row: Row | None = connection.execute(self.texts.get, (partition, sort)).fetchone()
        except apsw.Error as error:
            raise storage.fault(error) from error
        finally:
            pool.give(connection)
        if row is not None and storage.verifies:
            self.verify((row,))
        return row

    def verify(self, rows: Iterable[Row]) -> None:
        """Compare the table's rows with their checksums. Raises StoreError."""
        for _, body, checksum in cast("Iterable[tuple[int, bytes, int]]", rows):
            if crc32(body) != checksum:
                raise unreadable(self.storage.place, "the checksum doesn't match")

    def page(self, index: int | None, bounds: Bounds, limit: int | None, bytes_max: int) -> tuple[list[Row], bool]:
        """Rows in order, up to ``limit`` or the row that reaches ``bytes_max``, and whether a limit ended the page."""
        connection = self.storage.pool.take()
        try:
            return self.page_of(connection, index, bounds, limit, bytes_max)
        finally:
            self.storage.pool.give(connection)

    def page_of(
        self, connection: apsw.Connection, index: int | None, bounds: Bounds, limit: int | None, bytes_max: int
    ) -> tuple[list[Row], bool]:
        text = self.texts.page(index, bounds)
        values = sql.page_values(bounds, limit)
        rows: list[Row] = []
        size_bytes = 0
        try:
            self.storage.statements += 1
            cursor = connection.execute(text, values)
            if limit is not None and limit <= _FETCHED_AT_ONCE_MAX:
                fetched: Any = cursor.fetchall()
                rows, more = _within(fetched, limit, bytes_max)
            else:
                more = False
                for row in cursor:
                    rows.append(row)
                    size_bytes += row[0]
                    if size_bytes >= bytes_max:
                        cursor.close(True)
                        more = True
                        break
                more = more or (limit is not None and len(rows) == limit)
        except apsw.Error as error:
            raise self.storage.fault(error) from error
        if self.storage.verifies:
            self.verify(rows)
        return rows, more

    def count(self, index: int | None, rows_max: int = -1) -> tuple[int, int]:
        """The number and total size of rows, up to ``rows_max`` of them."""
        storage = self.storage
        connection = storage.pool.take()
        try:
            storage.statements += 1
            row = connection.execute(self.texts.count(index), (rows_max,)).fetchone()
        except apsw.Error as error:
            raise storage.fault(error) from error
        finally:
            storage.pool.give(connection)
        rows, size_bytes = cast("tuple[int, float]", row)
        return rows, int(size_bytes)


def _within(rows: list[Row], limit: int, bytes_max: int) -> tuple[list[Row], bool]:
    size_bytes = 0
    for count, row in enumerate(rows, 1):
        size_bytes += row[0]
        if size_bytes >= bytes_max:
            return rows[:count], True
    return rows, len(rows) == limit
