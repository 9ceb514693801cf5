"""Pools of SQLite connections, for a file or in memory. A connection is used by one thread at a time."""

from __future__ import annotations

import logging
import os
import random
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TypeVar, cast

import apsw

from keyplan.errors import StoreError
from keyplan.store.storage import file_format, sql
from keyplan.store.storage import sqlite_errors as faults
from keyplan.store.storage.file_guard import FileGuard, forget_guards, holder
from keyplan.store.storage.key_layouts import segment_of
from keyplan.store.work_budget import spend

_log = logging.getLogger("keyplan.engine")

_POLL_S_MIN = 0.0002
_POLL_S_MAX = 0.005
_STATEMENT_CACHE = 400
_PAGE_CACHE_KIB = 8192
_SEGMENT_BYTES = 25
"""The work of finding a row's segment, as bytes read."""
_WAL_BYTES_KEPT = 8 * 1024 * 1024
"""Long reads let the WAL grow; when it restarts, it is cut to this size."""

_VERIFY_EVERY_S = 1.0
"""How often a store that only reads checks its files."""

_after_fork: list[object] = []
"""Connections that a forked child inherited. Closing them would break the parent's."""
_pools: weakref.WeakSet[FilePool | MemoryPool] = weakref.WeakSet()

T = TypeVar("T")


class BusyWait:
    """SQLite's busy handler. Pauses are short and random, because a process with long pauses can starve."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._own = threading.local()

    def until(self, deadline: float | None) -> None:
        """Set this thread's deadline (``time.monotonic``) for locks; None restores the timeout."""
        self._own.until = deadline

    def __call__(self, tries: int) -> bool:
        """Pause; returns whether to retry. ``tries`` counts from zero."""
        own = self._own
        now = time.monotonic()
        if tries == 0:
            until: float | None = getattr(own, "until", None)
            own.deadline = now + self._timeout_s if until is None else until
        if now >= own.deadline:
            return False
        longest = min(_POLL_S_MAX, _POLL_S_MIN * (tries + 2))
        time.sleep(random.uniform(_POLL_S_MIN, longest))  # noqa: S311 - the number is not a secret
        return True


def _configure(connection: apsw.Connection, wait: BusyWait, synchronous: str) -> None:
    connection.set_busy_handler(wait)
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute(f"PRAGMA cache_size = -{_PAGE_CACHE_KIB}")
    connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES_KEPT}")
    connection.create_scalar_function(
        sql.SEGMENT_FUNCTION, cast("apsw.ScalarProtocol", _counted_segment), 2, deterministic=True
    )


def _counted_segment(partition: str | bytes, total: int) -> int:
    """``segment_of`` a row, counted as work: a segment may have no row among millions."""
    spend(_SEGMENT_BYTES)
    return segment_of(partition, total)


def roll_back(connection: apsw.Connection) -> None:
    """Roll back the open transaction, if any: an interrupt can occur before its start or after its commit."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _in_transaction(connection: apsw.Connection, begin: str, work: Callable[[apsw.Connection], T]) -> T:
    connection.execute(begin)
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise
    return result


def _inode(path: str) -> int | None:
    try:
        return os.stat(path).st_ino  # noqa: PTH116 - Path.stat takes several times as long
    except OSError:
        return None


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116
    except OSError:
        return 0


class FilePool:
    """Connections to one file. ``take`` and ``give`` are atomic operations of a deque."""

    def __init__(self, path: str, *, create: bool, busy_timeout_s: float, synchronous: str) -> None:
        self.place = path
        self.wait = BusyWait(busy_timeout_s)
        self._timeout_s = busy_timeout_s
        self._synchronous = synchronous
        self._free: deque[apsw.Connection] = deque()
        self._open_ones: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._opening = threading.RLock()
        """Held while a connection is opened or closed, because the first and last one are special."""
        self._given_back = threading.Condition(self._opening)
        self._closed = False
        self._is_reopening = False
        """Whether the file is being reopened: returned connections are closed."""
        self._verify_s = 0.0
        self._is_outdated = False
        """Whether a write found that the WAL was removed."""
        self._guard: FileGuard | None = None
        self._inode: int | None = None
        self._device: int | None = None
        self._file = os.path.realpath(path)
        """SQLite names the other files after the target of a symbolic link."""
        self._wal = f"{self._file}-wal"
        self._wal_inode: int | None = None
        """Constant while a connection is open: SQLite removes the WAL with the last one of all processes."""
        self._shared = f"{self._file}-shm"
        self._shared_inode: int | None = None
        """The shared index of the WAL, which contains the processes' locks. Constant as well."""
        self._check_path(Path(path), create=create)
        self._free.append(self._open(apsw.SQLITE_OPEN_CREATE if create else 0))
        _pools.add(self)

    def _remember_files(self) -> None:
        status = os.stat(self.place)  # noqa: PTH116
        if self._inode is None:
            self._inode, self._device = status.st_ino, status.st_dev
        self._wal_inode, self._shared_inode = _inode(self._wal), _inode(self._shared)
        if self._wal_inode is None or self._shared_inode is None:
            # Another store in this process uses a WAL or -shm file that was removed.
            raise faults.files_removed(self.place)
        self._guard = FileGuard.hold(self._file)

    def verify(self, connection: apsw.Connection | None = None) -> None:
        """Check that the paths still refer to the open files. After a commit of ``connection``, the content of a
        removed WAL is copied into the file. Raises StoreError if a file was removed or replaced.
        """
        try:
            status = os.stat(self.place)  # noqa: PTH116 - runs with every write
        except OSError:
            raise faults.replaced(self.place) from None
        if status.st_ino != self._inode or status.st_dev != self._device:
            raise faults.replaced(self.place)
        if _inode(self._wal) != self._wal_inode:
            if connection is None:
                raise faults.files_removed(self.place)
            self._save(connection)
            self._is_outdated = True

    def check_locks(self) -> None:
        """Raise LocksRemovedError if the ``-shm`` file was removed: stores opened later would use other locks."""
        if _inode(self._shared) != self._shared_inode:
            raise faults.files_removed(self.place, faults.LocksRemovedError)

    def refresh(self) -> None:
        """Reopen the file if its ``-wal`` or ``-shm`` file was removed. Raises StoreError."""
        self._verify_s = time.monotonic() + _VERIFY_EVERY_S
        if self._is_reopening or self._lacks_files():
            self._reopen(self._timeout_s)

    def _lacks_files(self) -> bool:
        """Whether the file must be reopened. Processes that share the same locks and the same removed WAL continue with
        it, and save each write in the file.
        """
        if not self._open_ones:
            return False
        if _inode(self._shared) != self._shared_inode:
            return True
        return _inode(self._wal) != self._wal_inode and (self._guard is None or self._guard.is_alone())

    def _reopen(self, timeout_s: float) -> None:
        """When no connection is in use: save the content of a removed WAL, close all, and open again."""
        with self._opening:
            if not self._lacks_files():
                return  # another thread reopened the file
            until = time.monotonic() + timeout_s
            last: apsw.Connection | None = None
            self._is_reopening = True
            try:
                while True:
                    while self._free:
                        if last is not None:
                            self._close(last)
                        last = self._free.pop()
                    if len(self._open_ones) <= (last is not None):
                        break
                    if not self._given_back.wait(max(0.0, until - time.monotonic())):
                        raise faults.files_removed(self.place)
                if last is not None:
                    self._save(last)
                    self._close(last)
                    last = None
                self._free.append(self._open(0))
                _log.warning("%s", faults.reopened(self.place))
            finally:
                self._is_reopening = False
                if last is not None:
                    self._free.append(last)
                    self._verify_s = 0.0

    def _save(self, connection: apsw.Connection) -> None:
        """Copy the content of a removed WAL into the file. Raises StoreError if another process uses another WAL."""
        try:
            with nullcontext() if self._guard is None else self._guard.new_readers_waiting():
                shared, wal = _inode(self._shared), _inode(self._wal)
                if wal == self._wal_inode and shared not in (None, self._shared_inode):
                    return  # the WAL is unchanged, so no content is lost
                is_ours = shared in (None, self._shared_inode) and (wal == self._wal_inode or not _size(self._wal))
                mode = apsw.SQLITE_CHECKPOINT_FULL if is_ours else apsw.SQLITE_CHECKPOINT_NOOP
                frames, saved = connection.wal_checkpoint(mode=mode)
        except apsw.Error as error:
            raise faults.unsaved(self.place) from error
        if frames != saved:
            raise faults.unsaved(self.place)

    def take(self) -> apsw.Connection:
        if time.monotonic() >= self._verify_s:
            self.refresh()
        try:
            return self._free.pop()
        except IndexError:
            pass
        if self._closed:
            raise faults.closed(self.place)
        return self._open(0)

    def lock_writer(self) -> bool:
        """Block writers of other processes, even without SQLite's lock; returns False if another process is writing."""
        return self._guard is None or self._guard.lock_writer()

    def unlock_writer(self) -> None:
        if self._guard is not None:
            self._guard.unlock_writer()

    def give(self, connection: apsw.Connection) -> None:
        self._free.append(connection)
        if self._closed:
            self._drain()
        elif self._is_reopening:
            with self._given_back:
                self._given_back.notify_all()
        elif self._is_outdated:
            # Until the file is reopened, other processes can't open it. A failure doesn't undo the committed write.
            self._is_outdated = False
            with suppress(StoreError):
                self._reopen(0.0)

    def discard(self, connection: apsw.Connection) -> None:
        """Close a connection in an unknown state, which rolls its transaction back."""
        with self._given_back:
            self._close(connection)
            self._given_back.notify_all()

    def before_fork(self) -> None:
        """Close unused connections, because SQLite in the child process would treat the parent's locks as its own."""
        self._drain()

    def close(self) -> None:
        """Close the connections; connections in use are closed when they are returned."""
        self._closed = True
        self._drain()

    def forget(self) -> None:
        _after_fork.extend(self._open_ones)
        self._free.clear()
        self._open_ones.clear()
        self._opening = threading.RLock()
        self._given_back = threading.Condition(self._opening)
        self._is_reopening = False
        self._guard = None

    def _drain(self) -> None:
        while True:
            try:
                connection = self._free.pop()
            except IndexError:
                return
            with self._opening:
                self._close(connection)

    def _close(self, connection: apsw.Connection) -> None:
        """Close a connection. The last one copies the WAL into the file, unless another process replaced it."""
        self._open_ones.discard(connection)
        guard = None
        if not self._open_ones:
            guard, self._guard = self._guard, None
        with nullcontext() if guard is None else guard.released():
            for path, inode in ((self._wal, self._wal_inode), (self._shared, self._shared_inode)):
                if _inode(path) not in (None, inode):
                    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            connection.close(True)

    def _check_path(self, path: Path, *, create: bool) -> None:
        if not self.place:
            raise faults.missing(self.place)
        if not os.path.isdir(path.parent):  # noqa: PTH112 - Path raises an error for names that are too long
            raise faults.missing_folder(self.place)
        if not create and not os.path.exists(path):  # noqa: PTH110
            raise faults.missing(self.place)

    def _open(self, flags: int) -> apsw.Connection:
        with self._opening:
            if self._open_ones:
                self.verify()  # check first: SQLite would create missing files
            else:
                self._wait_for_wal()
            connection = self._open_alone(flags)
            self._open_ones.add(connection)
            return connection

    def _open_alone(self, flags: int) -> apsw.Connection:
        access = apsw.SQLITE_OPEN_READWRITE | flags
        try:
            connection = apsw.Connection(self.place, flags=access, statementcachesize=_STATEMENT_CACHE)
        except apsw.Error as error:
            raise faults.store_error(error, self.place) from error
        try:
            _configure(connection, self.wait, self._synchronous)
            self._check_format(connection)
            if not self._open_ones:
                self._remember_files()
            self.verify()
        except BaseException as error:
            connection.close(True)
            if isinstance(error, apsw.Error):
                raise faults.store_error(error, self.place) from error
            raise
        return connection

    def _wait_for_wal(self) -> None:
        """Wait while another process has the file open with a removed WAL."""
        tries = 0
        while os.path.exists(self._shared) and not os.path.exists(self._wal):  # noqa: PTH110
            process = holder(self._file)
            if process is None:
                return
            if not self.wait(tries):
                raise faults.wal_removed(self.place, process)
            tries += 1

    def _check_format(self, connection: apsw.Connection) -> None:
        if connection.readonly("main"):
            raise faults.store_error(apsw.ReadOnlyError("the file was opened read-only"), self.place)
        application, is_used = _in_transaction(connection, "BEGIN", file_format.identity)
        if application == 0 and not is_used:
            self._use_wal(connection)
            _in_transaction(connection, "BEGIN IMMEDIATE", file_format.create)
            application = connection.pragma("application_id")
        if application != sql.APPLICATION_ID:
            raise faults.foreign(self.place)
        is_current = file_format.is_current(connection, self.place)
        if connection.pragma("journal_mode") != "wal":
            self._use_wal(connection)
            _in_transaction(connection, "BEGIN", file_format.identity)  # the read opens the WAL
        if not is_current:
            _in_transaction(connection, "BEGIN IMMEDIATE", file_format.migrate)

    def _use_wal(self, connection: apsw.Connection) -> None:
        # SQLite doesn't call the busy handler for a change of the journal mode.
        wait = self.wait
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
    """The only connection to a store in memory, used by one thread at a time."""

    PLACE = ":memory:"

    def __init__(self) -> None:
        self.place = self.PLACE
        self._lock = threading.Lock()
        self._was_at_work = False
        self.wait = BusyWait(0.0)
        self._connection: apsw.Connection | None = apsw.Connection(":memory:", statementcachesize=_STATEMENT_CACHE)
        _configure(self._connection, self.wait, "OFF")
        _in_transaction(self._connection, "BEGIN", file_format.create)
        _pools.add(self)

    def take(self) -> apsw.Connection:
        self._lock.acquire()
        if self._connection is None:
            self._lock.release()
            if self._was_at_work:
                raise faults.forked(self.place)
            raise faults.closed(self.place)
        if self._connection.in_transaction:  # an earlier rollback failed
            try:
                roll_back(self._connection)
            except BaseException:
                self._lock.release()
                raise
        return self._connection

    def verify(self, connection: apsw.Connection | None = None) -> None:
        """Does nothing: a store in memory can't be replaced."""

    def _nothing(self) -> None:
        """Memory has no files and no other process."""

    check_locks = refresh = unlock_writer = before_fork = _nothing

    def lock_writer(self) -> bool:
        return True

    def forget(self) -> None:
        """After a fork, the child has its own copy of the store, unless another thread was using it."""
        if self._lock.locked():
            _after_fork.append(self._connection)
            self._connection = None
            self._was_at_work = True
            self._lock = threading.Lock()

    def give(self, connection: apsw.Connection) -> None:  # noqa: ARG002 - there is only one connection
        self._lock.release()

    def discard(self, connection: apsw.Connection) -> None:
        """Roll back, but keep the connection, which contains the data, open; ``take`` retries a failed rollback."""
        try:
            with suppress(apsw.Error):
                roll_back(connection)
        finally:
            self._lock.release()

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def _forget_all() -> None:
    forget_guards()
    for pool in list(_pools):
        pool.forget()


if hasattr(os, "register_at_fork"):  # Windows doesn't support fork
    os.register_at_fork(after_in_child=_forget_all)
