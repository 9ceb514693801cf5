"""RestoreTableFromBackup."""

from __future__ import annotations

from keyplan.engine.backups import Backup, check_made, find_backup, items_name, latest_backup
from keyplan.engine.copies import check_free, check_unused, copied_definition
from keyplan.engine.database import Database
from keyplan.engine.describe import describe
from keyplan.engine.pieces import TableWork
from keyplan.engine.requests import Answer, Request
from keyplan.engine.restoring import begin_restored, finish_restoring, of_backup
from keyplan.engine.settling import States
from keyplan.engine.storage.transactions import Writer


def restore_table_from_backup(database: Database, request: Request) -> Answer:
    """Make a table of what a backup holds."""
    name: str = request["TargetTableName"]

    def work(writer: Writer) -> tuple[Answer, TableWork | None]:
        backup = find_backup(writer, request["BackupArn"])
        check_made(backup)
        check_free(database, writer, name)
        check_unused(database, writer, backup["Details"]["BackupArn"], "another table")
        definition = copied_definition(backup["Definition"], request, database.clock())
        summary = _summary(backup)
        return summary, begin_restored(database, writer, name, definition, of_backup(items_name(backup)), summary)

    latest_backup(database, request["BackupArn"])
    database.goes_on_with_all()
    summary, restoring = database.write(work)
    if restoring is not None:
        finish_restoring(database, restoring)
    description = describe(database.shown_table(name), None, States("CREATING"))
    return {"TableDescription": {**description, "RestoreSummary": summary}}


def _summary(backup: Backup) -> Answer:
    return {
        "SourceBackupArn": backup["Details"]["BackupArn"],
        "SourceTableArn": backup["Source"]["TableArn"],
        "RestoreDateTime": backup["Details"]["BackupCreationDateTime"],
        "RestoreInProgress": True,
    }
