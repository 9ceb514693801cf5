"""RestoreTableFromBackup: create a table from a backup."""

from __future__ import annotations

from keyplan.store.backups.backup_records import Backup, check_made, find_backup, items_name, latest_backup
from keyplan.store.backups.restoring import begin_restored, of_backup, restored
from keyplan.store.backups.table_copies import check_free, check_unused, copied_definition
from keyplan.store.chunked_work import TableWork
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.storage.storage_transactions import Writer


def restore_table_from_backup(database: Database, request: Request) -> Answer:
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
    return restored(database, name, work)


def _summary(backup: Backup) -> Answer:
    return {
        "SourceBackupArn": backup["Details"]["BackupArn"],
        "SourceTableArn": backup["Source"]["TableArn"],
        "RestoreDateTime": backup["Details"]["BackupCreationDateTime"],
        "RestoreInProgress": True,
    }
