"""DescribeTable."""

from __future__ import annotations

from keyplan.engine.database import Database
from keyplan.engine.describe import describe
from keyplan.engine.requests import Answer, Request
from keyplan.engine.settling import restore_of


def describe_table(database: Database, request: Request) -> Answer:
    """Say what a table is."""
    table = database.shown_table(request["TableName"])
    description = describe(table, database.counts, database.states(table))
    summary = restore_of(table.definition, database.clock())
    return {"Table": description if summary is None else {**description, "RestoreSummary": summary}}
