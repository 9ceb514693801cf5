"""DescribeKinesisStreamingDestination."""

from __future__ import annotations

from keyplan.engine.database import Database, plain_name
from keyplan.engine.kinesis import destinations
from keyplan.engine.requests import Answer, Request


def describe_kinesis_streaming_destination(database: Database, request: Request) -> Answer:
    """The Kinesis streams that a table was to be replicated to."""
    name: str = request["TableName"]
    return {"TableName": plain_name(name), "KinesisDataStreamDestinations": destinations(database, name)}
