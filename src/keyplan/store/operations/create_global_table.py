"""CreateGlobalTable: rejected, because global tables of version 2017.11.29 can no longer be created."""

from __future__ import annotations

from keyplan.dynamodb.service_errors import one_or_more
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.tables.resources import VERSION_GONE


def create_global_table(database: Database, request: Request) -> Answer:  # noqa: ARG001 - the service rejects all requests
    raise one_or_more(VERSION_GONE)
