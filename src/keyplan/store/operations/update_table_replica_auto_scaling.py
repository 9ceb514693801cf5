"""UpdateTableReplicaAutoScaling."""

from __future__ import annotations

from keyplan.dynamodb.service_errors import one_or_more
from keyplan.store.database import Database
from keyplan.store.operations.describe_table_replica_auto_scaling import describe_table_replica_auto_scaling
from keyplan.store.requests.request_expressions import Answer, Request

_SETTINGS = ("GlobalSecondaryIndexUpdates", "ProvisionedWriteCapacityAutoScalingUpdate", "ReplicaUpdates")


def update_table_replica_auto_scaling(database: Database, request: Request) -> Answer:
    """Reject settings: this store scales nothing."""
    described = describe_table_replica_auto_scaling(database, request)
    if any(request.get(member) for member in _SETTINGS):
        raise one_or_more("This store doesn't support auto scaling")
    return described
