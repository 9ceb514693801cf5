"""EnableKinesisStreamingDestination: the destination is accepted and fails, because it's unreachable."""

from __future__ import annotations

from keyplan.store.control_plane.table_settings import add_destination
from keyplan.store.database import Database, plain_name
from keyplan.store.requests.request_expressions import Answer, Request


def enable_kinesis_streaming_destination(database: Database, request: Request) -> Answer:
    name: str = request["TableName"]
    configuration = request.get("EnableKinesisStreamingConfiguration") or {}
    add_destination(database, name, request["StreamArn"], configuration.get("ApproximateCreationDateTimePrecision"))
    return {
        "TableName": plain_name(name),
        "StreamArn": request["StreamArn"],
        "DestinationStatus": "ENABLING",
        "EnableKinesisStreamingConfiguration": configuration,
    }
