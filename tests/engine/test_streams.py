"""Streams: what is recorded of each change, the lives of streams and shards, and how they are read."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from keyplan.engine import Engine
from keyplan.errors import DynamoDBError
from tests.engine.consumer import Checkpoints, consume, shards
from tests.engine.support import create, index, n, s

START = 1_800_000_000.25
HOUR = 3600.0
ITEM = {"pk": s("a"), "sk": s("1")}


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "file"])
def engine(request: pytest.FixtureRequest, tmp_path: Any, clock: Clock) -> Iterator[Engine]:
    place = ":memory:" if request.param == "memory" else str(tmp_path / "store.db")
    with Engine.open(place, clock=clock) as opened:
        yield opened


def streamed(engine: Engine, view: str = "NEW_AND_OLD_IMAGES", name: str = "orders", **more: Any) -> str:
    """A table with a stream; its ARN."""
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
    found: str = answer["ShardIterator"]
    return found


def read(engine: Engine, place: str, **more: Any) -> list[str]:
    """The partition keys of the records from an iterator on."""
    answer = engine.call("GetRecords", {"ShardIterator": place, **more})
    return [record["dynamodb"]["Keys"]["pk"]["S"] for record in answer["Records"]]


# --- what is recorded


def test_the_examples_of_the_developer_guide() -> None:
    """Sizes and members of the three records that "Reading and processing a stream" shows."""
    with Engine.open(":memory:", clock=Clock()) as engine:
        made = engine.call(
            "CreateTable",
            {
                "TableName": "guide",
                "KeySchema": [{"AttributeName": "Id", "KeyType": "HASH"}],
                "AttributeDefinitions": [{"AttributeName": "Id", "AttributeType": "N"}],
                "BillingMode": "PAY_PER_REQUEST",
                "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
            },
        )
        key = {"Id": n(101)}
        engine.call("PutItem", {"TableName": "guide", "Item": {**key, "Message": s("New item!")}})
        engine.call(
            "UpdateItem",
            {
                "TableName": "guide",
                "Key": key,
                "UpdateExpression": "SET Message = :m",
                "ExpressionAttributeValues": {":m": s("This item has changed")},
            },
        )
        engine.call("DeleteItem", {"TableName": "guide", "Key": key})
        found = records(engine, made["TableDescription"]["LatestStreamArn"])
    assert [record["dynamodb"]["SizeBytes"] for record in found] == [26, 59, 38]
    assert [record["eventName"] for record in found] == ["INSERT", "MODIFY", "REMOVE"]
    first = found[0]
    assert first.keys() == {"eventID", "eventName", "eventVersion", "eventSource", "awsRegion", "dynamodb"}
    assert (first["eventVersion"], first["eventSource"], first["awsRegion"]) == ("1.1", "aws:dynamodb", "local")
    assert len({record["eventID"] for record in found}) == 3
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
def test_view_types(engine: Engine, view: str, images: set[str]) -> None:
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


def test_what_changes_nothing_is_not_recorded(engine: Engine) -> None:
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


def test_every_way_to_write(engine: Engine, clock: Clock) -> None:
    arn = streamed(engine)
    engine.call(
        "UpdateTimeToLive",
        {"TableName": "orders", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "until"}},
    )
    put(engine, "a", until=n(int(START) - 10))
    engine.call(
        "BatchWriteItem",
        {"RequestItems": {"orders": [{"PutRequest": {"Item": {"pk": s("b"), "sk": s("1")}}}]}},
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
    found = records(engine, arn)
    assert [(record["eventName"], record["dynamodb"]["Keys"]["pk"]["S"]) for record in found] == [
        ("INSERT", "a"),
        ("INSERT", "b"),
        ("INSERT", "c"),
        ("REMOVE", "b"),
        ("INSERT", "e"),
        ("INSERT", "f"),
        ("REMOVE", "a"),
    ]
    assert found[-1]["userIdentity"] == {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
    assert all("userIdentity" not in record for record in found[:-1])


def test_keys_of_every_type(engine: Engine) -> None:
    made = engine.call(
        "CreateTable",
        {
            "TableName": "typed",
            "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"}],
            "AttributeDefinitions": [
                {"AttributeName": "p", "AttributeType": "B"},
                {"AttributeName": "s", "AttributeType": "N"},
            ],
            "BillingMode": "PAY_PER_REQUEST",
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        },
    )
    key = {"p": {"B": "AAEC/w=="}, "s": n("-12.5")}
    engine.call("PutItem", {"TableName": "typed", "Item": key})
    engine.call("DeleteItem", {"TableName": "typed", "Key": key})
    found = records(engine, made["TableDescription"]["LatestStreamArn"])
    assert [record["dynamodb"]["Keys"] for record in found] == [key, key]


def test_what_it_costs(tmp_path: Any) -> None:
    """A table without a stream pays nothing, and one with a stream a row for each change."""

    def spent(with_stream: bool) -> list[int]:
        with Engine.open(tmp_path / f"{with_stream}.db", clock=Clock()) as engine:
            if with_stream:
                streamed(engine)
            else:
                create(engine)
            put(engine, "warm")
            costs: list[int] = []
            writes: list[Callable[[], None]] = [
                lambda: put(engine, x=n(1)),
                lambda: put(engine, x=n(1)),
                lambda: put(engine, x=n(2)),
                lambda: delete(engine),
                lambda: delete(engine),
            ]
            for write in writes:
                before = engine.statements
                write()
                costs.append(engine.statements - before)
            return costs

    plain = spent(with_stream=False)
    assert plain == [4, 3, 4, 4, 3]
    assert [more - less for more, less in zip(spent(with_stream=True), plain, strict=True)] == [1, 0, 1, 1, 0]


# --- the lives of streams


def test_a_table_tells_of_its_stream(engine: Engine) -> None:
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


def test_disabled_and_enabled_again(engine: Engine, clock: Clock) -> None:
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
    clock.now += 24 * HOUR + 1
    assert [each["StreamArn"] for each in engine.call("ListStreams", {})["Streams"]] == [second]
    assert refused(engine, "DescribeStream", {"StreamArn": first})[0] == "ResourceNotFoundException"
    assert engine.trim_streams() > 0
    assert engine.trim_streams() == 0


def test_a_deleted_tables_stream(engine: Engine, clock: Clock) -> None:
    arn = streamed(engine)
    put(engine, "a")
    engine.call("DeleteTable", {"TableName": "orders"})
    clock.now += HOUR
    assert len(records(engine, arn)) == 1
    again = streamed(engine)
    assert again != arn
    assert records(engine, again) == []
    clock.now += 23 * HOUR
    assert refused(engine, "DescribeStream", {"StreamArn": arn}) == (
        "ResourceNotFoundException",
        f"Requested resource not found: Stream: {arn} not found",
    )


_INVALID = "One or more parameter values were invalid: "


def test_enabling_and_disabling_what_cannot_be(engine: Engine) -> None:
    create(engine)

    def told(specification: dict[str, Any], **more: Any) -> tuple[str, str]:
        return refused(engine, "UpdateTable", {"TableName": "orders", "StreamSpecification": specification, **more})

    keys = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    off = {"StreamEnabled": False}
    assert told(off) == ("ValidationException", "Table has no stream to disable: TableName: orders")
    assert told({"StreamEnabled": True})[1] == _INVALID + "If stream is being enabled then UpdateViewType is required"
    switch(engine, "KEYS_ONLY")
    assert told(keys) == ("ValidationException", "Table already has an enabled stream: TableName: orders")
    assert told({**keys, "StreamViewType": "NEW_IMAGE"})[1] == "Table already has an enabled stream: TableName: orders"
    assert told({**keys, **off})[1] == (
        _INVALID + "If stream is being disabled, then UpdateViewType must not be specified"
    )
    assert told(off, ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1})[1]
    assert told(off, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "ByG"}}])[1] == (
        _INVALID + "You cannot create or delete index while changing stream status"
    )
    request = {
        "TableName": "another",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    assert refused(engine, "CreateTable", {**request, "StreamSpecification": {"StreamEnabled": True}})[1] == (
        _INVALID + "Table is being created with a stream enabled, UpdateViewType is required"
    )
    assert refused(engine, "CreateTable", {**request, "StreamSpecification": {**keys, **off}})[1] == (
        _INVALID + "Table is being created with a stream disabled, UpdateViewType should not be specified"
    )
    made = engine.call("CreateTable", {**request, "StreamSpecification": off})["TableDescription"]
    assert not {"StreamSpecification", "LatestStreamArn"} & made.keys()


def test_indexes_come_and_go_beside_a_stream(engine: Engine) -> None:
    arn = streamed(engine)
    put(engine, "a", g=s("x"))
    engine.call(
        "UpdateTable",
        {
            "TableName": "orders",
            "AttributeDefinitions": [{"AttributeName": "h", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [{"Create": index("ByH", "h")}],
        },
    )
    put(engine, "b", h=s("y"))
    assert len(records(engine, arn)) == 2
    assert engine.check() == []


def test_listing_by_pages(engine: Engine) -> None:
    arns = sorted(streamed(engine, name=f"table{number}") for number in range(5))
    found: list[str] = []
    start = None
    while True:
        answer = engine.call("ListStreams", {"Limit": 2, "ExclusiveStartStreamArn": start})
        found += [each["StreamArn"] for each in answer["Streams"]]
        start = answer.get("LastEvaluatedStreamArn")
        if start is None:
            break
    assert found == arns
    assert engine.call("ListStreams", {"TableName": "nothing"}) == {"Streams": []}


# --- shards


def test_a_shard_is_followed_by_its_child(engine: Engine, clock: Clock) -> None:
    arn = streamed(engine)
    put(engine, "a")
    clock.now += 4 * HOUR
    put(engine, "b")
    put(engine, "c")
    parent, child = shards(engine.call, arn, page=1)
    assert child["ParentShardId"] == parent["ShardId"]
    assert parent["ShardId"] < child["ShardId"]
    ending = int(parent["SequenceNumberRange"]["EndingSequenceNumber"])
    assert ending < int(child["SequenceNumberRange"]["StartingSequenceNumber"])
    assert read(engine, iterator(engine, arn, "TRIM_HORIZON", 0)) == ["a", "b"]
    assert read(engine, iterator(engine, arn, "TRIM_HORIZON", 1)) == ["c"]
    assert "NextShardIterator" not in engine.call(
        "GetRecords", {"ShardIterator": iterator(engine, arn, "TRIM_HORIZON", 0)}
    )
    children = engine.call(
        "DescribeStream",
        {"StreamArn": arn, "ShardFilter": {"Type": "CHILD_SHARDS", "ShardId": parent["ShardId"]}},
    )["StreamDescription"]["Shards"]
    assert children == [child]


@pytest.mark.parametrize("seed", range(3))
def test_a_consumer_sees_each_change_once_in_order(tmp_path: Any, clock: Clock, seed: int) -> None:
    """Over splits, restarts of the store and of the consumer, and several processes' worth of engines."""
    chance = random.Random(seed)
    path = tmp_path / "store.db"

    def opened() -> Engine:
        return Engine.open(path, clock=clock, shard_s=50.0, shard_records=12, synchronous="OFF")

    engines = [opened(), opened()]
    arn = streamed(engines[0])
    values: dict[str, int] = {}
    checkpoints = Checkpoints()
    seen: list[dict[str, Any]] = []
    for _ in range(400):
        engine = engines[chance.randrange(2)]
        pk = f"k{chance.randrange(30)}"
        values[pk] = values.get(pk, -1) + 1
        put(engine, pk, value=n(values[pk]))
        clock.now += chance.random() * 3
        if chance.random() < 0.05:
            seen += consume(engine.call, arn, checkpoints, limit=chance.randint(1, 9), pages_max=chance.randrange(20))
        if chance.random() < 0.02:
            place = chance.randrange(2)
            engines[place].close()
            engines[place] = opened()
    seen += consume(engines[0].call, arn, checkpoints, limit=9)
    by_key: dict[str, list[int]] = {}
    for record in seen:
        image = record["dynamodb"]["NewImage"]
        by_key.setdefault(image["pk"]["S"], []).append(int(image["value"]["N"]))
    assert by_key == {pk: list(range(value + 1)) for pk, value in values.items()}
    known = shards(engines[0].call, arn)
    assert len(known) > 10
    parents = [shard.get("ParentShardId") for shard in known]
    assert any(parents.count(parent) == 2 for parent in parents if parent is not None)
    assert [shard["ShardId"] for shard in known] == sorted(shard["ShardId"] for shard in known)
    for engine in engines:
        assert engine.check() == []
        engine.close()


def test_open_shards_do_not_become_ever_more(clock: Clock) -> None:
    with Engine.open(":memory:", clock=clock, shard_records=2) as engine:
        arn = streamed(engine)
        for number in range(100):
            put(engine, f"k{number}")
        opened = [
            shard for shard in shards(engine.call, arn) if "EndingSequenceNumber" not in shard["SequenceNumberRange"]
        ]
        assert len(opened) == 16
        assert len(records(engine, arn)) == 100


def test_another_process_learns_of_a_new_stream(tmp_path: Any) -> None:
    path = tmp_path / "store.db"
    with Engine.open(path) as one, Engine.open(path) as other:
        create(one)
        put(other, "before")
        arn = switch(one, "KEYS_ONLY")["LatestStreamArn"]
        put(other, "a")
        put(one, "b")
        switch(other, None)
        put(one, "after")
        assert [record["dynamodb"]["Keys"]["pk"]["S"] for record in records(one, arn)] == ["a", "b"]


# --- iterators


def test_iterators_of_each_type(engine: Engine, clock: Clock) -> None:
    arn = streamed(engine)
    latest = iterator(engine, arn, "LATEST")
    for pk in "abc":
        put(engine, pk)
        clock.now += 10
    numbers = [record["dynamodb"]["SequenceNumber"] for record in records(engine, arn)]
    assert read(engine, latest) == ["a", "b", "c"]
    assert read(engine, iterator(engine, arn, "LATEST")) == []
    assert read(engine, iterator(engine, arn, "TRIM_HORIZON")) == ["a", "b", "c"]
    assert read(engine, iterator(engine, arn, "TRIM_HORIZON"), Limit=2) == ["a", "b"]
    assert read(engine, iterator(engine, arn, "AT_SEQUENCE_NUMBER", SequenceNumber=numbers[1])) == ["b", "c"]
    assert read(engine, iterator(engine, arn, "AFTER_SEQUENCE_NUMBER", SequenceNumber=numbers[1])) == ["c"]
    (shard,) = shards(engine.call, arn)
    start = shard["SequenceNumberRange"]["StartingSequenceNumber"]
    assert read(engine, iterator(engine, arn, "AT_SEQUENCE_NUMBER", SequenceNumber=start)) == ["a", "b", "c"]
    for moment, expected in (
        (START - 1, "abc"),
        (START, "abc"),
        (START + 0.5, "bc"),
        (START + 20, "c"),
        (START + 21, ""),
    ):
        assert read(engine, iterator(engine, arn, "AT_TIMESTAMP", Timestamp=moment)) == list(expected)


def test_wrong_iterators(engine: Engine) -> None:
    arn = streamed(engine)
    (shard,) = shards(engine.call, arn)
    base = {"StreamArn": arn, "ShardId": shard["ShardId"]}

    def told(**more: Any) -> tuple[str, str]:
        return refused(engine, "GetShardIterator", {**base, **more})

    some = "1" * 21
    for kind in ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER", "AT_TIMESTAMP"):
        assert told(ShardIteratorType=kind)[0] == "ValidationException"
    for kind in ("TRIM_HORIZON", "LATEST", "AT_TIMESTAMP"):
        assert told(ShardIteratorType=kind, SequenceNumber=some) == (
            "ValidationException",
            _INVALID + "SequenceNumber should not be passed for this iterator type",
        )
    assert told(ShardIteratorType="AT_SEQUENCE_NUMBER", SequenceNumber="x" * 21)[0] == "ValidationException"
    assert told(ShardIteratorType="AT_SEQUENCE_NUMBER", SequenceNumber="0" * 21) == (
        "ValidationException",
        "Invalid SequenceNumber for the shard",
    )
    assert told(ShardIteratorType="bulle")[0] == "ValidationException"
    assert told(ShardIteratorType="LATEST", ShardId="s" * 30)[0] == "ResourceNotFoundException"
    assert told(ShardIteratorType="LATEST", StreamArn="x" * 40)[0] == "ValidationException"
    missing = arn.replace("table/orders", "table/others")
    assert told(ShardIteratorType="LATEST", StreamArn=missing)[0] == "ResourceNotFoundException"
    good = iterator(engine, arn, "LATEST")
    assert refused(engine, "GetRecords", {"ShardIterator": good, "Limit": 1001})[0] == "ValidationException"
    for wrong in ("x", good[:-3], good + "x", good.replace("|1|", "|2|"), "|1|" + good.partition("|1|")[2]):
        assert refused(engine, "GetRecords", {"ShardIterator": wrong}) == (
            "ValidationException",
            "Invalid ShardIterator",
        )
    far = {**base, "ExclusiveStartShardId": "z" * 40}
    del far["ShardId"]
    assert engine.call("DescribeStream", far)["StreamDescription"]["Shards"] == []


def test_iterators_expire(engine: Engine, clock: Clock) -> None:
    arn = streamed(engine)
    place = iterator(engine, arn, "TRIM_HORIZON")
    clock.now += 15 * 60
    place_again = engine.call("GetRecords", {"ShardIterator": place})["NextShardIterator"]
    clock.now += 1
    assert refused(engine, "GetRecords", {"ShardIterator": place})[0] == "ExpiredIteratorException"
    assert read(engine, place_again) == []


def test_pages_hold_a_megabyte(engine: Engine) -> None:
    arn = streamed(engine, "NEW_IMAGE")
    for number in range(6):
        put(engine, f"k{number}", filler=s("x" * 300_000))
    answer = engine.call("GetRecords", {"ShardIterator": iterator(engine, arn, "TRIM_HORIZON")})
    assert len(answer["Records"]) == 3
    assert len(engine.call("GetRecords", {"ShardIterator": answer["NextShardIterator"]})["Records"]) == 3


# --- a day


@pytest.mark.parametrize("trims", [False, True])
def test_records_are_kept_for_a_day(engine: Engine, clock: Clock, trims: bool) -> None:
    """Whether what is too old was removed yet or not can't be seen."""
    arn = streamed(engine)
    put(engine, "a")
    clock.now += HOUR
    put(engine, "b")
    old = iterator(engine, arn, "TRIM_HORIZON")
    first, second = [record["dynamodb"]["SequenceNumber"] for record in records(engine, arn)]
    clock.now += 10 * 60
    clock.now += 23 * HOUR - 30 * 60
    old = iterator(engine, arn, "TRIM_HORIZON")
    clock.now += 10 * 60
    assert read(engine, old) == ["a", "b"]
    old = iterator(engine, arn, "TRIM_HORIZON")
    clock.now += 11 * 60
    if trims:
        assert engine.trim_streams() == 1
    assert refused(engine, "GetRecords", {"ShardIterator": old})[0] == "TrimmedDataAccessException"
    assert read(engine, iterator(engine, arn, "TRIM_HORIZON")) == ["b"]
    assert read(engine, iterator(engine, arn, "AT_SEQUENCE_NUMBER", SequenceNumber=second)) == ["b"]
    name = shards(engine.call, arn)[0]["ShardId"]
    params = {"StreamArn": arn, "ShardId": name, "ShardIteratorType": "AT_SEQUENCE_NUMBER", "SequenceNumber": first}
    assert refused(engine, "GetShardIterator", params)[0] == "TrimmedDataAccessException"
    clock.now += 25 * HOUR
    if trims:
        engine.trim_streams()
    assert read(engine, iterator(engine, arn, "TRIM_HORIZON")) == []
    put(engine, "c")
    (third,) = records(engine, arn)
    assert int(third["dynamodb"]["SequenceNumber"]) > int(second)


def test_closed_shards_go_with_their_records(engine: Engine, clock: Clock) -> None:
    arn = streamed(engine)
    for number in range(12):
        put(engine, f"k{number}")
        clock.now += 4 * HOUR
    while engine.trim_streams():
        pass
    known = shards(engine.call, arn)
    assert 5 <= len(known) <= 8
    assert "ParentShardId" not in known[0]
    assert [record["dynamodb"]["Keys"]["pk"]["S"] for record in records(engine, arn)] == [
        f"k{number}" for number in range(6, 12)
    ]


# --- Kinesis


def test_kinesis_destinations_cannot_be_reached(engine: Engine) -> None:
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
        told = refused(
            engine, f"{operation}KinesisStreamingDestination", {**wanted, **precision, "TableName": "nothing"}
        )
        assert told == ("ResourceNotFoundException", "Requested resource not found: Table: nothing not found")
