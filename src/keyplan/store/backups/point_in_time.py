"""Settings and recovery periods of point-in-time recovery. A recovery period ends now (on AWS, five minutes ago).

If a table has a history, each write stores the replaced item in the same transaction. Enabling the history creates a
new generation of the table, so that other processes reload it and record all writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from keyplan.dynamodb.service_errors import PointInTimeRecoveryUnavailableException
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer
from keyplan.store.state_delays import source_of, states_of
from keyplan.store.storage.storage_transactions import Reader, Writer
from keyplan.store.tables.resources import store_generation
from keyplan.store.tables.table import Table

MEMBER = "PointInTimeRecovery"
PERIOD_DAYS_MAX = 35
TRIMMED_TOGETHER = 500
_DAY_S = 86_400.0


def switch_history(writer: Writer, table: Table, period_days: int | None, now_s: float) -> None:
    """Enable a history of ``period_days`` for a table, or disable the history."""
    before = table.definition.get(MEMBER)
    definition: dict[str, Any] = {name: value for name, value in table.definition.items() if name != MEMBER}
    if period_days is not None:
        since_s = now_s if before is None else before["Since"]
        definition[MEMBER] = {"Since": since_s, "Days": period_days}
    layout = table.stored.layout
    if (before is None) == (period_days is None):
        if before is not None:
            writer.define(layout.id, json.dumps(definition))
        return
    if period_days is None:
        writer.archives.end_history(layout.id)
    else:
        writer.archives.begin_history(layout.id)
    store_generation(writer, table, definition)


def is_restored(table: Table, tables: Iterable[Table]) -> bool:
    """Whether another table is being restored from this table's history, which must therefore be kept."""
    return any(not each.is_settled and source_of(each.definition) == table.stored.layout.id for each in tables)


def window(table: Table, now_s: float) -> tuple[float, float] | None:
    """The earliest and the latest restorable time, in seconds since the epoch; None without a history."""
    kept = table.definition.get(MEMBER)
    if kept is None:
        return None
    return max(kept["Since"], now_s - kept["Days"] * _DAY_S), max(kept["Since"], now_s)


def latest_time(reader: Reader, table: Table, now_s: float) -> float:
    """The current time, or the time of the last write in the history if the clock was set back after that write."""
    newest_us = None if MEMBER not in table.definition else reader.archives.newest_write(table.stored.layout.id)
    return now_s if newest_us is None else max(now_s, (newest_us + 1) / 1_000_000)


def shown_moment(moment_s: float) -> str:
    try:
        return datetime.fromtimestamp(moment_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return str(moment_s)


def no_history(name: str) -> PointInTimeRecoveryUnavailableException:
    return PointInTimeRecoveryUnavailableException(f"Point in time recovery is not enabled for table '{name}'")


def describe_history(table: Table, now_s: float) -> Answer:
    recovery: Answer = {"PointInTimeRecoveryStatus": "DISABLED"}
    reach = window(table, now_s)
    if reach is not None:
        earliest_s = _rounded(reach[0], 0.001)
        recovery = {
            "PointInTimeRecoveryStatus": "ENABLED",
            "RecoveryPeriodInDays": table.definition[MEMBER]["Days"],
            "EarliestRestorableDateTime": earliest_s,
            "LatestRestorableDateTime": max(earliest_s, _rounded(reach[1], -0.001)),
        }
    status = "DISABLED" if states_of(table.definition, now_s).lacks_backups else "ENABLED"
    return {"ContinuousBackupsStatus": status, "PointInTimeRecoveryDescription": recovery}


def _rounded(end_s: float, inwards_s: float) -> float:
    """An end of the recovery period, rounded inward to the millisecond, so that the reported time is restorable."""
    rounded_s = round(end_s, 3)
    return rounded_s if (rounded_s - end_s) * inwards_s >= 0 else round(rounded_s + inwards_s, 3)


def trim_histories(database: Database) -> int:
    """Remove a few hundred writes before the recovery period of each table; returns the number removed."""

    def overdue(reader: Reader) -> list[tuple[int, int]]:
        result: list[tuple[int, int]] = []
        tables = database.fresh(reader)
        for table in tables.values():
            reach = window(table, now_s)
            if reach is not None and not is_restored(table, tables.values()):
                table_id, before_us = table.stored.layout.id, int(reach[0] * 1_000_000)
                oldest_us = reader.archives.oldest_write(table_id)
                if oldest_us is not None and oldest_us < before_us:
                    result.append((table_id, before_us))
        return result

    def work(writer: Writer) -> int:
        # Check again in the transaction: point-in-time recovery may have been disabled meanwhile.
        return sum(writer.archives.trim_history(*each, TRIMMED_TOGETHER) for each in overdue(writer))

    now_s = database.clock()
    return database.write(work) if database.storage.read(overdue) else 0
