"""DescribeContinuousBackups."""

from __future__ import annotations

from keyplan.engine.database import Database, plain_name
from keyplan.engine.history import describe_history
from keyplan.engine.requests import Answer, Request
from keyplan.wire.errors import TableNotFoundException


def describe_continuous_backups(database: Database, request: Request) -> Answer:
    """Whether point-in-time recovery is on, and what it reaches."""
    table = database.find(request["TableName"])
    if table is None or database.states(table).restoring:
        raise TableNotFoundException(f"Table not found: {plain_name(request['TableName'])}")
    return {"ContinuousBackupsDescription": describe_history(table, database.clock())}
