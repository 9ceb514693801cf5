"""Locks that keep an open store's files in place when other code in the process opens and closes the same files.

SQLite's POSIX locks end when any code in the process closes the file: after ``sqlite3.connect(path).close()``, another
copy of SQLite finds no lock, and removes the ``-wal`` and ``-shm`` files. Open file description locks, which only Linux
has, remain when other code closes the file. On other systems, the storage detects that the files were removed.
"""

from __future__ import annotations

import errno
import importlib
import os
import struct
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

_HAS_GUARDS = sys.platform == "linux"
fcntl: Any = None if sys.platform == "win32" else importlib.import_module("fcntl")

_FLOCK = "hhqqi0q"
"""``struct flock``: type, whence, start, length, process."""
_PENDING = (0x40000000, 1)
"""Bytes that SQLite locks in the file. A program that starts to read briefly locks the first one."""
_SHARED = (0x40000002, 510)
_IN_USE = (128, 1)
"""The byte of the ``-shm`` file that is locked while a process has it open."""
_WRITER = (1 << 40, 1)
"""A byte of Keyplan's, locked during a write."""

_guards: dict[tuple[int, int], FileGuard] = {}
_registry = threading.RLock()


def _request(kind: int, area: tuple[int, int]) -> bytes:
    return struct.pack(_FLOCK, kind, os.SEEK_SET, *area, 0)


def _holder(shared: int) -> int | None:
    kind, _, _, _, process = struct.unpack(_FLOCK, fcntl.fcntl(shared, fcntl.F_GETLK, _request(fcntl.F_WRLCK, _IN_USE)))
    return None if kind == fcntl.F_UNLCK else int(process)


class FileGuard:
    """The locks of one open file, for all its connections in this process."""

    def __init__(self, path: str) -> None:
        self._users = 0
        # Close this file after all connections: closing it earlier would release SQLite's locks.
        self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._shared = os.open(f"{path}-shm", os.O_RDWR | os.O_CLOEXEC)
        self._lock_writer = _request(fcntl.F_WRLCK, _WRITER)
        self._unlock_writer = _request(fcntl.F_UNLCK, _WRITER)
        self._lock(self._file, fcntl.F_RDLCK, _SHARED)
        self._lock(self._shared, fcntl.F_RDLCK, _IN_USE)

    @staticmethod
    def _lock(file: int, kind: int, area: tuple[int, int]) -> None:
        with suppress(OSError):  # some file systems don't support these locks
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, _request(kind, area))

    @classmethod
    def hold(cls, path: str) -> FileGuard | None:
        """The guard of an open file, for one more user; None on systems without open file description locks."""
        if not _HAS_GUARDS:
            return None
        with _registry, suppress(OSError):  # the file or its -shm was removed concurrently
            status = os.stat(path)  # noqa: PTH116 - a Path takes several times as long
            identity = status.st_dev, status.st_ino
            guard = _guards.get(identity)
            if guard is None:
                guard = _guards[identity] = cls(path)
            guard._users += 1
            return guard
        return None

    @contextmanager
    def released(self) -> Generator[None]:
        """Remove a user, whose last connection is closed in the ``with`` block. For the last user, locks are released
        before the block, so that SQLite can remove the files, and the guard's files are closed after the block.
        """
        with _registry:
            self._users -= 1
            is_last = self._users == 0
            if is_last:
                self._lock(self._file, fcntl.F_UNLCK, _SHARED)
                self._lock(self._shared, fcntl.F_UNLCK, _IN_USE)
            try:
                yield
            finally:
                if is_last:
                    for identity in [identity for identity, guard in _guards.items() if guard is self]:
                        del _guards[identity]
                    self.close()

    def is_alone(self) -> bool:
        self._lock(self._shared, fcntl.F_UNLCK, _IN_USE)
        try:
            return _holder(self._shared) is None
        finally:
            self._lock(self._shared, fcntl.F_RDLCK, _IN_USE)

    def close(self) -> None:
        os.close(self._file)
        os.close(self._shared)

    def lock_writer(self) -> bool:
        """Block other writers, even if other code ended SQLite's lock. Returns False if another process is writing."""
        try:
            fcntl.fcntl(self._shared, fcntl.F_OFD_SETLK, self._lock_writer)
        except OSError as error:
            return error.errno not in (errno.EAGAIN, errno.EACCES)
        return True

    def unlock_writer(self) -> None:
        with suppress(OSError):
            fcntl.fcntl(self._shared, fcntl.F_OFD_SETLK, self._unlock_writer)

    @contextmanager
    def new_readers_waiting(self) -> Generator[None]:
        """In the ``with`` block, other programs can't start to read the file."""
        self._lock(self._file, fcntl.F_WRLCK, _PENDING)
        try:
            yield
        finally:
            self._lock(self._file, fcntl.F_UNLCK, _PENDING)


def holder(path: str) -> int | None:
    """The process that locks a store's ``-shm`` file; -1 if unknown, None if no process does or no guards exist."""
    if not _HAS_GUARDS:
        return None
    with _registry, suppress(OSError):
        status = os.stat(path)  # noqa: PTH116
        if (status.st_dev, status.st_ino) in _guards:
            return os.getpid()  # closing another descriptor of the file would release SQLite's locks
        file = os.open(f"{path}-shm", os.O_RDWR | os.O_CLOEXEC)
        try:
            return _holder(file)
        finally:
            os.close(file)
    return None


def forget_guards() -> None:
    """Close the parent's guards in a forked child."""
    global _registry  # noqa: PLW0603 - another thread of the parent may have held the lock
    _registry = threading.RLock()
    for guard in _guards.values():
        guard.close()
    _guards.clear()
