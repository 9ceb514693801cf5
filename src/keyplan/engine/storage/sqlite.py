"""The storage port over SQLite: one file in WAL mode, or memory. What is committed is on the disk."""

from __future__ import annotations

import os
import shutil
import threading
import time
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import apsw

from keyplan.engine.storage import faults, sql
from keyplan.engine.storage.changes import Changes
from keyplan.engine.storage.connections import FilePool, MemoryPool
from keyplan.engine.storage.fairlock import FairLock
from keyplan.engine.storage.port import (
    Bounds,
    Entry,
    KeyText,
    Reader,
    Row,
    Snapshot,
    StaleTableError,
    StoredEntry,
    StoredTable,
    TableLayout,
    TableRecord,
    Writer,
)
from keyplan.engine.storage.sqlite_archives import SqliteArchives
from keyplan.engine.storage.sqlite_changes import SqliteChanges
from keyplan.errors import StoreError

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

T = TypeVar("T")
Key = tuple[KeyText, KeyText]

_storages: weakref.WeakSet[SqliteStorage] = weakref.WeakSet()

_FETCHED_AT_ONCE_MAX = 32
"""Up to here a page is fetched in one go, even if its items should turn out to be large."""


class SqliteStorage:
    """Tables in a SQLite file (``SqliteStorage.file``) or in memory (``SqliteStorage.memory``)."""

    def __init__(
        self,
        pool: FilePool | MemoryPool,
        busy_timeout_s: float,
        folder: TemporaryDirectory[str] | None = None,
    ) -> None:
        self.place = pool.place
        self.statements = 0
        self.clock: Callable[[], float] = time.time
        self.pool = pool
        self._busy_timeout_s = busy_timeout_s
        self._writers = FairLock()
        self._writing_thread = 0
        self._joined = threading.local()
        self._folder = folder
        """Where the file is, if it is to go with this object."""
        _storages.add(self)

    @classmethod
    def file(
        cls, path: str, *, create: bool = True, busy_timeout_s: float = 10.0, synchronous: str = "FULL"
    ) -> SqliteStorage:
        """Open a file, and make it if ``create``.

        Raises:
            StoreError: the file can't be opened or made, or isn't Keyplan's.
        """
        pool = FilePool(path, create=create, busy_timeout_s=busy_timeout_s, synchronous=synchronous)
        return cls(pool, busy_timeout_s)

    @classmethod
    def memory(cls) -> SqliteStorage:
        """A store that lasts as long as this object."""
        return cls(MemoryPool(), 10.0)

    @classmethod
    def temporary(cls) -> SqliteStorage:
        """A store in a file that lasts as long as this object, and has snapshots, which memory hasn't."""
        import tempfile  # noqa: PLC0415 - few need it, and all would wait for it

        folder = tempfile.TemporaryDirectory(prefix="keyplan-")
        path = str(Path(folder.name) / "store.db")
        storage = cls(FilePool(path, create=True, busy_timeout_s=10.0, synchronous="OFF"), 10.0, folder)
        storage.place = MemoryPool.PLACE
        return storage

    @classmethod
    def read_only(cls, path: str) -> SqliteStorage:
        """Open a file that nobody can write, to read it. What its WAL holds can only be read in a copy.

        Raises:
            StoreError: the file can't be opened, or isn't Keyplan's.
        """
        wal = Path(path + "-wal")
        if not wal.exists() or wal.stat().st_size == 0:
            pool = FilePool(path, create=False, busy_timeout_s=0.0, synchronous="OFF", read_only=True)
            if pool.is_of_this_format():
                return cls(pool, 0.0)
            pool.close()
        import tempfile  # noqa: PLC0415 - few need it, and all would wait for it

        folder = tempfile.TemporaryDirectory(prefix="keyplan-")
        copy = Path(folder.name) / "store.db"
        for source, target in ((Path(path), copy), (wal, Path(f"{copy}-wal"))):
            if source.exists():
                shutil.copyfile(source, target)
        storage = cls(FilePool(str(copy), create=False, busy_timeout_s=0.0, synchronous="OFF"), 0.0, folder)
        storage.place = path
        return storage

    def before_fork(self) -> bool:
        """Wait until no other thread writes: a child would inherit SQLite's lock as held, for ever. Whether the lock
        was got, so that it must be given back.
        """
        return self._writing_thread != threading.get_ident() and self._writers.acquire(self._busy_timeout_s)

    def after_fork(self, *, in_child: bool, has_lock: bool) -> None:
        """Give back what ``before_fork`` took. In the child no other thread is left that could hold anything."""
        if in_child:
            self._writers = FairLock()
            self._writing_thread = 0
            self._joined = threading.local()
        elif has_lock:
            self._writers.release()

    def close(self) -> None:
        """Close; a second time does nothing."""
        self.pool.close()
        if self._folder is not None:
            self._folder.cleanup()

    def table(self, layout: TableLayout) -> StoredTable:
        """The reads of a table. Nothing is read yet."""
        return SqliteTable(self, layout)

    def tables(self) -> list[TableRecord]:
        """The catalogue, by name."""
        return self.read(lambda reader: reader.tables())

    def fault(self, error: apsw.Error) -> Exception:
        """What to raise for an error of SQLite."""
        if faults.is_stale(error):
            return StaleTableError(str(error))
        return faults.store_error(error, self.place)

    def read(self, work: Callable[[Reader], T]) -> T:
        """Run ``work`` on one snapshot."""
        return self._transaction("BEGIN", work)

    def write(self, work: Callable[[Writer], T]) -> T:
        """Run ``work`` in one transaction; when it raises, nothing was written."""
        joined: SqliteWriter | None = getattr(self._joined, "writer", None)
        if joined is not None:
            return joined.nested(work)
        deadline = time.monotonic() + self._busy_timeout_s
        writers = self._writers
        if not writers.acquire(self._busy_timeout_s):
            raise faults.locked(self.place, self._busy_timeout_s)
        self._writing_thread = threading.get_ident()
        try:
            result = self._transaction("BEGIN IMMEDIATE", work, deadline)
        finally:
            self._writing_thread = 0
            writers.release()
        self.pool.verify()
        return result

    def snapshot(self) -> Snapshot:
        """What is committed now, to be read later. A store in memory has none."""
        if isinstance(self.pool, MemoryPool):
            raise StoreError("A store in memory has no snapshots", place=self.place, hint="Take a temporary one.")
        return SqliteSnapshot(self)

    def together(self, work: Callable[[], None]) -> None:
        """Run ``work`` with one commit for all its writes."""
        if isinstance(self.pool, MemoryPool):
            work()  # its only connection is taken by each write in turn, and a commit costs nothing
            return

        def join(writer: SqliteWriter) -> None:
            self._joined.writer = writer
            try:
                work()
            finally:
                self._joined.writer = None

        self.write(cast("Callable[[Writer], None]", join))

    def _transaction(self, begin: str, work: Callable[[SqliteWriter], T], deadline: float | None = None) -> T:
        pool = self.pool
        connection = pool.take()
        try:
            self._begin(connection, begin, deadline)
            result = work(SqliteWriter(self, connection))
            connection.execute("COMMIT")
            self.statements += 2
        except apsw.Error as error:
            self._roll_back(connection)
            raise self.fault(error) from error
        except BaseException:
            self._roll_back(connection)
            raise
        pool.give(connection)
        return result

    def _begin(self, connection: apsw.Connection, begin: str, deadline: float | None) -> None:
        self.pool.wait.until(deadline)
        if deadline is None:
            deadline = time.monotonic() + self._busy_timeout_s
        while True:
            try:
                connection.execute(begin)
            except apsw.BusyError as error:
                # The busy handler has waited already, except where SQLite didn't ask it.
                if time.monotonic() >= deadline:
                    raise faults.locked(self.place, self._busy_timeout_s) from error
                time.sleep(0.001)
            else:
                self.pool.wait.until(None)
                return

    def _roll_back(self, connection: apsw.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except apsw.Error:
            self.pool.discard(connection)
            return
        except BaseException:
            self.pool.discard(connection)
            raise
        self.pool.give(connection)

    def faults(self) -> Iterable[str]:
        """What SQLite's own check of the file finds."""
        connection = self.pool.take()
        try:
            rows = connection.execute("PRAGMA integrity_check").fetchall()
        except apsw.Error as error:
            return [str(error)]
        finally:
            self.pool.give(connection)
        return [str(row[0]) for row in rows if row[0] != "ok"]


class SqliteTable:
    """The reads of one table, each of one statement."""

    __slots__ = ("layout", "storage", "texts")

    def __init__(self, storage: SqliteStorage, layout: TableLayout) -> None:
        self.storage = storage
        self.layout = layout
        self.texts = sql.TableTexts(layout)

    def get(self, partition: KeyText, sort: KeyText) -> Row | None:
        """The item of a key."""
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
        return row

    def page(self, index: int | None, bounds: Bounds, limit: int | None, bytes_max: int) -> tuple[list[Row], bool]:
        """Rows in order, ending at ``limit`` or with the row that reaches ``bytes_max``; whether it ended
        so.
        """
        connection = self.storage.pool.take()
        try:
            return self.page_of(connection, index, bounds, limit, bytes_max)
        finally:
            self.storage.pool.give(connection)

    def page_of(
        self, connection: apsw.Connection, index: int | None, bounds: Bounds, limit: int | None, bytes_max: int
    ) -> tuple[list[Row], bool]:
        """The page, read by this connection."""
        text = self.texts.page(index, bounds)
        values = sql.page_values(bounds, limit)
        rows: list[Row] = []
        size_bytes = 0
        try:
            self.storage.statements += 1
            cursor = connection.execute(text, values)
            if limit is not None and limit <= _FETCHED_AT_ONCE_MAX:
                rows = cast("list[Row]", cursor.fetchall())
                return _within(rows, limit, bytes_max)
            for row in cursor:
                rows.append(row)
                size_bytes += row[0]
                if size_bytes >= bytes_max:
                    cursor.close(True)
                    return rows, True
        except apsw.Error as error:
            raise self.storage.fault(error) from error
        return rows, limit is not None and len(rows) == limit

    def count(self, index: int | None, rows_max: int) -> tuple[int, int] | None:
        """The number of rows and the sum of their sizes; None when there are more than ``rows_max``."""
        storage = self.storage
        connection = storage.pool.take()
        try:
            storage.statements += 1
            row = connection.execute(self.texts.count(index), (rows_max + 1,)).fetchone()
        except apsw.Error as error:
            raise storage.fault(error) from error
        finally:
            storage.pool.give(connection)
        rows, size_bytes = cast("tuple[int, float]", row)
        return None if rows > rows_max else (rows, int(size_bytes))


class SqliteSnapshot:
    """A read transaction that is held open: it sees what was committed before."""

    def __init__(self, storage: SqliteStorage) -> None:
        self._storage = storage
        connection = storage.pool.take()
        try:
            connection.execute("BEGIN")
            connection.execute(sql.TABLES).fetchall()  # only with a read it begins
        except BaseException as error:
            storage.pool.discard(connection)
            if isinstance(error, apsw.Error):
                raise storage.fault(error) from error
            raise
        self._connection: apsw.Connection | None = connection

    def page(
        self, table: StoredTable, index: int | None, bounds: Bounds, limit: int | None, bytes_max: int
    ) -> tuple[list[Row], bool]:
        """``StoredTable.page``."""
        if self._connection is None:
            raise faults.closed(self._storage.place)
        return cast("SqliteTable", table).page_of(self._connection, index, bounds, limit, bytes_max)

    def close(self) -> None:
        """Let go of it; a second time does nothing."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            connection.execute("ROLLBACK")
        except apsw.Error:
            self._storage.pool.discard(connection)
        else:
            self._storage.pool.give(connection)


class SqliteWriter:
    """Reads and writes in the transaction that its connection is in. Errors of SQLite pass to
    ``SqliteStorage``.
    """

    __slots__ = ("_connection", "_storage")

    def __init__(self, storage: SqliteStorage, connection: apsw.Connection) -> None:
        self._storage = storage
        self._connection = connection

    @property
    def changes(self) -> Changes:
        """The streams."""
        return SqliteChanges(self._run)

    def nested(self, work: Callable[[Writer], T]) -> T:
        """Run ``work`` in this transaction; when it raises, what it wrote is undone, and nothing else.

        Raises:
            StoreError: the whole transaction is lost.
        """
        self._run("SAVEPOINT one")
        try:
            result = work(self)
        except BaseException as error:
            if not self._connection.in_transaction:
                raise StoreError("The store failed; nothing was written", place=self._storage.place) from error
            self._run("ROLLBACK TO one")
            self._run("RELEASE one")
            if isinstance(error, apsw.Error):
                raise self._storage.fault(error) from error
            raise
        self._run("RELEASE one")
        return result

    @property
    def archives(self) -> SqliteArchives:
        """What was: histories, backups and records."""
        return SqliteArchives(self._run)

    def now_us(self) -> int:
        """The time of what is written now, in whole microseconds since the epoch."""
        return int(self._storage.clock() * 1_000_000)

    def _run(self, text: str, values: Sequence[object] | None = None) -> apsw.Cursor:
        self._storage.statements += 1
        return self._connection.execute(text, cast("apsw.Bindings | None", values))

    def get(self, table: StoredTable, partition: KeyText, sort: KeyText) -> Row | None:
        """The item of a key."""
        own = cast("SqliteTable", table)
        return cast("Row | None", self._run(own.texts.get, (partition, sort)).fetchone())

    def find(self, table: StoredTable, partition: KeyText, sort: KeyText) -> tuple[int, int, bytes] | None:
        """The row id, size and JSON of an item."""
        own = cast("SqliteTable", table)
        return cast("tuple[int, int, bytes] | None", self._run(own.texts.find, (partition, sort)).fetchone())

    def insert(self, table: StoredTable, partition: KeyText, sort: KeyText, size: int, body: bytes) -> int:
        """Write an item that isn't there; its row id."""
        self._run(cast("SqliteTable", table).texts.insert, (partition, sort, size, body, zlib.crc32(body)))
        return self._connection.last_insert_rowid()

    def replace(self, table: StoredTable, row: int, size: int, body: bytes) -> None:
        """Write an item that is there."""
        self._run_over_old(table, cast("SqliteTable", table).texts.replace, (size, body, zlib.crc32(body), row))

    def remove(self, table: StoredTable, row: int) -> None:
        """Remove an item."""
        self._run_over_old(table, cast("SqliteTable", table).texts.remove, (row,))

    def _run_over_old(self, table: StoredTable, text: str, values: Sequence[object]) -> None:
        """Run a statement for which SQLite reads the item as it was, if it keeps an index for its expiry. A damaged
        item must not keep that from happening: then the index goes, and is made again at the next start.
        """
        try:
            self._run(text, values)
        except apsw.SQLError as error:
            if "malformed JSON" not in str(error):
                raise
            self._run(sql.drop_expiry(table.layout))
            self._run(text, values)

    def add_entry(self, table: StoredTable, index: int, entry: Entry, key: Key, row: int) -> None:
        """Write an index entry of the item ``row``."""
        texts = cast("SqliteTable", table).texts.indexes[index]
        values = (*entry.key, *key, row, entry.size) if texts.sized else (*entry.key, *key, row)
        self._run(texts.add, values)

    def resize_entry(self, table: StoredTable, index: int, entry: Entry, key: Key) -> None:
        """Change the size of an index entry."""
        self._run(cast("SqliteTable", table).texts.indexes[index].resize, (entry.size, *entry.key, *key))

    def remove_entry(self, table: StoredTable, index: int, entry: Entry, key: Key) -> None:
        """Remove an index entry."""
        self._run(cast("SqliteTable", table).texts.indexes[index].remove, (*entry.key, *key))

    def remove_entries(self, table: StoredTable, row: int) -> None:
        """Remove all index entries of an item whose attributes aren't known. It takes as long as the indexes are."""
        for texts in cast("SqliteTable", table).texts.indexes.values():
            self._run(texts.remove_all, (row,))

    def rows(self, table: StoredTable) -> Iterator[tuple[int, KeyText, KeyText, int, bytes]]:
        """All items: row id, key, size and JSON."""
        rows = self._run(cast("SqliteTable", table).texts.rows)
        return cast("Iterator[tuple[int, KeyText, KeyText, int, bytes]]", rows)

    def sealed_rows(self, table: StoredTable) -> Iterator[tuple[int, KeyText, KeyText, int, bytes, bool]]:
        """All items, as ``rows`` gives them, and whether the JSON is what was written, as far as that is known."""
        for row in self._run(cast("SqliteTable", table).texts.sealed_rows):
            item, partition, sort, size, body, checksum = cast(
                "tuple[int, KeyText, KeyText, int, bytes, int | None]", row
            )
            yield item, partition, sort, size, body, checksum is None or checksum == zlib.crc32(body)

    def entries(self, table: StoredTable, index: int) -> Iterator[StoredEntry]:
        """All entries of an index."""
        return map(_stored_entry, self._run(cast("SqliteTable", table).texts.indexes[index].entries))

    def entry(self, table: StoredTable, index: int, entry: Entry, key: Key) -> StoredEntry | None:
        """The entry of an index under this full key."""
        row = self._run(cast("SqliteTable", table).texts.indexes[index].entry, (*entry.key, *key)).fetchone()
        return None if row is None else _stored_entry(row)

    def expired(self, table: StoredTable, attribute: str, after_s: float, until_s: float, limit: int) -> list[Key]:
        """The keys of items whose Number ``attribute`` is over ``after_s`` and at most ``until_s``, the least first."""
        text = sql.expired(table.layout, attribute)
        return cast("list[Key]", self._run(text, (after_s, until_s, limit)).fetchall())

    def tables(self) -> list[TableRecord]:
        """The catalogue, by name."""
        return [TableRecord(*cast("tuple[int, int, str, str]", row)) for row in self._run(sql.TABLES)]

    def create_table(self, name: str, definition: str, layout: TableLayout) -> TableLayout:
        """Add a table; its layout with the id it was given."""
        self._run(sql.ADD_TABLE, (name, layout.generation, definition))
        made = replace(layout, id=self._connection.last_insert_rowid())
        self._run(sql.create_items(made))
        for index in made.indexes:
            self._run(sql.create_index(made, index))
        return made

    def drop_table(self, table: StoredTable) -> None:
        """Remove a table, its items and its indexes."""
        layout = table.layout
        self._run(f"DROP TABLE {sql.items_name(layout)}")
        for index in layout.indexes:
            self._run(f"DROP TABLE {sql.index_name(layout, index.number)}")
        self._run(sql.DROP_TABLE, (layout.id,))

    def define(self, table_id: int, definition: str) -> None:
        """Store a table's definition."""
        self._run(sql.DEFINE, (definition, table_id))

    def change_indexes(self, table: StoredTable, layout: TableLayout, definition: str) -> StoredTable:
        """Give a table the indexes of ``layout``: new ones are made empty, missing ones dropped."""
        before = {index.number for index in table.layout.indexes}
        after = {index.number for index in layout.indexes}
        self._run(f"ALTER TABLE {sql.items_name(table.layout)} RENAME TO {sql.items_name(layout)}")
        for number in before - after:
            self._run(f"DROP TABLE {sql.index_name(layout, number)}")
        for index in layout.indexes:
            if index.number not in before:
                self._run(sql.create_index(layout, index))
        self._run(sql.REDEFINE, (definition, layout.generation, layout.id))
        return SqliteTable(self._storage, layout)

    def expire_by(self, table: StoredTable, attribute: str | None) -> None:
        """Make ``expired`` quick for this attribute, or, with None, for none any more. It may be so already."""
        if attribute is None:
            self._run(sql.drop_expiry(table.layout))
        else:
            self._run(sql.create_expiry(table.layout, attribute))

    def token(self, token: str, since_s: float) -> tuple[bytes, bytes] | None:
        """What is stored under an idempotency token since ``since_s``."""
        return cast("tuple[bytes, bytes] | None", self._run(sql.TOKEN, (token, since_s)).fetchone())

    def keep_token(self, token: str, digest: bytes, answer: bytes, now_s: float, since_s: float) -> None:
        """Store an answer under a token; forget those from before ``since_s``."""
        self._run(sql.FORGET_TOKENS, (since_s,))
        self._run(sql.KEEP_TOKEN, (token, digest, answer, now_s))


def _stored_entry(row: tuple[Any, ...]) -> StoredEntry:
    *key, partition, sort, item, size = row
    return StoredEntry(Entry(tuple(key), size), (partition, sort), item)


def _within(rows: list[Row], limit: int, bytes_max: int) -> tuple[list[Row], bool]:
    size_bytes = 0
    for count, row in enumerate(rows, 1):
        size_bytes += row[0]
        if size_bytes >= bytes_max:
            return rows[:count], True
    return rows, len(rows) == limit


_forking: list[tuple[SqliteStorage, bool]] = []
"""The storages whose writers wait for a fork to be over, and whether their locks were got."""
_one_fork = threading.Lock()


def _before_fork() -> None:
    _one_fork.acquire()
    _forking.extend((storage, storage.before_fork()) for storage in list(_storages))


def _after_fork(*, in_child: bool) -> None:
    for storage, has_lock in _forking:
        storage.after_fork(in_child=in_child, has_lock=has_lock)
    _forking.clear()
    _one_fork.release()


if hasattr(os, "register_at_fork"):  # not on Windows, which doesn't fork
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=partial(_after_fork, in_child=False),
        after_in_child=partial(_after_fork, in_child=True),
    )
