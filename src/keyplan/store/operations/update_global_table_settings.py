"""UpdateGlobalTableSettings: rejected as not found (see DescribeGlobalTable)."""

from __future__ import annotations

from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.tables.resources import settings_not_found


def update_global_table_settings(database: Database, request: Request) -> Answer:  # noqa: ARG001 - no global table of this version exists
    raise settings_not_found(request["GlobalTableName"])
