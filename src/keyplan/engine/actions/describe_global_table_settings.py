"""DescribeGlobalTableSettings."""

from __future__ import annotations

from keyplan.engine.database import Database
from keyplan.engine.globaltables import settings_not_found
from keyplan.engine.requests import Answer, Request


def describe_global_table_settings(database: Database, request: Request) -> Answer:  # noqa: ARG001 - no store has one
    """Only global tables of the version of 2017 have such settings, and there are none: see DescribeGlobalTable."""
    raise settings_not_found(request["GlobalTableName"])
