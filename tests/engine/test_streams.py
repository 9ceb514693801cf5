"""DynamoDB Streams: recorded changes, and streams that are enabled, disabled and deleted."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.errors import DynamoDBError
from keyplan.store import Engine
from tests.engine import streaming
from tests.engine.streaming import HOUR, INVALID, ITEM, START, delete, put, records, refused, streamed, switch
from tests.engine.support import Clock, create, keyed, n, s

clock = streaming.clock

# --- records


def test_stream_records_match_the_developer_guide(engine: Engine) -> None:
    """The records have the sizes and members of the three records in "Reading and processing a stream"."""
    arn = streamed(engine, name="guide", **keyed(Id="N"))
    key = {"Id": n(101)}
    for message in ("New item!", "This item has changed"):
        engine.call("PutItem", {"TableName": "guide", "Item": {**key, "Message": s(message)}})
    engine.call("DeleteItem", {"TableName": "guide", "Key": key})
    result = records(engine, arn)
    assert [record["dynamodb"]["SizeBytes"] for record in result] == [26, 59, 38]
    assert [record["eventName"] for record in result] == ["INSERT", "MODIFY", "REMOVE"]
    first = result[0]
    assert first.keys() == {"eventID", "eventName", "eventVersion", "eventSource", "awsRegion", "dynamodb"}
    assert (first["eventVersion"], first["eventSource"], first["awsRegion"]) == ("1.1", "aws:dynamodb", "local")
    assert len({record["eventID"] for record in result}) == 3
    sequence = first["dynamodb"].pop("SequenceNumber")
    assert sequence.isdecimal()
    assert 21 <= len(sequence) <= 40
    assert first["dynamodb"] == {
        "ApproximateCreationDateTime": int(START),
        "Keys": key,
        "NewImage": {**key, "Message": s("New item!")},
        "SizeBytes": 26,
        "StreamViewType": "NEW_AND_OLD_IMAGES",
    }


@pytest.mark.parametrize(
    ("view", "images"),
    [
        ("KEYS_ONLY", set[str]()),
        ("NEW_IMAGE", {"NewImage"}),
        ("OLD_IMAGE", {"OldImage"}),
        ("NEW_AND_OLD_IMAGES", {"NewImage", "OldImage"}),
    ],
)
def test_stream_view_type_selects_the_recorded_images(engine: Engine, view: str, images: set[str]) -> None:
    arn = streamed(engine, view)
    put(engine, x=n(1))
    put(engine, x=n(2))
    delete(engine)
    made, changed, removed = [record["dynamodb"] for record in records(engine, arn)]
    present = [{name for name in ("NewImage", "OldImage") if name in each} for each in (made, changed, removed)]
    assert present == [images - {"OldImage"}, images, images - {"NewImage"}]
    assert {each["StreamViewType"] for each in (made, changed, removed)} == {view}
    if "OldImage" in images:
        assert changed["OldImage"] == {**ITEM, "x": n(1)}
    assert all(each["Keys"] == ITEM for each in (made, changed, removed))


def test_writes_that_change_no_item_are_not_recorded(engine: Engine) -> None:
    arn = streamed(engine)
    key = {"TableName": "orders", "Key": ITEM}
    put(engine, x=n(1), tags={"SS": ["b", "a"]})
    put(engine, x=n(1), tags={"SS": ["b", "a"]})
    engine.call("PutItem", {"TableName": "orders", "Item": {"tags": {"SS": ["a", "b"]}, "x": n("1.0"), **ITEM}})
    engine.call("UpdateItem", {**key, "UpdateExpression": "REMOVE y"})
    engine.call("UpdateItem", key)
    engine.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s("b"), "sk": s("1")}})
    engine.call(
        "TransactWriteItems",
        {"TransactItems": [{"ConditionCheck": {**key, "ConditionExpression": "attribute_exists(pk)"}}]},
    )
    assert [record["eventName"] for record in records(engine, arn)] == ["INSERT"]


def test_streams_record_every_write_operation(engine: Engine, clock: Clock) -> None:
    arn = streamed(engine)
    engine.call(
        "UpdateTimeToLive",
        {"TableName": "orders", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "until"}},
    )
    put(engine, "a", until=n(int(START) - 10))
    engine.call(
        "BatchWriteItem", {"RequestItems": {"orders": [{"PutRequest": {"Item": {"pk": s("b"), "sk": s("1")}}}]}}
    )
    engine.call(
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": "orders", "Item": {"pk": s("c"), "sk": s("1")}}},
                {"Delete": {"TableName": "orders", "Key": {"pk": s("b"), "sk": s("1")}}},
            ]
        },
    )
    with pytest.raises(DynamoDBError):
        engine.call(
            "TransactWriteItems",
            {
                "TransactItems": [
                    {"Put": {"TableName": "orders", "Item": {"pk": s("d"), "sk": s("1")}}},
                    {
                        "Delete": {
                            "TableName": "orders",
                            "Key": {"pk": s("b"), "sk": s("1")},
                            "ConditionExpression": "attribute_exists(pk)",
                        }
                    },
                ]
            },
        )
    engine.call_together(
        [("PutItem", {"TableName": "orders", "Item": {"pk": s(pk), "sk": s("1")}}) for pk in ("e", "f")]
    )
    assert engine.sweep() == 1
    result = records(engine, arn)
    assert [(record["eventName"], record["dynamodb"]["Keys"]["pk"]["S"]) for record in result] == [
        ("INSERT", "a"),
        ("INSERT", "b"),
        ("INSERT", "c"),
        ("REMOVE", "b"),
        ("INSERT", "e"),
        ("INSERT", "f"),
        ("REMOVE", "a"),
    ]
    assert result[-1]["userIdentity"] == {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
    assert all("userIdentity" not in record for record in result[:-1])


def test_streams_record_keys_of_every_type(engine: Engine) -> None:
    arn = streamed(engine, "KEYS_ONLY", "typed", **keyed(p="B", s="N"))
    key = {"p": {"B": "AAEC/w=="}, "s": n("-12.5")}
    engine.call("PutItem", {"TableName": "typed", "Item": key})
    engine.call("DeleteItem", {"TableName": "typed", "Key": key})
    result = records(engine, arn)
    assert [record["dynamodb"]["Keys"] for record in result] == [key, key]


# --- life cycle


def test_describe_table_returns_the_stream_of_the_table(engine: Engine) -> None:
    arn = streamed(engine)
    described = engine.call("DescribeTable", {"TableName": "orders"})["Table"]
    assert described["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert described["LatestStreamArn"] == arn == f"{described['TableArn']}/stream/{described['LatestStreamLabel']}"
    assert described["LatestStreamLabel"] == "2027-01-15T08:00:00.250"
    assert engine.call("ListStreams", {})["Streams"] == [
        {"StreamArn": arn, "TableName": "orders", "StreamLabel": described["LatestStreamLabel"]}
    ]
    stream = engine.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]
    (shard,) = stream.pop("Shards")
    assert stream == {
        "StreamArn": arn,
        "StreamLabel": described["LatestStreamLabel"],
        "StreamStatus": "ENABLED",
        "StreamViewType": "NEW_AND_OLD_IMAGES",
        "CreationRequestDateTime": START,
        "TableName": "orders",
        "KeySchema": described["KeySchema"],
    }
    assert shard.keys() == {"ShardId", "SequenceNumberRange"}
    assert shard["SequenceNumberRange"].keys() == {"StartingSequenceNumber"}


def test_disabled_stream_can_be_enabled_again(engine: Engine, clock: Clock) -> None:
    first = streamed(engine, "KEYS_ONLY")
    put(engine, "a")
    described = switch(engine, None)
    assert "StreamSpecification" not in described
    assert described["LatestStreamArn"] == first
    put(engine, "b")
    second = switch(engine, "NEW_IMAGE")["LatestStreamArn"]
    put(engine, "c")
    assert first != second
    assert [record["dynamodb"]["Keys"]["pk"]["S"] for record in records(engine, first)] == ["a"]
    assert [record["dynamodb"]["Keys"]["pk"]["S"] for record in records(engine, second)] == ["c"]
    stream = engine.call("DescribeStream", {"StreamArn": first})["StreamDescription"]
    assert (stream["StreamStatus"], stream["StreamViewType"]) == ("DISABLED", "KEYS_ONLY")
    assert all("EndingSequenceNumber" in shard["SequenceNumberRange"] for shard in stream["Shards"])
    listed = [each["StreamArn"] for each in engine.call("ListStreams", {"TableName": "orders"})["Streams"]]
    assert listed == [first, second]
    clock.now_s += 24 * HOUR + 1
    assert [each["StreamArn"] for each in engine.call("ListStreams", {})["Streams"]] == [second]
    assert refused(engine, "DescribeStream", {"StreamArn": first})[0] == "ResourceNotFoundException"
    assert engine.trim_streams() > 0
    assert engine.trim_streams() == 0


def test_stream_of_a_deleted_table_is_readable_for_24_hours(engine: Engine, clock: Clock) -> None:
    arn = streamed(engine)
    put(engine, "a")
    engine.call("DeleteTable", {"TableName": "orders"})
    clock.now_s += HOUR
    assert len(records(engine, arn)) == 1
    again = streamed(engine)
    assert again != arn
    assert records(engine, again) == []
    clock.now_s += 23 * HOUR
    assert refused(engine, "DescribeStream", {"StreamArn": arn}) == (
        "ResourceNotFoundException",
        f"Requested resource not found: Stream: {arn} not found",
    )


def test_invalid_stream_changes_are_rejected(engine: Engine) -> None:
    create(engine)

    def error(specification: dict[str, Any], **more: Any) -> tuple[str, str]:
        return refused(engine, "UpdateTable", {"TableName": "orders", "StreamSpecification": specification, **more})

    keys = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    off = {"StreamEnabled": False}
    assert error(off) == ("ValidationException", "Table has no stream to disable: TableName: orders")
    assert error({"StreamEnabled": True})[1] == INVALID + "If stream is being enabled then UpdateViewType is required"
    switch(engine, "KEYS_ONLY")
    assert error(keys) == ("ValidationException", "Table already has an enabled stream: TableName: orders")
    assert error({**keys, "StreamViewType": "NEW_IMAGE"})[1] == "Table already has an enabled stream: TableName: orders"
    assert error({**keys, **off})[1] == (
        INVALID + "If stream is being disabled, then UpdateViewType must not be specified"
    )
    assert error(off, ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1})[1]
    assert error(off, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "ByG"}}])[1] == (
        INVALID + "You cannot create or delete index while changing stream status"
    )
    request = {
        "TableName": "another",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    assert refused(engine, "CreateTable", {**request, "StreamSpecification": {"StreamEnabled": True}})[1] == (
        INVALID + "Table is being created with a stream enabled, UpdateViewType is required"
    )
    assert refused(engine, "CreateTable", {**request, "StreamSpecification": {**keys, **off}})[1] == (
        INVALID + "Table is being created with a stream disabled, UpdateViewType should not be specified"
    )
    made = engine.call("CreateTable", {**request, "StreamSpecification": off})["TableDescription"]
    assert not {"StreamSpecification", "LatestStreamArn"} & made.keys()


def test_streams_are_listed_in_pages(engine: Engine) -> None:
    arns = sorted(streamed(engine, name=f"table{number}") for number in range(5))
    result: list[str] = []
    start = None
    while True:
        answer = engine.call("ListStreams", {"Limit": 2, "ExclusiveStartStreamArn": start})
        result += [each["StreamArn"] for each in answer["Streams"]]
        start = answer.get("LastEvaluatedStreamArn")
        if start is None:
            break
    assert result == arns
    assert engine.call("ListStreams", {"TableName": "nothing"}) == {"Streams": []}


# --- Kinesis


def test_enabling_a_kinesis_destination_fails(engine: Engine) -> None:
    create(engine)
    table = {"TableName": "orders"}
    kinesis = "arn:aws:kinesis:eu-west-1:000000000000:stream/clicks"
    described: dict[str, Any] = {**table, "KinesisDataStreamDestinations": []}
    assert engine.call("DescribeKinesisStreamingDestination", table) == described
    wanted = {**table, "StreamArn": kinesis}
    state = "Table is not in a valid state to enable Kinesis Streaming Destination: "
    precision = {"UpdateKinesisStreamingConfiguration": {"ApproximateCreationDateTimePrecision": "MICROSECOND"}}
    for _ in range(2):
        assert engine.call("EnableKinesisStreamingDestination", wanted) == {
            **wanted,
            "DestinationStatus": "ENABLING",
            "EnableKinesisStreamingConfiguration": {},
        }
        described["KinesisDataStreamDestinations"] = [
            {
                "StreamArn": kinesis,
                "DestinationStatus": "ENABLE_FAILED",
                "DestinationStatusDescription": "User does not have a permission to use kinesis stream",
            }
        ]
        assert engine.call("DescribeKinesisStreamingDestination", table) == described
    assert refused(engine, "DisableKinesisStreamingDestination", wanted) == (
        "ValidationException",
        state + "KinesisStreamingDestination must be ACTIVE to perform DISABLE operation.",
    )
    assert refused(engine, "UpdateKinesisStreamingDestination", wanted)[1].startswith("Streaming destination cannot")
    assert refused(engine, "UpdateKinesisStreamingDestination", {**wanted, **precision})[1] == (
        state + "Kinesis streaming is not in ACTIVE state. Updates are only allowed in ACTIVE state. "
        f"TableName: orders, kdsArn: {kinesis}"
    )
    for operation in ("Describe", "Enable", "Disable", "Update"):
        result = refused(
            engine, f"{operation}KinesisStreamingDestination", {**wanted, **precision, "TableName": "nothing"}
        )
        assert result == ("ResourceNotFoundException", "Requested resource not found: Table: nothing not found")
