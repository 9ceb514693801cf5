"""Simulated index lag: an index shows a write only after the lag."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import Clock, create, get, index, n, put, s

LAG_MS = 1000


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return ":memory:" if request.param == "memory" else str(tmp_path / "store.db")


def opened(place: str, clock: Clock, **settings: Any) -> Engine:
    engine = Engine.open(place, clock=clock, index_lag_ms=LAG_MS)
    create(engine, **settings)
    return engine


def shown(engine: Engine, index: str = "ByG", **more: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = engine.call("Scan", {"TableName": "orders", "IndexName": index, **more})["Items"]
    return items


def counts(engine: Engine) -> list[tuple[str, str]]:
    return [(item["sk"]["S"], item["count"]["N"]) for item in shown(engine)]


def add(engine: Engine, sk: str, count: int, g: str = "g") -> None:
    put(engine, "a", sk, g=s(g), h=s(sk), count=n(count))


def test_index_shows_a_write_after_the_lag(place: str, clock: Clock) -> None:
    with opened(place, clock) as engine:
        add(engine, "1", 1)
        assert get(engine, "a", "1") is not None
        assert engine.call("Scan", {"TableName": "orders"})["Count"] == 1
        assert counts(engine) == []
        clock.now_s += 0.9
        assert counts(engine) == []
        clock.now_s += 0.3
        assert counts(engine) == [("1", "1")]
        add(engine, "1", 2)  # the index still shows the previous item
        assert counts(engine) == [("1", "1")]
        clock.now_s += 1.2
        assert counts(engine) == [("1", "2")]
        engine.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("1")}})
        assert get(engine, "a", "1") is None
        assert counts(engine) == [("1", "2")]
        clock.now_s += 1.2
        assert counts(engine) == []
        assert engine.check() == []


def test_index_shows_both_of_two_quick_writes_after_the_lag(place: str, clock: Clock) -> None:
    """No snapshot is taken between the two writes, because the second soon follows the first."""
    with opened(place, clock) as engine:
        add(engine, "1", 1)
        clock.now_s += 0.1
        add(engine, "2", 2)
        clock.now_s += 0.95
        assert counts(engine) == []
        clock.now_s += 0.2
        assert len(counts(engine)) == 2


def test_strongly_consistent_reads_return_the_latest_items_despite_index_lag(place: str, clock: Clock) -> None:
    local = {"LocalSecondaryIndexes": [index("ByH", "pk", "h")]}
    with opened(place, clock, **local) as engine:
        add(engine, "1", 1)
        assert len(shown(engine, "ByH", ConsistentRead=True)) == 1
        assert shown(engine, "ByH") == []
        condition = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": s("a")}}
        assert engine.call("Query", {"TableName": "orders", **condition})["Count"] == 1


def test_pages_of_a_lagging_index_are_consistent(place: str, clock: Clock) -> None:
    with opened(place, clock) as engine:
        for number in range(6):
            add(engine, str(number), number)
        clock.now_s += 1.2
        first = engine.call("Scan", {"TableName": "orders", "IndexName": "ByG", "Limit": 4})
        engine.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("5")}})
        rest = shown(engine, ExclusiveStartKey=first["LastEvaluatedKey"])
        assert [item["sk"]["S"] for item in rest] == ["4", "5"]


def test_index_lag_applies_to_transactions_and_batches(place: str, clock: Clock) -> None:
    items = [{"pk": s("a"), "sk": s(sk), "g": s("g"), "h": s("h"), "count": n(1)} for sk in "12"]
    with opened(place, clock) as engine:
        engine.call(
            "TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "orders", "Item": item}} for item in items]}
        )
        assert counts(engine) == []
        clock.now_s += 1.2
        assert len(counts(engine)) == 2
        engine.call_together([("PutItem", {"TableName": "orders", "Item": {**items[0], "sk": s("3")}})])
        assert len(counts(engine)) == 2
        clock.now_s += 1.2
        assert len(counts(engine)) == 3


def test_creating_a_table_or_index_makes_earlier_writes_visible_in_indexes(place: str, clock: Clock) -> None:
    with opened(place, clock) as engine:
        add(engine, "1", 1)
        create(engine, "others")
        assert counts(engine) == [("1", "1")]
        add(engine, "2", 1)
        engine.call(
            "UpdateTable",
            {
                "TableName": "orders",
                "AttributeDefinitions": [{"AttributeName": "h", "AttributeType": "S"}],
                "GlobalSecondaryIndexUpdates": [{"Create": index("ByH", "h")}],
            },
        )
        assert len(shown(engine, "ByH")) == 2
        engine.call("DeleteTable", {"TableName": "orders"})
        create(engine)
        assert counts(engine) == []
        add(engine, "3", 1)
        clock.now_s += 1.2
        assert counts(engine) == [("3", "1")]


def test_lagging_index_is_readable_after_another_engine_recreated_it(tmp_path: Path, clock: Clock) -> None:
    place = str(tmp_path / "store.db")
    with opened(place, clock) as engine, Engine.open(place) as other:
        add(engine, "1", 1)
        assert counts(engine) == []
        remove = [{"Delete": {"IndexName": "ByG"}}]
        other.call("UpdateTable", {"TableName": "orders", "GlobalSecondaryIndexUpdates": remove})
        other.call(
            "UpdateTable",
            {
                "TableName": "orders",
                "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in "gh"],
                "GlobalSecondaryIndexUpdates": [{"Create": index("ByG", "g", "h")}],
            },
        )
        assert len(shown(engine)) in {0, 1}  # either is valid
        clock.now_s += 1.2
        assert counts(engine) == [("1", "1")]
