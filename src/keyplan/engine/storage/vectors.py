"""The part of the storage port that keeps the vectors of vector indexes: a row for each item that is in one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from keyplan.engine.storage.port import KeyText, StoredTable

DistanceFunction = Literal["COSINE", "DOT_PRODUCT", "EUCLIDEAN"]
Texts = Sequence[KeyText | None]
"""The storage form of the attributes that a search can name; None where the item hasn't one."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A vector that may be near: the row id of its item, and its components as floats of 32 bits, little-endian."""

    row: int
    vector: bytes


class Vectors(Protocol):
    """The vectors, as a transaction sees them. Those who only read call only what reads."""

    def create(self, table_id: int, number: int, texts: int) -> None:
        """Make an index with so many attributes that a search can name."""
        ...

    def drop(self, table_id: int, number: int) -> None:
        """Remove an index."""
        ...

    def put(self, table_id: int, number: int, row: int, texts: Texts, vector: bytes) -> None:
        """Write the entry of an item, over the one that is there."""
        ...

    def remove(self, table_id: int, number: int, row: int) -> None:
        """Remove the entry of an item, if there is one."""
        ...

    def count(self, table_id: int, number: int) -> int:
        """The number of entries."""
        ...

    def entry(self, table_id: int, number: int, row: int) -> tuple[Texts, bytes] | None:
        """The entry of an item: its texts and its vector."""
        ...

    def entries(self, table_id: int, number: int) -> Iterator[tuple[int, Texts, bytes]]:
        """All entries: the row id, the texts and the vector."""
        ...

    def candidates(self, table_id: int, number: int, wanted: Sequence[tuple[int, KeyText]]) -> Iterator[Candidate]:
        """The vectors whose texts are those wanted, each by its number."""
        ...

    def nearest(
        self,
        table_id: int,
        number: int,
        wanted: Sequence[tuple[int, KeyText]],
        target: tuple[bytes, DistanceFunction],
        limit: int,
    ) -> Iterator[Candidate] | None:
        """The nearest of the ``candidates``, by SQLite itself; None where it can't."""
        ...

    def items(self, table: StoredTable, rows: Sequence[int]) -> Iterator[tuple[int, KeyText, KeyText, bytes]]:
        """Items by their row ids: row id, key and JSON."""
        ...
