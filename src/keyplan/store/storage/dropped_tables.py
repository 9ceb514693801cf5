"""Removal of SQLite tables and index entries in chunks.

Because SQLite drops a large table slowly, a table is renamed, emptied in chunks of one transaction each, and dropped
when it is small. Entries of a large index are also deleted in chunks, while ``keyplan_dropped_indexes`` lists the
index. Any process can continue a removal at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

import apsw

from keyplan.store import work_budget as effort

Run = Callable[[str, Sequence[object] | None], apsw.Cursor]
ThrowAway = Callable[[str], None]

_NAMES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'waste_[0-9]*' ORDER BY length(name), name"
_COLUMNS = (
    "SELECT name, type NOT IN ('INTEGER', 'REAL'), iif((SELECT wr FROM pragma_table_list(?1)), pk, 0) "
    "FROM pragma_table_info(?1)"
)
"""A table's columns: name, whether it can be large, and, without row ids, its position in the key."""


class Part:
    """A part of the storage, whose methods run statements in a transaction."""

    __slots__ = ("_run", "_throw_away")

    def __init__(self, run: Run, throw_away: ThrowAway) -> None:
        self._run = run
        self._throw_away = throw_away

    def _first_at(self, name: str, column: str, moment: float, after: int = 0) -> int | None:
        """The id of the first row after ``after`` with a time of at least ``moment``. Times increase with ids."""

        def row_after(number: int, order: str = "ASC") -> tuple[int, float] | None:
            text = f"SELECT id, {column} FROM {name} WHERE id > ? ORDER BY id {order} LIMIT 1"  # noqa: S608
            return cast("tuple[int, float] | None", self._run(text, (number,)).fetchone())

        first = row_after(after)
        if first is None or first[1] >= moment:
            return None if first is None else first[0]
        last = row_after(after, "DESC")
        if last is None or last[1] < moment:
            return None
        low, high, found = first[0], last[0] - 1, last[0]
        while low < high:  # rows up to ``low`` are too early; ``found`` is the first row after ``high``
            middle = (low + high) // 2
            row = row_after(middle) or last
            if row[1] < moment:
                low = row[0]
            else:
                high, found = middle, row[0]
        return found


def throw_away(run: Run, name: str) -> bool:
    """Remove a SQLite table, if it exists; returns whether rows remain to be removed."""
    if _chunk_of(run, name) is None:
        run(f"DROP TABLE IF EXISTS {name}", None)
        return False
    numbers = [int(each.removeprefix("waste_")) for each in _names(run)]
    run(f"ALTER TABLE {name} RENAME TO waste_{max(numbers, default=0) + 1}", None)
    return True


def drop_entries(run: Run, name: str, index: int) -> bool:
    """Remove the entries of an index; returns whether some entries remain to be removed."""
    if _chunk_of(run, name, index) is None:
        run(f"DELETE FROM {name} WHERE index_id = ?", (index,))  # noqa: S608 - inserts only generated names
        return False
    run("INSERT OR IGNORE INTO keyplan_dropped_indexes VALUES (?, ?)", (index, name))
    return True


def has_waste(run: Run) -> bool:
    return bool(_names(run)) or _dropped_index(run) is not None


def clear_piece(run: Run) -> bool:
    """Remove a chunk of the remaining rows; returns whether it was the last chunk."""
    names = _names(run)
    if names:
        chunk = _chunk_of(run, names[0])
        if chunk is None:
            run(f"DROP TABLE {names[0]}", None)
        else:
            condition, values = chunk
            run(f"DELETE FROM {names[0]} WHERE {condition}", values)  # noqa: S608
    elif (dropped := _dropped_index(run)) is not None:
        index, name = dropped
        chunk = _chunk_of(run, name, index)
        if chunk is None:
            run(f"DELETE FROM {name} WHERE index_id = ?", (index,))  # noqa: S608
            run("DELETE FROM keyplan_dropped_indexes WHERE id = ?", (index,))
        else:
            condition, values = chunk
            run(f"DELETE FROM {name} WHERE index_id = {index} AND {condition}", values)  # noqa: S608
    return not has_waste(run)


def _dropped_index(run: Run) -> tuple[int, str] | None:
    row = run("SELECT id, entries FROM keyplan_dropped_indexes ORDER BY id LIMIT 1", None).fetchone()
    return cast("tuple[int, str] | None", row)


def free_index_name(run: Run, name: str) -> str:
    """A free name for a SQLite index, which is ``name`` unless an index of a removed table has that name."""
    number, free = 1, name
    while run("SELECT 1 FROM sqlite_schema WHERE name = ?", (free,)).fetchone() is not None:
        number += 1
        free = f"{name}_{number}"
    return free


def _names(run: Run) -> list[str]:
    return [str(name) for (name,) in run(_NAMES, None)]


def _chunk_of(run: Run, name: str, index: int | None = None) -> tuple[str, tuple[object, ...]] | None:
    """The condition and values of a chunk of a table or index; None if all fits in one, or it is missing."""
    columns = cast("list[tuple[str, bool, int]]", run(_COLUMNS, (name,)).fetchall())
    if not columns:
        return None
    sizes = " + ".join(f"coalesce(length({column}), 0)" for column, may_be_large, _ in columns if may_be_large)
    key = ", ".join(column for place, column in sorted((place, column) for column, _, place in columns) if place)
    key = key or "rowid"
    rows_max, bytes_max = effort.waste_piece()
    where = "" if index is None else f"WHERE index_id = {index}"
    text = f"SELECT {sizes or 0}, {key} FROM {name} {where} ORDER BY {key} LIMIT ?"  # noqa: S608 - inserts only generated names
    cursor = run(text, (rows_max,))
    size_bytes = 0
    for rows, (size, *last) in enumerate(cast("Iterator[tuple[int, object]]", cursor), 1):
        size_bytes += size
        if rows == rows_max or size_bytes >= bytes_max:
            cursor.close(True)
            return f"({key}) <= ({', '.join('?' * len(last))})", tuple(last)
    return None
