"""DescribeBackup."""

from __future__ import annotations

from keyplan.engine.backups import described, latest_backup
from keyplan.engine.database import Database
from keyplan.engine.requests import Answer, Request


def describe_backup(database: Database, request: Request) -> Answer:
    """What a backup holds, and what its table was."""
    return {"BackupDescription": described(latest_backup(database, request["BackupArn"]))}
