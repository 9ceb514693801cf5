"""DescribeBackup: a backup and its source table."""

from __future__ import annotations

from keyplan.store.backups.backup_records import described, latest_backup
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request


def describe_backup(database: Database, request: Request) -> Answer:
    return {"BackupDescription": described(latest_backup(database, request["BackupArn"]))}
