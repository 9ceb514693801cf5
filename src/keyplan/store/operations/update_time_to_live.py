"""UpdateTimeToLive: set or remove the TTL attribute."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from keyplan.dynamodb.service_errors import ValidationException, table_not_found
from keyplan.store.chunked_work import TableWork
from keyplan.store.control_plane.time_to_live import begin_expiry, expire_by, finish_expiring
from keyplan.store.database import Database, plain_name
from keyplan.store.replication.replicas import others_of
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.state_delays import check_expiring
from keyplan.store.storage.storage_transactions import Writer


def update_time_to_live(database: Database, request: Request) -> Answer:
    name = plain_name(request["TableName"])
    wanted = request["TimeToLiveSpecification"]
    others = others_of(database, database.described_table(name))  # read first: the table may be deleted meanwhile
    _store(database, name, wanted)
    for region in others:
        if database.group is not None:
            _store(database.group.database(region), name, wanted)
    return {"TimeToLiveSpecification": dict(wanted)}


def _store(database: Database, name: str, wanted: Mapping[str, Any]) -> None:
    def work(writer: Writer) -> TableWork | None:
        table = database.fresh(writer).get(name)
        if table is None:
            raise table_not_found(name)
        check_expiring(name, database.states(table))
        now: str | None = table.definition.get("TimeToLive")
        attribute, enables = wanted["AttributeName"], wanted["Enabled"]
        if enables and now == attribute:
            raise ValidationException("TimeToLive is already enabled")
        if not enables and now is None:
            raise ValidationException("TimeToLive is already disabled")
        if now not in {None, attribute}:
            raise ValidationException(
                f"TimeToLive is active on a different AttributeName: current AttributeName is {now}"
            )
        if database.states(table).expiring:
            raise ValidationException("Time to live has been modified multiple times within a fixed interval")
        now_s, state_delay_s = database.clock(), database.state_delay_s
        changed = begin_expiry(table.definition, attribute, enables=enables, now_s=now_s, state_delay_s=state_delay_s)
        writer.define(table.stored.layout.id, json.dumps(changed))
        return expire_by(writer, table, attribute if enables else None)

    expiring = database.write(work)
    database.refresh()
    if expiring is not None:
        finish_expiring(database, expiring)
