"""Which process does something, as others recognize it: whether it still runs is asked of the operating system.
Work that is done in many transactions has a mark besides, so that in its own process, too, is known whether it goes on.

A number alone isn't enough: in a container, a server that is started again has that of the server before it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any


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
