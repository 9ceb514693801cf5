"""DescribeTable."""

from __future__ import annotations

from keyplan.engine.database import Database
from keyplan.engine.describe import describe
from keyplan.engine.requests import Answer, Request


def describe_table(database: Database, request: Request) -> Answer:
    """Say what a table is."""
    table = database.described_table(request["TableName"])
    return {"Table": describe(table, database.counts, database.states(table))}
