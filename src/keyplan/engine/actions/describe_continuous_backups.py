"""DescribeContinuousBackups."""

from __future__ import annotations

from keyplan.engine.database import Database, plain_name
from keyplan.engine.requests import Answer, Request
from keyplan.wire.errors import TableNotFoundException


def describe_continuous_backups(database: Database, request: Request) -> Answer:
    """What the service says of every table whose point-in-time recovery was never switched on. Tools that only look at
    a table (Terraform) ask for it; switching it on isn't supported.
    """
    if database.find(request["TableName"]) is None:
        raise TableNotFoundException(f"Table not found: {plain_name(request['TableName'])}")
    return {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"},
        }
    }
