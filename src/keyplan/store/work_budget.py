"""The work that a thread may do for one request while others wait for it: the event loop of a server.

The cost of a request depends on what is stored: a short filter evaluates each item of a page, an update reads the whole
item. So the engine counts what it is about to do, in bytes of stored items. In a thread with a limit, a request that
would exceed it is given up with nothing done, and repeated in a thread without one. Work is counted, not timed: time
depends on the machine and its load.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager

BRIEF_BYTES_MAX = 1_000_000
"""Bytes that a thread with a limit may read into Python, or as many as take as long: 15 to 20 ms of work."""

UNKNOWN_BYTES = 10 * BRIEF_BYTES_MAX
"""What may take long, and it isn't known beforehand whether it does."""

PIECE_ROWS = 500
"""What takes a whole table is done in transactions of so many items each, unless they are large."""
PIECE_BYTES = 500_000
"""After so many bytes of items such a transaction ends."""


def piece_rows(writes: int) -> int:
    """How many items such a transaction has, each of which takes so many writes."""
    return max(1, PIECE_ROWS // writes)


def waste_piece() -> tuple[int, int]:
    """How many rows, and bytes, such a transaction removes at most of what was thrown away: rows of which nobody keeps
    anything go several times as quickly as they came.
    """
    return 4 * PIECE_ROWS, 4 * PIECE_BYTES


_ITEM_BYTES = 100
"""What each item costs besides, however small it is."""
_TERM_BYTES = 40
"""What it costs to judge or to show a part of an item."""
_JUDGED = 0.5
"""To judge an item by a condition takes less than to read it, but for what looks through long lists."""
_COPIED_BYTES = 16
"""So many bytes are handed on as they are in the time in which one is read into Python."""


class LongError(Exception):
    """A request takes more than its thread may do; nothing was done."""


class _Effort(threading.local):
    left: float = math.inf


this_thread = _Effort()
"""What this thread may do yet: without a limit, but for the time of ``Engine.call_briefly``."""


def spend(count: float) -> None:
    """Say that as much is to be done as it takes to read ``count`` bytes of items.

    Raises:
        LongError: it is more than this thread may do.
    """
    this_thread.left -= count
    if this_thread.left < 0:
        raise LongError


def spend_on_copies(size_bytes: int) -> None:
    """Say that so many bytes are to be handed on as they are."""
    spend(size_bytes / _COPIED_BYTES)


def effort_of(size_bytes: int, conditions: int = 0) -> float:
    """What it takes to read items of this size, and to judge them by so many conditions: each may look at all of it."""
    return size_bytes * (1 + _JUDGED * conditions)


def spend_on_items(bodies: Sequence[bytes], conditions: int = 0, shown: int = 0) -> None:
    """Say that these items are to be read, judged by so many conditions, and so many of their parts to be shown."""
    terms = len(bodies) * (_ITEM_BYTES + _TERM_BYTES * (conditions + shown))
    spend(effort_of(sum(map(len, bodies)), conditions) + terms)


@contextmanager
def without_limit() -> Generator[None]:
    """In here, this thread has no limit: what is to be done can't be given up any more."""
    left, this_thread.left = this_thread.left, math.inf
    try:
        yield
    finally:
        this_thread.left = left
