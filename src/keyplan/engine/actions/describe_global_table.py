"""DescribeGlobalTable."""

from __future__ import annotations

from keyplan.engine.database import Database
from keyplan.engine.globaltables import global_table_not_found
from keyplan.engine.requests import Answer, Request


def describe_global_table(database: Database, request: Request) -> Answer:  # noqa: ARG001 - no store has one
    """Global tables of the version of 2017 can't be made any more, so there is none: what the service says of all."""
    raise global_table_not_found(request["GlobalTableName"])
