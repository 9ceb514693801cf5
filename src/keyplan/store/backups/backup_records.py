"""Backups of a table's items and description at one time, which remain when the table is deleted.

The time of a backup is the time of its first transaction. Items are copied in chunks, one transaction each, in row
order. While items are copied, the table's definition lists the backup, and writes copy the items that they replace
(``Archives.keep_old``). If the process ends, the next process that finds the note of this work finishes the backup.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import orjson

from keyplan.dynamodb import service_errors
from keyplan.store.arns import TABLE_ARN
from keyplan.store.background_work import begin_work, is_given_up
from keyplan.store.backups.table_copies import INDEX_OVERRIDES, KEPT_BY_INDEX
from keyplan.store.chunked_work import Worker, finish, go_on
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer
from keyplan.store.state_delays import COPYING
from keyplan.store.storage.history_rows import backup_name
from keyplan.store.storage.storage_transactions import Reader, Writer
from keyplan.store.tables.resources import store_generation
from keyplan.store.tables.table import Table
from keyplan.store.tables.table_description import describe_encryption, table_id

Backup = dict[str, Any]
BackupType = Literal["USER", "SYSTEM"]

SYSTEM_LIFETIME_S = 35 * 86_400.0
"""Retention of the backup of a deleted table with point-in-time recovery."""
DELETED_SUFFIX = "$DeletedTableBackup"
_KIND = "backup"
_ARN = re.compile(rf"{TABLE_ARN}/backup/(?P<number>\d+-[0-9a-f]{{8}})")


@dataclass(frozen=True, slots=True)
class Copying:
    """A running backup: its number, its table, and the note that identifies its process."""

    number: str
    table: str
    worker: Worker


def begin_backup(writer: Writer, table: Table, name: str, now_s: float) -> Backup | Copying:
    """Back up the current state of a table. Returns the finished backup, or the remaining copying work."""
    number = f"{int(now_s * 1000):014d}-{secrets.token_hex(4)}"
    stored = _stored(number)
    last = writer.last_row(table.stored)
    writer.archives.begin_backup(stored)
    copied = writer.archives.back_up(stored, table.stored, 0, last)
    backup = _backup(table, number, name, "USER", (copied.count, copied.size_bytes), now_s)
    if copied.until == last:
        writer.archives.keep_record(_KIND, number, orjson.dumps(backup))
        return backup
    copying = Copying(number, table.name, begin_work())
    backup["Details"]["BackupStatus"] = "CREATING"
    backup["CopiedUpTo"] = copied.until
    writer.archives.keep_record(_KIND, number, orjson.dumps(backup))
    _note_copying(writer, table, stored, {"Last": last, "Worker": copying.worker})
    return copying


def _note_copying(writer: Writer, table: Table, name: str, note: Mapping[str, Any] | None) -> None:
    running = {**(table.definition.get(COPYING) or {}), name: note}
    definition = {**table.definition, COPYING: {each: value for each, value in running.items() if value is not None}}
    if not definition[COPYING]:
        del definition[COPYING]
    store_generation(writer, table, definition)


def finish_backup(database: Database, copying: Copying) -> Backup:
    """Copy the remaining items. On an error, the backup is removed. Raises TableNotFoundException or StoreError."""
    next_piece = partial(database.write, partial(_copy_next, database, copying))
    return finish(database, copying.worker, next_piece, partial(_give_up, database, copying))


def _copy_next(database: Database, copying: Copying, writer: Writer) -> Backup | None:
    """Copy the next chunk; returns the backup after the last one."""
    name = _stored(copying.number)
    table, note = _note_of(database, writer, copying)
    body = writer.archives.record(_KIND, copying.number)
    if table is None or note is None or note["Worker"] != copying.worker or body is None:
        raise service_errors.TableNotFoundException(f"Table not found: {copying.table}")
    backup: Backup = orjson.loads(body)
    copied = writer.archives.back_up(name, table.stored, backup["CopiedUpTo"], note["Last"])
    backup["CopiedUpTo"] = copied.until
    backup["Source"]["ItemCount"] += copied.count
    for part, member in (("Source", "TableSizeBytes"), ("Details", "BackupSizeBytes")):
        backup[part][member] += copied.size_bytes
    is_done = copied.until == note["Last"]
    if is_done:
        del backup["CopiedUpTo"]
        backup["Details"]["BackupStatus"] = "AVAILABLE"
        _note_copying(writer, table, name, None)
    writer.archives.keep_record(_KIND, copying.number, orjson.dumps(backup))
    return backup if is_done else None


def _note_of(database: Database, writer: Writer, copying: Copying) -> tuple[Table | None, Any]:
    table = database.fresh(writer).get(copying.table)
    return table, None if table is None else (table.definition.get(COPYING) or {}).get(_stored(copying.number))


def _give_up(database: Database, copying: Copying, writer: Writer) -> None:
    name = _stored(copying.number)
    table, note = _note_of(database, writer, copying)
    if note is not None and note["Worker"] != copying.worker:
        return  # another process is creating the backup
    if table is not None and note is not None:
        _note_copying(writer, table, name, None)
    writer.archives.drop_backup(name)
    writer.archives.drop_record(_KIND, copying.number)


def go_on_backing_up(database: Database) -> None:
    go_on(database, _take_over, finish_backup)


def _take_over(database: Database, writer: Writer) -> Copying | None:
    for table in database.fresh(writer).values():
        running: Mapping[str, Any] = table.definition.get(COPYING) or {}
        for name, note in running.items():
            if is_given_up(note["Worker"]):
                copying = Copying(name.replace("_", "-"), table.name, begin_work())
                changed = {**running, name: {**note, "Worker": copying.worker}}
                writer.define(table.stored.layout.id, json.dumps({**table.definition, COPYING: changed}))
                return copying
    return None


def keep_as_backup(writer: Writer, table: Table, name: str, counted: tuple[int, int], now_s: float) -> Backup:
    """Turn the items of a table that is being deleted into its backup, without a copy."""
    number = f"{int(now_s * 1000):014d}-00000000"
    table_id = table.stored.layout.id
    writer.empty_table(table.stored, backup_name(_stored(number)))
    for index in table.vector_indexes:
        writer.vectors.drop(table_id, index.number)
        writer.vectors.create(table_id, index.number, len(index.schema))
    backup = _backup(table, number, name, "SYSTEM", counted, now_s)
    writer.archives.keep_record(_KIND, number, orjson.dumps(backup))
    return backup


def _backup(table: Table, number: str, name: str, type_: BackupType, counted: tuple[int, int], now_s: float) -> Backup:
    count, size_bytes = counted
    details: Answer = {
        "BackupArn": f"{table.arn()}/backup/{number}",
        "BackupName": name,
        "BackupSizeBytes": size_bytes,
        "BackupStatus": "AVAILABLE",
        "BackupType": type_,
        "BackupCreationDateTime": round(now_s, 3),
    }
    if type_ == "SYSTEM":
        details["BackupExpiryDateTime"] = round(now_s + SYSTEM_LIFETIME_S, 3)
    return {
        "Details": details,
        "Source": _source(table, count, size_bytes),
        "Features": {} if type_ == "SYSTEM" else _features(table),
        "Definition": {member: value for member, value in table.definition.items() if member != COPYING},
    }


def _stored(number: str) -> str:
    return number.replace("-", "_")


def _source(table: Table, count: int, size_bytes: int) -> Answer:
    definition = table.definition
    units = definition.get("ProvisionedThroughput") or {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}
    source: Answer = {
        "TableName": table.name,
        "TableId": table_id(table),
        "TableArn": table.arn(),
        "TableSizeBytes": size_bytes,
        "KeySchema": definition["KeySchema"],
        "TableCreationDateTime": definition["CreationDateTime"],
        "ProvisionedThroughput": units,
        "ItemCount": count,
        "BillingMode": definition["BillingMode"],
    }
    if definition.get("OnDemandThroughput"):
        source["OnDemandThroughput"] = definition["OnDemandThroughput"]
    return source


def _features(table: Table) -> Answer:
    definition = table.definition
    features: Answer = {}
    for member in INDEX_OVERRIDES:
        if definition.get(member):
            features[member] = [
                {name: index[name] for name in KEPT_BY_INDEX if index.get(name) is not None}
                for index in definition[member]
            ]
    if definition.get("StreamSpecification", {}).get("StreamEnabled"):
        features["StreamDescription"] = definition["StreamSpecification"]
    if definition.get("TimeToLive"):
        features["TimeToLiveDescription"] = {"TimeToLiveStatus": "ENABLED", "AttributeName": definition["TimeToLive"]}
    if definition.get("SSESpecification", {}).get("Enabled"):
        features["SSEDescription"] = describe_encryption(table)
    return features


def find_backup(reader: Reader, arn: str) -> Backup:
    """The backup with this ARN, whose Region is ignored. Raises ValidationException or BackupNotFoundException."""
    match = _ARN.fullmatch(arn)
    if match is None:
        raise service_errors.ValidationException("Invalid Backup ARN")
    body = reader.archives.record(_KIND, match["number"])
    if body is None:
        raise service_errors.BackupNotFoundException(f"Backup not found: {arn}")
    backup: Backup = orjson.loads(body)
    if backup["Source"]["TableName"] != match["table"]:
        raise service_errors.BackupNotFoundException(f"Backup not found: {arn}")
    return backup


def latest_backup(database: Database, arn: str) -> Backup:
    """``find_backup`` in the current state; raises the same errors. An abandoned backup is finished first."""
    backup = database.storage.read(lambda reader: find_backup(reader, arn))
    if backup["Details"]["BackupStatus"] == "CREATING" and database.goes_on_with_all():
        return database.storage.read(lambda reader: find_backup(reader, arn))
    return backup


def latest_backups(database: Database) -> list[Backup]:
    backups = database.storage.read(all_backups)
    if any(each["Details"]["BackupStatus"] == "CREATING" for each in backups) and database.goes_on_with_all():
        return database.storage.read(all_backups)
    return backups


def check_made(backup: Backup) -> None:
    """Reject a backup that is being created. Raises BackupInUseException."""
    if backup["Details"]["BackupStatus"] == "CREATING":
        raise service_errors.BackupInUseException(f"Backup is being created: {backup['Details']['BackupArn']}")


def number_of(backup: Backup) -> str:
    arn: str = backup["Details"]["BackupArn"]
    return arn.rpartition("/")[2]


def items_name(backup: Backup) -> str:
    return _stored(number_of(backup))


def all_backups(reader: Reader) -> list[Backup]:
    """All backups, oldest first."""
    return [orjson.loads(body) for _, body in reader.archives.records(_KIND)]


def drop_backup(writer: Writer, backup: Backup) -> None:
    writer.archives.drop_backup(items_name(backup))
    writer.archives.drop_record(_KIND, number_of(backup))


def described(backup: Backup, status: str | None = None) -> Answer:
    details = backup["Details"] if status is None else {**backup["Details"], "BackupStatus": status}
    return {
        "BackupDetails": details,
        "SourceTableDetails": backup["Source"],
        "SourceTableFeatureDetails": backup["Features"],
    }


def expire_backups(database: Database) -> int:
    """Remove expired backups; returns their number. Writes nothing if no backup has expired."""

    def is_over(backup: Backup, now_s: float) -> bool:
        return bool(backup["Details"].get("BackupExpiryDateTime", now_s) < now_s)

    def work(writer: Writer) -> int:
        over = [backup for backup in all_backups(writer) if is_over(backup, now_s)]
        for backup in over:
            drop_backup(writer, backup)
        return len(over)

    now_s = database.clock()
    if not any(is_over(backup, now_s) for backup in database.storage.read(all_backups)):
        return 0
    return database.write(work)
