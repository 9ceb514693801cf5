"""Stores tables in one SQLite file in WAL mode, or in memory.

Each read of a ``StoredTable`` is one statement. ``Storage.write`` runs a function in one transaction.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from traceback import clear_frames
from typing import TYPE_CHECKING, TypeVar

import apsw

from keyplan.errors import DynamoDBError, StoreError
from keyplan.store.storage import sql
from keyplan.store.storage import sqlite_errors as faults
from keyplan.store.storage.connections import FilePool, MemoryPool, roll_back
from keyplan.store.storage.key_layouts import Bounds, KeyText, Row, TableLayout
from keyplan.store.storage.storage_transactions import Reader, Writer
from keyplan.store.storage.table_reads import PAUSE_S, Medium, StoredTable

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

S = TypeVar("S")
T = TypeVar("T")
Key = tuple[KeyText, KeyText]

_storages: weakref.WeakSet[Storage] = weakref.WeakSet()

_WAITED_S_MIN = 0.01
_OTHERS_S = 0.006
"""Other processes retry a file's lock every 5 ms or more often."""


class FairLock:
    """A non-reentrant lock that threads get in the order of their requests, so that no writer starves."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held = False
        self._waiting: deque[threading.Lock] = deque()

    def acquire(self, timeout_s: float) -> bool:
        """Wait for the lock at most ``timeout_s``; returns whether it was taken."""
        with self._guard:
            if not self._held:
                self._held = True
                return True
            gate = threading.Lock()
            gate.acquire()
            self._waiting.append(gate)
        try:
            got = gate.acquire(timeout=max(0.0, timeout_s))
        except BaseException:
            # The lock may have been handed over to this thread before the interrupt.
            if not self._withdraw(gate):
                self.release()
            raise
        return got or not self._withdraw(gate)

    def release(self) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._held = False

    def _withdraw(self, gate: threading.Lock) -> bool:
        with self._guard:
            if gate in self._waiting:
                self._waiting.remove(gate)
                return True
            return False


class Storage(Medium):
    """Tables in a SQLite file (``Storage.file``) or in memory (``Storage.memory``)."""

    def __init__(
        self, pool: FilePool | MemoryPool, busy_timeout_s: float, folder: TemporaryDirectory[str] | None = None
    ) -> None:
        super().__init__(pool)
        self._busy_timeout_s = busy_timeout_s
        self._writers = FairLock()
        self._writing_thread = 0
        self._joined = threading.local()
        self._folder = folder
        """The temporary folder of the file, removed with this object."""
        _storages.add(self)

    @classmethod
    def file(
        cls, path: str, *, create: bool = True, busy_timeout_s: float = 10.0, synchronous: str = "FULL"
    ) -> Storage:
        """Open a file; with ``create``, create the file if it is missing. Raises StoreError."""
        pool = FilePool(path, create=create, busy_timeout_s=busy_timeout_s, synchronous=synchronous)
        return cls(pool, busy_timeout_s)

    @classmethod
    def memory(cls) -> Storage:
        return cls(MemoryPool(), 10.0)

    @classmethod
    def temporary(cls) -> Storage:
        """A store in a temporary file, for snapshots, which a store in memory doesn't support."""
        import tempfile  # noqa: PLC0415 - imported only when needed

        folder = tempfile.TemporaryDirectory(prefix="keyplan-")
        path = str(Path(folder.name) / "store.db")
        storage = cls(FilePool(path, create=True, busy_timeout_s=10.0, synchronous="OFF"), 10.0, folder)
        storage.place = MemoryPool.PLACE
        return storage

    @classmethod
    def read_only(cls, path: str) -> Storage:
        """Open a copy of a file without write access. Raises StoreError."""
        import tempfile  # noqa: PLC0415 - imported only when needed

        folder = tempfile.TemporaryDirectory(prefix="keyplan-")
        copy = str(Path(folder.name) / "store.db")
        for suffix in ("", "-wal"):
            if Path(path + suffix).is_file():
                shutil.copyfile(path + suffix, copy + suffix)
        try:
            storage = cls(FilePool(copy, create=False, busy_timeout_s=0.0, synchronous="OFF"), 0.0, folder)
        except StoreError as error:
            error.place = path
            raise
        storage.place = path
        return storage

    def before_fork(self) -> bool:
        """Wait until no other thread writes, so that no child inherits the lock; returns whether it is held."""
        has_lock = self._writing_thread != threading.get_ident() and self._writers.acquire(self._busy_timeout_s)
        self.pool.before_fork()
        return has_lock

    def after_fork(self, *, in_child: bool, has_lock: bool) -> None:
        """Release the lock that ``before_fork`` took. In the child, no other thread can hold the lock."""
        if in_child:
            self._writers = FairLock()
            self._writing_thread = 0
            self._joined = threading.local()
        elif has_lock:
            self._writers.release()

    def close(self) -> None:
        self.pool.close()
        if self._folder is not None:
            self._folder.cleanup()

    def table(self, layout: TableLayout) -> StoredTable:
        return StoredTable(self, layout)

    def read(self, work: Callable[[Reader], T]) -> T:
        return self._transaction("BEGIN", Reader, work)

    @property
    def is_joined(self) -> bool:
        """Whether this thread is in a transaction of several writes."""
        return getattr(self._joined, "writer", None) is not None

    def write(self, work: Callable[[Writer], T]) -> T:
        """Run ``work`` in one transaction, which is rolled back if it raises."""
        joined: Writer | None = getattr(self._joined, "writer", None)
        if joined is not None:
            return joined.nested(work)
        writers = self._writers
        deadline = self._wait_for_writers()
        self._writing_thread = threading.get_ident()
        try:
            try:
                return self._transaction("BEGIN IMMEDIATE", Writer, work, deadline, is_write=True)
            except faults.LocksRemovedError:  # no statement has been executed yet
                self.pool.refresh()
                return self._transaction("BEGIN IMMEDIATE", Writer, work, deadline, is_write=True)
        finally:
            self.pool.unlock_writer()
            self._writing_thread = 0
            writers.release()

    def _wait_for_writers(self) -> float | None:
        """Wait for this process's writers. Returns the deadline for the lock of others after a long wait."""
        began = time.monotonic()
        if not self._writers.acquire(self._busy_timeout_s):
            raise faults.locked(self.place, self._busy_timeout_s)
        return began + self._busy_timeout_s if time.monotonic() - began > _WAITED_S_MIN else None

    @property
    def has_snapshots(self) -> bool:
        """Whether reads and writes run concurrently. In a store in memory, reads and writes wait for each other."""
        return not isinstance(self.pool, MemoryPool)

    def let_others_in(self) -> None:
        """Pause between transactions of chunked work, so that waiting writers run."""
        time.sleep(_OTHERS_S if self.has_snapshots else PAUSE_S)

    def snapshot(self) -> Snapshot:
        """A snapshot of the current state. Raises StoreError for a store in memory."""
        if not self.has_snapshots:
            raise StoreError("An in-memory store doesn't support snapshots", place=self.place, hint="Use a file.")
        return Snapshot(self)

    def together(self, work: Callable[[], None]) -> None:
        """Run ``work`` with one commit for all its writes."""
        if isinstance(self.pool, MemoryPool):
            work()  # writes commit separately: a commit in memory costs nothing
            return

        def join(writer: Writer) -> None:
            self._joined.writer = writer
            try:
                work()
            finally:
                self._joined.writer = None

        self.write(join)

    def _transaction(
        self,
        begin: str,
        inside: Callable[[Medium, apsw.Connection], S],
        work: Callable[[S], T],
        deadline: float | None = None,
        *,
        is_write: bool = False,
    ) -> T:
        """Run ``work`` in a transaction. After a write, its files are verified before the connection is returned."""
        pool = self.pool
        connection = pool.take()
        try:
            self._begin(connection, begin, deadline)
            if is_write:
                pool.check_locks()
            result = work(inside(self, connection))
            connection.execute("COMMIT")
            self.statements += 2
            if is_write:
                pool.verify(connection)
        except apsw.Error as error:
            self.give_rolled_back(connection)
            raise self.fault(error) from error
        except BaseException as error:
            if not isinstance(error, DynamoDBError):
                _clear_frames(error)
            self.give_rolled_back(connection)
            raise
        pool.give(connection)
        return result

    def _begin(self, connection: apsw.Connection, begin: str, deadline: float | None) -> None:
        until = time.monotonic() + self._busy_timeout_s if deadline is None else deadline
        self.pool.wait.until(deadline)
        try:
            while True:
                failure: apsw.BusyError | None = None
                try:
                    connection.execute(begin)
                    if begin == "BEGIN" or self.pool.lock_writer():
                        return
                    roll_back(connection)  # another process is writing in spite of SQLite's lock
                except apsw.BusyError as error:
                    failure = error
                # SQLite doesn't always call the busy handler, which waits until the timeout.
                if time.monotonic() >= until:
                    raise faults.locked(self.place, self._busy_timeout_s) from failure
                time.sleep(0.001)
        finally:
            self.pool.wait.until(None)

    def give_rolled_back(self, connection: apsw.Connection) -> None:
        """Roll back and return a connection; close it if the rollback fails."""
        try:
            roll_back(connection)
        except apsw.Error:
            self.pool.discard(connection)
            return
        except BaseException:
            self.pool.discard(connection)
            raise
        self.pool.give(connection)

    def faults(self) -> Iterable[str]:
        connection = self.pool.take()
        try:
            rows = connection.execute("PRAGMA integrity_check").fetchall()
        except apsw.Error as error:
            return [str(error)]
        finally:
            self.pool.give(connection)
        return [str(row[0]) for row in rows if row[0] != "ok"]


def _clear_frames(error: BaseException) -> None:
    """Clear a failed transaction's frames: their unfinished statements would keep tables from being dropped."""
    each: BaseException | None = error
    while each is not None:
        clear_frames(each.__traceback__)
        each = each.__context__


class Snapshot:
    """An open read transaction. Threads can share a snapshot; they use its connection in turns."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        connection = storage.pool.take()
        try:
            connection.execute("BEGIN")
            connection.execute(sql.TABLES).fetchall()  # the transaction begins with the first read
        except BaseException as error:
            storage.pool.discard(connection)
            if isinstance(error, apsw.Error):
                raise storage.fault(error) from error
            raise
        self._connection: apsw.Connection | None = connection
        self._turn = threading.Lock()
        self._guard = threading.Lock()
        self._holders = 1

    def hold(self) -> Snapshot:
        """Add a holder, which must close the snapshot."""
        with self._guard:
            self._holders += 1
        return self

    @contextmanager
    def _using(self) -> Generator[apsw.Connection]:
        with self._turn:
            if self._connection is None:
                raise faults.closed(self._storage.place)
            yield self._connection

    def page(
        self, table: StoredTable, index: int | None, bounds: Bounds, limit: int | None, bytes_max: int
    ) -> tuple[list[Row], bool]:
        with self._using() as connection:
            return table.page_of(connection, index, bounds, limit, bytes_max)

    def close(self) -> None:
        """Remove a holder. The last holder ends the transaction."""
        with self._guard:
            self._holders -= 1
            if self._holders:
                return
            connection, self._connection = self._connection, None
        if connection is not None:
            self._storage.give_rolled_back(connection)


_forking: list[tuple[Storage, bool]] = []
"""The storages whose writers wait for a fork, and whether their locks were taken."""
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
