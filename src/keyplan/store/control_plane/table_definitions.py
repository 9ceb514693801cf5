"""Changes of what is stored of a table beside its items: read fresh, changed and written in one transaction."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from keyplan.dynamodb.service_errors import table_not_found
from keyplan.errors import DynamoDBError
from keyplan.store.database import Database, plain_name
from keyplan.store.state_delays import states_of
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.tables.table import Table

Members = dict[str, Any]


def change_definition(
    database: Database,
    name: str,
    change: Callable[[Table], Members],
    missing: Callable[[str], DynamoDBError] = table_not_found,
) -> Table:
    """Store other members in a table's definition: those that ``change`` gives, or none if it gives none. A member of
    None is removed.

    Returns:
        The table, as it is now.

    Raises:
        DynamoDBError: what ``missing`` makes of the name of a table that isn't there, or what ``change`` raises.
    """
    name = plain_name(name)

    def work(writer: Writer) -> None:
        table = database.fresh(writer).get(name)
        if table is None or states_of(table.definition, database.clock()).restoring:
            raise missing(name)
        members = change(table)
        if members:
            merged = {**table.definition, **members}
            kept = {member: value for member, value in merged.items() if value is not None or member not in members}
            writer.define(table.stored.layout.id, json.dumps(kept))

    database.write(work)
    return database.described_table(name)
