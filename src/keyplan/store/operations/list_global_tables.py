"""ListGlobalTables."""

from __future__ import annotations

from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request


def list_global_tables(database: Database, request: Request) -> Answer:  # noqa: ARG001 - no store has one
    """Lists global tables of the version of 2017 only, and there are none: see DescribeGlobalTable."""
    return {"GlobalTables": []}
