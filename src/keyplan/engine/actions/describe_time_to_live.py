"""DescribeTimeToLive."""

from __future__ import annotations

from keyplan.engine.database import Database
from keyplan.engine.requests import Answer, Request
from keyplan.wire.errors import ValidationException


def describe_time_to_live(database: Database, request: Request) -> Answer:
    """Say which attribute makes a table's items expire."""
    table = database.described_table(request["TableName"])
    state = database.states(table).table
    if state in {"CREATING", "DELETING"}:
        raise ValidationException(
            f"Cannot describe time to live while table is in {state} state: Current table state is {state}"
        )
    attribute = table.definition.get("TimeToLive")
    if attribute is None:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": attribute}}
