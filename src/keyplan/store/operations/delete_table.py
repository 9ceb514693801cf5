"""DeleteTable: delete a table with its contents."""

from __future__ import annotations

import json

from keyplan.dynamodb.service_errors import ValidationException, table_not_found
from keyplan.store.backups.backup_records import DELETED_SUFFIX, keep_as_backup
from keyplan.store.backups.point_in_time import is_restored
from keyplan.store.database import Database, plain_name
from keyplan.store.replication.replicas import leave, one_of_a_group
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.state_delays import States, begin_deletion, check_deletable, is_gone, states_of
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.streams import disable
from keyplan.store.tables.resources import forget_table, replication_of
from keyplan.store.tables.table_description import describe

_ABSENT = frozenset({"AttributeDefinitions", "KeySchema", "CreationDateTime", "GlobalSecondaryIndexes"})
"""Members of a table's description that are absent once it is being deleted."""


def delete_table(database: Database, request: Request) -> Answer:
    name = plain_name(request["TableName"])

    def work(writer: Writer) -> Answer:
        tables = database.fresh(writer)
        table = tables.get(name)
        now_s = database.clock()
        if table is None or is_gone(table.definition, now_s):
            raise table_not_found(name)
        check_deletable(
            name,
            states_of(table.definition, now_s),
            is_copied=bool(table.copying) or is_restored(table, tables.values()),
        )
        if table.definition["DeletionProtectionEnabled"]:
            raise ValidationException(
                "Resource cannot be deleted as it is currently protected against deletion. "
                "Disable deletion protection first."
            )
        replication = replication_of(table)
        if replication is not None and replication.get("Strong"):
            raise one_of_a_group()
        if table.keeps_history:
            keep_as_backup(writer, table, f"{name}{DELETED_SUFFIX}", counted, now_s)
        definition = dict(table.definition)
        if table.stream is not None:
            definition = disable(writer.changes, table.definition, now_s)
        if database.state_delay_s:
            going = begin_deletion(definition, now_s, database.state_delay_s)
            writer.define(table.stored.layout.id, json.dumps(going))
        else:
            forget_table(writer, table)
        described = describe(table, None, States("DELETING"))
        return {"TableDescription": {name: value for name, value in described.items() if name not in _ABSENT}}

    known = database.shown_table(name)
    database.goes_on_with_all()
    counted = known.stored.count(None) if known.keeps_history else (0, 0)
    answer = database.write(work)
    if database.group is not None:
        leave(database.group, name, database.region)
    database.refresh()
    return answer
