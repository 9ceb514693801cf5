"""UpdateTableReplicaAutoScaling: store auto scaling settings of a global table's replicas, without effect."""

from __future__ import annotations

from keyplan.store.database import Database
from keyplan.store.replication.auto_scaling import change_scaling, describe_scaling
from keyplan.store.requests.request_expressions import Answer, Request


def update_table_replica_auto_scaling(database: Database, request: Request) -> Answer:
    change_scaling(database, request)
    return {"TableAutoScalingDescription": describe_scaling(database, request["TableName"])}
