"""The words of the storage: keys, rows and bounds, the physical forms of tables and indexes.

Keys come in their storage form (``values.order.key_text``): text or bytes whose plain order is DynamoDB's. Items come
as their JSON in UTF-8 bytes and are handed back as such; who needs the attributes decodes them. The storage knows
nothing of conditions, capacity or projections.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Literal

KeyText = str | bytes
"""A key attribute in its storage form; the sort key of a table without one is ``""``."""

Found = tuple[int, int, bytes, int]
"""What a write finds of an item: its row id, size, JSON, and the JSON's checksum."""

Row = tuple[int, bytes]
"""What a read gives of an item or an index entry: its size in bytes by DynamoDB's rules, and the item's
JSON.
"""

ROW_MAX = 2**62
"""No row of an item has a higher number."""

ScalarType = Literal["S", "N", "B"]
Bound = tuple[str, KeyText]
"""One side of a range: ``(">", x)``, ``(">=", x)``, ``("<", x)`` or ``("<=", x)``."""


def segment_of(partition: str | bytes, total: int) -> int:
    """The segment of a parallel scan that a partition belongs to (by the first attribute of its key)."""
    raw = partition if isinstance(partition, bytes) else partition.encode()
    return zlib.crc32(raw) % total


class StaleTableError(Exception):
    """The table's physical form has changed since its layout was read: read the catalogue again."""


@dataclass(frozen=True, slots=True)
class IndexLayout:
    """The physical form of an index. ``number`` is unique in its table and never used again."""

    number: int
    partition_types: tuple[ScalarType, ...]
    sort_types: tuple[ScalarType, ...]
    sized: bool
    """Whether entries have a size of their own; an index that projects all attributes takes the item's."""

    @property
    def shape(self) -> tuple[int, int]:
        """How many partition and sort attributes it has."""
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
    """A table in the catalog; ``definition`` is the engine's JSON. ``version`` changes with each change of it."""

    id: int
    generation: int
    name: str
    definition: str
    version: int = 0


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a page reads: of a partition (``partition``, ``equal`` and a range over the next sort attribute),
    or of all (``partition`` empty). ``after`` is the position to go on from: the full key of the last row
    (for an index: its partition and sort attributes and then the table's key).
    """

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
    """An index entry without its item: its index key, and its size where the index is sized."""

    key: tuple[KeyText, ...]
    size: int | None


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An index entry as it is stored: ``row`` is the row id of its item, ``key`` the table's key."""

    entry: Entry
    key: tuple[KeyText, KeyText]
    row: int
