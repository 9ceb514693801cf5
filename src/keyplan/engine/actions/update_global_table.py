"""UpdateGlobalTable."""

from __future__ import annotations

from keyplan.engine.database import Database
from keyplan.engine.globaltables import global_table_not_found
from keyplan.engine.requests import Answer, Request
from keyplan.wire.errors import ValidationException


def update_global_table(database: Database, request: Request) -> Answer:  # noqa: ARG001 - no store has one
    """There is no global table of the version of 2017 to change: see DescribeGlobalTable."""
    if not request["ReplicaUpdates"]:
        raise ValidationException("At least one replica update must be specified")
    raise global_table_not_found(request["GlobalTableName"])
