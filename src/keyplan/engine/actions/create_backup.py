"""CreateBackup."""

from __future__ import annotations

from keyplan.engine.backups import Backup, make_backup
from keyplan.engine.database import Database, plain_name
from keyplan.engine.requests import Answer, Request
from keyplan.engine.settling import check_backups, states_of
from keyplan.engine.storage.transactions import Writer
from keyplan.wire.errors import TableNotFoundException


def create_backup(database: Database, request: Request) -> Answer:
    """Back a table up. A name may be given to several backups: their ARNs tell them apart."""
    name = plain_name(request["TableName"])

    def work(writer: Writer) -> Backup:
        table = database.fresh(writer).get(name)
        if table is None:
            raise TableNotFoundException(f"Table not found: {name}")
        check_backups(name, states_of(table.definition, database.clock()))
        return make_backup(writer, table, request["BackupName"], "USER", database.clock())

    backup = database.write(work)
    return {"BackupDetails": {**backup["Details"], "BackupStatus": "CREATING"}}
