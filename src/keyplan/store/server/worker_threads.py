"""Threads beside the event loop: one for writes, and others for large requests, compressed responses, and changes of
tables.

Writes that wait while a commit is in progress share the next commit. Each is acknowledged after its commit; one that
fails doesn't affect the others.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.store import Engine, LongError
from keyplan.store.background_work import Behind

LARGE_BYTES_MIN = 64 * 1024
"""A body of more than that, as it was sent, isn't parsed on the event loop; nor is any that was packed."""
PACKED_BYTES_MIN = 256 * 1024
"""An answer of more than that isn't packed on the event loop."""
_THREADS = 3
_CHANGING_THREADS = 8
_M_MMAP_THRESHOLD = -3
_MAPPED_BYTES_MIN = 256 * 1024
"""Larger blocks of memory have pages of their own, which return to the system when they are freed."""


Work = Callable[[], bytes]
"""Gives the answer."""
Done = Callable[[bytes], None]


class Aside(Protocol):
    """Does work beside the event loop."""

    def submit(self, work: Work, done: Done) -> None:
        """Do ``work``, and call ``done`` with the answer, on the event loop."""
        ...

    def submit_body(self, work: Work, done: Done) -> None:
        """Do ``work``, a large request, and call ``done`` with the answer, on the event loop."""
        ...

    def submit_change(self, work: Work, done: Done) -> None:
        """Do ``work``, a change of tables, and call ``done`` with the answer, on the event loop."""
        ...


class AtOnce:
    """Does it at once, where there is no event loop."""

    def submit(self, work: Work, done: Done) -> None:
        """Do it."""
        done(work())

    def submit_body(self, work: Work, done: Done) -> None:
        """Do it."""
        self.submit(work, done)

    def submit_change(self, work: Work, done: Done) -> None:
        """Do it."""
        self.submit(work, done)


class Threads:
    """One thread for large requests, so that a write of another client waits for one large commit at most; some for
    long reads and compressed responses; and some for changes of tables, each of which may take long while requests on
    the table must still be answered.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._bodies = ThreadPoolExecutor(1, "keyplan-bodies")
        self._bodies_pending = 0
        self._trim = _memory_trimmer()
        self._large = ThreadPoolExecutor(_THREADS, "keyplan-large")
        self._changing = ThreadPoolExecutor(_CHANGING_THREADS, "keyplan-tables")

    def submit(self, work: Work, done: Done) -> None:
        """Do it in a thread."""
        self._submit(self._large, work, done)

    def submit_body(self, work: Work, done: Done) -> None:
        """Do it in the thread of large requests. After the last one, return the memory to the system."""
        self._bodies_pending += 1

        def end(answer: bytes) -> None:
            self._bodies_pending -= 1
            done(answer)
            if not self._bodies_pending and self._trim is not None:
                self._loop.run_in_executor(self._bodies, self._trim)

        self._submit(self._bodies, work, end)

    def submit_change(self, work: Work, done: Done) -> None:
        """Do it in a thread."""
        self._submit(self._changing, work, done)

    def _submit(self, executor: ThreadPoolExecutor, work: Work, done: Done) -> None:
        def end(future: asyncio.Future[bytes]) -> None:
            if not future.cancelled():
                done(future.result())

        self._loop.run_in_executor(executor, work).add_done_callback(end)

    def close(self) -> None:
        """Finish what was begun, and end."""
        self._trim = None
        self._bodies.shutdown(cancel_futures=True)
        self._large.shutdown(cancel_futures=True)
        self._changing.shutdown(cancel_futures=True)


def _memory_trimmer() -> Callable[[], object] | None:
    """What returns the memory of large requests to the system; None without glibc."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES_MIN)
        trim = library.malloc_trim
    except (AttributeError, OSError):
        return None

    def run() -> None:
        gc.collect()
        trim(0)

    return run


_log = logging.getLogger("keyplan.server")

Outcome = dict[str, Any] | Exception
Written = Callable[[Outcome], None]
_Job = tuple[str, dict[str, Any], Written] | Callable[[], None]
"""A write, or work of another kind that the thread does alone."""

_IN_PARTS = frozenset({"BatchExecuteStatement"})
"""What writes in several transactions can't be given up between them."""
TOGETHER_MAX = 64
"""Writes of one commit."""


class Writing(Protocol):
    """Takes writes."""

    def submit(self, name: str, params: dict[str, Any], done: Written) -> None:
        """Make a write, and call ``done`` with its outcome, on the event loop."""
        ...

    def sweep(self, items_max: int, done: Callable[[int], None]) -> None:
        """Remove up to ``items_max`` expired items, and call ``done`` with their number, on the event loop."""
        ...


class Inline:
    """Makes each write at once, where there is no event loop."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def submit(self, name: str, params: dict[str, Any], done: Written) -> None:
        """Make a write."""
        done(_outcome(self._engine.call, name, params))

    def sweep(self, items_max: int, done: Callable[[int], None]) -> None:
        """Remove expired items."""
        _tidy(self._engine)
        done(_swept(self._engine, items_max))


class WriterThread:
    """Makes writes in a thread of its own, those that wait together in one commit.

    While ``is_alone`` says that nobody else would be kept waiting, writes are made at once instead, as far as they take
    no longer than anybody may wait: handing them over would take as long as making them. So it is while one client is
    there only, and with a store that doesn't wait for a disk.
    """

    def __init__(
        self, engine: Engine, loop: asyncio.AbstractEventLoop, is_alone: Callable[[], bool] = lambda: False
    ) -> None:
        self._engine = engine
        self._loop = loop
        self._is_alone = is_alone
        self._handed_over = 0
        """Writes that the thread has, as the event loop knows it."""
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._tidying = Behind()
        """Forgets what is too old: no writer waits until all of it is gone."""
        self._thread = threading.Thread(target=self._run, name="keyplan-writer")
        self._thread.start()

    def submit(self, name: str, params: dict[str, Any], done: Written) -> None:
        """Queue a write, or make it."""
        if self._handed_over == 0 and OPERATIONS[name].kind == "write" and name not in _IN_PARTS and self._is_alone():
            outcome = _outcome(self._engine.call_briefly, name, params)
            if not isinstance(outcome, LongError):
                done(outcome)
                return
        self._handed_over += 1
        self._jobs.put((name, params, done))

    def sweep(self, items_max: int, done: Callable[[int], None]) -> None:
        """Queue the removal of expired items, behind the writes that wait."""
        self._tidying.run(partial(_tidy, self._engine))
        self._jobs.put(lambda: self._tell(done, _swept(self._engine, items_max)))

    def _tell(self, done: Callable[[int], None], count: int) -> None:
        # The loop may have ended meanwhile: nobody waits for the number then.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(done, count)

    def close(self) -> None:
        """Finish what is queued, and end."""
        self._jobs.put(None)
        self._thread.join()
        self._tidying.close()

    def _run(self) -> None:
        while True:
            jobs = self._take()
            self._make([job for job in jobs if job is not None])
            if jobs[-1] is None:
                return

    def _take(self) -> list[_Job | None]:
        """At least one job, and what waits beside it."""
        jobs = [self._jobs.get()]
        try:
            while jobs[-1] is not None and len(jobs) < TOGETHER_MAX:
                jobs.append(self._jobs.get_nowait())
        except Empty:
            pass
        return jobs

    def _make(self, jobs: list[_Job]) -> None:
        """Make the jobs in order: writes of items that follow each other together, the others alone."""
        together: list[tuple[str, dict[str, Any], Written]] = []
        for job in jobs:
            if callable(job):
                self._commit(together)
                job()
                together = []
            elif OPERATIONS[job[0]].kind == "write":
                together.append(job)
            else:
                self._commit(together)
                self._commit([job])
                together = []
        self._commit(together)

    def _commit(self, jobs: list[tuple[str, dict[str, Any], Written]]) -> None:
        if not jobs:
            return
        if len(jobs) == 1:
            name, params, _ = jobs[0]
            self._loop.call_soon_threadsafe(self._deliver, jobs, [_outcome(self._engine.call, name, params)])
            return
        outcomes: list[Outcome]
        try:
            outcomes = self._engine.call_together([(name, params) for name, params, _ in jobs])
        except Exception as error:  # noqa: BLE001 - nothing was written, and each client is told so
            outcomes = [error] * len(jobs)
        self._loop.call_soon_threadsafe(self._deliver, jobs, outcomes)

    def _deliver(self, jobs: list[tuple[str, dict[str, Any], Written]], outcomes: list[Outcome]) -> None:
        self._handed_over -= len(jobs)
        for (_, _, done), outcome in zip(jobs, outcomes, strict=True):
            done(outcome)


def _tidy(engine: Engine) -> None:
    try:
        engine.tidy()
    except Exception as error:  # noqa: BLE001 - nobody asked for it; it is tried again
        _log.error("What is too old can't be removed: %s", error)


def _swept(engine: Engine, items_max: int) -> int:
    try:
        return max(engine.expire(items_max), min(engine.trim_streams(), items_max))
    except Exception as error:  # noqa: BLE001 - nobody asked for it; it is tried again
        _log.error("Expired items and records of streams can't be removed: %s", error)
        return 0


def _outcome(call: Callable[[str, dict[str, Any]], dict[str, Any]], name: str, params: dict[str, Any]) -> Outcome:
    try:
        return call(name, params)
    except Exception as error:  # noqa: BLE001 - it is told to the client that asked
        return error
