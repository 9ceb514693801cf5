"""Backups: the items of a table as they were, and what the table was, under an ARN of their own. They outlive it.

A backup is made in one transaction, so it holds the table at one moment. What it says of itself, and the texts of
errors, are those of the service's answers.
"""

from __future__ import annotations

import re
import secrets
from typing import Any, Literal

import orjson

from keyplan.engine.database import Database
from keyplan.engine.describe import describe_encryption, table_id
from keyplan.engine.requests import Answer
from keyplan.engine.storage.transactions import Reader, Writer
from keyplan.engine.tables import Table
from keyplan.wire.errors import BackupNotFoundException, ValidationException

Backup = dict[str, Any]
BackupType = Literal["USER", "SYSTEM"]

SYSTEM_LIFETIME_S = 35 * 86_400.0
"""How long the backup is kept that a table leaves when it is deleted while it keeps a history."""
DELETED_SUFFIX = "$DeletedTableBackup"
"""What its name ends with."""
_KIND = "backup"
_ARN = re.compile(r"arn:[a-z-]+:dynamodb:[a-z0-9-]+:\d{12}:table/([^/]+)/backup/(\d+-[0-9a-f]{8})")


def make_backup(writer: Writer, table: Table, name: str, type_: BackupType, now_s: float) -> Backup:
    """Back a table up, in this transaction."""
    suffix = "00000000" if type_ == "SYSTEM" else secrets.token_hex(4)
    number = f"{int(now_s * 1000):014d}-{suffix}"
    rows = writer.rows(table.stored)
    count, size_bytes = writer.archives.back_up(_stored(number), (row[1:] for row in rows))
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
    backup = {
        "Details": details,
        "Source": _source(table, count, size_bytes),
        "Features": {} if type_ == "SYSTEM" else _features(table),
        "Definition": dict(table.definition),
    }
    writer.archives.keep_record(_KIND, number, orjson.dumps(backup))
    return backup


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
    for member, names in {
        "LocalSecondaryIndexes": ("IndexName", "KeySchema", "Projection"),
        "GlobalSecondaryIndexes": (
            "IndexName",
            "KeySchema",
            "Projection",
            "ProvisionedThroughput",
            "OnDemandThroughput",
        ),
        "VectorIndexes": (
            "IndexName",
            "VectorAttribute",
            "SearchSchema",
            "Projection",
            "Dimensions",
            "DistanceFunction",
        ),
    }.items():
        if definition.get(member):
            features[member] = [
                {name: index[name] for name in names if index.get(name) is not None} for index in definition[member]
            ]
    if definition.get("StreamSpecification", {}).get("StreamEnabled"):
        features["StreamDescription"] = definition["StreamSpecification"]
    if definition.get("TimeToLive"):
        features["TimeToLiveDescription"] = {
            "TimeToLiveStatus": "ENABLED",
            "AttributeName": definition["TimeToLive"],
        }
    if definition.get("SSESpecification", {}).get("Enabled"):
        features["SSEDescription"] = describe_encryption(table)
    return features


def find_backup(reader: Reader, arn: str) -> Backup:
    """A backup by its ARN, in any region.

    Raises:
        ValidationException: it isn't the ARN of a backup.
        BackupNotFoundException: there is no such backup.
    """
    match = _ARN.fullmatch(arn)
    if match is None:
        raise ValidationException("Invalid Backup ARN")
    body = reader.archives.record(_KIND, match[2])
    if body is None:
        raise BackupNotFoundException(f"Backup not found: {arn}")
    backup: Backup = orjson.loads(body)
    if backup["Source"]["TableName"] != match[1]:
        raise BackupNotFoundException(f"Backup not found: {arn}")
    return backup


def number_of(backup: Backup) -> str:
    """The last part of a backup's ARN."""
    arn: str = backup["Details"]["BackupArn"]
    return arn.rpartition("/")[2]


def items_name(backup: Backup) -> str:
    """The name under which the items of a backup are kept."""
    return _stored(number_of(backup))


def all_backups(reader: Reader) -> list[Backup]:
    """All backups, the oldest first."""
    return [orjson.loads(body) for _, body in reader.archives.records(_KIND)]


def drop_backup(writer: Writer, backup: Backup) -> None:
    """Remove a backup with its items."""
    writer.archives.drop_backup(items_name(backup))
    writer.archives.drop_record(_KIND, number_of(backup))


def described(backup: Backup, status: str | None = None) -> Answer:
    """The ``BackupDescription``."""
    details = backup["Details"] if status is None else {**backup["Details"], "BackupStatus": status}
    return {
        "BackupDetails": details,
        "SourceTableDetails": backup["Source"],
        "SourceTableFeatureDetails": backup["Features"],
    }


def expire_backups(database: Database) -> int:
    """Remove the backups whose time is over; how many there were. While there are none, nothing is written."""

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
