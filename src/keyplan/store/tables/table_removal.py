"""Removing a table with all that belongs to it, or what was noted of it, and what was left of them."""

from __future__ import annotations

import json

from keyplan.store.state_delays import without_note
from keyplan.store.storage.sqlite import Storage
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.tables.global_tables import replication_of
from keyplan.store.tables.table import Table


def forget_table(writer: Writer, table: Table) -> None:
    """Remove a table: its items and entries, its history, and what was noted for other regions. Its stream stays, which
    is read for another day.
    """
    table_id = table.stored.layout.id
    if table.keeps_history:
        writer.archives.end_history(table_id)
    drop_replication(writer, table)
    for index in table.vector_indexes:
        writer.vectors.drop(table_id, index.number)
    writer.drop_table(table.stored)


def clear_waste(storage: Storage) -> None:
    """Empty what was thrown away, in pieces, each a transaction of its own. Others may do the same meanwhile.

    Raises:
        StoreError: the store failed. What is left is left for the next who comes.
    """
    is_left = storage.read(lambda reader: reader.has_waste())
    while is_left:
        storage.let_others_in()
        is_left = not storage.write(lambda writer: writer.clear_waste())


def drop_replication(writer: Writer, table: Table) -> None:
    """Forget what was noted of a replica that goes."""
    replication = replication_of(table)
    if replication is not None:
        writer.replicas.end(table.stored.layout.id)
        for region in replication["Regions"]:
            writer.archives.drop_record("replica", f"{table.name}/{region}")


def forget_note(writer: Writer, table: Table) -> None:
    """Take away the note of what went on, and is over."""
    writer.define(table.stored.layout.id, json.dumps(without_note(table.definition)))
