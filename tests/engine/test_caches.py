"""What is asked again takes the short way, and only then; and nothing is kept of work that is done."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from keyplan.store import Engine, Regions, processes
from keyplan.store.queries import key_bounds as keybounds
from tests.engine.support import answer, create, index, n, put, s

TABLE = {"TableName": "orders"}
query: Any = import_module("keyplan.store.operations.query")
reading: Any = import_module("keyplan.store.queries.query_pages")


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:", clock=lambda: 1_800_000_000.0) as opened:
        create(opened, LocalSecondaryIndexes=[index("ByH", "pk", "h")])
        for sk in ("1", "12", "2", "3"):
            put(opened, "a", sk, g=s("a"), h=s(sk))
        yield opened


class Long:
    """Counts how often the long way is taken."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        bound = query.bound_condition

        def counted(*given: Any) -> Any:
            self.count += 1
            return bound(*given)

        monkeypatch.setattr(query, "bound_condition", counted)


def asked(condition: str, *values: Any, **more: Any) -> dict[str, Any]:
    names = {":p": values[0], **dict(zip((":s", ":t"), values[1:], strict=False))}
    return {**TABLE, "KeyConditionExpression": condition, "ExpressionAttributeValues": names, **more}


def of_g(condition: str, *values: Any) -> dict[str, Any]:
    return asked(condition, *values, IndexName="ByG")


NAMED = {"ExpressionAttributeNames": {"#p": "pk"}}


@pytest.mark.parametrize(
    ("first", "again", "sorts"),
    [
        (asked("pk = :p", s("b")), asked("pk = :p", s("a")), "1 12 2 3"),
        (asked("pk = :p", s("b")), asked("pk = :p", s("a"), ScanIndexForward=False), "3 2 12 1"),
        (asked("#p = :p", s("b"), **NAMED), asked("#p = :p", s("a"), **NAMED), "1 12 2 3"),
        (asked("pk = :p AND sk = :s", s("b"), s("b")), asked("pk = :p AND sk = :s", s("a"), s("2")), "2"),
        (asked("pk = :p AND sk < :s", s("b"), s("b")), asked("pk = :p AND sk < :s", s("a"), s("2")), "1 12"),
        (asked("pk = :p AND sk <= :s", s("b"), s("b")), asked("pk = :p AND sk <= :s", s("a"), s("2")), "1 12 2"),
        (asked("pk = :p AND sk > :s", s("b"), s("b")), asked("pk = :p AND sk > :s", s("a"), s("2")), "3"),
        (asked("pk = :p AND :s < sk", s("b"), s("b")), asked("pk = :p AND :s < sk", s("a"), s("12")), "2 3"),
        (asked("pk = :p AND sk >= :s", s("b"), s("b")), asked("pk = :p AND sk >= :s", s("a"), s("2")), "2 3"),
        (
            asked("pk = :p AND begins_with(sk, :s)", s("b"), s("b")),
            asked("pk = :p AND begins_with(sk, :s)", s("a"), s("1")),
            "1 12",
        ),
        (
            asked("pk = :p AND sk BETWEEN :s AND :t", s("b"), s("b"), s("c")),
            asked("pk = :p AND sk BETWEEN :s AND :t", s("a"), s("2"), s("2")),
            "2",
        ),
        (of_g("g = :p", s("b")), of_g("g = :p", s("a")), "1 12 2 3"),
        (of_g("h = :s AND g = :p", s("b"), s("b")), of_g("h = :s AND g = :p", s("a"), s("2")), "2"),
        (of_g("g = :p AND h > :s", s("b"), s("b")), of_g("g = :p AND h > :s", s("a"), s("2")), "3"),
    ],
)
def test_a_question_with_other_values_is_planned(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, first: Any, again: Any, sorts: str
) -> None:
    long = Long(monkeypatch)
    assert engine.call("Query", first)["Count"] == 0
    assert long.count == 1
    assert [item["sk"]["S"] for item in engine.call("Query", again)["Items"]] == sorts.split()
    assert long.count == 1


@pytest.mark.parametrize(
    "again",
    [
        asked("pk = :p AND sk = :s", s("a"), s("1"), ExpressionAttributeNames={"#p": "pk"}),
        asked("pk = :p AND sk = :s", s("a"), s("1"), s("1")),
        asked("pk = :p AND sk = :s", s("a"), s("")),
        asked("pk = :p AND sk = :s", s(""), s("a")),
        asked("pk = :p AND sk = :s", s("a"), n(1)),
        asked("pk = :p AND sk = :s", n(1), s("a")),
        asked("pk = :p AND sk = :s", s("a"), {"S": "a", "N": "1"}),
        asked("pk = :p AND sk = :s", s("a"), {}),
        {**TABLE, "KeyConditionExpression": "pk = :p AND sk = :s"},
        asked("pk = :p AND sk = :s", s("a")),
        asked("pk = :p AND sk = :s", s("a"), s("1"), IndexName="ByG"),
        asked("pk = :p AND sk = :s ", s("a"), s("1")),
        asked("pk = :p AND sk = :s", s("a"), s("1"), FilterExpression="attribute_exists(g)"),
        asked("pk = :p AND sk = :s", s("a"), s("1"), ProjectionExpression="g"),
        asked("pk = :p AND sk = :s", s("a"), s("1"), Select="COUNT"),
        asked("pk = :p AND sk BETWEEN :s AND :t", s("a"), s("2"), s("1")),
    ],
)
def test_what_differs_in_more_than_values_goes_the_long_way(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, again: Any
) -> None:
    expected = answer(engine, "Query", again)
    engine._database.table("orders").plans.clear()
    engine.call("Query", asked("pk = :p AND sk BETWEEN :s AND :t", s("a"), s("1"), s("2")))
    engine.call("Query", asked("pk = :p AND sk = :s", s("a"), s("1")))
    long = Long(monkeypatch)
    assert answer(engine, "Query", again) == expected
    assert (
        long.count == ("KeyConditionExpression" in again and "ExpressionAttributeValues" in again)
        or "error" in expected
    )


def test_values_that_are_one_object_are_not_remembered(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    same = s("1")
    long = Long(monkeypatch)
    for _ in range(2):
        engine.call("Query", asked("pk = :p AND sk = :s", same, same))
    assert long.count == 2


def test_so_many_plans_are_kept(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keybounds, "PLANS_MAX", 2)
    plans = engine._database.table("orders").plans
    sizes = []
    for blanks in range(5):
        engine.call("Query", asked(f"pk ={' ' * blanks}:p", s("a")))
        sizes.append(len(plans))
    assert sizes == [1, 2, 1, 2, 1]


@pytest.mark.parametrize(
    ("more", "decoded"),
    [
        ({}, 0),
        ({"Select": "COUNT"}, 0),
        ({"Select": "COUNT", "FilterExpression": "attribute_exists(g)"}, 4),
        ({"FilterExpression": "attribute_exists(g)"}, 4),
        ({"ProjectionExpression": "g"}, 4),
        ({"IndexName": "ByG"}, 0),
        ({"IndexName": "ByH"}, 0),
    ],
)
@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_what_is_shown_whole_is_not_looked_at(
    monkeypatch: pytest.MonkeyPatch, operation: str, more: dict[str, Any], decoded: int
) -> None:
    counts: list[int] = []
    decode = reading.decode

    def counted(body: bytes) -> Any:
        counts.append(1)
        return decode(body)

    monkeypatch.setattr(reading, "decode", counted)
    with Engine.open(":memory:", raw_items=True) as engine:
        create(engine, LocalSecondaryIndexes=[index("ByH", "pk", "h")])
        for sk in "1234":
            put(engine, "a", sk, g=s("a"), h=s(sk))
        key = "g" if more.get("IndexName") == "ByG" else "pk"
        params = {**asked(f"{key} = :p", s("a")), **more} if operation == "Query" else {**TABLE, **more}
        assert engine.call(operation, params)["Count"] == 4
    assert len(counts) == decoded


def test_nothing_is_kept_of_work_that_is_done(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nobody goes on with what isn't there."""
    before = set(processes._going_on)
    jobs: list[object] = []
    monkeypatch.setattr(engine._database.jobs, "run", jobs.append)
    x = {"AttributeDefinitions": [{"AttributeName": "x", "AttributeType": "S"}]}
    engine.call("UpdateTable", {**TABLE, **x, "GlobalSecondaryIndexUpdates": [{"Create": index("ByX", "x")}]})
    engine.call(
        "UpdateContinuousBackups", {**TABLE, "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
    )
    backup = engine.call("CreateBackup", {**TABLE, "BackupName": "one"})["BackupDetails"]["BackupArn"]
    engine.call("RestoreTableFromBackup", {"BackupArn": backup, "TargetTableName": "again"})
    source = engine.call("DescribeTable", TABLE)["Table"]["TableArn"]
    restored = engine.call(
        "RestoreTableToPointInTime",
        {"SourceTableArn": source, "TargetTableName": "other", "UseLatestRestorableTime": True},
    )
    assert restored["TableDescription"]["RestoreSummary"]["RestoreInProgress"] is True
    for name in ("orders", "again", "other"):
        assert engine.call("Scan", {"TableName": name})["Count"] == 4
        assert engine.call("DescribeTable", {"TableName": name})["Table"]["ItemCount"] == 4
    assert processes._going_on == before
    assert jobs == []


def test_nothing_is_kept_of_replicas_that_have_joined() -> None:
    before = set(processes._going_on)
    with Regions.open(":memory:", ["us-east-1", "us-west-2"]) as regions:
        engine = regions.engines["us-east-1"]
        create(engine, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
        put(engine, "a", "1")
        generation = engine._database.table("orders").stored.layout.generation
        engine.call("UpdateTable", {**TABLE, "ReplicaUpdates": [{"Create": {"RegionName": "us-west-2"}}]})
        assert engine._database.table("orders").stored.layout.generation > generation
        assert regions.engines["us-west-2"].call("Scan", TABLE)["Count"] == 1
        assert processes._going_on == before
