"""Helpers for tests of streams."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.errors import DynamoDBError
from keyplan.store import Engine
from tests.engine.consumer import Checkpoints, consume, shards
from tests.engine.support import Clock, create, s

START = 1_800_000_000.25
HOUR = 3600.0
INVALID = "One or more parameter values were invalid: "
ITEM = {"pk": s("a"), "sk": s("1")}


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


def streamed(engine: Engine, view: str = "NEW_AND_OLD_IMAGES", name: str = "orders", **more: Any) -> str:
    """Create a table with a stream and return the stream's ARN."""
    made = create(engine, name, StreamSpecification={"StreamEnabled": True, "StreamViewType": view}, **more)
    arn: str = made["TableDescription"]["LatestStreamArn"]
    return arn


def put(engine: Engine, pk: str = "a", **attributes: dict[str, Any]) -> None:
    engine.call("PutItem", {"TableName": "orders", "Item": {"pk": s(pk), "sk": s("1"), **attributes}})


def delete(engine: Engine, pk: str = "a") -> None:
    engine.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s(pk), "sk": s("1")}})


def switch(engine: Engine, view: str | None) -> dict[str, Any]:
    wanted = {"StreamEnabled": False} if view is None else {"StreamEnabled": True, "StreamViewType": view}
    description: dict[str, Any] = engine.call("UpdateTable", {"TableName": "orders", "StreamSpecification": wanted})[
        "TableDescription"
    ]
    return description


def records(engine: Engine, arn: str) -> list[dict[str, Any]]:
    return consume(engine.call, arn, Checkpoints())


def refused(engine: Engine, operation: str, params: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(DynamoDBError) as caught:
        engine.call(operation, params)
    return caught.value.type, caught.value.message


def iterator(engine: Engine, arn: str, kind: str, shard: int = 0, **more: Any) -> str:
    name = shards(engine.call, arn)[shard]["ShardId"]
    answer = engine.call("GetShardIterator", {"StreamArn": arn, "ShardId": name, "ShardIteratorType": kind, **more})
    text: str = answer["ShardIterator"]
    return text


def read(engine: Engine, place: str, **more: Any) -> list[str]:
    """Return the partition keys of the records that GetRecords returns for a shard iterator."""
    answer = engine.call("GetRecords", {"ShardIterator": place, **more})
    return [record["dynamodb"]["Keys"]["pk"]["S"] for record in answer["Records"]]
