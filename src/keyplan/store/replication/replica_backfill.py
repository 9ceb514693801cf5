"""Backfill of a new replica with another region's items, in chunks of one transaction each, with status CREATING.

The replica receives other regions' writes before the first item is copied. Therefore an item or a deletion that the
replica has is at least as new as the copied item. If the process ends, the next process that finds the note continues.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import orjson

from keyplan.store import work_budget as effort
from keyplan.store.background_work import begin_work, end_work
from keyplan.store.backups.table_copies import check_free, make_table
from keyplan.store.chunked_work import TableWork, finish, go_on, still_done, take_over_table
from keyplan.store.control_plane.index_backfill import fill_table
from keyplan.store.control_plane.schema import Definition
from keyplan.store.database import Database
from keyplan.store.state_delays import begin_joining, joiner_of, without_note
from keyplan.store.storage.history_rows import Kept, Key, Noted, Version
from keyplan.store.storage.storage_transactions import Reader, Writer
from keyplan.store.streams import enable
from keyplan.store.tables.resources import MEMBER, forget_table, replication_of
from keyplan.store.tables.table import Table

_KIND = "joining"
"""The kind of the records with a replica's source region and progress."""
_WRITES = 4
"""The number of reads and writes per item, besides its index entries."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """The next chunk of the source region: deleted keys, or items with their last writes, and the row reached."""

    gone: list[Noted]
    items: list[tuple[Kept, Version | None]]
    progress: Mapping[str, Any]
    is_last: bool


def begin_replica(target: Database, name: str, definition: Definition, source: str, last: int) -> TableWork:
    """Create an empty replica to fill from a region whose last write so far has the number ``last``."""

    def work(writer: Writer) -> TableWork:
        check_free(target, writer, name)
        worker = begin_work()
        table = make_table(target, writer, name, begin_joining(definition, worker))
        table_id = table.stored.layout.id
        writer.replicas.begin(table_id)
        if definition.get("TimeToLive"):
            writer.expire_by(table.stored, definition["TimeToLive"])
        for region in definition[MEMBER]["Regions"]:
            number = last if region == source else 0
            writer.archives.keep_record("replica", f"{name}/{region}", str(number).encode())
        _keep(writer, table_id, {"Region": source, "Noted": 0, "LastNoted": last, "Row": 0})
        return TableWork(name, table_id, worker)

    return target.write(work)


def finish_joining(target: Database, joining: TableWork) -> None:
    """Finish filling a replica. If filling fails, the replica is removed. Raises JSONDecodeError or StoreError."""
    finish(target, joining.worker, partial(_join_next, target, joining), partial(_give_up, target, joining))


def abandon(target: Database, joining: TableWork) -> None:
    try:
        target.write(partial(_give_up, target, joining))
    finally:
        end_work(joining.worker)


def _join_next(target: Database, joining: TableWork) -> bool:
    body = target.storage.read(lambda reader: reader.archives.record(_KIND, str(joining.table_id)))
    if body is None or target.group is None:
        return True
    progress = orjson.loads(body)
    source = target.group.database(progress["Region"])
    piece = source.storage.read(partial(_next_of, source, target.region, joining.table, progress))
    if piece is None:
        target.write(partial(_give_up, target, joining))
        return True
    return target.write(partial(_join_piece, target, joining, piece))


def _next_of(source: Database, region: str, name: str, progress: Mapping[str, Any], reader: Reader) -> _Piece | None:
    """The next chunk; None if the table has no replica in the region (yet or anymore)."""
    table = source.fresh(reader).get(name)
    replication = None if table is None else replication_of(table)
    if table is None or replication is None or region not in replication["Regions"]:
        return None
    table_id = table.stored.layout.id
    rows_max = effort.piece_rows(_WRITES + len(table.indexes) + len(table.vector_indexes))
    # The backfill stops at the row that was last when it started: later writes are replicated normally.
    progress = {"LastRow": reader.last_row(table.stored), **progress}
    noted = list(islice(reader.replicas.since(table_id, progress["Noted"]), rows_max))
    if noted and noted[0].seq <= progress["LastNoted"]:
        gone = [each for each in noted if reader.get(table.stored, *each.key) is None]
        return _Piece(gone, [], {**progress, "Noted": noted[-1].seq}, is_last=False)
    rows, more = reader.rows_after(table.stored, progress["Row"], rows_max)
    items = [(row[1:], reader.replicas.version(table_id, row[1:3])) for row in rows]
    is_last = not more or rows[-1][0] >= progress["LastRow"]
    return _Piece([], items, {**progress, "Row": rows[-1][0]} if rows else progress, is_last=is_last)


def _join_piece(target: Database, joining: TableWork, piece: _Piece, writer: Writer) -> bool:
    """Write a chunk; returns whether it was the last one, or another process fills the replica."""
    table = still_done(target, writer, joining, joiner_of)
    if table is None:
        return True
    for noted in piece.gone:
        if _is_newer(writer, table, noted.key, noted.version):
            writer.replicas.note(joining.table_id, noted.key, noted.version)
    for item, version in piece.items:
        if _is_newer(writer, table, item[:2], version):
            fill_table(writer, table, [item])
            if version is not None:
                writer.replicas.note(joining.table_id, item[:2], version)
    if not piece.is_last:
        _keep(writer, joining.table_id, piece.progress)
        return False
    definition = without_note(table.definition)
    now_s = target.clock()
    definition = enable(writer.changes, table.name, joining.table_id, definition, now_s)
    writer.define(joining.table_id, json.dumps(definition))
    writer.archives.drop_record(_KIND, str(joining.table_id))
    return True


def _is_newer(writer: Writer, table: Table, key: Key, version: Version | None) -> bool:
    """Whether the replica has neither an item with the key nor a later write of it. An existing item was written after
    the replica was created, and its changes are replicated normally.
    """
    known = writer.replicas.version(table.stored.layout.id, key)
    if known is not None and (version is None or known > version):
        return False
    return writer.find(table.stored, *key) is None


def _give_up(target: Database, joining: TableWork, writer: Writer) -> None:
    table = still_done(target, writer, joining, joiner_of)
    if table is not None:
        forget_table(writer, table)
        writer.archives.drop_record(_KIND, str(joining.table_id))


def _keep(writer: Writer, table_id: int, progress: Mapping[str, Any]) -> None:
    writer.archives.keep_record(_KIND, str(table_id), orjson.dumps(progress))


def go_on_joining(target: Database) -> None:
    """Finish abandoned backfills, if the other regions are available. Raises JSONDecodeError or StoreError."""
    if target.group is not None:
        go_on(target, partial(take_over_table, joiner_of, begin_joining), finish_joining)
