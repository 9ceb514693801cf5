"""Time to live (TTL): the items that expire, and the time of their deletion."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from keyplan.store import REMOVED_TOGETHER, Engine
from keyplan.store.control_plane.time_to_live import PAST_S_MAX
from tests.engine.support import Clock, create, get, n, put, s

NOW_S = 1_800_000_000


def expire(engine: Engine, attribute: str | None = "ttl", name: str = "orders") -> None:
    """Set the TTL attribute. None disables the TTL of the attribute ``ttl``."""
    settings = {"Enabled": attribute is not None, "AttributeName": attribute or "ttl"}
    engine.call("UpdateTimeToLive", {"TableName": name, "TimeToLiveSpecification": settings})


def sorts(engine: Engine, **members: Any) -> set[str]:
    answer = engine.call("Scan", {"TableName": "orders", **members})
    return {item["sk"]["S"] for item in answer["Items"]}


def test_sweep_deletes_exactly_the_expired_items(engine: Engine) -> None:
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
    assert len(sorts(engine)) == len(values) + 2  # expired items stay until a sweep
    assert engine.sweep() == 6
    kept = {"future", "five years ago", "long ago", "negative", "milliseconds", "a text", "a set", "a map"}
    assert sorts(engine) == kept | {"nothing", "without"}
    assert sorts(engine, IndexName="ByG") == kept | {"nothing"}
    assert engine.check() == []


def test_item_is_deleted_after_its_expiration_time(engine: Engine, clock: Clock) -> None:
    create(engine)
    expire(engine)
    put(engine, "a", "1", ttl=n(NOW_S + 10))
    assert engine.sweep() == 0
    clock.now_s += 10
    assert get(engine, "a", "1") is not None
    assert engine.sweep() == 1
    assert get(engine, "a", "1") is None


def test_item_whose_expiration_time_was_extended_is_kept(engine: Engine) -> None:
    create(engine)
    expire(engine)
    put(engine, "a", "1", ttl=n(NOW_S - 1))
    put(engine, "a", "1", ttl=n(NOW_S + 1))
    assert engine.sweep() == 0


def test_items_expire_according_to_the_current_ttl_attribute(engine: Engine) -> None:
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
def test_ttl_supports_any_attribute_name(engine: Engine, name: str) -> None:
    create(engine)
    expire(engine, name)
    put(engine, "a", "1", **{name: n(NOW_S)})
    put(engine, "a", "2", **{name: n(NOW_S + 1)})
    assert engine.sweep() == 1
    assert sorts(engine) == {"2"}


def test_sweep_deletes_at_most_the_requested_number_of_items(engine: Engine) -> None:
    create(engine)
    create(engine, "others")
    for name in ("orders", "others"):
        expire(engine, name=name)
    for number in range(REMOVED_TOGETHER + 5):
        put(engine, "a", str(number), ttl=n(NOW_S - number))
    engine.call("PutItem", {"TableName": "others", "Item": {"pk": s("a"), "sk": s("1"), "ttl": n(NOW_S)}})
    assert engine.sweep(3) == 3
    assert sorts(engine).isdisjoint(str(REMOVED_TOGETHER + 5 - each) for each in (1, 2, 3))  # oldest first
    assert engine.sweep(REMOVED_TOGETHER + 1) == REMOVED_TOGETHER + 1
    assert engine.sweep() == 2
    assert engine.sweep() == 0


def test_concurrent_sweeps_delete_each_expired_item_once(tmp_path: Path, clock: Clock) -> None:
    """Two engines delete expired items during writes. Items that haven't expired are kept."""
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


def test_missing_index_of_expiration_times_is_created_on_open(tmp_path: Path, clock: Clock) -> None:
    """Older versions stored the TTL setting, but had no index of expiration times."""
    path = tmp_path / "store.db"
    with Engine.open(path, clock=clock) as engine:
        create(engine)
        expire(engine)
        put(engine, "a", "1", ttl=n(NOW_S))
        engine._storage.write(lambda writer: writer.expire_by(engine._database.table("orders").stored, None))
    with Engine.open(path, clock=clock) as engine:
        assert engine.sweep() == 1
        assert engine.check() == []
