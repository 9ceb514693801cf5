"""UpdateKinesisStreamingDestination: rejected, because no destination is active."""

from __future__ import annotations

from keyplan.dynamodb.service_errors import ValidationException
from keyplan.store.control_plane.table_settings import destinations, not_active
from keyplan.store.database import Database, plain_name
from keyplan.store.requests.request_expressions import Answer, Request


def update_kinesis_streaming_destination(database: Database, request: Request) -> Answer:
    name: str = request["TableName"]
    destinations(database, name)  # raises if the table doesn't exist
    configuration = request.get("UpdateKinesisStreamingConfiguration") or {}
    if configuration.get("ApproximateCreationDateTimePrecision") is None:
        raise ValidationException(
            "Streaming destination cannot be updated with given parameters: "
            "UpdateKinesisStreamingConfiguration cannot be null or contain only null values"
        )
    raise not_active(
        "Kinesis streaming is not in ACTIVE state. Updates are only allowed in ACTIVE state. "
        f"TableName: {plain_name(name)}, kdsArn: {request['StreamArn']}"
    )
