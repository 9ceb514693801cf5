"""Writing many items and index entries at once: new indexes, restored and imported tables."""

from __future__ import annotations

from collections.abc import Iterable

from keyplan.engine.items import decode
from keyplan.engine.keys import entry_of
from keyplan.engine.storage.archives import Kept
from keyplan.engine.storage.tables import StoredTable
from keyplan.engine.storage.transactions import Writer
from keyplan.engine.tables import Index, Table, VectorIndex
from keyplan.engine.vectors import add_vectors


def fill_index(writer: Writer, stored: StoredTable, index: Index) -> None:
    """Write the entries of all items. Items whose attributes don't fit stay out, as with DynamoDB."""
    for row, partition, sort, _, body in writer.rows(stored):
        entry = entry_of(index, decode(body))
        if entry is not None:
            writer.add_entry(stored, index.number, entry, (partition, sort), row)


def fill_vectors(writer: Writer, stored: StoredTable, index: VectorIndex) -> None:
    """Write the entries of all items in a new vector index."""
    for row, _, _, _, body in writer.rows(stored):
        add_vectors(writer, stored, index, row, decode(body))


def fill_table(writer: Writer, table: Table, items: Iterable[Kept]) -> None:
    """Write items with their entries into a table that has none of them. They were checked when they were kept."""
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
