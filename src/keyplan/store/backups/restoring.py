"""Restores: a table is filled from a backup or from another table's history, in chunks of one transaction each, with
status CREATING. If the process ends, the next process that finds the restore's note continues the restore.

The table at a past time is derived from the current table by undoing later writes. First, the keys of later writes are
marked, and the items before the first of these writes are restored; then the items with unmarked keys are restored row
by row. Writes during the restore are also in the history, and are processed in the same way afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import orjson

from keyplan.dynamodb.service_errors import TableNotFoundException
from keyplan.store import work_budget as effort
from keyplan.store.background_work import begin_work
from keyplan.store.backups.table_copies import check_free, make_table
from keyplan.store.chunked_work import TableWork, finish, go_on, still_done, take_over_table
from keyplan.store.control_plane.index_backfill import fill_table
from keyplan.store.control_plane.schema import Definition
from keyplan.store.database import Database
from keyplan.store.items.item_writes import perform
from keyplan.store.items.write_outcome import Write
from keyplan.store.requests.request_expressions import Answer
from keyplan.store.state_delays import States, begin_restore, begin_restoring, end_restoring, restorer_of, with_restorer
from keyplan.store.storage.history_rows import Kept, Written
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.tables.resources import forget_table
from keyplan.store.tables.table import Table
from keyplan.store.tables.table_description import describe

_KIND = "restore"
"""The kind of the records with a restore's source and progress."""
Progress = dict[str, Any]


def of_backup(name: str) -> Progress:
    return {"Backup": name, "Row": 0}


def of_history(writer: Writer, source: Table, moment_us: int) -> Progress:
    first = writer.archives.first_after(source.stored.layout.id, moment_us)
    return {"Table": source.name, "TableId": source.stored.layout.id, "Write": first, "Row": 0}


def begin_restored(
    database: Database,
    writer: Writer,
    name: str,
    definition: Definition,
    progress: Progress,
    summary: Mapping[str, Any],
) -> TableWork | None:
    """Create a table with the first items; returns the remaining work, if any. Raises the errors of ``check_free``."""
    check_free(database, writer, name)
    begun = begin_restore(definition, summary, database.clock(), database.state_delay_s)
    table = make_table(database, writer, name, begun)
    table_id = table.stored.layout.id
    if "Table" in progress:
        writer.archives.begin_marks(table_id)
    left = _restore_piece(database, writer, table, progress)
    if left is None:
        writer.archives.drop_marks(table_id)
        return None
    restoring = TableWork(name, table_id, begin_work())
    writer.define(table_id, json.dumps(begin_restoring(begun, summary, progress.get("TableId"), restoring.worker)))
    _keep(writer, restoring, left)
    return restoring


def _restore_piece(database: Database, writer: Writer, table: Table, progress: Progress) -> Progress | None:
    """Restore the next items; returns the progress, or None at the end. Raises TableNotFoundException."""
    writes = 1 + len(table.indexes) + len(table.vector_indexes)
    if "Backup" in progress:
        rows_max = effort.piece_rows(writes)
        rows, more = writer.archives.backed_up_after(progress["Backup"], progress["Row"], rows_max)
        _fill(writer, table, rows)
        return {**progress, "Row": rows[-1][0]} if more else None
    return _restore_moment_piece(database, writer, table, progress, effort.piece_rows(writes + 2))


def _restore_moment_piece(
    database: Database, writer: Writer, table: Table, progress: Progress, rows_max: int
) -> Progress | None:
    source = database.fresh(writer).get(progress["Table"])
    if source is None or source.stored.layout.id != progress["TableId"] or not source.keeps_history:
        raise TableNotFoundException(f"Table not found: {progress['Table']}")
    mark, source_id = table.stored.layout.id, progress["TableId"]
    archives = writer.archives
    progress = {"LastWrite": archives.last_write(source_id), "LastRow": writer.last_row(source.stored), **progress}
    rows, more = archives.writes_between(source_id, progress["Write"], progress["LastWrite"], rows_max)
    for row in rows:
        if archives.mark(mark, row[1:3]):
            _restore_previous(writer, table, row)
    if rows:
        progress["Write"] = rows[-1][0] + 1
    if more:
        return progress
    if progress["Row"] <= progress["LastRow"]:
        last = progress["LastRow"]
        rows, more = archives.unmarked_after(source.stored, progress["Row"], last, mark, rows_max)
        _fill(writer, table, rows)
        if more:
            return {**progress, "Row": rows[-1][0]}
        progress |= {"Row": last + 1, "LastWrite": archives.last_write(source_id)}
    return progress if progress["Write"] <= progress["LastWrite"] else None


def _restore_previous(writer: Writer, table: Table, row: Written) -> None:
    """Restore the item before a write, replacing the one restored by a later write's row."""
    _, partition, sort, _, body = row
    known = writer.find(table.stored, partition, sort)
    if known is not None and known[2] == body:
        return
    if known is not None:
        perform(writer, Write(table, (partition, sort), removes=True))
    _fill(writer, table, [row])


def _fill(writer: Writer, table: Table, rows: list[Written]) -> None:
    kept: list[Kept] = [
        (partition, sort, size, body)
        for _, partition, sort, size, body in rows
        if size is not None and body is not None
    ]
    fill_table(writer, table, kept)


def restored(database: Database, name: str, work: Callable[[Writer], tuple[Answer, TableWork | None]]) -> Answer:
    """Begin and finish a restore; returns the response. ``work`` returns the summary and the remaining work."""
    database.goes_on_with_all()
    summary, restoring = database.write(work)
    if restoring is not None:
        finish_restoring(database, restoring)
    description = describe(database.shown_table(name), None, States("CREATING"))
    return {"TableDescription": {**description, "RestoreSummary": summary}}


def finish_restoring(database: Database, restoring: TableWork) -> None:
    """Finish a restore. After an error, such as a deleted source table, the new table is removed."""
    next_piece = partial(database.write, partial(_restore_next, database, restoring))
    finish(database, restoring.worker, next_piece, partial(_give_up, database, restoring))


def _restore_next(database: Database, restoring: TableWork, writer: Writer) -> bool:
    table = still_done(database, writer, restoring, restorer_of)
    body = writer.archives.record(_KIND, str(restoring.table_id))
    if table is None or body is None:
        return True
    left = _restore_piece(database, writer, table, orjson.loads(body))
    if left is not None:
        _keep(writer, restoring, left)
        return False
    writer.define(restoring.table_id, json.dumps(end_restoring(table.definition)))
    _forget(writer, restoring)
    return True


def _give_up(database: Database, restoring: TableWork, writer: Writer) -> None:
    table = still_done(database, writer, restoring, restorer_of)
    if table is not None:
        forget_table(writer, table)
        _forget(writer, restoring)


def _keep(writer: Writer, restoring: TableWork, progress: Progress) -> None:
    writer.archives.keep_record(_KIND, str(restoring.table_id), orjson.dumps(progress))


def _forget(writer: Writer, restoring: TableWork) -> None:
    writer.archives.drop_marks(restoring.table_id)
    writer.archives.drop_record(_KIND, str(restoring.table_id))


def go_on_restoring(database: Database) -> None:
    go_on(database, partial(take_over_table, restorer_of, with_restorer), finish_restoring)
