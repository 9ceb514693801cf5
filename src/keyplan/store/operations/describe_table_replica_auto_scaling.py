"""DescribeTableReplicaAutoScaling: describe the auto scaling settings of each replica."""

from __future__ import annotations

from keyplan.store.database import Database
from keyplan.store.replication.auto_scaling import describe_scaling
from keyplan.store.requests.request_expressions import Answer, Request


def describe_table_replica_auto_scaling(database: Database, request: Request) -> Answer:
    return {"TableAutoScalingDescription": describe_scaling(database, request["TableName"])}
