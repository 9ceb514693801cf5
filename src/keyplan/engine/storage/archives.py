"""The part of the storage port that keeps what was: the history of a table, its backups, and records of the engine's
own, such as those of exports.

A history holds, for each write, what stood there before. So a write adds one row, and what the table was at some moment
is what it is now without the writes of after. Times are whole microseconds since the epoch, and never go back: a write
whose clock is behind has the time of the one before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from keyplan.engine.storage.port import KeyText, StoredTable

Kept = tuple[KeyText, KeyText, int, bytes]
"""An item as it was: its key, its size and its JSON."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of a key between two moments: the item as it was before, as it was after, and the last change of it.
    Each item is its size and its JSON, or None.
    """

    key: tuple[KeyText, KeyText]
    made_us: int
    before: tuple[int, bytes] | None
    after: tuple[int, bytes] | None


class Archives(Protocol):
    """What was, as a transaction sees it. Those who only read call only what reads."""

    def begin_history(self, table_id: int) -> None:
        """Begin the history of a table."""
        ...

    def end_history(self, table_id: int) -> None:
        """Remove the history of a table. It may have none."""
        ...

    def remember(
        self, table_id: int, made_us: int, key: tuple[KeyText, KeyText], old: tuple[int, bytes] | None
    ) -> None:
        """Add a write to the history: what stood there before, if anything did."""
        ...

    def trim_history(self, table_id: int, before_us: int, limit: int) -> int:
        """Remove the first writes, those before a moment and so many at most; how many were removed."""
        ...

    def oldest_write(self, table_id: int) -> int | None:
        """The time of the first write of a history; None while there is none."""
        ...

    def items_at(self, table: StoredTable, until_us: int) -> Iterator[Kept]:
        """The items as they were after all writes up to a moment, that one included."""
        ...

    def changed_between(self, table: StoredTable, from_us: int, to_us: int) -> Iterator[Changed]:
        """Each key that was written from a moment on and before another one."""
        ...

    def back_up(self, name: str, items: Iterator[Kept]) -> tuple[int, int]:
        """Keep items under a name of letters, digits and underscores; their number and the sum of their sizes."""
        ...

    def backed_up(self, name: str) -> Iterator[Kept]:
        """The items that are kept under a name."""
        ...

    def drop_backup(self, name: str) -> None:
        """Remove what is kept under a name."""
        ...

    def record(self, kind: str, name: str) -> bytes | None:
        """What is stored under a kind and a name."""
        ...

    def records(self, kind: str) -> list[tuple[str, bytes]]:
        """All of a kind, by name."""
        ...

    def keep_record(self, kind: str, name: str, body: bytes) -> None:
        """Store something under a kind and a name, in the place of what is there."""
        ...

    def drop_record(self, kind: str, name: str) -> None:
        """Remove what is stored under a kind and a name."""
        ...
