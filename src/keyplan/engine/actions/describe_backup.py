"""DescribeBackup."""

from __future__ import annotations

from keyplan.engine.backups import described, find_backup
from keyplan.engine.database import Database
from keyplan.engine.requests import Answer, Request


def describe_backup(database: Database, request: Request) -> Answer:
    """What a backup holds, and what its table was."""
    backup = database.storage.read(lambda reader: find_backup(reader, request["BackupArn"]))
    return {"BackupDescription": described(backup)}
