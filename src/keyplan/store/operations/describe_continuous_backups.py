"""DescribeContinuousBackups: the status of point-in-time recovery and its recovery period."""

from __future__ import annotations

from keyplan.dynamodb.service_errors import TableNotFoundException
from keyplan.store.backups.point_in_time import describe_history
from keyplan.store.database import Database, plain_name
from keyplan.store.requests.request_expressions import Answer, Request


def describe_continuous_backups(database: Database, request: Request) -> Answer:
    table = database.find(request["TableName"])
    if table is None or database.states(table).restoring:
        raise TableNotFoundException(f"Table not found: {plain_name(request['TableName'])}")
    return {"ContinuousBackupsDescription": describe_history(table, database.clock())}
