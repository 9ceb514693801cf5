"""Who does the work of operations that only begin it, such as an export: the caller at once, or a thread beside."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Protocol

_END_S_MAX = 5.0
"""How long the end of the engine waits for the work of its thread."""


class Runner(Protocol):
    """Does the work of jobs."""

    def run(self, work: Callable[[], None]) -> None:
        """Do some work, now or later. It never raises."""
        ...

    def close(self) -> None:
        """Finish what was begun."""
        ...


class Inline:
    """Does work at once."""

    def run(self, work: Callable[[], None]) -> None:
        """Do it."""
        work()

    def close(self) -> None:
        """There is nothing left."""


class Behind:
    """Does work in a thread of its own, one job after the other."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def run(self, work: Callable[[], None]) -> None:
        """Queue it."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="keyplan-jobs", daemon=True)
                self._thread.start()
        self._waiting.put(work)

    def close(self) -> None:
        """Finish what is queued, if that takes no longer than some seconds; the rest counts as abandoned."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join(_END_S_MAX)

    def _work(self) -> None:
        while True:
            work = self._waiting.get()
            if work is None:
                return
            work()
