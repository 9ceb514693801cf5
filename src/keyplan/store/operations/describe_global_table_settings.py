"""DescribeGlobalTableSettings."""

from __future__ import annotations

from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.tables.resources import settings_not_found


def describe_global_table_settings(database: Database, request: Request) -> Answer:  # noqa: ARG001 - no store has one
    """Only global tables of the version of 2017 have such settings, and there are none: see DescribeGlobalTable."""
    raise settings_not_found(request["GlobalTableName"])
