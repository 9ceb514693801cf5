"""The part of the storage that keeps streams: their shards, and a record for each change of an item.

Records of a stream are numbered from 1, in the order of their commits, and never twice. A shard holds the records of a
range of hashes between two numbers, so that shards are opened and closed without touching a record, and who writes
doesn't know of them.

Streams in SQLite: two tables of the catalogue, and for each stream a table of its records.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import apsw

from keyplan.store.storage.dropped_tables import ThrowAway

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


_STREAMS = "SELECT id, table_name, label, definition, enabled_s, disabled_s FROM keyplan_streams ORDER BY 2, 3"
_OPEN_STREAM = "INSERT INTO keyplan_streams (table_name, label, definition, enabled_s) VALUES (?, ?, ?, ?) RETURNING id"
_DISABLE = "UPDATE keyplan_streams SET disabled_s = ? WHERE id = ?"
_DROP_STREAM = "DELETE FROM keyplan_streams WHERE id = ?"
_SHARDS = (
    "SELECT number, parent, low, high, opened_s, opened_after, closed_s, closed_after, trimmed "
    "FROM keyplan_shards WHERE stream = ? ORDER BY number"
)
_OPEN_SHARD = "INSERT INTO keyplan_shards VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_CHANGE_SHARD = "UPDATE keyplan_shards SET closed_s = ?, closed_after = ?, trimmed = ? WHERE stream = ? AND number = ?"
_DROP_SHARD = "DELETE FROM keyplan_shards WHERE stream = ? AND number = ?"
_DROP_SHARDS = "DELETE FROM keyplan_shards WHERE stream = ?"
_OPEN_END = 2**62

Run = Callable[[str, Sequence[object] | None], apsw.Cursor]


class Changes:
    """The streams, by a function that runs a statement in the transaction."""

    __slots__ = ("_run", "_throw_away")

    def __init__(self, run: Run, throw_away: ThrowAway) -> None:
        self._run = run
        self._throw_away = throw_away

    def add(self, stream: int, hash_: int, made_s: float, event: str, size: int, body: bytes) -> int:
        """Write a record; its number."""
        row = (hash_, made_s, event, size, body, zlib.crc32(body))
        cursor = self._run(
            f"INSERT INTO changes_{stream} (hash, made_s, event, size, body, checksum) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608 - a number
            row,
        )
        return cursor.connection.last_insert_rowid()

    def streams(self) -> list[StoredStream]:
        """All streams, by table and label."""
        rows = self._run(_STREAMS, None)
        return [StoredStream(*cast("tuple[int, str, str, str, float, float | None]", row)) for row in rows]

    def shards(self, stream: int) -> list[StoredShard]:
        """The shards of a stream, in the order they were opened."""
        rows = self._run(_SHARDS, (stream,))
        return [
            StoredShard(*cast("tuple[int, int | None, int, int, float, int, float | None, int | None, int]", row))
            for row in rows
        ]

    def last(self, stream: int) -> int:
        """The number of the last record; 0 when there was none."""
        return self._number(f"SELECT max(id) FROM changes_{stream}") or 0  # noqa: S608

    def first_since(self, stream: int, since_s: float, after: int = 0) -> int | None:
        """The number of the first record made at ``since_s`` or later, of those after a number."""
        name = f"changes_{stream}"
        first = self._place(f"SELECT id, made_s FROM {name} WHERE id > ? ORDER BY id LIMIT 1", after)  # noqa: S608
        if first is None or first[1] >= since_s:
            return None if first is None else first[0]
        last = self._place(f"SELECT id, made_s FROM {name} WHERE id > ? ORDER BY id DESC LIMIT 1", after)  # noqa: S608
        if last is None or last[1] < since_s:
            return None
        low, high = first[0], last[0]
        while high - low > 1:  # numbers have no gaps, and times go with them
            middle = (low + high) // 2
            result = self._place(f"SELECT id, made_s FROM {name} WHERE id = ?", middle)  # noqa: S608
            if result is None or result[1] < since_s:
                low = middle
            else:
                high = middle
        return high

    def last_of(self, stream: int, shard: StoredShard, until: int) -> int | None:
        """The number of the last record of a shard that is there, of those up to a number."""
        text = (
            f"SELECT id FROM changes_{stream} WHERE id > ? AND id <= ? AND hash BETWEEN ? AND ? "  # noqa: S608
            "ORDER BY id DESC LIMIT 1"
        )
        end = min(until, _OPEN_END if shard.closed_after is None else shard.closed_after)
        return self._number(text, (shard.opened_after, end, shard.low, shard.high))

    def read(self, stream: int, shard: StoredShard, after: int, until: int, limit: int) -> Iterator[Change]:
        """Records of a shard after a number and up to another, in order."""
        text = (
            f"SELECT id, made_s, event, size, body FROM changes_{stream} "  # noqa: S608
            "WHERE id > ? AND id <= ? AND hash BETWEEN ? AND ? ORDER BY id LIMIT ?"
        )
        for row in self._run(text, (after, until, shard.low, shard.high, limit)):
            yield Change(*cast("tuple[int, float, str, int, bytes]", row))

    def open_stream(self, table: str, label: str, definition: str, enabled_s: float) -> int:
        """Add a stream without shards; its id."""
        stream = self._number(_OPEN_STREAM, (table, label, definition, enabled_s))
        assert stream is not None  # noqa: S101 - it was just made
        self._run(
            f"CREATE TABLE changes_{stream} (id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, made_s REAL NOT NULL, "
            "event TEXT NOT NULL, size INTEGER NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL)",
            None,
        )
        return stream

    def disable(self, stream: int, disabled_s: float) -> None:
        """Say since when a stream is disabled."""
        self._run(_DISABLE, (disabled_s, stream))

    def drop(self, stream: int) -> None:
        """Remove a stream with its shards and records."""
        self._throw_away(f"changes_{stream}")
        self._run(_DROP_SHARDS, (stream,))
        self._run(_DROP_STREAM, (stream,))

    def open_shard(self, stream: int, shard: StoredShard) -> None:
        """Add a shard."""
        row = (shard.number, shard.parent, shard.low, shard.high, shard.opened_s, shard.opened_after)
        self._run(_OPEN_SHARD, (stream, *row, shard.closed_s, shard.closed_after, shard.trimmed))

    def change_shard(self, stream: int, shard: StoredShard) -> None:
        """Store what a shard has become: closed, or trimmed."""
        self._run(_CHANGE_SHARD, (shard.closed_s, shard.closed_after, shard.trimmed, stream, shard.number))

    def drop_shard(self, stream: int, number: int) -> None:
        """Remove a shard."""
        self._run(_DROP_SHARD, (stream, number))

    def trim(self, stream: int, before: int, limit: int) -> int:
        """Remove the first records, those before a number and so many at most, but never the last one of the stream,
        from which numbers go on; how many were removed.
        """
        name = f"changes_{stream}"
        first = f"SELECT id FROM {name} WHERE id < ? AND id < (SELECT max(id) FROM {name}) ORDER BY id LIMIT ?"  # noqa: S608
        cursor = self._run(f"DELETE FROM {name} WHERE id IN ({first})", (before, limit))  # noqa: S608
        return cursor.connection.changes()

    def damaged(self, stream: int) -> Iterator[int]:
        """The numbers of records that aren't as they were written."""
        for row in self._run(f"SELECT id, body, checksum FROM changes_{stream}", None):  # noqa: S608
            number, body, checksum = cast("tuple[int, bytes, int]", row)
            if zlib.crc32(body) != checksum:
                yield number

    def _number(self, text: str, values: Sequence[object] | None = None) -> int | None:
        row = cast("tuple[int | None] | None", self._run(text, values).fetchone())
        return None if row is None else row[0]

    def _place(self, text: str, value: int) -> tuple[int, float] | None:
        return cast("tuple[int, float] | None", self._run(text, (value,)).fetchone())
