"""Runners of background work, and stored notes that identify the process that does the work.

A note has the ID and the start time of the process, because process IDs are reused. Work in many transactions also has
a unique mark in the memory of its process, which shows whether the process still does this work.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any


def this_process() -> dict[str, Any]:
    """The members of a note that identify this process: its ID and start time."""
    number = os.getpid()
    return {"Process": number, "Started": _started(number)}


def has_ended(record: Mapping[str, Any]) -> bool:
    number: int = record["Process"]
    started = _started(number)
    if started and record.get("Started"):
        return bool(started != record["Started"])
    if number == os.getpid():
        return False
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


_going_on: set[str] = set()
"""The marks of this process's running work."""


def begin_work() -> dict[str, Any]:
    """The members of a note that identify this process and one of its jobs."""
    mark = secrets.token_hex(8)
    _going_on.add(mark)
    return {**this_process(), "Work": mark}


def end_work(record: Mapping[str, Any]) -> None:
    """Remove the mark of this process's finished or abandoned work."""
    _going_on.discard(record["Work"])


def is_given_up(record: Mapping[str, Any]) -> bool:
    """Whether work is abandoned: the process that did the work has ended or stopped the work."""
    if record["Process"] == os.getpid() and not has_ended(record):
        return record["Work"] not in _going_on
    return has_ended(record)


def _started(number: int) -> str:
    try:
        statistics = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The second field is the program's name, which can contain spaces and parentheses.
    return statistics.rpartition(")")[2].split()[19]


_END_S_MAX = 5.0
"""How many seconds closing the engine waits for its thread."""


class Inline:
    """Runs jobs immediately. Jobs must not raise errors."""

    def run(self, work: Callable[[], None]) -> None:
        work()

    def close(self) -> None:
        """Do nothing: jobs have already finished."""


class Behind(Inline):
    """Runs jobs in a thread, in order."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def run(self, work: Callable[[], None]) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="keyplan-jobs", daemon=True)
                self._thread.start()
        self._waiting.put(work)

    def close(self) -> None:
        """Finish queued jobs within a few seconds; the remaining jobs count as abandoned."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join(_END_S_MAX)

    def _work(self) -> None:
        while True:
            work = self._waiting.get()
            if work is None:
                return
            work()
