"""Stream shards: splits, iterators, and retention of records."""

from __future__ import annotations

import random
from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine import streaming
from tests.engine.consumer import Checkpoints, consume, shards
from tests.engine.streaming import HOUR, INVALID, START, iterator, put, read, records, refused, streamed, switch
from tests.engine.support import Clock, answer, create, n, s

clock = streaming.clock

# --- shards


def test_closed_shard_has_a_child_shard_with_the_later_records(engine: Engine, clock: Clock) -> None:
    arn = streamed(engine)
    put(engine, "a")
    clock.now_s += 4 * HOUR
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
        "DescribeStream", {"StreamArn": arn, "ShardFilter": {"Type": "CHILD_SHARDS", "ShardId": parent["ShardId"]}}
    )["StreamDescription"]["Shards"]
    assert children == [child]
    clock.now_s += 25 * HOUR
    engine.trim_streams()
    assert [shard["ShardId"] for shard in shards(engine.call, arn)] == [child["ShardId"]]
    no_parent = engine.call("DescribeStream", {"StreamArn": arn, "ShardFilter": {"Type": "CHILD_SHARDS"}})
    assert no_parent["StreamDescription"]["Shards"] == []
    for incomplete in ({}, {"ShardId": parent["ShardId"]}):
        described = answer(engine, "DescribeStream", {"StreamArn": arn, "ShardFilter": incomplete})
        assert "Value 'null' at 'shardFilter.type'" in described["message"]


@pytest.mark.parametrize("seed", range(3))
def test_stream_consumer_reads_each_change_once_in_order(tmp_path: Any, clock: Clock, seed: int) -> None:
    """During the test, shards split, the store and the consumer restart, and several engines write."""
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
        clock.now_s += chance.random() * 3
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


def test_writes_of_another_engine_are_recorded_in_a_new_stream(tmp_path: Any) -> None:
    path = tmp_path / "store.db"
    with Engine.open(path) as element, Engine.open(path) as other:
        create(element)
        put(other, "before")
        arn = switch(element, "KEYS_ONLY")["LatestStreamArn"]
        put(other, "a")
        put(element, "b")
        switch(other, None)
        put(element, "after")
        assert [record["dynamodb"]["Keys"]["pk"]["S"] for record in records(element, arn)] == ["a", "b"]


# --- iterators


def test_shard_iterator_of_each_type_starts_at_the_documented_position(engine: Engine, clock: Clock) -> None:
    arn = streamed(engine)
    latest = iterator(engine, arn, "LATEST")
    for pk in "abc":
        put(engine, pk)
        clock.now_s += 10
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
    for timestamp, expected in (
        (START - 1, "abc"),
        (START, "abc"),
        (START + 0.5, "bc"),
        (START + 20, "c"),
        (START + 21, ""),
    ):
        assert read(engine, iterator(engine, arn, "AT_TIMESTAMP", Timestamp=timestamp)) == list(expected)


def test_invalid_shard_iterators_are_rejected(engine: Engine) -> None:
    arn = streamed(engine)
    (shard,) = shards(engine.call, arn)
    base = {"StreamArn": arn, "ShardId": shard["ShardId"]}

    def error(**more: Any) -> tuple[str, str]:
        return refused(engine, "GetShardIterator", {**base, **more})

    some = "1" * 21
    for kind in ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER", "AT_TIMESTAMP"):
        assert error(ShardIteratorType=kind)[0] == "ValidationException"
    for kind in ("TRIM_HORIZON", "LATEST", "AT_TIMESTAMP"):
        assert error(ShardIteratorType=kind, SequenceNumber=some) == (
            "ValidationException",
            INVALID + "SequenceNumber should not be passed for this iterator type",
        )
    assert error(ShardIteratorType="AT_SEQUENCE_NUMBER", SequenceNumber="x" * 21)[0] == "ValidationException"
    assert error(ShardIteratorType="AT_SEQUENCE_NUMBER", SequenceNumber="0" * 21) == (
        "ValidationException",
        "Invalid SequenceNumber for the shard",
    )
    assert error(ShardIteratorType="bulle")[0] == "ValidationException"
    nowhere = ("ResourceNotFoundException", "Requested resource not found: Shard does not exist")
    assert error(ShardIteratorType="LATEST", ShardId="s" * 30) == nowhere
    assert error(ShardIteratorType="LATEST", StreamArn="x" * 40)[0] == "ValidationException"
    for kind in ("LATEST", "AT_SEQUENCE_NUMBER"):  # the ARN is checked first
        assert error(ShardIteratorType=kind, StreamArn="x" * 40) == ("ValidationException", "Invalid StreamArn")
    missing = arn.replace("table/orders", "table/others")
    assert error(ShardIteratorType="LATEST", StreamArn=missing)[0] == "ResourceNotFoundException"
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


def test_shard_iterators_expire_after_15_minutes(engine: Engine, clock: Clock) -> None:
    arn = streamed(engine)
    place = iterator(engine, arn, "TRIM_HORIZON")
    clock.now_s += 15 * 60
    place_again = engine.call("GetRecords", {"ShardIterator": place})["NextShardIterator"]
    clock.now_s += 1
    assert refused(engine, "GetRecords", {"ShardIterator": place})[0] == "ExpiredIteratorException"
    assert read(engine, place_again) == []


def test_get_records_returns_at_most_1_mb(engine: Engine) -> None:
    arn = streamed(engine, "NEW_IMAGE")
    for number in range(6):
        put(engine, f"k{number}", filler=s("x" * 300_000))
    answer = engine.call("GetRecords", {"ShardIterator": iterator(engine, arn, "TRIM_HORIZON")})
    assert len(answer["Records"]) == 3
    assert len(engine.call("GetRecords", {"ShardIterator": answer["NextShardIterator"]})["Records"]) == 3


# --- retention


@pytest.mark.parametrize("trims", [False, True])
def test_stream_records_are_kept_for_24_hours(engine: Engine, clock: Clock, trims: bool) -> None:
    """Older records are hidden, and deleted later."""
    arn = streamed(engine)
    put(engine, "a")
    clock.now_s += HOUR
    put(engine, "b")
    old = iterator(engine, arn, "TRIM_HORIZON")
    first, second = [record["dynamodb"]["SequenceNumber"] for record in records(engine, arn)]
    clock.now_s += 10 * 60
    clock.now_s += 23 * HOUR - 30 * 60
    old = iterator(engine, arn, "TRIM_HORIZON")
    clock.now_s += 10 * 60
    assert read(engine, old) == ["a", "b"]
    old = iterator(engine, arn, "TRIM_HORIZON")
    clock.now_s += 11 * 60
    if trims:
        assert engine.trim_streams() == 1
    gone = ("TrimmedDataAccessException", "The data you are trying to access has been trimmed")
    assert refused(engine, "GetRecords", {"ShardIterator": old}) == gone
    assert read(engine, iterator(engine, arn, "TRIM_HORIZON")) == ["b"]
    assert read(engine, iterator(engine, arn, "AT_SEQUENCE_NUMBER", SequenceNumber=second)) == ["b"]
    name = shards(engine.call, arn)[0]["ShardId"]
    params = {"StreamArn": arn, "ShardId": name, "ShardIteratorType": "AT_SEQUENCE_NUMBER", "SequenceNumber": first}
    assert refused(engine, "GetShardIterator", params)[0] == "TrimmedDataAccessException"
    clock.now_s += 25 * HOUR
    if trims:
        engine.trim_streams()
    assert read(engine, iterator(engine, arn, "TRIM_HORIZON")) == []
    put(engine, "c")
    (third,) = records(engine, arn)
    assert int(third["dynamodb"]["SequenceNumber"]) > int(second)


def test_closed_shards_are_deleted_with_their_records(engine: Engine, clock: Clock) -> None:
    arn = streamed(engine)
    for number in range(12):
        put(engine, f"k{number}")
        clock.now_s += 4 * HOUR
    while engine.trim_streams():
        pass
    known = shards(engine.call, arn)
    assert 5 <= len(known) <= 8
    assert "ParentShardId" not in known[0]
    assert [record["dynamodb"]["Keys"]["pk"]["S"] for record in records(engine, arn)] == [
        f"k{number}" for number in range(6, 12)
    ]


@pytest.mark.parametrize("kind", ["AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"])
@pytest.mark.parametrize("digits", [21, 40])
def test_shard_iterator_after_the_last_sequence_number_is_rejected(engine: Engine, kind: str, digits: int) -> None:
    arn = streamed(engine)
    put(engine, "a")
    (shard,) = shards(engine.call, arn)
    params = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": kind, "SequenceNumber": "9" * digits}
    assert refused(engine, "GetShardIterator", params)[0] == "ValidationException"
