"""The storage port: what the engine asks of a place that keeps tables, items and index entries.

Keys come in their storage form (``values.order.key_text``): text or bytes whose plain order is DynamoDB's.
Items come as their JSON in UTF-8 bytes and are handed back as such; who needs the attributes decodes them.
The port knows nothing of conditions, capacity or projections.

Reads outside ``Storage.read`` are one statement each. ``Storage.write`` runs a piece of work in one
transaction: all of it, or, when anything raises, nothing. It takes the work as a function so that an adapter
may run several in one transaction (group commit) or run it again.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    from keyplan.engine.storage.archives import Archives
    from keyplan.engine.storage.replicas import Replicas
    from keyplan.engine.storage.vectors import Vectors

from keyplan.engine.storage.changes import Changes

KeyText = str | bytes
"""A key attribute in its storage form; the sort key of a table without one is ``""``."""

Row = tuple[int, bytes]
"""What a read gives of an item or an index entry: its size in bytes by DynamoDB's rules, and the item's
JSON.
"""

ScalarType = Literal["S", "N", "B"]
Bound = tuple[str, KeyText]
"""One side of a range: ``(">", x)``, ``(">=", x)``, ``("<", x)`` or ``("<=", x)``."""

T = TypeVar("T")


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
    """A table in the catalogue; ``definition`` is the engine's JSON."""

    id: int
    generation: int
    name: str
    definition: str


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


class StoredTable(Protocol):
    """A table's reads, each of one statement."""

    @property
    def layout(self) -> TableLayout:
        """The physical form these reads rely on."""
        ...

    def get(self, partition: KeyText, sort: KeyText) -> Row | None:
        """The item of a key."""
        ...

    def page(self, index: int | None, bounds: Bounds, limit: int | None, bytes_max: int) -> tuple[list[Row], bool]:
        """Rows of the table (``index`` None) or of an index by its number, in order: at most ``limit``,
        ending with the row that reaches ``bytes_max``. The flag says that the page ended for one of these
        reasons.
        """
        ...

    def count(self, index: int | None, rows_max: int) -> tuple[int, int] | None:
        """The number of rows and the sum of their sizes; None when there may be more than ``rows_max``."""
        ...


class Reader(Protocol):
    """Reads in one snapshot."""

    @property
    def archives(self) -> Archives:
        """What was: histories, backups and records."""
        ...

    @property
    def replicas(self) -> Replicas:
        """The last writes of global tables."""
        ...

    @property
    def vectors(self) -> Vectors:
        """The vectors of vector indexes."""
        ...

    @property
    def changes(self) -> Changes:
        """The streams."""
        ...

    def get(self, table: StoredTable, partition: KeyText, sort: KeyText) -> Row | None:
        """The item of a key."""
        ...

    def tables(self) -> list[TableRecord]:
        """The catalogue, by name."""
        ...

    def rows(self, table: StoredTable) -> Iterator[tuple[int, KeyText, KeyText, int, bytes]]:
        """All items: row id, key, size and JSON."""
        ...

    def sealed_rows(self, table: StoredTable) -> Iterator[tuple[int, KeyText, KeyText, int, bytes, bool]]:
        """All items, as ``rows`` gives them, and whether the JSON is what was written, as far as that is known."""
        ...

    def entries(self, table: StoredTable, index: int) -> Iterator[StoredEntry]:
        """All entries of an index."""
        ...

    def entry(self, table: StoredTable, index: int, entry: Entry, key: tuple[KeyText, KeyText]) -> StoredEntry | None:
        """The entry of an index under this full key."""
        ...

    def expired(
        self, table: StoredTable, attribute: str, after_s: float, until_s: float, limit: int
    ) -> list[tuple[KeyText, KeyText]]:
        """The keys of items whose Number ``attribute`` is over ``after_s`` and at most ``until_s``, the least first."""
        ...


class Writer(Reader, Protocol):
    """Reads and writes in one transaction."""

    def now_us(self) -> int:
        """The time of what is written now, in whole microseconds since the epoch."""
        ...

    def find(self, table: StoredTable, partition: KeyText, sort: KeyText) -> tuple[int, int, bytes] | None:
        """The row id, size and JSON of an item."""
        ...

    def insert(self, table: StoredTable, partition: KeyText, sort: KeyText, size: int, body: bytes) -> int:
        """Write an item that isn't there; its row id."""
        ...

    def replace(self, table: StoredTable, row: int, size: int, body: bytes) -> None:
        """Write an item that is there."""
        ...

    def remove(self, table: StoredTable, row: int) -> None:
        """Remove an item."""
        ...

    def add_entry(self, table: StoredTable, index: int, entry: Entry, key: tuple[KeyText, KeyText], row: int) -> None:
        """Write an index entry of the item ``row`` whose key is ``key``."""
        ...

    def resize_entry(self, table: StoredTable, index: int, entry: Entry, key: tuple[KeyText, KeyText]) -> None:
        """Change the size of an index entry."""
        ...

    def remove_entry(self, table: StoredTable, index: int, entry: Entry, key: tuple[KeyText, KeyText]) -> None:
        """Remove an index entry."""
        ...

    def remove_entries(self, table: StoredTable, row: int) -> None:
        """Remove all index entries of an item whose attributes aren't known. It takes as long as the indexes are."""
        ...

    def create_table(self, name: str, definition: str, layout: TableLayout) -> TableLayout:
        """Add a table; its layout with the id it was given."""
        ...

    def drop_table(self, table: StoredTable) -> None:
        """Remove a table, its items and its indexes."""
        ...

    def define(self, table_id: int, definition: str) -> None:
        """Store a table's definition; its physical form stays."""
        ...

    def change_indexes(self, table: StoredTable, layout: TableLayout, definition: str) -> StoredTable:
        """Give a table the indexes of ``layout``: new ones are made empty, missing ones dropped. Whoever knows the
        table by an earlier generation meets a ``StaleTableError``, also where the indexes are those of before.
        """
        ...

    def expire_by(self, table: StoredTable, attribute: str | None) -> None:
        """Make ``expired`` quick for this attribute, or, with None, for none any more. It may be so already."""
        ...

    def token(self, token: str, since_s: float) -> tuple[bytes, bytes] | None:
        """The request's digest and the answer stored under an idempotency token since ``since_s`` (epoch)."""
        ...

    def keep_token(self, token: str, digest: bytes, answer: bytes, now_s: float, since_s: float) -> None:
        """Store an answer under a token; forget those from before ``since_s``."""
        ...


class Snapshot(Protocol):
    """The store as it was when the snapshot was taken. For one thread at a time."""

    def page(
        self, table: StoredTable, index: int | None, bounds: Bounds, limit: int | None, bytes_max: int
    ) -> tuple[list[Row], bool]:
        """``StoredTable.page``."""
        ...

    def close(self) -> None:
        """Let go of it; a second time does nothing."""
        ...


class Storage(Protocol):
    """A place that keeps tables. Every failure of it is a ``keyplan.errors.StoreError``."""

    place: str
    """Its path, or ``:memory:``."""
    statements: int
    """How many statements were run; approximate when several threads work at once."""
    clock: Callable[[], float]
    """Gives the time, in seconds since the epoch."""

    def table(self, layout: TableLayout) -> StoredTable:
        """The reads of a table. Nothing is read yet."""
        ...

    def tables(self) -> list[TableRecord]:
        """The catalogue, by name."""
        ...

    def read(self, work: Callable[[Reader], T]) -> T:
        """Run ``work`` on one snapshot."""
        ...

    def write(self, work: Callable[[Writer], T]) -> T:
        """Run ``work`` in one transaction; when it raises, nothing was written. When this returns, it is
        durable.
        """
        ...

    def snapshot(self) -> Snapshot:
        """What is committed now, to be read later. A store in memory has none."""
        ...

    def together(self, work: Callable[[], None]) -> None:
        """Run ``work``, and make all that it writes (by calling ``write`` in this thread) durable at once. A write
        that raises is undone alone; when ``work`` or the commit raises, nothing was written.
        """
        ...

    def faults(self) -> Iterable[str]:
        """What the medium itself finds wrong (pages, indexes of its own)."""
        ...

    def close(self) -> None:
        """Close; a second time does nothing."""
        ...
