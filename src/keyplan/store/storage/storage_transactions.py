"""Reads and writes in a transaction; most methods run one statement."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar, cast

import apsw

from keyplan.errors import StoreError
from keyplan.store.storage import sql
from keyplan.store.storage.dropped_tables import clear_piece, drop_entries, free_index_name, has_waste, throw_away
from keyplan.store.storage.history_rows import Archives, Replicas
from keyplan.store.storage.key_layouts import (
    Entry,
    Found,
    IndexLayout,
    KeyText,
    Row,
    StoredEntry,
    TableLayout,
    TableRecord,
)
from keyplan.store.storage.stream_rows import Changes
from keyplan.store.storage.table_reads import Medium, StoredTable
from keyplan.store.storage.vector_rows import Vectors

T = TypeVar("T")
Key = tuple[KeyText, KeyText]


class Reader:
    """Reads in a transaction. SQLite errors propagate to the storage, which converts them."""

    __slots__ = ("_connection", "_storage")

    def __init__(self, storage: Medium, connection: apsw.Connection) -> None:
        self._storage = storage
        self._connection = connection

    @property
    def changes(self) -> Changes:
        return Changes(self._run, self._throw_away)

    @property
    def archives(self) -> Archives:
        return Archives(self._run, self._throw_away)

    @property
    def replicas(self) -> Replicas:
        return Replicas(self._run, self._throw_away)

    @property
    def vectors(self) -> Vectors:
        return Vectors(self._run, self._throw_away)

    def _run(self, text: str, values: Any = None) -> apsw.Cursor:
        self._storage.statements += 1
        return self._connection.execute(text, values)

    def _throw_away(self, name: str) -> None:
        if throw_away(self._run, name):
            self._storage.thrown_away += 1

    def has_waste(self) -> bool:
        return has_waste(self._run)

    def get(self, table: StoredTable, partition: KeyText, sort: KeyText) -> Row | None:
        row: Row | None = self._run(table.texts.get, (partition, sort)).fetchone()
        if row is not None and table.storage.verifies:
            table.verify((row,))
        return row

    def rows_after(
        self, table: StoredTable, after: int, rows_max: int
    ) -> tuple[list[tuple[int, KeyText, KeyText, int, bytes]], bool]:
        """A chunk of items after a row, and whether more may follow."""
        rows, more = self.archives.piece(table.texts.rows_after, (after,), rows_max)
        return cast("list[tuple[int, KeyText, KeyText, int, bytes]]", rows), more

    def last_row(self, table: StoredTable) -> int:
        text = f"SELECT coalesce(max(id), 0) FROM {sql.items_name(table.layout)}"  # noqa: S608 - inserts only generated names
        return cast("tuple[int]", self._run(text).fetchone())[0]

    def sealed_rows(self, table: StoredTable) -> Iterator[tuple[int, KeyText, KeyText, int, bytes, bool]]:
        for row in self._run(table.texts.sealed_rows):
            item, partition, sort, size, body, checksum = cast("tuple[int, KeyText, KeyText, int, bytes, int]", row)
            yield item, partition, sort, size, body, checksum == zlib.crc32(body)

    def entries(self, table: StoredTable, index: int) -> Iterator[StoredEntry]:
        return map(_stored_entry, self._run(table.texts.indexes[index].entries))

    def entry(self, table: StoredTable, index: int, entry: Entry, key: Key) -> StoredEntry | None:
        row = self._run(table.texts.indexes[index].entry, (*entry.key, *key)).fetchone()
        return None if row is None else _stored_entry(row)

    def expires(self, table: StoredTable) -> bool:
        text = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
        return self._run(text, (sql.expires_name(table.layout),)).fetchone() is not None

    def expired(self, table: StoredTable, after_s: float, until_s: float, limit: int) -> list[Key]:
        """The keys of items that expire between two times, earliest first; none if expiry times aren't stored."""
        try:
            rows = self._run(sql.expired(table.layout), (after_s, until_s, limit)).fetchall()
        except apsw.SQLError as error:
            if f"no such table: {sql.expires_name(table.layout)}" in str(error):
                return []
            raise
        return cast("list[Key]", rows)

    def tables(self, known: Mapping[str, TableRecord] = MappingProxyType({})) -> list[TableRecord]:
        """The catalog: its tables by name. Only changed or unknown tables are read."""
        if not known:
            return [_table_record(row) for row in self._run(sql.TABLES)]
        records: list[TableRecord] = []
        for number, name, version in cast("list[tuple[int, str, int]]", self._run(sql.VERSIONS).fetchall()):
            record = known.get(name)
            if record is None or record.id != number or record.version != version:
                record = _table_record(self._run(sql.TABLE, (number,)).fetchone())
            records.append(record)
        return records


def _table_record(row: object) -> TableRecord:
    return TableRecord(*cast("tuple[int, int, str, str, int]", row))


class Writer(Reader):
    """Reads and writes in one transaction."""

    __slots__ = ()

    def nested(self, work: Callable[[Writer], T]) -> T:
        """Run ``work`` in this transaction; if it raises, only its writes are undone."""
        self._run("SAVEPOINT one")
        try:
            result = work(self)
        except BaseException as error:
            if not self._connection.in_transaction:
                raise StoreError("The transaction failed; nothing was written", place=self._storage.place) from error
            self._run("ROLLBACK TO one")
            self._run("RELEASE one")
            if isinstance(error, apsw.Error):
                raise self._storage.fault(error) from error
            raise
        self._run("RELEASE one")
        return result

    def now_us(self) -> int:
        return int(self._storage.clock() * 1_000_000)

    def find(self, table: StoredTable, partition: KeyText, sort: KeyText) -> Found | None:
        found: Found | None = self._run(table.texts.find, (partition, sort)).fetchone()
        return found

    def insert(self, table: StoredTable, partition: KeyText, sort: KeyText, size: int, body: bytes) -> int:
        self._run(table.texts.insert, (partition, sort, size, body, zlib.crc32(body)))
        return self._connection.last_insert_rowid()

    def replace(self, table: StoredTable, row: int, size: int, body: bytes) -> None:
        self._run(table.texts.replace, (size, body, zlib.crc32(body), row))

    def remove(self, table: StoredTable, row: int) -> None:
        self._run(table.texts.remove, (row,))

    def add_entry(self, table: StoredTable, index: int, entry: Entry, key: Key, row: int) -> None:
        self._run(table.texts.indexes[index].add, (*entry.key, *key, row, entry.size))

    def resize_entry(self, table: StoredTable, index: int, entry: Entry, key: Key) -> None:
        self._run(table.texts.indexes[index].resize, (entry.size, *entry.key, *key))

    def remove_entry(self, table: StoredTable, index: int, entry: Entry, key: Key) -> None:
        self._run(table.texts.indexes[index].remove, (*entry.key, *key))

    def remove_entries(self, table: StoredTable, row: int) -> None:
        """Remove all index entries of an item with unknown attributes, by reading whole indexes."""
        for texts in table.texts.indexes.values():
            self._run(texts.remove_all, (row,))

    def create_table(self, name: str, definition: str, layout: TableLayout) -> TableLayout:
        _check_unicode(definition)
        self._run(sql.ADD_TABLE, (name, layout.generation, definition))
        made = replace(layout, id=self._connection.last_insert_rowid())
        self._run(sql.create_items(made))
        self._create_entries(made)
        return made

    def _create_entries(self, layout: TableLayout) -> None:
        for index in layout.indexes:
            self._run(sql.create_entries(*index.shape))

    def _drop_entries(self, layout: TableLayout, index: IndexLayout) -> None:
        if drop_entries(self._run, sql.entries_name(*index.shape), sql.index_id(layout.id, index.number)):
            self._storage.thrown_away += 1

    def drop_table(self, table: StoredTable) -> None:
        layout = table.layout
        self.expire_by(table, None)
        self._throw_away(sql.items_name(layout))
        for index in layout.indexes:
            self._drop_entries(layout, index)
        self._run(sql.DROP_TABLE, (layout.id,))

    def empty_table(self, table: StoredTable, kept_as: str) -> None:
        """Rename the table of items, remove the items' index entries, and create an empty table."""
        layout = table.layout
        self.expire_by(table, None)
        self._run(f"ALTER TABLE {sql.items_name(layout)} RENAME TO {kept_as}")
        self._run(sql.create_items(layout))
        for index in layout.indexes:
            self._drop_entries(layout, index)

    def define(self, table_id: int, definition: str) -> None:
        """Store a table's definition. Raises UnicodeEncodeError if the definition contains an unpaired surrogate."""
        _check_unicode(definition)
        self._run(sql.DEFINE, (definition, table_id))

    def change_indexes(self, table: StoredTable, layout: TableLayout, definition: str) -> StoredTable:
        """Change a table's indexes to those of ``layout``. New indexes are empty."""
        _check_unicode(definition)
        after = {index.number for index in layout.indexes}
        self._run(f"ALTER TABLE {sql.items_name(table.layout)} RENAME TO {sql.items_name(layout)}")
        for index in table.layout.indexes:
            if index.number not in after:
                self._drop_entries(layout, index)
        self._create_entries(layout)
        self._run(sql.REDEFINE, (definition, layout.generation, layout.id))
        return StoredTable(self._storage, layout)

    def expire_by(self, table: StoredTable, attribute: str | None) -> None:
        """From now on, store the expiry times of written items from this attribute; with None, stop storing them."""
        name = sql.expires_name(table.layout)
        for text in sql.end_expiry(table.layout):
            self._run(text)
        self._throw_away(name)
        if attribute is not None:
            for text in sql.create_expiry(table.layout, attribute, free_index_name(self._run, f"{name}_by")):
                self._run(text)

    def fill_expiry(self, table: StoredTable, attribute: str, after: int, last: int) -> int | None:
        """Store the expiry times of some items after a row; returns the row of the last of them, or None at the end."""
        until, more = self.archives.next_rows(table, after, last)
        self._run(sql.fill_expiry(table.layout, attribute), (after, until))
        return until if more else None

    def clear_waste(self) -> bool:
        return clear_piece(self._run)

    def token(self, token: str, since_s: float) -> tuple[bytes, bytes] | None:
        return cast("tuple[bytes, bytes] | None", self._run(sql.TOKEN, (token, since_s)).fetchone())

    def keep_token(self, token: str, digest: bytes, answer: bytes, now_s: float, since_s: float) -> None:
        """Store a response with a token, and remove responses stored before ``since_s``."""
        self._run(sql.FORGET_TOKENS, (since_s,))
        self._run(sql.KEEP_TOKEN, (token, digest, answer, now_s))


def _check_unicode(definition: str) -> None:
    """Reject a definition with an unpaired surrogate, which its JSON escapes. Raises UnicodeEncodeError."""
    if "\\ud" in definition:
        json.dumps(json.loads(definition), ensure_ascii=False).encode()


def _stored_entry(row: tuple[Any, ...]) -> StoredEntry:
    *key, partition, sort, item, size = row
    return StoredEntry(Entry(tuple(key), size), (partition, sort), item)
