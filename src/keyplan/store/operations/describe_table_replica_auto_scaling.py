"""DescribeTableReplicaAutoScaling."""

from __future__ import annotations

from keyplan.store.database import Database, plain_name
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.tables.resources import no_replicas, replication_of

_DISABLED = {"AutoScalingDisabled": True, "ScalingPolicies": []}


def describe_table_replica_auto_scaling(database: Database, request: Request) -> Answer:
    """The auto scaling settings of a global table's replicas: disabled."""
    table = database.find(request["TableName"])
    replication = None if table is None else replication_of(table)
    if table is None or replication is None:
        raise no_replicas(plain_name(request["TableName"]))
    indexes = [
        {"IndexName": index.name, "IndexStatus": "ACTIVE", **_settings("Provisioned")}
        for index in table.indexes
        if not index.is_local
    ]
    replicas = [
        {
            "RegionName": region,
            "GlobalSecondaryIndexes": indexes,
            **_settings("ReplicaProvisioned"),
            "ReplicaStatus": "ACTIVE",
        }
        for region in replication["Regions"]
    ]
    return {"TableAutoScalingDescription": {"TableName": table.name, "TableStatus": "ACTIVE", "Replicas": replicas}}


def _settings(prefix: str) -> Answer:
    return {f"{prefix}{direction}CapacityAutoScalingSettings": _DISABLED for direction in ("Read", "Write")}
