"""RestoreTableFromBackup."""

from __future__ import annotations

from keyplan.engine.backups import Backup, check_made, find_backup, items_name, latest_backup
from keyplan.engine.copies import check_free, check_unused, copied_definition, restore_table
from keyplan.engine.database import Database
from keyplan.engine.describe import describe
from keyplan.engine.requests import Answer, Request
from keyplan.engine.settling import States
from keyplan.engine.storage.transactions import Writer


def restore_table_from_backup(database: Database, request: Request) -> Answer:
    """Make a table of what a backup holds, in one transaction: it is whole, or it isn't there."""
    name: str = request["TargetTableName"]

    def work(writer: Writer) -> Answer:
        backup = find_backup(writer, request["BackupArn"])
        check_made(backup)
        check_free(database, writer, name)
        check_unused(database, writer, backup["Details"]["BackupArn"], "another table")
        definition = copied_definition(backup["Definition"], request, database.clock())
        summary = _summary(backup)
        restore_table(database, writer, name, definition, writer.archives.backed_up(items_name(backup)), summary)
        return summary

    latest_backup(database, request["BackupArn"])
    summary = database.write(work)
    description = describe(database.shown_table(name), None, States("CREATING"))
    return {"TableDescription": {**description, "RestoreSummary": summary}}


def _summary(backup: Backup) -> Answer:
    return {
        "SourceBackupArn": backup["Details"]["BackupArn"],
        "SourceTableArn": backup["Source"]["TableArn"],
        "RestoreDateTime": backup["Details"]["BackupCreationDateTime"],
        "RestoreInProgress": True,
    }
