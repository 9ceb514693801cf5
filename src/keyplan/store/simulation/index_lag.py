"""Indexes that lag, on request: a read of an index sees the store as it was some time ago.

Before a write, what is there is remembered as a snapshot of the store (which costs nothing but an open read
transaction); a read of an index takes the newest one that is old enough. So it sees neither the new entry nor the new
attributes of an old one, nor misses what was removed: all of them come later, together, as with the service. After a
change of tables or indexes, indexes are up to date.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from keyplan.store.storage.key_layouts import Bounds, Row, StaleTableError
from keyplan.store.storage.sqlite import Snapshot, Storage
from keyplan.store.storage.table_reads import StoredTable

SNAPSHOTS_MAX = 8
"""How many snapshots a lag is divided into. Writes that follow each other more closely are seen together."""


class IndexLag:
    """Remembers what was, for as long as the lag, and reads it. Threads may share it."""

    def __init__(self, storage: Storage, clock: Callable[[], float], lag_s: float) -> None:
        self._storage = storage
        self._clock = clock
        self._lag_s = lag_s
        self._apart_s = lag_s / SNAPSHOTS_MAX
        self._lock = threading.Lock()
        self._snapshots: deque[tuple[float, Snapshot]] = deque()
        """The oldest first; each holds what was written before its time."""

    def remember(self) -> None:
        """Take a snapshot, unless there is one of just before. To be called before a write."""
        with self._lock:
            now_s = self._clock()
            self._drop_old(now_s)
            if not self._snapshots or now_s - self._snapshots[-1][0] >= self._apart_s:
                self._snapshots.append((now_s, self._storage.snapshot()))

    def page(
        self, stored: StoredTable, index: int, bounds: Bounds, limit: int | None, bytes_max: int
    ) -> tuple[list[Row], bool]:
        """``StoredTable.page`` of an index, as it was."""
        with self._lock:
            self._drop_old(self._clock())
            # Held, since others may drop it meanwhile: who writes doesn't wait for who reads.
            snapshot = self._snapshots[0][1].hold() if self._snapshots else None
        if snapshot is not None:
            try:
                return snapshot.page(stored, index, bounds, limit, bytes_max)
            except StaleTableError:
                pass  # the table had another form, or wasn't there: what it is now tells whether it is again
            finally:
                snapshot.close()
        return stored.page(index, bounds, limit, bytes_max)

    def forget(self) -> None:
        """Drop all snapshots: indexes are up to date."""
        with self._lock:
            while self._snapshots:
                self._snapshots.popleft()[1].close()

    def _drop_old(self, now_s: float) -> None:
        # The first snapshot of after that moment holds all that was written until then. A write that came too soon
        # after a snapshot to have its own is seen with the next: therefore their distance is added.
        while self._snapshots and self._snapshots[0][0] + self._apart_s <= now_s - self._lag_s:
            self._snapshots.popleft()[1].close()
