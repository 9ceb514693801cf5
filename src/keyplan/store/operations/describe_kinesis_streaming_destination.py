"""DescribeKinesisStreamingDestination: the Kinesis destinations of a table."""

from __future__ import annotations

from keyplan.store.control_plane.table_settings import destinations
from keyplan.store.database import Database, plain_name
from keyplan.store.requests.request_expressions import Answer, Request


def describe_kinesis_streaming_destination(database: Database, request: Request) -> Answer:
    name: str = request["TableName"]
    return {"TableName": plain_name(name), "KinesisDataStreamDestinations": destinations(database, name)}
