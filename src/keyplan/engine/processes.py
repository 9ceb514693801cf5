"""Which process does something, as others recognize it: whether it still runs is asked of the operating system.

A number alone isn't enough: in a container, a server that is started again has that of the server before it.
"""

from __future__ import annotations

import os
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


def _started(number: int) -> str:
    """When a process was started, in the clock ticks of Linux's ``/proc``; empty where that isn't known."""
    try:
        statistics = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The second field is the program's name, which may have blanks and parentheses in it.
    return statistics.rpartition(")")[2].split()[19]
