"""Connections to the store: opening a file as ours or refusing it, and handing connections to those who work.

For a file there are as many connections as work at once; each is used by one thread at a time. For memory
there is one, guarded by a lock.
"""

from __future__ import annotations

import os
import random
import threading
import time
import weakref
from collections import deque
from pathlib import Path
from typing import cast

import apsw

from keyplan.engine.storage import faults, sql
from keyplan.engine.storage.port import segment_of

_POLL_S_MIN = 0.0002
_POLL_S_MAX = 0.005
_STATEMENT_CACHE = 400
_PAGE_CACHE_KIB = 8192

_after_fork: list[object] = []
"""Connections that a forked child got from its parent. Closing them there would harm the parent's."""
_pools: weakref.WeakSet[FilePool] = weakref.WeakSet()


class BusyWait:
    """SQLite's busy handler: tries again after short random pauses, until the time is over. Short, since a
    process that comes back seldom would hardly ever meet the lock free among many writers.
    """

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._deadline = 0.0

    def __call__(self, tries: int) -> bool:
        """Pause; whether to try again. ``tries`` counts from nought."""
        now = time.monotonic()
        if tries == 0:
            self._deadline = now + self._timeout_s
        if now >= self._deadline:
            return False
        longest = min(_POLL_S_MAX, _POLL_S_MIN * (tries + 2))
        time.sleep(random.uniform(_POLL_S_MIN, longest))  # noqa: S311 - no secret
        return True


def _configure(connection: apsw.Connection, busy_timeout_s: float, synchronous: str) -> None:
    connection.set_busy_handler(BusyWait(busy_timeout_s))
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute(f"PRAGMA cache_size = -{_PAGE_CACHE_KIB}")
    connection.create_scalar_function(
        sql.SEGMENT_FUNCTION, cast("apsw.ScalarProtocol", segment_of), 2, deterministic=True
    )


def _create_format(connection: apsw.Connection) -> None:
    """Make the catalogue in an empty file, unless another process did so just before."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.pragma("application_id") == 0:
            connection.execute(sql.CATALOGUE)
            connection.execute(f"PRAGMA application_id = {sql.APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {sql.FORMAT_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


class FilePool:
    """Connections to one file. Taking and giving back are atomic operations of a deque."""

    def __init__(self, path: str, *, create: bool, busy_timeout_s: float, synchronous: str) -> None:
        self.place = path
        self._busy_timeout_s = busy_timeout_s
        self._synchronous = synchronous
        self._free: deque[apsw.Connection] = deque()
        self._closed = False
        self._check_path(Path(path), create=create)
        self._free.append(self._open(apsw.SQLITE_OPEN_CREATE if create else 0))
        _pools.add(self)

    def take(self) -> apsw.Connection:
        """A connection for this thread to work with."""
        try:
            return self._free.pop()
        except IndexError:
            pass
        if self._closed:
            raise faults.closed(self.place)
        return self._open(0)

    def give(self, connection: apsw.Connection) -> None:
        """Give a connection back."""
        self._free.append(connection)
        if self._closed:
            self._drain()

    def discard(self, connection: apsw.Connection) -> None:
        """Close a connection that can't be trusted any more; an open transaction of it is rolled back."""
        connection.close(True)

    def close(self) -> None:
        """Close the connections; those at work are closed when they are given back."""
        self._closed = True
        self._drain()

    def forget(self) -> None:
        """Leave the connections to the parent process, after a fork."""
        _after_fork.extend(self._free)
        self._free.clear()

    def _drain(self) -> None:
        while True:
            try:
                connection = self._free.pop()
            except IndexError:
                return
            connection.close()

    def _check_path(self, path: Path, *, create: bool) -> None:
        if not self.place:
            raise faults.missing(self.place)
        if not path.parent.is_dir():
            raise faults.missing_folder(self.place)
        if not create and not path.exists():
            raise faults.missing(self.place)

    def _open(self, flags: int) -> apsw.Connection:
        try:
            connection = apsw.Connection(
                self.place, flags=apsw.SQLITE_OPEN_READWRITE | flags, statementcachesize=_STATEMENT_CACHE
            )
        except apsw.Error as error:
            raise faults.store_error(error, self.place) from error
        try:
            _configure(connection, self._busy_timeout_s, self._synchronous)
            self._check_format(connection)
        except BaseException as error:
            connection.close(True)
            if isinstance(error, apsw.Error):
                raise faults.store_error(error, self.place) from error
            raise
        return connection

    def _check_format(self, connection: apsw.Connection) -> None:
        if connection.readonly("main"):
            raise faults.store_error(apsw.ReadOnlyError("opened for reading only"), self.place)
        application = connection.pragma("application_id")
        if application == 0 and not connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
            self._use_wal(connection)
            _create_format(connection)
            application = connection.pragma("application_id")
        if application != sql.APPLICATION_ID:
            raise faults.foreign(self.place)
        version = connection.pragma("user_version")
        if version > sql.FORMAT_VERSION:
            raise faults.newer(self.place, version, sql.FORMAT_VERSION)
        if connection.pragma("journal_mode") != "wal":
            self._use_wal(connection)

    def _use_wal(self, connection: apsw.Connection) -> None:
        # SQLite doesn't ask the busy handler for this one.
        wait = BusyWait(self._busy_timeout_s)
        tries = 0
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL").fetchall()
            except apsw.BusyError:
                if not wait(tries):
                    raise
                tries += 1
            else:
                return


class MemoryPool:
    """The one connection to a store in memory, for one thread at a time."""

    PLACE = ":memory:"

    def __init__(self) -> None:
        self.place = self.PLACE
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = apsw.Connection(":memory:", statementcachesize=_STATEMENT_CACHE)
        _configure(self._connection, 0.0, "OFF")
        _create_format(self._connection)

    def take(self) -> apsw.Connection:
        """The connection, once nobody else works with it."""
        self._lock.acquire()
        if self._connection is None:
            self._lock.release()
            raise faults.closed(self.place)
        return self._connection

    def give(self, connection: apsw.Connection) -> None:  # noqa: ARG002 - the one there is
        """Let the next one work."""
        self._lock.release()

    def discard(self, connection: apsw.Connection) -> None:
        """End an open transaction; the data is in this connection, so it stays."""
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        self._lock.release()

    def close(self) -> None:
        """Close, and with it forget the data."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def _forget_all() -> None:
    for pool in list(_pools):
        pool.forget()


if hasattr(os, "register_at_fork"):  # not on Windows, which doesn't fork
    os.register_at_fork(after_in_child=_forget_all)
