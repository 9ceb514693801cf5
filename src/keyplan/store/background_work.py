"""Background work: who runs it, and which process does it, as other processes recognize it.

A record of work names its process by number and start time, since in a container a restarted server has the number of
the one before it. Work that takes many transactions has a mark besides, so that its own process also knows whether it
goes on. Operations that only start a job (an export, an import) run it inline, or in a thread.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Protocol


def this_process() -> dict[str, Any]:
    """The members of a record that name this process: its number, and when it was started."""
    number = os.getpid()
    return {"Process": number, "Started": _started(number)}


def has_ended(record: Mapping[str, Any]) -> bool:
    """Whether the process that a record names has ended."""
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
"""The marks of what this process is doing."""


def begin_work() -> dict[str, Any]:
    """The members of a record that name this process, and one piece of its work."""
    mark = secrets.token_hex(8)
    _going_on.add(mark)
    return {**this_process(), "Work": mark}


def end_work(record: Mapping[str, Any]) -> None:
    """Forget a piece of work of this process: it is done, or given up."""
    _going_on.discard(record["Work"])


def is_given_up(record: Mapping[str, Any]) -> bool:
    """Whether nobody does a piece of work any more: its process has ended, or gave it up."""
    if record["Process"] == os.getpid() and not has_ended(record):
        return record["Work"] not in _going_on
    return has_ended(record)


def _started(number: int) -> str:
    """When a process was started, in the clock ticks of Linux's ``/proc``; empty where that isn't known."""
    try:
        statistics = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The second field is the program's name, which may have blanks and parentheses in it.
    return statistics.rpartition(")")[2].split()[19]


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
