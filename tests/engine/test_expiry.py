"""Expired items are removed, by whom and when, and what isn't touched."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from keyplan.store import REMOVED_TOGETHER, Engine
from keyplan.store.control_plane.time_to_live import PAST_S_MAX
from tests.engine.support import Clock, create, get, n, put, s

NOW_S = 1_800_000_000


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return ":memory:" if request.param == "memory" else str(tmp_path / "store.db")


def expire(engine: Engine, attribute: str | None = "ttl", name: str = "orders") -> None:
    """Let items expire by an attribute; None: no more by ``ttl``."""
    settings = {"Enabled": attribute is not None, "AttributeName": attribute or "ttl"}
    engine.call("UpdateTimeToLive", {"TableName": name, "TimeToLiveSpecification": settings})


def sorts(engine: Engine, **question: Any) -> set[str]:
    answer = engine.call("Scan", {"TableName": "orders", **question})
    return {item["sk"]["S"] for item in answer["Items"]}


def test_what_expires_and_what_does_not(place: str, clock: Clock) -> None:
    with Engine.open(place, clock=clock) as engine:
        create(engine)
        put(engine, "a", "before the setting", ttl=n(NOW_S - 1))
        expire(engine)
        values: dict[str, dict[str, Any]] = {
            "past": n(NOW_S - 1),
            "now": n(NOW_S),
            "another spelling": n("1.7999E9"),
            "a fraction ago": n(f"{NOW_S - 1}.5"),
            "just within five years": n(int(NOW_S - PAST_S_MAX) + 1),
            "future": n(NOW_S + 1),
            "five years ago": n(int(NOW_S - PAST_S_MAX)),
            "long ago": n(1),
            "negative": n(-NOW_S),
            "milliseconds": n(NOW_S * 1000),
            "a text": s(str(NOW_S - 1)),
            "a set": {"NS": [str(NOW_S - 1)]},
            "a map": {"M": {"N": n(NOW_S - 1)}},
            "nothing": {"NULL": True},
        }
        for name, value in values.items():
            put(engine, "a", name, ttl=value, g=s("g"), h=s("h"))
        put(engine, "a", "without")
        assert len(sorts(engine)) == len(values) + 2  # expired, and there until somebody removes it
        assert engine.sweep() == 6
        kept = {"future", "five years ago", "long ago", "negative", "milliseconds", "a text", "a set", "a map"}
        assert sorts(engine) == kept | {"nothing", "without"}
        assert sorts(engine, IndexName="ByG") == kept | {"nothing"}
        assert engine.check() == []


def test_time_goes_on(clock: Clock) -> None:
    with Engine.open(":memory:", clock=clock) as engine:
        create(engine)
        expire(engine)
        put(engine, "a", "1", ttl=n(NOW_S + 10))
        assert engine.sweep() == 0
        clock.now_s += 10
        assert get(engine, "a", "1") is not None
        assert engine.sweep() == 1
        assert get(engine, "a", "1") is None


def test_an_item_that_was_given_more_time_stays(clock: Clock) -> None:
    with Engine.open(":memory:", clock=clock) as engine:
        create(engine)
        expire(engine)
        put(engine, "a", "1", ttl=n(NOW_S - 1))
        engine.call(
            "UpdateItem",
            {
                "TableName": "orders",
                "Key": {"pk": s("a"), "sk": s("1")},
                "UpdateExpression": "SET #t = :t",
                "ExpressionAttributeNames": {"#t": "ttl"},
                "ExpressionAttributeValues": {":t": n(NOW_S + 1)},
            },
        )
        assert engine.sweep() == 0


def test_the_setting_is_what_counts(clock: Clock) -> None:
    with Engine.open(":memory:", clock=clock) as engine:
        create(engine)
        put(engine, "a", "1", ttl=n(NOW_S - 1))
        put(engine, "a", "2", until=n(NOW_S - 1))
        assert engine.sweep() == 0
        expire(engine)
        expire(engine, None)
        assert engine.sweep() == 0
        expire(engine, "until")
        assert engine.sweep() == 1
        assert sorts(engine) == {"1"}


@pytest.mark.parametrize("name", ['a"b', "a\\b", "é'x", "a.b", "x\ny", '$."', "a\x00b", "[0]", "日", " ", "%s{}"])
def test_any_name_will_do(clock: Clock, name: str) -> None:
    with Engine.open(":memory:", clock=clock) as engine:
        create(engine)
        expire(engine, name)
        put(engine, "a", "1", **{name: n(NOW_S)})
        put(engine, "a", "2", **{name: n(NOW_S + 1)})
        assert engine.sweep() == 1
        assert sorts(engine) == {"2"}


def test_a_bounded_number_at_a_time(clock: Clock) -> None:
    with Engine.open(":memory:", clock=clock) as engine:
        create(engine)
        create(engine, "others")
        for name in ("orders", "others"):
            expire(engine, name=name)
        for number in range(REMOVED_TOGETHER + 5):
            put(engine, "a", str(number), ttl=n(NOW_S - number))
        engine.call("PutItem", {"TableName": "others", "Item": {"pk": s("a"), "sk": s("1"), "ttl": n(NOW_S)}})
        assert engine.sweep(3) == 3
        assert sorts(engine).isdisjoint(str(REMOVED_TOGETHER + 5 - each) for each in (1, 2, 3))  # the longest first
        assert engine.sweep(REMOVED_TOGETHER + 1) == REMOVED_TOGETHER + 1
        assert engine.sweep() == 2
        assert engine.sweep() == 0


def test_a_table_that_goes_on_being_used(tmp_path: Path, clock: Clock) -> None:
    """Writers and two sweepers at once: nothing that lives is removed, and what is removed is removed once."""
    path = tmp_path / "store.db"
    with Engine.open(path, clock=clock) as engine, Engine.open(path, clock=clock) as other:
        create(engine)
        expire(engine)
        for number in range(150):
            put(engine, "a", str(number), ttl=n(NOW_S), g=s("g"), h=s(str(number)))
        removed: list[int] = []

        def sweep(by: Engine) -> None:
            count = by.sweep(7)
            while count:
                removed.append(count)
                count = by.sweep(7)

        threads = [threading.Thread(target=sweep, args=(by,)) for by in (engine, other)]
        for thread in threads:
            thread.start()
        for number in range(60):
            put(engine, "b", str(number), ttl=n(NOW_S + 1), g=s("g"), h=s(str(number)))
        for thread in threads:
            thread.join()
        assert sum(removed) == 150
        assert len(sorts(engine)) == 60
        assert engine.check() == []


def test_files_with_settings_only(tmp_path: Path, clock: Clock) -> None:
    """Before there was a sweeper, the setting was stored, and nothing to find expired items by."""
    path = tmp_path / "store.db"
    with Engine.open(path, clock=clock) as engine:
        create(engine)
        expire(engine)
        put(engine, "a", "1", ttl=n(NOW_S))
        engine._storage.write(lambda writer: writer.expire_by(engine._database.table("orders").stored, None))
    with Engine.open(path, clock=clock) as engine:
        assert engine.sweep() == 1
        assert engine.check() == []
