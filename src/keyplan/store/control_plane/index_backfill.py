"""The backfill of a new index, which creates the entries of existing items.

An index is filled in chunks of a few hundred items, one transaction each, so that other writers wait for at most one
chunk. During the backfill, the table's definition has the index with a note of the filling process
(``store.state_delays``). Writes maintain the index and can run before or after any chunk; reads of the index are
rejected. If the process ends, the next process that finds the note continues the backfill.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from keyplan.store import work_budget as effort
from keyplan.store.background_work import begin_work, is_given_up
from keyplan.store.chunked_work import finish, go_on
from keyplan.store.control_plane.schema import with_used_attributes, without_index
from keyplan.store.database import Database
from keyplan.store.items.stored_items import decode
from keyplan.store.state_delays import Definition, begin_filling, end_filling, fillings_of
from keyplan.store.storage.history_rows import Kept
from keyplan.store.storage.key_layouts import ROW_MAX, TableRecord
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.storage.table_reads import StoredTable
from keyplan.store.tables.item_keys import entry_of
from keyplan.store.tables.table import Index, Table, VectorIndex, next_layout, read_table
from keyplan.store.vectors import add_vectors, make_vectors, with_vector_change

_LAST = "Last"
"""The member of the note with the last row to fill: later writes also write the entries."""


@dataclass(frozen=True, slots=True)
class Filling:
    """An index that is being filled, and the note that identifies its process."""

    table: str
    table_id: int
    index: str
    number: int
    worker: Mapping[str, Any]


def change_indexes(database: Database, writer: Writer, table: Table, definition: Definition) -> Filling | None:
    """Give the table the definition's indexes; returns the remaining backfill of a new index, if any."""
    layout = next_layout(definition, table.stored.layout)
    text = json.dumps(definition)
    stored = writer.change_indexes(table.stored, layout, text)
    changed = read_table(TableRecord(layout.id, layout.generation, table.name, text), database.storage)
    known = {index.number: index for index in _all_indexes(table)}
    filling: Filling | None = None
    for index in _all_indexes(changed):
        if known.pop(index.number, None) is not None:
            continue
        if isinstance(index, VectorIndex):
            make_vectors(writer, layout.id, index)
        last = writer.last_row(stored)
        after = _fill_piece(writer, stored, index, 0, last)
        if after is not None:
            worker = {**begin_work(), _LAST: last}
            filling = Filling(table.name, layout.id, index.name, index.number, worker)
            writer.define(layout.id, json.dumps(begin_filling(definition, index.name, filling.worker)))
            writer.archives.keep_filled(layout.id, index.number, after)
    for index in known.values():
        if isinstance(index, VectorIndex):
            writer.vectors.drop(layout.id, index.number)
        writer.archives.drop_filled(layout.id, index.number)
    return filling


def _all_indexes(table: Table) -> list[Index | VectorIndex]:
    return [*table.indexes, *table.vector_indexes]


def _fill_piece(writer: Writer, stored: StoredTable, index: Index | VectorIndex, after: int, last: int) -> int | None:
    """Write the entries of some items after a row; returns the last of them, or None at the end. Items with unsuitable
    key attributes get no entry, as in DynamoDB.
    """
    rows, more = writer.rows_after(stored, after, effort.PIECE_ROWS)
    for row, partition, sort, _, body in rows:
        item = decode(body)
        if isinstance(index, VectorIndex):
            add_vectors(writer, stored, index, row, item)
            continue
        entry = entry_of(index, item)
        if entry is not None:
            writer.add_entry(stored, index.number, entry, (partition, sort), row)
    return rows[-1][0] if more and rows[-1][0] < last else None


def finish_filling(database: Database, filling: Filling) -> None:
    """Finish the backfill of an index, unless the index is removed meanwhile. A failed backfill removes the index.
    Raises JSONDecodeError if an item is damaged, or StoreError if the store failed.
    """
    next_piece = partial(database.write, partial(_fill_next, database, filling))
    finish(database, filling.worker, next_piece, partial(_give_up, database, filling))
    database.refresh()


def _fill_next(database: Database, filling: Filling, writer: Writer) -> bool:
    table = _still_filled(database, writer, filling)
    if table is None:
        return True
    index = next(each for each in _all_indexes(table) if each.number == filling.number)
    place = filling.table_id, filling.number
    last: int = filling.worker.get(_LAST, ROW_MAX)
    after = _fill_piece(writer, table.stored, index, writer.archives.filled_up_to(*place), last)
    if after is not None:
        writer.archives.keep_filled(*place, after)
        return False
    writer.define(filling.table_id, json.dumps(end_filling(table.definition, filling.index)))
    writer.archives.drop_filled(*place)
    return True


def _give_up(database: Database, filling: Filling, writer: Writer) -> None:
    table = _still_filled(database, writer, filling)
    if table is None:
        return
    definition = end_filling(table.definition, filling.index)
    if any(index.number == filling.number for index in table.vector_indexes):
        removal = {"Delete": {"IndexName": filling.index}}
        definition = with_used_attributes(with_vector_change(definition, removal, []))
    else:
        definition = without_index(definition, filling.index)
    change_indexes(database, writer, table, definition)


def _still_filled(database: Database, writer: Writer, filling: Filling) -> Table | None:
    table = database.fresh(writer).get(filling.table)
    if table is None or fillings_of(table.definition).get(filling.index) != filling.worker:
        return None
    return table


def go_on_filling(database: Database) -> None:
    """Finish abandoned backfills. Raises JSONDecodeError if an item is damaged, or StoreError if the store failed."""
    go_on(database, _take_over, finish_filling)


def _take_over(database: Database, writer: Writer) -> Filling | None:
    for table in database.fresh(writer).values():
        for name, worker in fillings_of(table.definition).items():
            if is_given_up(worker):
                number = table.definition["IndexNumbers"][name]
                renewed = {**begin_work(), _LAST: worker.get(_LAST, ROW_MAX)}
                filling = Filling(table.name, table.stored.layout.id, name, number, renewed)
                writer.define(filling.table_id, json.dumps(begin_filling({**table.definition}, name, filling.worker)))
                return filling
    return None


def fill_table(writer: Writer, table: Table, items: Iterable[Kept]) -> None:
    """Write validated items and their index entries into a table that has none of these items."""
    for partition, sort, size, body in items:
        row = writer.insert(table.stored, partition, sort, size, body)
        if table.indexes or table.vector_indexes:
            item = decode(body)
            for vectors in table.vector_indexes:
                add_vectors(writer, table.stored, vectors, row, item)
            for index in table.indexes:
                entry = entry_of(index, item)
                if entry is not None:
                    writer.add_entry(table.stored, index.number, entry, (partition, sort), row)
