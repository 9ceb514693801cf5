"""UpdateTableReplicaAutoScaling."""

from __future__ import annotations

from keyplan.engine.database import Database
from keyplan.engine.requests import Answer, Request
from keyplan.engine.scaling import change_scaling, describe_scaling


def update_table_replica_auto_scaling(database: Database, request: Request) -> Answer:
    """Change the auto scaling settings of replicas of a global table. They are kept; nothing scales here."""
    change_scaling(database, request)
    return {"TableAutoScalingDescription": describe_scaling(database, request["TableName"])}
