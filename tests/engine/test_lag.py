"""Indexes that lag, on request: what they show and when. Time stands until it is set."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from keyplan.errors import StoreError
from keyplan.store import Engine
from keyplan.store.storage import table_reads as tables
from keyplan.store.storage.sqlite import Storage
from tests.engine.support import create, get, index, n, put, s
from tests.engine.test_throttle import Clock

LAG_MS = 1000


@pytest.fixture
def clock() -> Clock:
    return Clock()


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


def test_a_write_is_seen_later_as_a_whole(place: str, clock: Clock) -> None:
    with opened(place, clock) as engine:
        add(engine, "1", 1)
        assert get(engine, "a", "1") is not None
        assert engine.call("Scan", {"TableName": "orders"})["Count"] == 1
        assert counts(engine) == []
        clock.now_s += 0.9
        assert counts(engine) == []
        clock.now_s += 0.3
        assert counts(engine) == [("1", "1")]
        add(engine, "1", 2)  # the key of the entry stays: the item as it was is what is shown
        assert counts(engine) == [("1", "1")]
        clock.now_s += 1.2
        assert counts(engine) == [("1", "2")]
        engine.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("1")}})
        assert get(engine, "a", "1") is None
        assert counts(engine) == [("1", "2")]
        clock.now_s += 1.2
        assert counts(engine) == []
        assert engine.check() == []


def test_writes_come_one_after_the_other(place: str, clock: Clock) -> None:
    with opened(place, clock) as engine:
        for number in range(40):
            add(engine, f"{number:02d}", number)
            clock.now_s += 0.2
            seen = len(counts(engine))
            # Five writes a second: those of the last second, and perhaps one more, are not seen.
            assert number - 6 <= seen <= max(0, number - 4) + 1
        clock.now_s += 1.2
        assert len(counts(engine)) == 40


def test_a_write_close_behind_another_is_not_seen_before_its_time(place: str, clock: Clock) -> None:
    """It has no snapshot of its own: what was before it is what was before both."""
    with opened(place, clock) as engine:
        add(engine, "1", 1)
        clock.now_s += 0.1
        add(engine, "2", 2)
        clock.now_s += 0.95
        assert counts(engine) == []
        clock.now_s += 0.2
        assert len(counts(engine)) == 2


def test_many_writes_at_once_take_few_snapshots(place: str, clock: Clock) -> None:
    with opened(place, clock) as engine:
        for number in range(300):
            add(engine, str(number), number)
            clock.now_s += 0.01
        lag = engine._database.lag
        assert lag is not None
        assert len(lag._snapshots) <= 10
        clock.now_s += 2
        assert len(counts(engine)) == 300
        assert len(lag._snapshots) == 0


def test_strongly_consistent_reads_do_not_lag(place: str, clock: Clock) -> None:
    local = {"LocalSecondaryIndexes": [index("ByH", "pk", "h")]}
    with opened(place, clock, **local) as engine:
        add(engine, "1", 1)
        assert len(shown(engine, "ByH", ConsistentRead=True)) == 1
        assert shown(engine, "ByH") == []
        question = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": s("a")}}
        assert engine.call("Query", {"TableName": "orders", **question})["Count"] == 1


def test_pages(place: str, clock: Clock) -> None:
    with opened(place, clock) as engine:
        for number in range(6):
            add(engine, str(number), number)
        clock.now_s += 1.2
        first = engine.call("Scan", {"TableName": "orders", "IndexName": "ByG", "Limit": 4})
        engine.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("5")}})
        rest = shown(engine, ExclusiveStartKey=first["LastEvaluatedKey"])
        assert [item["sk"]["S"] for item in rest] == ["4", "5"]


def test_transactions_and_batches(place: str, clock: Clock) -> None:
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


def test_changes_of_tables_bring_indexes_up_to_date(place: str, clock: Clock) -> None:
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


def test_another_engine_changes_the_table(tmp_path: Path, clock: Clock) -> None:
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
        assert len(shown(engine)) in {0, 1}  # an answer, in any case
        clock.now_s += 1.2
        assert counts(engine) == [("1", "1")]


def test_threads(place: str, clock: Clock) -> None:
    with opened(place, clock) as engine:

        def work(name: str) -> None:
            for number in range(30):
                add(engine, f"{name}{number}", number)
                clock.now_s += 0.01
                for item in shown(engine):
                    assert item["h"] == item["sk"]

        threads = [threading.Thread(target=work, args=(name,)) for name in "xyz"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        clock.now_s += 2
        assert len(shown(engine)) == 90


def test_nobody_waits_for_the_scan_of_a_segment(place: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made in pieces, between which others write, read, and forget the snapshot that it reads."""
    with opened(place, clock) as engine:
        for number in range(30):
            add(engine, f"{number:02}", number)
        clock.now_s += 1.2
        expected = shown(engine)
        assert len(expected) == 30
        met: list[int] = []

        def meanwhile(_: float) -> None:
            met.append(1)
            monkeypatch.setattr(time, "sleep", lambda _: None)
            clock.now_s += 1.2
            add(engine, f"{len(met):02}", 100)
            engine.call("UpdateTable", {"TableName": "orders", "DeletionProtectionEnabled": len(met) % 2 == 0})
            assert len(shown(engine)) == 30
            monkeypatch.setattr(time, "sleep", meanwhile)

        monkeypatch.setattr(tables, "PIECE_ROWS", 7)
        monkeypatch.setattr(time, "sleep", meanwhile)
        add(engine, "00", 100)
        scanned = [shown(engine, Segment=segment, TotalSegments=2) for segment in range(2)]
        assert len(met) >= 3
        assert sum(map(len, scanned)) == 30


def test_a_temporary_store_leaves_nothing(clock: Clock) -> None:
    storage = Storage.temporary()
    folder = Path(storage.pool.place).parent
    assert folder.is_dir()
    assert storage.place == ":memory:"
    storage.close()
    storage.close()
    assert not folder.exists()


def test_memory_has_no_snapshots() -> None:
    storage = Storage.memory()
    with pytest.raises(StoreError, match="no snapshots"):
        storage.snapshot()
    storage.close()


def test_a_snapshot_ends_with_the_last_who_holds_it(tmp_path: Path) -> None:
    storage = Storage.file(str(tmp_path / "store.db"))
    snapshot = storage.snapshot()
    for _ in range(2):
        assert snapshot.hold() is snapshot
    for _ in range(2):
        snapshot.close()
        assert snapshot._connection is not None
    snapshot.close()
    assert snapshot._connection is None
    storage.close()
