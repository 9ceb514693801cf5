"""Kinesis destinations of tables: there is no Kinesis here, so a table can only have some that couldn't be enabled.

That is what the service makes of a stream that it can't reach: the call is accepted, and the destination fails soon
after. Texts and states are those of the service, as reports of its answers tell.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from keyplan.dynamodb.service_errors import ValidationException, table_not_found
from keyplan.store.database import Database, plain_name
from keyplan.store.storage.storage_transactions import Writer

DESTINATIONS = "KinesisDestinations"
"""The member of a table's definition that lists them."""

_NO_STATE = "Table is not in a valid state to enable Kinesis Streaming Destination: "
_FAILED = {
    "DestinationStatus": "ENABLE_FAILED",
    "DestinationStatusDescription": "User does not have a permission to use kinesis stream",
}

Destination = Mapping[str, Any]


def destinations(database: Database, name: str) -> list[Destination]:
    """The destinations of a table, the latest first."""
    result: list[Destination] = database.described_table(name).definition.get(DESTINATIONS) or []
    return result


def add_destination(database: Database, name: str, arn: str, precision: str | None) -> None:
    """Store a destination that couldn't be enabled, in place of one with the same stream."""
    name = plain_name(name)
    destination = {"StreamArn": arn, **_FAILED}
    if precision is not None:
        destination["ApproximateCreationDateTimePrecision"] = precision

    def work(writer: Writer) -> None:
        table = database.fresh(writer).get(name)
        if table is None:
            raise table_not_found(name)
        others = [each for each in table.definition.get(DESTINATIONS) or [] if each["StreamArn"] != arn]
        writer.define(table.stored.layout.id, json.dumps({**table.definition, DESTINATIONS: [destination, *others]}))

    database.write(work)
    database.refresh()


def not_active(what: str) -> ValidationException:
    """The error of a call that needs a destination in use."""
    return ValidationException(_NO_STATE + what)
