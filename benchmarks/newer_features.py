"""Features that some peers lack: writes with a stream, statements, and vector searches.

Each benchmark fills its own table on each server, and omits servers without the feature.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.lean import Connection, Failed, request_bytes

Make = Callable[[int], bytes]
"""The n-th request of a contest."""
Prepare = Callable[[int], Make]
"""Fills what a contest needs on the server of a port; raises ``Failed`` where it isn't known."""

FILLING_SECONDS_MAX = 900.0
"""A peer that has not taken all vectors by then is left out of their search."""
RECORDS = 1000
DIMENSIONS = 768
VECTORS = 2000
"""Vectors of a short run; ``--vectors 100000`` is what the page shows."""
_PUT_TOGETHER = 25
_SMALL = {"note": {"S": "an order that is changed now and then. " * 4}}


class NotFilled(Exception):
    """A server didn't take in time what is asked for afterwards."""


def _key(number: int) -> dict[str, Any]:
    return {"pk": {"S": f"CUSTOMER#{number % 50:03d}"}, "sk": {"S": f"ORDER#{number:08d}"}}


def _table(name: str, **more: Any) -> dict[str, Any]:
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        "AttributeDefinitions": [{"AttributeName": attribute, "AttributeType": "S"} for attribute in ("pk", "sk")],
        **more,
    }


def _streams_bytes(operation: str, params: dict[str, Any]) -> bytes:
    return request_bytes(operation, params).replace(b"DynamoDB_20120810.", b"DynamoDBStreams_20120810.", 1)


def _ask(connection: Connection, operation: str, params: dict[str, Any], *, streams: bool = False) -> dict[str, Any]:
    make = _streams_bytes if streams else request_bytes
    answer: dict[str, Any] = json.loads(connection.ask(make(operation, params)))
    return answer


def _streamed(connection: Connection, name: str) -> str:
    """Make a table with a stream; its ARN."""
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    _ask(connection, "CreateTable", _table(name, StreamSpecification=stream))
    arn = _ask(connection, "DescribeTable", {"TableName": name})["Table"].get("LatestStreamArn")
    if arn is None:
        raise Failed("UnknownOperation: a stream")
    return str(arn)


def streamed_put(port: int) -> Make:
    """PutItem into a table whose stream keeps both images."""
    connection = Connection(port)
    _streamed(connection, "streamed")
    connection.close()
    return lambda number: request_bytes("PutItem", {"TableName": "streamed", "Item": {**_key(number), **_SMALL}})


def records(port: int) -> Make:
    """GetRecords of a thousand."""
    connection = Connection(port)
    arn = _streamed(connection, "recorded")
    for start in range(0, RECORDS, _PUT_TOGETHER):
        puts = [{"PutRequest": {"Item": _key(number)}} for number in range(start, start + _PUT_TOGETHER)]
        _ask(connection, "BatchWriteItem", {"RequestItems": {"recorded": puts}})
    shards = _ask(connection, "DescribeStream", {"StreamArn": arn}, streams=True)["StreamDescription"]["Shards"]
    wanted = {"StreamArn": arn, "ShardId": shards[0]["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}

    def from_the_start() -> dict[str, Any]:
        """A GetRecords of all of them, anew: iterators live for a quarter of an hour, and a run may be longer. The
        connection is new, too, since some peers close those that were idle.
        """
        asking = Connection(port)
        iterator = _ask(asking, "GetShardIterator", wanted, streams=True)["ShardIterator"]
        asking.close()
        return {"ShardIterator": iterator, "Limit": RECORDS}

    got = len(_ask(connection, "GetRecords", from_the_start(), streams=True)["Records"])
    connection.close()
    if got != RECORDS:
        raise Failed(f"{got} of {RECORDS} records")
    requests: dict[int, bytes] = {}

    def make(_: int) -> bytes:
        minute = int(time.monotonic() // 60)
        if minute not in requests:
            requests[minute] = _streams_bytes("GetRecords", from_the_start())
        return requests[minute]

    return make


def statement(port: int, table: str, count: int, key: Callable[[int], dict[str, Any]]) -> Make:
    """ExecuteStatement of one item by its key."""

    def make(number: int) -> bytes:
        values = key(number * 7919 % count)
        text = f'SELECT * FROM "{table}" WHERE pk = ? AND sk = ?'
        return request_bytes("ExecuteStatement", {"Statement": text, "Parameters": [values["pk"], values["sk"]]})

    connection = Connection(port)
    if len(json.loads(connection.ask(make(3)))["Items"]) != 1:
        raise Failed("another answer")
    connection.close()
    return make


_NUMBERS = [{"N": f"{number / 4096:.4f}"} for number in range(-4096, 4096)]


def vector(drawn: random.Random) -> dict[str, Any]:
    """A vector of numbers between -1 and 1, as an attribute."""
    return {"L": drawn.choices(_NUMBERS, k=DIMENSIONS)}


def search(count: int, port: int) -> Make:
    """SearchVectors: the ten that are nearest, of so many."""
    connection = Connection(port)
    index = {
        "IndexName": "nearest",
        "VectorAttribute": {"AttributeName": "embedding"},
        "Projection": {"ProjectionType": "KEYS_ONLY"},
        "Dimensions": DIMENSIONS,
        "DistanceFunction": "COSINE",
    }
    _ask(connection, "CreateTable", _table("vectors", VectorIndexes=[index]))
    drawn = random.Random(1)

    def make(_: int) -> bytes:
        wanted = {"TableName": "vectors", "IndexName": "nearest", "TopK": 10, "SearchVector": vector(drawn)["L"]}
        return request_bytes("SearchVectors", wanted)

    connection.ask(make(0))  # where it isn't known, nothing needs to be filled
    latest = time.monotonic() + FILLING_SECONDS_MAX
    for start in range(0, count, _PUT_TOGETHER):
        if time.monotonic() > latest:
            raise NotFilled(f"{start:,} of {count:,} vectors in {FILLING_SECONDS_MAX:.0f} s")
        numbers = range(start, min(start + _PUT_TOGETHER, count))
        puts = [{"PutRequest": {"Item": {**_key(number), "embedding": vector(drawn)}}} for number in numbers]
        _ask(connection, "BatchWriteItem", {"RequestItems": {"vectors": puts}})

    if len(json.loads(connection.ask(make(0))).get("SearchResults", ())) != min(10, count):
        raise Failed("UnknownOperation: another answer")
    connection.close()
    return make


def vectors_of(count: int) -> Prepare:
    """The search of vectors among so many."""
    return partial(search, count)
