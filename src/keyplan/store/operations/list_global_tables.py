"""ListGlobalTables: always empty, because it lists only global tables of version 2017.11.29."""

from __future__ import annotations

from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request


def list_global_tables(database: Database, request: Request) -> Answer:  # noqa: ARG001 - no global table of this version exists
    return {"GlobalTables": []}
