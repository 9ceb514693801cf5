"""Limits the work for one request in a thread for which other requests wait, such as a server's event loop.

Work is counted before it is done, in bytes of stored items, because time depends on the machine and its load. A request
that would exceed its thread's limit is aborted without effect and then repeated in a thread without a limit.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager

BRIEF_BYTES_MAX = 1_000_000
"""The limit, in bytes decoded into Python or equivalent work: 15 to 20 ms."""

UNKNOWN_BYTES = 10 * BRIEF_BYTES_MAX
"""The cost of work that can take long and can't be estimated."""

PIECE_ROWS = 500
"""Chunked work on a whole table has transactions of this many items, unless they are large."""
PIECE_BYTES = 500_000
"""Such a transaction ends after this many bytes of items."""


REMOVED_TOGETHER = 200
"""Items per transaction, so that other writers wait only some milliseconds."""


def piece_rows(writes: int) -> int:
    """The number of items per transaction, if each item takes this many writes."""
    return max(1, PIECE_ROWS // writes)


def waste_piece() -> tuple[int, int]:
    """The maximum rows and bytes that a transaction removes. Removing is several times faster than writing."""
    return 4 * PIECE_ROWS, 4 * PIECE_BYTES


_ITEM_BYTES = 100
"""The fixed cost of an item."""
_TERM_BYTES = 40
"""The cost of evaluating or projecting a part of an item."""
_JUDGED = 0.5
"""The cost of evaluating a condition relative to decoding the item, except for searches in long lists."""
_COPIED_BYTES = 16
"""The number of bytes that can be copied in the time of decoding one."""


class LongError(Exception):
    """A request exceeds its thread's limit; nothing was done."""


class _Effort(threading.local):
    left: float = math.inf


this_thread = _Effort()
"""The remaining budget of this thread: unlimited except during ``Engine.call_briefly``."""


def spend(count: float) -> None:
    """Spend the cost of decoding ``count`` bytes of items. Raises LongError if the cost exceeds the thread's budget."""
    this_thread.left -= count
    if this_thread.left < 0:
        raise LongError


def spend_on_copies(size_bytes: int) -> None:
    spend(size_bytes / _COPIED_BYTES)


def effort_of(size_bytes: int, conditions: int = 0) -> float:
    """The cost of reading items of this size. Each condition can inspect a whole item."""
    return size_bytes * (1 + _JUDGED * conditions)


def spend_on_items(bodies: Sequence[bytes], conditions: int = 0, shown: int = 0) -> None:
    """Spend the cost of reading these items, evaluating conditions and projecting parts."""
    terms = len(bodies) * (_ITEM_BYTES + _TERM_BYTES * (conditions + shown))
    spend(effort_of(sum(map(len, bodies)), conditions) + terms)


@contextmanager
def without_limit() -> Generator[None]:
    """Suspend this thread's limit: the work in this ``with`` block can't be aborted."""
    left, this_thread.left = this_thread.left, math.inf
    try:
        yield
    finally:
        this_thread.left = left
