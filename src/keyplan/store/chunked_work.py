"""Works on a whole table in chunks, each in a transaction, so that other writers run between chunks. A stored note
names the process that does the work; if that process ends, the next process that finds the note continues the work.

Each kind of work defines its chunks, its note, and what to remove on failure.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

from keyplan.errors import KeyplanError
from keyplan.store.background_work import begin_work, end_work, is_given_up
from keyplan.store.database import Database
from keyplan.store.state_delays import Definition, is_left_undone
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.tables.table import Table

T = TypeVar("T")
W = TypeVar("W")
Worker: TypeAlias = Mapping[str, Any]
"""The note of the process that does the work (``keyplan.store.background_work``)."""
WorkerOf: TypeAlias = Callable[[Mapping[str, Any]], Worker | None]
"""Returns the process that works on a table with this definition; None if there is no such work."""


@dataclass(frozen=True, slots=True)
class TableWork:
    """Work on a table in chunks, and the note that identifies its process."""

    table: str
    table_id: int
    worker: Worker


def finish(
    database: Database, worker: Worker, next_piece: Callable[[], T | None], give_up: Callable[[Writer], None] | None
) -> T:
    """Process chunks until a chunk returns the work's result. If a chunk fails, ``give_up`` removes unfinished data."""
    try:
        while True:
            database.storage.let_others_in()
            outcome = next_piece()
            if outcome:
                return outcome
    except BaseException:
        if give_up is not None:
            with suppress(KeyplanError):  # the note then remains: another process can continue the work
                database.write(give_up)
        raise
    finally:
        end_work(worker)


def go_on(
    database: Database, take_over: Callable[[Database, Writer], W | None], finish_taken: Callable[[Database, W], object]
) -> None:
    """Finish all abandoned work of one kind. Writes nothing if there is no abandoned work."""
    while any(is_left_undone(table.definition) for table in database.storage.read(database.fresh).values()):
        taken = database.write(partial(take_over, database))
        if taken is None:
            return
        finish_taken(database, taken)


def still_done(database: Database, writer: Writer, work: TableWork, worker_of: WorkerOf) -> Table | None:
    """The table, if this process is still working on it; otherwise None."""
    table = database.fresh(writer).get(work.table)
    return None if table is None or worker_of(table.definition) != work.worker else table


def take_over_table(
    worker_of: WorkerOf,
    with_worker: Callable[[Mapping[str, Any], Worker], Definition],
    database: Database,
    writer: Writer,
) -> TableWork | None:
    for table in database.fresh(writer).values():
        worker = worker_of(table.definition)
        if worker is not None and is_given_up(worker):
            work = TableWork(table.name, table.stored.layout.id, begin_work())
            writer.define(work.table_id, json.dumps(with_worker(table.definition, work.worker)))
            return work
    return None
