"""Threads in addition to the event loop: one for writes, and others for large requests, compressed responses, and table
changes.

Writes that are queued during a commit share the next commit. Each write is acknowledged after its commit; a failed
write doesn't affect the others.
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
from typing import Any

from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.store import Engine, LongError
from keyplan.store.background_work import Behind

LARGE_BYTES_MIN = 64 * 1024
"""Larger bodies (as sent) and all compressed ones aren't parsed on the event loop."""
PACKED_BYTES_MIN = 256 * 1024
"""Larger responses aren't compressed on the event loop."""
_THREADS = 3
_CHANGING_THREADS = 8
_M_MMAP_THRESHOLD = -3
_MAPPED_BYTES_MIN = 256 * 1024
"""Larger memory blocks have their own pages, which are returned to the system when freed."""


Work = Callable[[], bytes]
"""Returns the response."""
Done = Callable[[bytes], None]


class AtOnce:
    """Runs any work immediately, without an event loop."""

    def submit(self, work: Work, done: Done) -> None:
        done(work())

    submit_body = submit_change = submit


class Threads:
    """One thread for large requests, so that other clients' writes wait for at most one large commit; several for long
    reads and compressed responses; and several for table changes, which can take long, so that requests for the table
    are answered meanwhile.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._bodies = ThreadPoolExecutor(1, "keyplan-bodies")
        self._bodies_pending = 0
        self._trim = _memory_trimmer()
        self._large = ThreadPoolExecutor(_THREADS, "keyplan-large")
        self._changing = ThreadPoolExecutor(_CHANGING_THREADS, "keyplan-tables")

    def submit(self, work: Work, done: Done) -> None:
        self._submit(self._large, work, done)

    def submit_body(self, work: Work, done: Done) -> None:
        """Run work in the thread of large requests. After the last request, unused memory is released."""
        self._bodies_pending += 1

        def end(answer: bytes) -> None:
            self._bodies_pending -= 1
            done(answer)
            if not self._bodies_pending and self._trim is not None:
                self._loop.run_in_executor(self._bodies, self._trim)

        self._submit(self._bodies, work, end)

    def submit_change(self, work: Work, done: Done) -> None:
        self._submit(self._changing, work, done)

    def _submit(self, executor: ThreadPoolExecutor, work: Work, done: Done) -> None:
        def end(future: asyncio.Future[bytes]) -> None:
            if not future.cancelled():
                done(future.result())

        self._loop.run_in_executor(executor, work).add_done_callback(end)

    def close(self) -> None:
        self._trim = None
        self._bodies.shutdown(cancel_futures=True)
        self._large.shutdown(cancel_futures=True)
        self._changing.shutdown(cancel_futures=True)


Aside = AtOnce | Threads


def _memory_trimmer() -> Callable[[], object] | None:
    """A function that returns freed memory to the system; None without glibc."""
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
"""The result of an operation: its response or an exception."""
Call = Callable[[str, dict[str, Any]], dict[str, Any]]
Written = Callable[[Outcome], None]
_Job = tuple[str, dict[str, Any], Written] | Callable[[], None]
"""A write, or other work that the thread does separately."""

_IN_PARTS = frozenset({"BatchExecuteStatement"})
"""Operations with several transactions, between which they can't be aborted."""
TOGETHER_MAX = 64
"""Maximum number of writes per commit."""


class Inline:
    """Executes each write immediately, without an event loop."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def submit(self, name: str, params: dict[str, Any], done: Written) -> None:
        done(outcome_of(self._engine.call, name, params))

    def sweep(self, items_max: int, done: Callable[[int], None]) -> None:
        _tidy(self._engine)
        done(_swept(self._engine, items_max))


class WriterThread:
    """Executes writes in a thread; queued writes share a commit.

    Short writes are executed immediately if ``is_alone`` reports that no other client would wait, because a change of
    threads takes as long. ``is_alone`` requires a single client and a store that doesn't wait for a disk.
    """

    def __init__(
        self, engine: Engine, loop: asyncio.AbstractEventLoop, is_alone: Callable[[], bool] = lambda: False
    ) -> None:
        self._engine = engine
        self._loop = loop
        self._is_alone = is_alone
        self._handed_over = 0
        """The number of writes handed to the thread, from the event loop's view."""
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._tidying = Behind()
        """Runs ``tidy``: writers don't wait for all of it."""
        self._thread = threading.Thread(target=self._run, name="keyplan-writer")
        self._thread.start()

    def submit(self, name: str, params: dict[str, Any], done: Written) -> None:
        if self._handed_over == 0 and OPERATIONS[name].kind == "write" and name not in _IN_PARTS and self._is_alone():
            outcome = outcome_of(self._engine.call_briefly, name, params)
            if not isinstance(outcome, LongError):
                done(outcome)
                return
        self._handed_over += 1
        self._jobs.put((name, params, done))

    def sweep(self, items_max: int, done: Callable[[int], None]) -> None:
        """Add the removal of expired items to the queue of writes."""
        self._tidying.run(partial(_tidy, self._engine))
        self._jobs.put(lambda: self._report(done, _swept(self._engine, items_max)))

    def _report(self, done: Callable[[int], None], count: int) -> None:
        # If the event loop is closed, the count isn't needed.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(done, count)

    def close(self) -> None:
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
        jobs = [self._jobs.get()]
        try:
            while jobs[-1] is not None and len(jobs) < TOGETHER_MAX:
                jobs.append(self._jobs.get_nowait())
        except Empty:
            pass
        return jobs

    def _make(self, jobs: list[_Job]) -> None:
        """Execute the jobs in order: consecutive item writes in one commit, the others separately."""
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
            self._loop.call_soon_threadsafe(self._deliver, jobs, [outcome_of(self._engine.call, name, params)])
            return
        outcomes: list[Outcome]
        try:
            outcomes = self._engine.call_together([(name, params) for name, params, _ in jobs])
        except Exception as error:  # noqa: BLE001 - nothing was written; each client receives the error
            outcomes = [error] * len(jobs)
        self._loop.call_soon_threadsafe(self._deliver, jobs, outcomes)

    def _deliver(self, jobs: list[tuple[str, dict[str, Any], Written]], outcomes: list[Outcome]) -> None:
        self._handed_over -= len(jobs)
        for (_, _, done), outcome in zip(jobs, outcomes, strict=True):
            done(outcome)


Writing = Inline | WriterThread


def _tidy(engine: Engine) -> None:
    try:
        engine.tidy()
    except Exception as error:  # noqa: BLE001 - background work; the next run retries it
        _log.error("Can't remove expired backups and point-in-time recovery data: %s", error)


def _swept(engine: Engine, items_max: int) -> int:
    try:
        return max(engine.expire(items_max), min(engine.trim_streams(), items_max))
    except Exception as error:  # noqa: BLE001 - background work; the next run retries it
        _log.error("Can't remove expired items and stream records: %s", error)
        return 0


def outcome_of(call: Call, name: str, params: dict[str, Any]) -> Outcome:
    try:
        return call(name, params)
    except Exception as error:  # noqa: BLE001 - the client receives the error
        return error
