"""DescribeGlobalTable: rejected as not found, because global tables of version 2017.11.29 can no longer be created."""

from __future__ import annotations

from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.tables.resources import global_table_not_found


def describe_global_table(database: Database, request: Request) -> Answer:  # noqa: ARG001 - no global table of this version exists
    raise global_table_not_found(request["GlobalTableName"])
