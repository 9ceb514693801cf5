"""Stores the shards of streams, and a record for each change of an item.

Records are numbered from 1 in commit order. A shard has the records between two numbers whose hashes are in a range, so
that opening and closing shards doesn't change records. The records of each stream are in a separate table.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from keyplan.store.storage.dropped_tables import Part

HASHES = 2**32
"""Hashes of records are less than this."""


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
    """A shard: the records after ``opened_after`` until ``closed_after`` with hashes from ``low`` to ``high``,
    inclusive. ``trimmed`` is the last record that was removed because of its age, or 0.
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
    """A stream record. ``body`` is JSON in UTF-8."""

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


class Changes(Part):
    """Streams, shards and records."""

    def add(self, stream: int, hash_: int, made_s: float, event: str, size: int, body: bytes) -> int:
        row = (hash_, made_s, event, size, body, zlib.crc32(body))
        cursor = self._run(
            f"INSERT INTO changes_{stream} (hash, made_s, event, size, body, checksum) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608 - inserts only a number
            row,
        )
        return cursor.connection.last_insert_rowid()

    def streams(self) -> list[StoredStream]:
        rows = self._run(_STREAMS, None)
        return [StoredStream(*cast("tuple[int, str, str, str, float, float | None]", row)) for row in rows]

    def shards(self, stream: int) -> list[StoredShard]:
        rows = self._run(_SHARDS, (stream,))
        return [
            StoredShard(*cast("tuple[int, int | None, int, int, float, int, float | None, int | None, int]", row))
            for row in rows
        ]

    def last(self, stream: int) -> int:
        return self._number(f"SELECT max(id) FROM changes_{stream}") or 0  # noqa: S608

    def first_since(self, stream: int, since_s: float, after: int = 0) -> int | None:
        """The number of the first record after ``after`` that was created at ``since_s`` or later."""
        return self._first_at(f"changes_{stream}", "made_s", since_s, after)

    def last_of(self, stream: int, shard: StoredShard, until: int) -> int | None:
        """The number of a shard's last existing record up to a given number."""
        text = (
            f"SELECT id FROM changes_{stream} WHERE id > ? AND id <= ? AND hash BETWEEN ? AND ? "  # noqa: S608
            "ORDER BY id DESC LIMIT 1"
        )
        end = min(until, _OPEN_END if shard.closed_after is None else shard.closed_after)
        return self._number(text, (shard.opened_after, end, shard.low, shard.high))

    def read(self, stream: int, shard: StoredShard, after: int, until: int, limit: int) -> Iterator[Change]:
        """Records of a shard between two numbers, in order."""
        text = (
            f"SELECT id, made_s, event, size, body FROM changes_{stream} "  # noqa: S608
            "WHERE id > ? AND id <= ? AND hash BETWEEN ? AND ? ORDER BY id LIMIT ?"
        )
        for row in self._run(text, (after, until, shard.low, shard.high, limit)):
            yield Change(*cast("tuple[int, float, str, int, bytes]", row))

    def open_stream(self, table: str, label: str, definition: str, enabled_s: float) -> int:
        stream = self._number(_OPEN_STREAM, (table, label, definition, enabled_s))
        assert stream is not None  # noqa: S101 - the shard was just created
        self._run(
            f"CREATE TABLE changes_{stream} (id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, made_s REAL NOT NULL, "
            "event TEXT NOT NULL, size INTEGER NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL)",
            None,
        )
        return stream

    def disable(self, stream: int, disabled_s: float) -> None:
        self._run(_DISABLE, (disabled_s, stream))

    def drop(self, stream: int) -> None:
        self._throw_away(f"changes_{stream}")
        self._run(_DROP_SHARDS, (stream,))
        self._run(_DROP_STREAM, (stream,))

    def open_shard(self, stream: int, shard: StoredShard) -> None:
        row = (shard.number, shard.parent, shard.low, shard.high, shard.opened_s, shard.opened_after)
        self._run(_OPEN_SHARD, (stream, *row, shard.closed_s, shard.closed_after, shard.trimmed))

    def change_shard(self, stream: int, shard: StoredShard) -> None:
        self._run(_CHANGE_SHARD, (shard.closed_s, shard.closed_after, shard.trimmed, stream, shard.number))

    def drop_shard(self, stream: int, number: int) -> None:
        self._run(_DROP_SHARD, (stream, number))

    def trim(self, stream: int, before: int, limit: int) -> int:
        """Remove records before a number, except the stream's last record, from which the numbers continue."""
        name = f"changes_{stream}"
        first = f"SELECT id FROM {name} WHERE id < ? AND id < (SELECT max(id) FROM {name}) ORDER BY id LIMIT ?"  # noqa: S608
        cursor = self._run(f"DELETE FROM {name} WHERE id IN ({first})", (before, limit))  # noqa: S608
        return cursor.connection.changes()

    def damaged(self, stream: int) -> Iterator[int]:
        for row in self._run(f"SELECT id, body, checksum FROM changes_{stream}", None):  # noqa: S608
            number, body, checksum = cast("tuple[int, bytes, int]", row)
            if zlib.crc32(body) != checksum:
                yield number

    def _number(self, text: str, values: Sequence[object] | None = None) -> int | None:
        row = cast("tuple[int | None] | None", self._run(text, values).fetchone())
        return None if row is None else row[0]
