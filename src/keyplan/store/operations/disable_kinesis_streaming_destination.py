"""DisableKinesisStreamingDestination: rejected, because no destination is active."""

from __future__ import annotations

from keyplan.store.control_plane.table_settings import destinations, not_active
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request


def disable_kinesis_streaming_destination(database: Database, request: Request) -> Answer:
    destinations(database, request["TableName"])  # raises if the table doesn't exist
    raise not_active("KinesisStreamingDestination must be ACTIVE to perform DISABLE operation.")
