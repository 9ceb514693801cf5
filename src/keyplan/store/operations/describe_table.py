"""DescribeTable."""

from __future__ import annotations

from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.state_delays import joiner_of, restore_of
from keyplan.store.tables.table_description import describe


def describe_table(database: Database, request: Request) -> Answer:
    table = database.shown_table(request["TableName"])
    description = describe(table, database.counts, database.states(table))
    for replica in description.get("Replicas", ()):
        if _is_filling(database, table.name, replica["RegionName"]):
            replica["ReplicaStatus"] = "CREATING"
    summary = restore_of(table.definition, database.clock())
    return {"Table": description if summary is None else {**description, "RestoreSummary": summary}}


def _is_filling(database: Database, name: str, region: str) -> bool:
    """Whether a replica is still being backfilled, which its region's store knows."""
    if database.group is None or region not in database.group.names:
        return False
    replica = database.group.database(region).find(name)
    return replica is not None and joiner_of(replica.definition) is not None
