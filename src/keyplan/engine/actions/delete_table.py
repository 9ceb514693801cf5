"""DeleteTable."""

from __future__ import annotations

from keyplan.engine.backups import DELETED_SUFFIX, make_backup
from keyplan.engine.database import Database, plain_name
from keyplan.engine.describe import describe
from keyplan.engine.replicas import drop_replication, leave
from keyplan.engine.requests import Answer, Request
from keyplan.engine.storage.transactions import Writer
from keyplan.engine.streams.lifecycle import disable
from keyplan.wire.errors import ValidationException, table_not_found

_NOT_TOLD = frozenset({"AttributeDefinitions", "KeySchema", "CreationDateTime"})
"""What the description of a table that goes doesn't have any more."""


def delete_table(database: Database, request: Request) -> Answer:
    """Remove a table with all that is in it."""
    name = plain_name(request["TableName"])

    def work(writer: Writer) -> Answer:
        table = database.fresh(writer).get(name)
        if table is None:
            raise table_not_found(name)
        if table.definition["DeletionProtectionEnabled"]:
            raise ValidationException(
                "Resource cannot be deleted as it is currently protected against deletion. "
                "Disable deletion protection first."
            )
        if table.keeps_history:
            now_s = database.clock()
            make_backup(writer, table, f"{name}{DELETED_SUFFIX}", "SYSTEM", now_s)
            writer.archives.end_history(table.stored.layout.id)
        if table.stream is not None:
            disable(writer.changes, table.definition, database.clock())
        drop_replication(writer, table)
        for index in table.vector_indexes:
            writer.vectors.drop(table.stored.layout.id, index.number)
        writer.drop_table(table.stored)
        described = describe(table, None, "DELETING")
        return {"TableDescription": {name: value for name, value in described.items() if name not in _NOT_TOLD}}

    answer = database.write(work)
    if database.group is not None:
        leave(database.group, name, database.region)
    database.refresh()
    return answer
