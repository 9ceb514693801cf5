"""Types for keys, rows and bounds in the storage, and for the physical form of tables and indexes.

Keys are in their storage form (``dynamodb.values.key_text``): strings or bytes that sort like DynamoDB's keys. Items
are JSON in UTF-8 bytes.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Literal

KeyText = str | bytes
"""A key attribute in its storage form; the sort key of a table without one is ``""``."""

Found = tuple[int, int, bytes, int]
"""A stored item for a write: row id, size, JSON and checksum."""

Row = tuple[int, bytes]
"""An item or index entry: its size by DynamoDB's rules, and the item's JSON."""

ROW_MAX = 2**62
"""The highest row number."""

ScalarType = Literal["S", "N", "B"]
Bound = tuple[str, KeyText]
"""One side of a range: ``(">", x)``, ``(">=", x)``, ``("<", x)`` or ``("<=", x)``."""


def raw_of(text: KeyText) -> bytes:
    """The bytes of a key attribute, in the order in which SQLite compares keys."""
    return text if isinstance(text, bytes) else text.encode()


def segment_of(partition: KeyText, total: int) -> int:
    """The segment of a parallel scan that a partition belongs to (by the first attribute of its key)."""
    return zlib.crc32(raw_of(partition)) % total


class StaleTableError(Exception):
    """The layout is outdated: read the catalog again."""


@dataclass(frozen=True, slots=True)
class IndexLayout:
    """The physical form of an index in SQLite. ``number`` is unique among the table's indexes and isn't reused."""

    number: int
    partition_types: tuple[ScalarType, ...]
    sort_types: tuple[ScalarType, ...]
    sized: bool
    """Whether entries have their own size. With all attributes projected, it is the item's."""

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.partition_types), len(self.sort_types)


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The physical form of a table. ``generation`` changes whenever an index is added or removed."""

    id: int
    generation: int
    partition_type: ScalarType
    sort_type: ScalarType | None
    indexes: tuple[IndexLayout, ...]


@dataclass(frozen=True, slots=True)
class TableRecord:
    """A table in the catalog; ``definition`` is the engine's JSON. ``version`` changes with the definition."""

    id: int
    generation: int
    name: str
    definition: str
    version: int = 0


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a page: the rows of a partition, or all rows, after the full key ``after``."""

    partition: tuple[KeyText, ...] = ()
    equal: tuple[KeyText, ...] = ()
    low: Bound | None = None
    high: Bound | None = None
    after: tuple[KeyText, ...] | None = None
    forward: bool = True
    segment: tuple[int, int] | None = None
    """``(segment, total)`` of a parallel scan."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The index key of an entry and, in a sized index, the size of the entry."""

    key: tuple[KeyText, ...]
    size: int | None


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """A stored index entry, with the key and row id of its item."""

    entry: Entry
    key: tuple[KeyText, KeyText]
    row: int
