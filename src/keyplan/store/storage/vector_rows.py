"""Stores each vector index in a SQLite table, with a row for each item in the index."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import apsw

from keyplan.store.storage import sql
from keyplan.store.storage.dropped_tables import Part, free_index_name
from keyplan.store.storage.key_layouts import KeyText
from keyplan.store.storage.table_reads import StoredTable

DistanceFunction = Literal["COSINE", "DOT_PRODUCT", "EUCLIDEAN"]
Texts = Sequence[KeyText | None]
"""The storage form of an item's searchable attributes, or None."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A vector: the row id of its item, and its components as 32-bit floats, little-endian."""

    row: int
    vector: bytes


_DISTANCES: dict[DistanceFunction, str] = {
    # A zero vector has distance 1, as an orthogonal vector has.
    "COSINE": "coalesce(vec_distance_cosine(vector, ?1), 1.0)",
    "EUCLIDEAN": "vec_distance_l2(vector, ?1)",
    # |a - b|^2 - |b|^2 = |a|^2 - 2ab orders vectors by the negative dot product: |a|^2 is constant in a search.
    "DOT_PRODUCT": ("pow(vec_distance_l2(vector, ?1), 2) - pow(vec_distance_l2(vector, zeroblob(length(vector))), 2)"),
}


def vectors_name(table_id: int, number: int) -> str:
    return f"vectors_{table_id}_{number}"


def load_distances(connection: apsw.Connection) -> bool:
    """Load the functions of sqlite-vec if it is installed; returns whether they were loaded."""
    try:
        path = cast("str", importlib.import_module("sqlite_vec").loadable_path())
        connection.enable_load_extension(True)
        try:
            connection.load_extension(path)
        finally:
            connection.enable_load_extension(False)
    except (ImportError, AttributeError, apsw.Error):
        return False
    return True


class Vectors(Part):
    """Vectors of vector indexes."""

    def create(self, table_id: int, number: int, texts: int) -> None:
        name = vectors_name(table_id, number)
        # Columns without a type store strings and bytes unchanged.
        columns = "".join(f"t{column}, " for column in range(texts))
        self._run(f"CREATE TABLE {name} (item INTEGER PRIMARY KEY, {columns}vector BLOB NOT NULL)", None)
        if texts:
            self._run(f"CREATE INDEX {free_index_name(self._run, f'{name}_by')} ON {name} (t0)", None)

    def drop(self, table_id: int, number: int) -> None:
        self._throw_away(vectors_name(table_id, number))

    def put(self, table_id: int, number: int, row: int, texts: Texts, vector: bytes) -> None:
        places = ", ".join("?" * (len(texts) + 2))
        text = f"INSERT OR REPLACE INTO {vectors_name(table_id, number)} VALUES ({places})"  # noqa: S608 - inserts only generated names
        self._run(text, (row, *texts, vector))

    def remove(self, table_id: int, number: int, row: int) -> None:
        self._run(f"DELETE FROM {vectors_name(table_id, number)} WHERE item = ?", (row,))  # noqa: S608

    def count(self, table_id: int, number: int) -> int:
        row = self._run(f"SELECT count(*) FROM {vectors_name(table_id, number)}", None).fetchone()  # noqa: S608
        return cast("tuple[int]", row)[0]

    def entry(self, table_id: int, number: int, row: int) -> tuple[Texts, bytes] | None:
        text = f"SELECT * FROM {vectors_name(table_id, number)} WHERE item = ?"  # noqa: S608
        result = self._run(text, (row,)).fetchone()
        if result is None:
            return None
        _, *texts, vector = result
        return cast("Texts", texts), cast("bytes", vector)

    def entries(self, table_id: int, number: int) -> Iterator[tuple[int, Texts, bytes]]:
        for row in self._run(f"SELECT * FROM {vectors_name(table_id, number)}", None):  # noqa: S608
            item, *texts, vector = row
            yield cast("int", item), cast("Texts", texts), cast("bytes", vector)

    def candidates(self, table_id: int, number: int, wanted: Sequence[tuple[int, KeyText]]) -> Iterator[Candidate]:
        where, values = _where(wanted, 1)
        text = f"SELECT item, vector FROM {vectors_name(table_id, number)}{where}"  # noqa: S608
        rows = self._run(text, values)
        return (Candidate(*row) for row in cast("Iterator[tuple[int, bytes]]", rows))

    def nearest(
        self,
        table_id: int,
        number: int,
        wanted: Sequence[tuple[int, KeyText]],
        target: tuple[bytes, DistanceFunction],
        limit: int,
    ) -> Iterator[Candidate] | None:
        """The nearest ``candidates``, found by sqlite-vec; None if it isn't installed."""
        vector, function = target
        where, values = _where(wanted, 2)
        text = (
            f"SELECT item, vector FROM {vectors_name(table_id, number)}{where} "  # noqa: S608
            f"ORDER BY {_DISTANCES[function]} LIMIT {limit}"
        )
        values = [vector, *values]
        try:
            rows = self._run(text, values)
        except apsw.SQLError as error:
            if "no such function" not in str(error):
                raise
            if not load_distances(self._run("SELECT 1", None).connection):
                return None
            rows = self._run(text, values)
        return (Candidate(*row) for row in cast("Iterator[tuple[int, bytes]]", rows))

    def items(self, table: StoredTable, rows: Sequence[int]) -> Iterator[tuple[int, KeyText, KeyText, bytes]]:
        places = ", ".join("?" * len(rows))
        text = f"SELECT id, pk, sk, body FROM {sql.items_name(table.layout)} WHERE id IN ({places})"  # noqa: S608
        return cast("Iterator[tuple[int, KeyText, KeyText, bytes]]", self._run(text, list(rows)))


def _where(wanted: Sequence[tuple[int, KeyText]], first: int) -> tuple[str, list[object]]:
    terms = [f"t{column} = ?{place}" for place, (column, _) in enumerate(wanted, first)]
    return f" WHERE {' AND '.join(terms)}" if terms else "", [value for _, value in wanted]
