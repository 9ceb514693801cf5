"""Work on a whole table in pieces: many transactions, between which other writers run, under a note of the process that
does it. Work whose process ended is taken over by the next process that finds it.

Backfills of indexes and replicas, backups, restores and the first search for expired items each define their pieces,
their note, and what is removed when they fail.
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
"""The note of who does a work (``keyplan.store.background_work``)."""
WorkerOf: TypeAlias = Callable[[Mapping[str, Any]], Worker | None]
"""Who does a work on a table, by its definition; None where nobody has to."""


@dataclass(frozen=True, slots=True)
class TableWork:
    """A table on which a work is done in pieces, and the note of who does it."""

    table: str
    table_id: int
    worker: Worker


def finish(
    database: Database, worker: Worker, next_piece: Callable[[], T | None], give_up: Callable[[Writer], None] | None
) -> T:
    """Do one piece after the other until one gives what the work came to. When a piece fails, ``give_up`` removes what
    was begun, where it is given.

    Raises:
        StoreError: the store failed.
    """
    try:
        while True:
            database.storage.let_others_in()
            outcome = next_piece()
            if outcome:
                return outcome
    except BaseException:
        if give_up is not None:
            with suppress(KeyplanError):  # then whoever meets it goes on
                database.write(give_up)
        raise
    finally:
        end_work(worker)


def go_on(
    database: Database, take_over: Callable[[Database, Writer], W | None], finish_taken: Callable[[Database, W], object]
) -> None:
    """Finish all works of a kind that nobody does any more. Where there is none of any kind, nothing is written."""
    while _is_any_left(database):
        taken = database.write(partial(take_over, database))
        if taken is None:
            return
        finish_taken(database, taken)


def _is_any_left(database: Database) -> bool:
    return any(is_left_undone(table.definition) for table in database.storage.read(database.fresh).values())


def still_done(database: Database, writer: Writer, work: TableWork, worker_of: WorkerOf) -> Table | None:
    """The table of a work, as long as this is who does it."""
    table = database.fresh(writer).get(work.table)
    return None if table is None or worker_of(table.definition) != work.worker else table


def take_over_table(
    worker_of: WorkerOf,
    with_worker: Callable[[Mapping[str, Any], Worker], Definition],
    database: Database,
    writer: Writer,
) -> TableWork | None:
    """A table on which nobody does a work any more; from now on this process does."""
    for table in database.fresh(writer).values():
        worker = worker_of(table.definition)
        if worker is not None and is_given_up(worker):
            work = TableWork(table.name, table.stored.layout.id, begin_work())
            writer.define(work.table_id, json.dumps(with_worker(table.definition, work.worker)))
            return work
    return None
