"""DescribeTableReplicaAutoScaling."""

from __future__ import annotations

from keyplan.engine.database import Database
from keyplan.engine.requests import Answer, Request
from keyplan.engine.scaling import describe_scaling


def describe_table_replica_auto_scaling(database: Database, request: Request) -> Answer:
    """The auto scaling settings of each replica of a global table."""
    return {"TableAutoScalingDescription": describe_scaling(database, request["TableName"])}
