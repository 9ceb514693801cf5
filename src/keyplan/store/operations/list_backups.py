"""ListBackups: the backups of one or all tables, including deleted tables, in creation order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyplan.dynamodb.service_errors import ValidationException
from keyplan.store.backups.backup_records import Backup, latest_backups
from keyplan.store.database import Database, plain_name
from keyplan.store.requests.request_expressions import Answer, Request

_LIMIT = 100
_SUMMARY = (
    "BackupArn",
    "BackupName",
    "BackupCreationDateTime",
    "BackupExpiryDateTime",
    "BackupStatus",
    "BackupType",
    "BackupSizeBytes",
)


def list_backups(database: Database, request: Request) -> Answer:
    low, high = request.get("TimeRangeLowerBound"), request.get("TimeRangeUpperBound")
    if low is not None and high is not None and low > high:
        raise ValidationException("Time range lower bound must be less than or equal to upper bound")
    after: str = _position(request.get("ExclusiveStartBackupArn") or "")
    chosen = [
        backup
        for backup in latest_backups(database)
        if _fits(backup, request) and _position(backup["Details"]["BackupArn"]) > after
    ]
    limit: int = request.get("Limit") or _LIMIT
    answer: Answer = {"BackupSummaries": [_summary(backup) for backup in chosen[:limit]]}
    if len(chosen) > limit:
        answer["LastEvaluatedBackupArn"] = chosen[limit - 1]["Details"]["BackupArn"]
    return answer


def _position(arn: str) -> str:
    """The sort key of backups: the last part of their ARN, which starts with the time."""
    return arn.rpartition("/")[2]


def _fits(backup: Backup, request: Mapping[str, Any]) -> bool:
    details = backup["Details"]
    made_s: float = details["BackupCreationDateTime"]
    name = request.get("TableName")
    wanted = request.get("BackupType") or "USER"
    low, high = request.get("TimeRangeLowerBound"), request.get("TimeRangeUpperBound")
    return (
        (name is None or backup["Source"]["TableName"] == plain_name(name))
        and wanted in {"ALL", details["BackupType"]}
        and (low is None or made_s >= low)
        and (high is None or made_s < high)
    )


def _summary(backup: Backup) -> Answer:
    source = backup["Source"]
    summary: Answer = {member: source[member] for member in ("TableName", "TableId", "TableArn")}
    return summary | {member: backup["Details"][member] for member in _SUMMARY if member in backup["Details"]}
