"""DisableKinesisStreamingDestination."""

from __future__ import annotations

from keyplan.store.control_plane.table_settings import destinations, not_active
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request


def disable_kinesis_streaming_destination(database: Database, request: Request) -> Answer:
    """Refuse, since no destination is in use."""
    destinations(database, request["TableName"])  # the table must be there
    raise not_active("KinesisStreamingDestination must be ACTIVE to perform DISABLE operation.")
