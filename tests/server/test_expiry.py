"""A worker of the server deletes expired items. Killing the server during a deletion doesn't damage the store."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import pytest

from keyplan.store import Engine, check_file
from tests.server.support import CREATE, TABLE, Server, s, serving

MANY = 600


def prepare(server: Server, count: int) -> None:
    """Create a table with TTL, expired items, and one item that hasn't expired."""
    server.call("CreateTable", CREATE)
    settings = {"Enabled": True, "AttributeName": "ttl"}
    server.call("UpdateTimeToLive", {"TableName": TABLE, "TimeToLiveSpecification": settings})
    now_s = int(time.time())
    items: list[dict[str, Any]] = [
        {"pk": s("a"), "sk": s(number), "g": s("g"), "ttl": {"N": str(now_s - 1)}} for number in range(count)
    ]
    items.append({"pk": s("a"), "sk": s("lives"), "g": s("g"), "ttl": {"N": str(now_s + 3600)}})
    for start in range(0, len(items), 25):
        puts = [{"PutRequest": {"Item": item}} for item in items[start : start + 25]]
        server.call("BatchWriteItem", {"RequestItems": {TABLE: puts}})


def count(server: Server, **members: Any) -> int:
    number: int = server.call("Scan", {"TableName": TABLE, "Select": "COUNT", **members})["Count"]
    return number


def wait_until(server: Server, wanted: int) -> None:
    end = time.monotonic() + 60
    while count(server) > wanted:
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_server_deletes_expired_items_automatically(tmp_path: Path, workers: int) -> None:
    db = str(tmp_path / "store.db") if workers else ":memory:"
    with serving(db, sweep_s=0.05, workers=workers or 1) as server:
        prepare(server, 30)
        wait_until(server, 1)
        assert count(server, IndexName="ByG") == 1


def test_ttl_interval_of_zero_disables_the_deletion_of_expired_items(tmp_path: Path) -> None:
    with serving(str(tmp_path / "store.db"), sweep_s=0) as server:
        prepare(server, 3)
        time.sleep(0.2)
        assert count(server) == 4


def test_killing_the_server_during_the_deletion_of_expired_items_damages_nothing(tmp_path: Path) -> None:
    db = str(tmp_path / "store.db")
    with serving(db, sweep_s=0) as server:
        prepare(server, MANY)
    with serving(db, sweep_s=0.01) as server:
        while count(server) > MANY:
            pass
        server.end(signal.SIGKILL)
    assert check_file(db) == []
    with Engine.open(db) as engine:
        remaining = engine.call("Scan", {"TableName": TABLE, "Select": "COUNT"})["Count"]
        assert engine.call("Scan", {"TableName": TABLE, "IndexName": "ByG", "Select": "COUNT"})["Count"] == remaining
        assert engine.sweep() == remaining - 1
        assert engine.check() == []
