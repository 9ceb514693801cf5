"""Contributor Insights and Kinesis destinations, whose settings are stored but have no effect.

Contributor Insights collects no data; only its status and mode are stored. Kinesis isn't available, so a destination is
accepted and then fails, as in the service for an unreachable stream. Messages, states and defaults are the service's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from keyplan.dynamodb.service_errors import ResourceNotFoundException, ValidationException, table_not_found
from keyplan.errors import DynamoDBError
from keyplan.store.database import Database, plain_name
from keyplan.store.requests.request_expressions import Answer
from keyplan.store.state_delays import states_of
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.tables.table import Table

Members = dict[str, Any]


def change_definition(
    database: Database,
    name: str,
    change: Callable[[Table], Members],
    missing: Callable[[str], DynamoDBError] = table_not_found,
) -> Table:
    """Change members of a table's definition; the value None removes a member. Raises ``missing(name)``."""
    name = plain_name(name)

    def work(writer: Writer) -> None:
        table = database.fresh(writer).get(name)
        if table is None or states_of(table.definition, database.clock()).restoring:
            raise missing(name)
        members = change(table)
        if members:
            merged = {**table.definition, **members}
            kept = {member: value for member, value in merged.items() if value is not None or member not in members}
            writer.define(table.stored.layout.id, json.dumps(kept))

    database.write(work)
    return database.described_table(name)


MEMBER = "ContributorInsights"
"""The member of a table's definition with the settings by index name; ``""`` is the table."""
DEFAULT_MODE = "ACCESSED_AND_THROTTLED_KEYS"


def check_insights_index(table: Table, name: str | None) -> None:
    """Reject a missing or local index, which can't have insights. Raises ResourceNotFoundException."""
    if name is None:
        return
    index = table.index_by_name.get(name)
    if index is None or index.is_local:
        raise ResourceNotFoundException(
            f"Requested resource not found: Index: {name} not found for table: {table.name}"
        )


def insights_of(table: Table, index: str | None) -> Mapping[str, Any]:
    kept: Mapping[str, Any] = table.definition.get(MEMBER, {}).get(index or "", {})
    return kept


def named(table: Table, index: str | None) -> Answer:
    return {"TableName": table.name} if index is None else {"TableName": table.name, "IndexName": index}


def rules(table: Table, index: str | None) -> list[str]:
    """The names of the rules of Contributor Insights: for the partition key and, if the table has one, the sort key."""
    kept = insights_of(table, index)
    keys = table.index_by_name[index].keys if index is not None else table.keys
    kinds = ("T",) if kept["Mode"] != DEFAULT_MODE else ("C", "T")
    subject = table.name if index is None else f"{table.name}-{index}"
    stamp = int(kept["At"] * 1000)
    return [
        f"DynamoDBContributorInsights-{key}{kind}-{subject}-{stamp}"
        for key in (("PK",) if len(keys) == 1 else ("PK", "SK"))
        for kind in kinds
    ]


DESTINATIONS = "KinesisDestinations"
"""The member of a table's definition with the destinations."""

_NO_STATE = "Table is not in a valid state to enable Kinesis Streaming Destination: "
_FAILED = {
    "DestinationStatus": "ENABLE_FAILED",
    "DestinationStatusDescription": "User does not have a permission to use kinesis stream",
}

Destination = Mapping[str, Any]


def destinations(database: Database, name: str) -> list[Destination]:
    """The destinations of a table, latest first."""
    result: list[Destination] = database.described_table(name).definition.get(DESTINATIONS) or []
    return result


def add_destination(database: Database, name: str, arn: str, precision: str | None) -> None:
    """Store a failed destination, replacing one with the same stream."""
    destination = {"StreamArn": arn, **_FAILED}
    if precision is not None:
        destination["ApproximateCreationDateTimePrecision"] = precision

    def change(table: Table) -> Members:
        others = [each for each in table.definition.get(DESTINATIONS) or [] if each["StreamArn"] != arn]
        return {DESTINATIONS: [destination, *others]}

    change_definition(database, name, change)


def not_active(what: str) -> ValidationException:
    return ValidationException(_NO_STATE + what)
