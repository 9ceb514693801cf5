"""DeleteBackup. The backup of a deleted table expires automatically."""

from __future__ import annotations

from keyplan.dynamodb.service_errors import ValidationException
from keyplan.store.backups.backup_records import Backup, check_made, described, drop_backup, find_backup, latest_backup
from keyplan.store.backups.point_in_time import shown_moment
from keyplan.store.backups.table_copies import check_unused
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.storage.storage_transactions import Writer


def delete_backup(database: Database, request: Request) -> Answer:
    def work(writer: Writer) -> Backup:
        backup = find_backup(writer, request["BackupArn"])
        if backup["Details"]["BackupType"] == "SYSTEM":
            arn, expiry_s = backup["Details"]["BackupArn"], backup["Details"]["BackupExpiryDateTime"]
            raise ValidationException(
                f"Invalid Request: User is not allowed to delete the system backup with arn {arn}. "
                f"It will automatically expire on {shown_moment(expiry_s)}"
            )
        check_made(backup)
        check_unused(database, writer, backup["Details"]["BackupArn"], "table")
        drop_backup(writer, backup)
        return backup

    latest_backup(database, request["BackupArn"])
    database.goes_on_with_all()
    return {"BackupDescription": described(database.write(work), "DELETED")}
