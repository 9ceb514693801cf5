"""CreateBackup. Several backups can have the same name; their ARNs differ."""

from __future__ import annotations

from keyplan.dynamodb.service_errors import TableNotFoundException
from keyplan.store.backups.backup_records import Backup, Copying, begin_backup, finish_backup
from keyplan.store.database import Database, plain_name
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.state_delays import check_backups, states_of
from keyplan.store.storage.storage_transactions import Writer


def create_backup(database: Database, request: Request) -> Answer:
    name = plain_name(request["TableName"])

    def work(writer: Writer) -> Backup | Copying:
        table = database.fresh(writer).get(name)
        if table is None:
            raise TableNotFoundException(f"Table not found: {name}")
        check_backups(name, states_of(table.definition, database.clock()))
        return begin_backup(writer, table, request["BackupName"], database.clock())

    begun = database.write(work)
    backup = finish_backup(database, begun) if isinstance(begun, Copying) else begun
    return {"BackupDetails": {**backup["Details"], "BackupStatus": "CREATING"}}
