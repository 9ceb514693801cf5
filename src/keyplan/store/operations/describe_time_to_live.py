"""DescribeTimeToLive: the TTL attribute of a table and its status."""

from __future__ import annotations

from keyplan.dynamodb.service_errors import ValidationException
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request


def describe_time_to_live(database: Database, request: Request) -> Answer:
    table = database.described_table(request["TableName"])
    states = database.states(table)
    state = states.table
    if state in {"CREATING", "DELETING"}:
        raise ValidationException(
            f"Cannot describe time to live while table is in {state} state: Current table state is {state}"
        )
    attribute = table.definition.get("TimeToLive")
    if states.expiring:
        status = "DISABLING" if attribute is None else "ENABLING"
        return {"TimeToLiveDescription": {"TimeToLiveStatus": status, "AttributeName": states.expiring}}
    if attribute is None:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": attribute}}
