"""The requests of the streams' API, and of Kinesis destinations. Members and limits are those of the API reference,
those that it gives in prose included.
"""

from __future__ import annotations

from collections.abc import Mapping

from keyplan.dynamodb import limits
from keyplan.dynamodb.operations.members import MANAGED_TABLE, PLAIN_NAME
from keyplan.dynamodb.operations.shapes import Real, Shape, Structure, Text, Whole, structure

STREAM_ARN = Text(37, 1024)
SHARD_ID = Text(28, 65)
ITERATOR_TYPE = Text(enum=("TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER", "AT_TIMESTAMP"))

REQUESTS: Mapping[str, Structure] = {
    "ListStreams": structure(TableName=PLAIN_NAME, Limit=Whole(1, 100, bits=32), ExclusiveStartStreamArn=STREAM_ARN),
    "DescribeStream": structure(
        {"StreamArn": STREAM_ARN},
        Limit=Whole(1, 100, bits=32),
        ExclusiveStartShardId=SHARD_ID,
        ShardFilter=structure(Type=Text(enum=("CHILD_SHARDS",)), ShardId=SHARD_ID),
    ),
    "GetShardIterator": structure(
        {"StreamArn": STREAM_ARN, "ShardId": SHARD_ID, "ShardIteratorType": ITERATOR_TYPE},
        SequenceNumber=Text(21, 40),
        Timestamp=Real(),
    ),
    "GetRecords": structure({"ShardIterator": Text(1, 2048)}, Limit=Whole(1, limits.STREAM_RECORDS_MAX, bits=32)),
}
"""The requests of ``DynamoDBStreams_20120810``."""

_DESTINATION: dict[str, Shape] = {"TableName": MANAGED_TABLE, "StreamArn": STREAM_ARN}
_PRECISION = structure(ApproximateCreationDateTimePrecision=Text(enum=("MILLISECOND", "MICROSECOND")))

DESTINATIONS: Mapping[str, Structure] = {
    "DescribeKinesisStreamingDestination": structure({"TableName": MANAGED_TABLE}),
    "EnableKinesisStreamingDestination": structure(_DESTINATION, EnableKinesisStreamingConfiguration=_PRECISION),
    "DisableKinesisStreamingDestination": structure(_DESTINATION, EnableKinesisStreamingConfiguration=_PRECISION),
    "UpdateKinesisStreamingDestination": structure(_DESTINATION, UpdateKinesisStreamingConfiguration=_PRECISION),
}
"""The requests that concern tables' Kinesis destinations."""
