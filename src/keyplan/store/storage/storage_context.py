"""What tables and transactions know of the storage that they are of: its connections, its count of statements."""

from __future__ import annotations

import time
from collections.abc import Callable

import apsw

from keyplan.store.arns import REGION
from keyplan.store.storage import sqlite_errors as faults
from keyplan.store.storage.connections import FilePool, MemoryPool
from keyplan.store.storage.key_layouts import StaleTableError

__all__ = ["Medium"]


class Medium:
    """A SQLite file, or memory. Every failure of it is a ``keyplan.errors.StoreError``.

    ``place``: its path, or ``:memory:``. ``statements``: how many were run; approximate when several threads work at
    once. ``thrown_away``: how many tables of SQLite's were left to be emptied so far. ``clock`` gives the time, in
    seconds since the epoch. ``region`` is the one that it is of. ``verifies`` says whether items that are read are
    compared with their checksums; it is set before tables are made.
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
        """What to raise for an error of SQLite."""
        if faults.is_stale(error):
            return StaleTableError(str(error))
        return faults.store_error(error, self.place)
