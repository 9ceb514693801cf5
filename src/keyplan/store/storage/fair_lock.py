"""A lock that serves its waiters in the order they came, so that no writer among many threads starves."""

from __future__ import annotations

import threading
from collections import deque


class FairLock:
    """First come, first served. Not reentrant."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held = False
        self._waiting: deque[threading.Lock] = deque()

    def acquire_at_once(self) -> bool:
        """Take the lock if nobody holds it; whether it was got."""
        with self._guard:
            if self._held:
                return False
            self._held = True
            return True

    def acquire(self, timeout_s: float) -> bool:
        """Wait for the lock at most ``timeout_s``; whether it was got."""
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
            # An interrupt may arrive after the lock was handed to us.
            if not self._withdraw(gate):
                self.release()
            raise
        return got or not self._withdraw(gate)

    def release(self) -> None:
        """Hand the lock to the one who waits longest."""
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
