"""Stores histories for point-in-time recovery, backups, the engine's records, and the last writes of global tables.

A history has the previous item of each write. The times in a history are whole microseconds since the epoch and never
decrease, even if the clock is set back. Each history, backup and global table has a SQLite table, created when needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from keyplan.store import work_budget as effort
from keyplan.store.storage import sql
from keyplan.store.storage.dropped_tables import Part
from keyplan.store.storage.key_layouts import ROW_MAX, Found, KeyText
from keyplan.store.storage.table_reads import StoredTable

Key = tuple[KeyText, KeyText]
Kept = tuple[KeyText, KeyText, int, bytes]
"""An item: its key, size and JSON."""


Written = tuple[int, KeyText, KeyText, int | None, bytes | None]
"""A row: its number and key, and the item's size and JSON or None."""


@dataclass(frozen=True, slots=True)
class Changed:
    """The change of a key between two times, with the time of its last write. An item has a size and JSON."""

    key: tuple[KeyText, KeyText]
    made_us: int
    before: tuple[int, bytes] | None
    after: tuple[int, bytes] | None


@dataclass(frozen=True, slots=True)
class Copied:
    """A chunk of a backup: its last row, and the number and size of its items."""

    until: int
    count: int
    size_bytes: int


_RECORDS = "keyplan_records"
_CREATE_RECORDS = (
    f"CREATE TABLE IF NOT EXISTS {_RECORDS} "
    "(kind TEXT NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID"
)
_FILLING = "filling"
_IS_TABLE = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"


def history_name(table_id: int) -> str:
    return f"history_{table_id}"


def backup_name(name: str) -> str:
    return f"backup_{name}"


def _marks_name(mark: int) -> str:
    return f"restoring_{mark}"


class Archives(Part):
    """Histories, backups and records."""

    def begin_history(self, table_id: int) -> None:
        # Key columns without a type store strings and bytes unchanged.
        self._run(
            f"CREATE TABLE {history_name(table_id)} "
            "(id INTEGER PRIMARY KEY, made_us INTEGER NOT NULL, pk NOT NULL, sk NOT NULL, size INTEGER, body BLOB)",
            None,
        )

    def end_history(self, table_id: int) -> None:
        self._throw_away(history_name(table_id))

    def remember(
        self, table_id: int, made_us: int, key: tuple[KeyText, KeyText], old: tuple[int, bytes] | None
    ) -> None:
        """Add a write to the history, with the previous item, if any."""
        name = history_name(table_id)
        size, body = (None, None) if old is None else old
        self._run(
            f"INSERT INTO {name} (made_us, pk, sk, size, body) VALUES "  # noqa: S608 - inserts only generated names
            f"(max(?, coalesce((SELECT made_us FROM {name} ORDER BY id DESC LIMIT 1), 0)), ?, ?, ?, ?)",
            (made_us, *key, size, body),
        )

    def trim_history(self, table_id: int, before_us: int, limit: int) -> int:
        """Remove up to ``limit`` writes before a timestamp, oldest first; returns their number."""
        name = history_name(table_id)
        first = f"SELECT id FROM {name} WHERE id < ? ORDER BY id LIMIT ?"  # noqa: S608
        cursor = self._run(
            f"DELETE FROM {name} WHERE id IN ({first})",  # noqa: S608
            (self._first(table_id, before_us), limit),
        )
        return cursor.connection.changes()

    def oldest_write(self, table_id: int) -> int | None:
        return self._made_us(table_id, "ASC")

    def newest_write(self, table_id: int) -> int | None:
        return self._made_us(table_id, "DESC")

    def _made_us(self, table_id: int, order: str) -> int | None:
        text = f"SELECT made_us FROM {history_name(table_id)} ORDER BY id {order} LIMIT 1"  # noqa: S608
        row = cast("tuple[int] | None", self._run(text, None).fetchone())
        return None if row is None else row[0]

    def first_after(self, table_id: int, moment_us: int) -> int:
        return self._first(table_id, moment_us + 1)

    def last_write(self, table_id: int) -> int:
        row = self._run(f"SELECT coalesce(max(id), 0) FROM {history_name(table_id)}", None).fetchone()  # noqa: S608
        return cast("tuple[int]", row)[0]

    def writes_between(self, table_id: int, first: int, last: int, rows_max: int) -> tuple[list[Written], bool]:
        """Some writes between two numbers, and whether more may follow."""
        text = (
            f"SELECT id, pk, sk, size, body FROM {history_name(table_id)} "  # noqa: S608 - inserts only generated names
            "WHERE id >= ? AND id <= ? ORDER BY id LIMIT ?"
        )
        return self.piece(text, (first, last), rows_max)

    def backed_up_after(self, name: str, row: int, rows_max: int) -> tuple[list[Written], bool]:
        """Some items of a backup after a row, and whether more may follow."""
        # Backups by earlier versions have no id column, so use the rowid.
        text = (
            f"SELECT rowid, pk, sk, size, body FROM {backup_name(name)} "  # noqa: S608
            "WHERE rowid > ? AND body IS NOT NULL ORDER BY rowid LIMIT ?"
        )
        return self.piece(text, (row,), rows_max)

    def unmarked_after(
        self, table: StoredTable, row: int, last: int, mark: int, rows_max: int
    ) -> tuple[list[Written], bool]:
        """Items after a row, up to the last one, and whether more may follow. Items with marked keys have no body."""
        text = (
            f"SELECT id, pk, sk, size, iif(EXISTS (SELECT 1 FROM {_marks_name(mark)} m "  # noqa: S608
            "WHERE m.pk = i.pk AND m.sk = i.sk), NULL, body) "
            f"FROM {sql.items_name(table.layout)} i WHERE id > ? AND id <= ? ORDER BY id LIMIT ?"
        )
        return self.piece(text, (row, last), rows_max)

    def piece(self, text: str, bounds: tuple[int, ...], rows_max: int) -> tuple[list[Written], bool]:
        """Rows of a query with a limit, up to the bytes of a chunk, and whether more may follow."""
        cursor = self._run(text, (*bounds, rows_max))
        rows: list[Written] = []
        size_bytes = 0
        for row in cast("Iterator[Written]", cursor):
            rows.append(row)
            size_bytes += len(row[4] or b"")
            if size_bytes >= effort.PIECE_BYTES:
                cursor.close(True)
                return rows, True
        return rows, len(rows) == rows_max

    def begin_marks(self, mark: int) -> None:
        self._run(f"CREATE TABLE {_marks_name(mark)} (pk, sk, PRIMARY KEY (pk, sk)) WITHOUT ROWID", None)

    def mark(self, mark: int, key: Key) -> bool:
        """Mark a key; returns whether the mark is new."""
        cursor = self._run(f"INSERT OR IGNORE INTO {_marks_name(mark)} VALUES (?, ?)", key)  # noqa: S608
        return cursor.connection.changes() > 0

    def drop_marks(self, mark: int) -> None:
        self._throw_away(_marks_name(mark))

    def items_at(self, table: StoredTable, until_us: int) -> Iterator[Kept]:
        """The items as they were after all writes up to a time, inclusive."""
        layout = table.layout
        items, name = sql.items_name(layout), history_name(layout.id)
        # With min(id), SQLite takes all columns from the first row: the item as it was at the requested time.
        undone = f"SELECT pk, sk, size, body, min(id) FROM {name} WHERE id >= ? GROUP BY pk, sk"  # noqa: S608
        text = (
            f"WITH undone AS MATERIALIZED ({undone}) "  # noqa: S608
            f"SELECT pk, sk, size, body FROM {items} WHERE (pk, sk) NOT IN (SELECT pk, sk FROM undone) "
            "UNION ALL SELECT pk, sk, size, body FROM undone WHERE body IS NOT NULL"
        )
        return cast("Iterator[Kept]", self._run(text, (self._first(layout.id, until_us + 1),)))

    def changed_between(self, table: StoredTable, from_us: int, to_us: int) -> Iterator[Changed]:
        layout = table.layout
        items, name = sql.items_name(layout), history_name(layout.id)
        begin, end = self._first(layout.id, from_us), self._first(layout.id, to_us)
        text = (
            f"WITH early AS MATERIALIZED (SELECT pk, sk, size, body, min(id) FROM {name} "  # noqa: S608
            "WHERE id >= ?1 AND id < ?2 GROUP BY pk, sk), "
            f"late AS MATERIALIZED (SELECT pk, sk, max(made_us) AS made_us FROM {name} "
            "WHERE id >= ?1 AND id < ?2 GROUP BY pk, sk), "
            f"undone AS MATERIALIZED (SELECT pk, sk, size, body, min(id) AS id FROM {name} "
            "WHERE id >= ?2 GROUP BY pk, sk) "
            "SELECT early.pk, early.sk, late.made_us, early.size, early.body, "
            "iif(undone.id IS NULL, i.size, undone.size), iif(undone.id IS NULL, i.body, undone.body) "
            "FROM early JOIN late ON late.pk = early.pk AND late.sk = early.sk "
            "LEFT JOIN undone ON undone.pk = early.pk AND undone.sk = early.sk "
            f"LEFT JOIN {items} i ON i.pk = early.pk AND i.sk = early.sk ORDER BY 3"
        )
        for row in self._run(text, (begin, end)):
            pk, sk, made_us, size, body, new_size, new_body = cast(
                "tuple[KeyText, KeyText, int, int | None, bytes | None, int | None, bytes | None]", row
            )
            before = None if size is None or body is None else (size, body)
            after = None if new_size is None or new_body is None else (new_size, new_body)
            yield Changed((pk, sk), made_us, before, after)

    def _first(self, table_id: int, from_us: int) -> int:
        """The id of the first write at or after a time, or the next id."""
        return self._first_at(history_name(table_id), "made_us", from_us) or self.last_write(table_id) + 1

    def filled_up_to(self, table_id: int, index: int) -> int:
        kept = self.record(_FILLING, f"{table_id}/{index}")
        return 0 if kept is None else int(kept)

    def keep_filled(self, table_id: int, index: int, row: int) -> None:
        self.keep_record(_FILLING, f"{table_id}/{index}", str(row).encode())

    def drop_filled(self, table_id: int, index: int) -> None:
        self.drop_record(_FILLING, f"{table_id}/{index}")

    def begin_backup(self, name: str) -> None:
        """Start a backup (name: letters, digits, underscores). A row without a body means that no item existed."""
        self._run(f"CREATE TABLE {backup_name(name)} (id INTEGER PRIMARY KEY, pk, sk, size INTEGER, body BLOB)", None)

    def back_up(self, name: str, table: StoredTable, after: int, last: int) -> Copied:
        """Copy some items after a row, up to the last one, into a backup. Existing rows of the backup don't change."""
        items, backup = sql.items_name(table.layout), backup_name(name)
        until, more = self.next_rows(table, after, last)
        until = until if more else last
        self._run(
            f"INSERT OR IGNORE INTO {backup} SELECT id, pk, sk, size, body FROM {items} "  # noqa: S608
            "WHERE id > ? AND id <= ?",
            (after, until),
        )
        counts = (
            f"SELECT count(*), coalesce(sum(size), 0) FROM {backup} "  # noqa: S608
            "WHERE id > ? AND id <= ? AND body IS NOT NULL"
        )
        count, size_bytes = cast("tuple[int, int]", self._run(counts, (after, until)).fetchone())
        return Copied(until, count, size_bytes)

    def next_rows(self, table: StoredTable, after: int, last: int = ROW_MAX) -> tuple[int, bool]:
        """The last row of the chunk after a row, and whether more may follow."""
        text = f"SELECT id, size FROM {sql.items_name(table.layout)} WHERE id > ? AND id <= ? ORDER BY id LIMIT ?"  # noqa: S608
        cursor = self._run(text, (after, last, effort.PIECE_ROWS))
        size_bytes = 0
        for rows, (row, size) in enumerate(cast("Iterator[tuple[int, int]]", cursor), 1):
            after = row
            size_bytes += size
            if rows == effort.PIECE_ROWS or size_bytes >= effort.PIECE_BYTES:
                cursor.close(True)
                return row, True
        return after, False

    def keep_old(self, name: str, last: int, table: StoredTable, old: Found | None, key: Key) -> None:
        """Copy a replaced item into a running backup, once; for a new item in an old row, store that it was absent."""
        backup = backup_name(name)
        if old is None:
            self._run(
                f"INSERT OR IGNORE INTO {backup} (id) SELECT id FROM "  # noqa: S608
                f"(SELECT coalesce(max(id), 0) + 1 AS id FROM {sql.items_name(table.layout)}) WHERE id <= ?",
                (last,),
            )
        elif old[0] <= last:
            row, size, body, _ = old
            self._run(f"INSERT OR IGNORE INTO {backup} VALUES (?, ?, ?, ?, ?)", (row, *key, size, body))  # noqa: S608

    def drop_backup(self, name: str) -> None:
        self._throw_away(backup_name(name))

    def record(self, kind: str, name: str) -> bytes | None:
        if not self._has_records():
            return None
        text = f"SELECT body FROM {_RECORDS} WHERE kind = ? AND name = ?"  # noqa: S608
        row = cast("tuple[bytes] | None", self._run(text, (kind, name)).fetchone())
        return None if row is None else row[0]

    def records(self, kind: str) -> list[tuple[str, bytes]]:
        if not self._has_records():
            return []
        text = f"SELECT name, body FROM {_RECORDS} WHERE kind = ? ORDER BY name"  # noqa: S608
        return cast("list[tuple[str, bytes]]", self._run(text, (kind,)).fetchall())

    def keep_record(self, kind: str, name: str, body: bytes) -> None:
        self._run(_CREATE_RECORDS, None)
        self._run(f"INSERT OR REPLACE INTO {_RECORDS} VALUES (?, ?, ?)", (kind, name, body))  # noqa: S608

    def drop_record(self, kind: str, name: str) -> None:
        if self._has_records():
            self._run(f"DELETE FROM {_RECORDS} WHERE kind = ? AND name = ?", (kind, name))  # noqa: S608

    def _has_records(self) -> bool:
        return self._run(_IS_TABLE, (_RECORDS,)).fetchone() is not None


Version = tuple[int, str]
"""The time of a write in microseconds since the epoch, and its region: the greater one wins."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A key that was written; ``seq`` increases with each write of the table."""

    seq: int
    key: tuple[KeyText, KeyText]
    version: Version


def _replicated(table_id: int) -> str:
    return f"replicated_{table_id}"


class Replicas(Part):
    """The last write of each key of global tables."""

    def begin(self, table_id: int) -> None:
        self._run(
            f"CREATE TABLE IF NOT EXISTS {_replicated(table_id)} (seq INTEGER PRIMARY KEY AUTOINCREMENT, "
            "pk NOT NULL, sk NOT NULL, at_us INTEGER NOT NULL, region TEXT NOT NULL, UNIQUE (pk, sk))",
            None,
        )

    def end(self, table_id: int) -> None:
        self._throw_away(_replicated(table_id))

    def note(self, table_id: int, key: tuple[KeyText, KeyText], version: Version) -> None:
        text = f"INSERT OR REPLACE INTO {_replicated(table_id)} (pk, sk, at_us, region) VALUES (?, ?, ?, ?)"  # noqa: S608
        self._run(text, (*key, *version))

    def note_own(self, table_id: int, key: tuple[KeyText, KeyText], version: Version) -> None:
        """Record a write of this region, with a later time than the write that it replaces."""
        name = _replicated(table_id)
        self._run(
            f"INSERT OR REPLACE INTO {name} (pk, sk, at_us, region) VALUES (?1, ?2, "  # noqa: S608 - inserts only generated names
            f"max(?3, coalesce((SELECT at_us + 1 FROM {name} WHERE pk = ?1 AND sk = ?2), 0)), ?4)",
            (*key, *version),
        )

    def version(self, table_id: int, key: tuple[KeyText, KeyText]) -> Version | None:
        text = f"SELECT at_us, region FROM {_replicated(table_id)} WHERE pk = ? AND sk = ?"  # noqa: S608
        return cast("Version | None", self._run(text, key).fetchone())

    def since(self, table_id: int, seq: int) -> Iterator[Noted]:
        """The keys written after ``seq``, in the order of their last writes."""
        text = f"SELECT seq, pk, sk, at_us, region FROM {_replicated(table_id)} WHERE seq > ? ORDER BY seq"  # noqa: S608
        rows = cast("Iterator[tuple[int, KeyText, KeyText, int, str]]", self._run(text, (seq,)))
        return (Noted(number, (pk, sk), (at_us, region)) for number, pk, sk, at_us, region in rows)

    def last(self, table_id: int) -> int:
        row = self._run(f"SELECT coalesce(max(seq), 0) FROM {_replicated(table_id)}", None).fetchone()  # noqa: S608
        return cast("tuple[int]", row)[0]
