"""DescribeGlobalTable."""

from __future__ import annotations

from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.tables.resources import global_table_not_found


def describe_global_table(database: Database, request: Request) -> Answer:  # noqa: ARG001 - no store has one
    """Global tables of the version of 2017 can't be made any more, so there is none: what the service says of all."""
    raise global_table_not_found(request["GlobalTableName"])
