"""The part of the storage port that keeps streams: their shards, and a record for each change of an item.

Records of a stream are numbered from 1, in the order of their commits, and never twice. A shard holds the records of a
range of hashes between two numbers, so that shards are opened and closed without touching a record, and who writes
doesn't know of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

HASHES = 2**32
"""A record's hash is at least 0, and less than this."""


@dataclass(frozen=True, slots=True)
class StoredStream:
    """A stream; ``definition`` is the engine's JSON. Times are seconds since the epoch."""

    id: int
    table: str
    label: str
    definition: str
    enabled_s: float
    disabled_s: float | None


@dataclass(frozen=True, slots=True)
class StoredShard:
    """A shard: the records after ``opened_after`` up to ``closed_after`` whose hash is from ``low`` up to ``high``,
    both included. ``trimmed`` is the last of its records that was removed for its age, 0 for none.
    """

    number: int
    parent: int | None
    low: int
    high: int
    opened_s: float
    opened_after: int
    closed_s: float | None = None
    closed_after: int | None = None
    trimmed: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """A record. ``body`` is JSON in UTF-8."""

    number: int
    made_s: float
    event: str
    size: int
    body: bytes


class Changes(Protocol):
    """The streams, as a transaction sees them. Those who only read call only what reads."""

    def add(self, stream: int, hash_: int, made_s: float, event: str, size: int, body: bytes) -> int:
        """Write a record; its number."""
        ...

    def streams(self) -> list[StoredStream]:
        """All streams, by table and label."""
        ...

    def shards(self, stream: int) -> list[StoredShard]:
        """The shards of a stream, in the order they were opened."""
        ...

    def last(self, stream: int) -> int:
        """The number of the last record; 0 when there was none."""
        ...

    def first_since(self, stream: int, since_s: float, after: int = 0) -> int | None:
        """The number of the first record made at ``since_s`` or later, of those after a number."""
        ...

    def last_of(self, stream: int, shard: StoredShard, until: int) -> int | None:
        """The number of the last record of a shard that is there, of those up to a number."""
        ...

    def read(self, stream: int, shard: StoredShard, after: int, until: int, limit: int) -> Iterator[Change]:
        """Records of a shard after a number and up to another, in order."""
        ...

    def open_stream(self, table: str, label: str, definition: str, enabled_s: float) -> int:
        """Add a stream without shards; its id."""
        ...

    def disable(self, stream: int, disabled_s: float) -> None:
        """Say since when a stream is disabled."""
        ...

    def drop(self, stream: int) -> None:
        """Remove a stream with its shards and records."""
        ...

    def open_shard(self, stream: int, shard: StoredShard) -> None:
        """Add a shard."""
        ...

    def change_shard(self, stream: int, shard: StoredShard) -> None:
        """Store what a shard has become: closed, or trimmed."""
        ...

    def drop_shard(self, stream: int, number: int) -> None:
        """Remove a shard."""
        ...

    def trim(self, stream: int, before: int, limit: int) -> int:
        """Remove the first records, those before a number and so many at most, but never the last one of the stream,
        from which numbers go on; how many were removed.
        """
        ...

    def damaged(self, stream: int) -> Iterator[int]:
        """The numbers of records that aren't as they were written."""
        ...
