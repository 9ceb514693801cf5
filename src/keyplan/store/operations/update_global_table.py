"""UpdateGlobalTable: rejected as not found (see DescribeGlobalTable)."""

from __future__ import annotations

from keyplan.dynamodb.service_errors import ValidationException, one_or_more
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.tables.resources import VERSION_GONE, global_table_not_found


def update_global_table(database: Database, request: Request) -> Answer:  # noqa: ARG001 - no global table of this version exists
    updates = request["ReplicaUpdates"]
    if not updates or any(not any(update.values()) for update in updates):
        raise ValidationException("One or more parameter values were invalid")
    if any(update.get("Create") for update in updates):
        raise one_or_more(VERSION_GONE)
    raise global_table_not_found(request["GlobalTableName"])
