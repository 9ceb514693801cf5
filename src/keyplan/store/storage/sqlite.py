"""The storage: tables in one SQLite file in WAL mode, or in memory. What is committed is on the disk.

Reads of a ``StoredTable`` are one statement each. ``Storage.write`` runs a piece of work in one transaction: all of it,
or, when anything raises, nothing. It takes the work as a function so that several may run in one transaction.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
import weakref
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
from keyplan.store.storage.fair_lock import FairLock
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
"""Other processes ask for a file's lock again after some milliseconds, five at most."""


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
        """Where the file is, if it is to go with this object."""
        _storages.add(self)

    @classmethod
    def file(
        cls, path: str, *, create: bool = True, busy_timeout_s: float = 10.0, synchronous: str = "FULL"
    ) -> Storage:
        """Open a file, and make it if ``create``.

        Raises:
            StoreError: the file can't be opened or made, or isn't Keyplan's.
        """
        pool = FilePool(path, create=create, busy_timeout_s=busy_timeout_s, synchronous=synchronous)
        return cls(pool, busy_timeout_s)

    @classmethod
    def memory(cls) -> Storage:
        """A store that lasts as long as this object."""
        return cls(MemoryPool(), 10.0)

    @classmethod
    def temporary(cls) -> Storage:
        """A store in a file that lasts as long as this object, and has snapshots, which memory hasn't."""
        import tempfile  # noqa: PLC0415 - few need it, and all would wait for it

        folder = tempfile.TemporaryDirectory(prefix="keyplan-")
        path = str(Path(folder.name) / "store.db")
        storage = cls(FilePool(path, create=True, busy_timeout_s=10.0, synchronous="OFF"), 10.0, folder)
        storage.place = MemoryPool.PLACE
        return storage

    @classmethod
    def read_only(cls, path: str) -> Storage:
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
        has_lock = self._writing_thread != threading.get_ident() and self._writers.acquire(self._busy_timeout_s)
        self.pool.before_fork()
        return has_lock

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
        return StoredTable(self, layout)

    def read(self, work: Callable[[Reader], T]) -> T:
        """Run ``work`` on one snapshot."""
        return self._transaction("BEGIN", Reader, work)

    @property
    def is_joined(self) -> bool:
        """Whether this thread is in a transaction of several writes."""
        return getattr(self._joined, "writer", None) is not None

    def write(self, work: Callable[[Writer], T]) -> T:
        """Run ``work`` in one transaction; when it raises, nothing was written."""
        joined: Writer | None = getattr(self._joined, "writer", None)
        if joined is not None:
            return joined.nested(work)
        writers = self._writers
        deadline = None if writers.acquire_at_once() else self._wait_for_writers()
        self._writing_thread = threading.get_ident()
        try:
            try:
                return self._transaction("BEGIN IMMEDIATE", Writer, work, deadline, is_write=True)
            except faults.LocksRemovedError:  # nothing was done yet
                self.pool.refresh()
                return self._transaction("BEGIN IMMEDIATE", Writer, work, deadline, is_write=True)
        finally:
            self.pool.unlock_writer()
            self._writing_thread = 0
            writers.release()

    def _wait_for_writers(self) -> float | None:
        """Wait until this thread may write. Who waited for a thread doesn't wait as long again for a process: until
        when it may; None is as long as anybody.
        """
        began = time.monotonic()
        if not self._writers.acquire(self._busy_timeout_s):
            raise faults.locked(self.place, self._busy_timeout_s)
        return began + self._busy_timeout_s if time.monotonic() - began > _WAITED_S_MIN else None

    @property
    def has_snapshots(self) -> bool:
        """Whether others read and write while somebody reads. In memory they wait."""
        return not isinstance(self.pool, MemoryPool)

    def let_others_in(self) -> None:
        """Wait, between two transactions of what takes many, until others who wait for one have had theirs."""
        time.sleep(_OTHERS_S if self.has_snapshots else PAUSE_S)

    def snapshot(self) -> Snapshot:
        """What is committed now, to be read later. A store in memory has none."""
        if not self.has_snapshots:
            raise StoreError("A store in memory has no snapshots", place=self.place, hint="Take a temporary one.")
        return Snapshot(self)

    def together(self, work: Callable[[], None]) -> None:
        """Run ``work`` with one commit for all its writes."""
        if isinstance(self.pool, MemoryPool):
            work()  # its only connection is taken by each write in turn, and a commit costs nothing
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
        """Run ``work`` in a transaction. The files of a write are verified once it is committed: as long as the
        connection isn't given back, nobody else takes the files away that it has open.
        """
        pool = self.pool
        connection = pool.take()
        try:
            if deadline is None:
                self._begin(connection, begin)
            else:
                self._begin_by(connection, begin, deadline)
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
                _let_go(error)
            self.give_rolled_back(connection)
            raise
        pool.give(connection)
        return result

    def _begin_by(self, connection: apsw.Connection, begin: str, deadline: float) -> None:
        self.pool.wait.until(deadline)
        try:
            self._begin(connection, begin, deadline)
        finally:
            self.pool.wait.until(None)

    def _begin(self, connection: apsw.Connection, begin: str, deadline: float | None = None) -> None:
        if deadline is None:
            deadline = time.monotonic() + self._busy_timeout_s
        while True:
            failure: apsw.BusyError | None = None
            try:
                connection.execute(begin)
                if begin == "BEGIN" or self.pool.lock_writer():
                    return
                roll_back(connection)  # another process is writing, in spite of SQLite's lock
            except apsw.BusyError as error:
                failure = error
            # The busy handler has waited already, except where SQLite didn't ask it.
            if time.monotonic() >= deadline:
                raise faults.locked(self.place, self._busy_timeout_s) from failure
            time.sleep(0.001)

    def give_rolled_back(self, connection: apsw.Connection) -> None:
        """Give a connection back whose transaction is to leave nothing; one that can't end it is closed."""
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
        """What SQLite's own check of the file finds."""
        connection = self.pool.take()
        try:
            try:
                rows = connection.execute("PRAGMA integrity_check").fetchall()
            except apsw.SQLError:
                # An index of expiry reads items, and can't read one. Which one that is, others tell.
                rows = connection.execute("PRAGMA quick_check").fetchall()
        except apsw.Error as error:
            return [str(error)]
        finally:
            self.pool.give(connection)
        return [str(row[0]) for row in rows if row[0] != "ok"]


def _let_go(error: BaseException) -> None:
    """Forget what a work that failed was at. A statement that it left half read would keep SQLite from dropping tables,
    as long as anybody has the error.
    """
    each: BaseException | None = error
    while each is not None:
        clear_frames(each.__traceback__)
        each = each.__context__


class Snapshot:
    """A read transaction that is held open: it sees what was committed before. Threads may share it: they use its
    connection in turns.
    """

    def __init__(self, storage: Storage) -> None:
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
        self._turn = threading.Lock()
        self._guard = threading.Lock()
        self._holders = 1

    def hold(self) -> Snapshot:
        """It, with one more who is to close it."""
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
        """``StoredTable.page``."""
        with self._using() as connection:
            return table.page_of(connection, index, bounds, limit, bytes_max)

    def close(self) -> None:
        """Let go of it. It ends when all have who hold it."""
        with self._guard:
            self._holders -= 1
            if self._holders:
                return
            connection, self._connection = self._connection, None
        if connection is not None:
            self._storage.give_rolled_back(connection)


_forking: list[tuple[Storage, bool]] = []
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
