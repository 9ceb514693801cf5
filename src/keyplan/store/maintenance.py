"""Removes a store's expired data, and finishes the work of processes that ended. This module is loaded when it is first
needed.
"""

from __future__ import annotations

import logging

from keyplan.errors import KeyplanError
from keyplan.store.backups.backup_records import expire_backups, go_on_backing_up
from keyplan.store.backups.point_in_time import trim_histories
from keyplan.store.backups.restoring import go_on_restoring
from keyplan.store.control_plane.index_backfill import go_on_filling
from keyplan.store.control_plane.time_to_live import go_on_expiring, sweep
from keyplan.store.database import Database
from keyplan.store.items.stored_items import SIGNS_OF_DAMAGE, damaged
from keyplan.store.replication.replica_backfill import go_on_joining
from keyplan.store.state_delays import is_left_undone
from keyplan.store.work_budget import REMOVED_TOGETHER

_log = logging.getLogger("keyplan.engine")


def go_on(database: Database) -> None:
    for begun in (go_on_filling, go_on_backing_up, go_on_restoring, go_on_joining, go_on_expiring):
        try:
            begun(database)
        except (KeyplanError, *SIGNS_OF_DAMAGE) as fault:
            _log.error("Can't continue the work of a process that ended: %s", damaged(fault, database.storage.place))


def expire(database: Database, items_max: int | None) -> int:
    removed = 0
    while items_max is None or removed < items_max:
        wanted = REMOVED_TOGETHER if items_max is None else min(REMOVED_TOGETHER, items_max - removed)
        count = sweep(database, wanted)
        removed += count
        if count < wanted:
            break
    return removed


def tidy(database: Database) -> None:
    if any(is_left_undone(table.definition) for table in database.all_tables()):
        database.jobs.run(database.go_on)
    database.jobs.run(database.clear_waste)
    expire_backups(database)
    while trim_histories(database):
        database.storage.let_others_in()
