"""UpdateTimeToLive."""

from __future__ import annotations

import json

from keyplan.engine.database import Database, plain_name
from keyplan.engine.requests import Answer, Request
from keyplan.engine.storage.port import Writer
from keyplan.wire.errors import ValidationException, table_not_found


def update_time_to_live(database: Database, request: Request) -> Answer:
    """Store which attribute says when items expire, or that none does."""
    name = plain_name(request["TableName"])
    wanted = request["TimeToLiveSpecification"]

    def work(writer: Writer) -> None:
        table = database.fresh(writer).get(name)
        if table is None:
            raise table_not_found(name)
        now: str | None = table.definition.get("TimeToLive")
        if wanted["Enabled"]:
            if now == wanted["AttributeName"]:
                raise ValidationException("TimeToLive is already enabled")
            if now is not None:
                raise ValidationException(
                    "TimeToLive is active on a different AttributeName: current AttributeName is " + now
                )
        elif now is None:
            raise ValidationException("TimeToLive is already disabled")
        elif now != wanted["AttributeName"]:
            raise ValidationException(
                "TimeToLive is active on a different AttributeName: current AttributeName is " + now
            )
        attribute = wanted["AttributeName"] if wanted["Enabled"] else None
        writer.expire_by(table.stored, attribute)
        writer.define(table.stored.layout.id, json.dumps({**table.definition, "TimeToLive": attribute}))

    database.write(work)
    database.refresh()
    return {"TimeToLiveSpecification": dict(wanted)}
