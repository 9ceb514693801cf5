"""Deleted tables, indexes and backups are hidden immediately, and their rows are deleted in batches."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keyplan.errors import StoreError
from keyplan.store import Engine
from keyplan.store.storage.storage_transactions import Writer
from tests.engine.batches import (
    ADD,
    ADD_VECTORS,
    COPY,
    DROP,
    DROP_VECTORS,
    HISTORY,
    LATEST,
    SEARCH,
    TABLE,
    Writers,
    back_up,
    between,
    by_key,
    engines,
    tables_of,
)
from tests.engine.support import answer, create, n, pages, put, s

__all__ = ["between", "engines"]

IS_TABLE = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
EXPIRE = {**TABLE, "TimeToLiveSpecification": {"AttributeName": "times", "Enabled": True}}
EXPIRE_NOT = {**TABLE, "TimeToLiveSpecification": {"AttributeName": "times", "Enabled": False}}
NO_HISTORY = {**TABLE, "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": False}}
STREAM = {**TABLE, "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}}


def waste_of(engine: Engine) -> list[str]:
    connection = engine._storage.pool.take()
    try:
        dropped = [str(number) for (number,) in connection.execute("SELECT id FROM keyplan_dropped_indexes")]
    finally:
        engine._storage.pool.give(connection)
    return sorted(name for name in tables_of(engine) if name.startswith("waste")) + dropped


@pytest.fixture
def largest(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record how many rows of deleted tables and indexes each statement removes."""
    counts: list[int] = []
    run = Writer._run

    def counted(self: Writer, text: str, *rest: Any) -> Any:
        name = text.rsplit(maxsplit=1)[-1]
        if text.startswith("DROP TABLE") and run(self, IS_TABLE, (name,)).fetchone():
            rows = run(self, f"SELECT * FROM {name} LIMIT 17").fetchall()
            assert len(rows) <= 16, name
        cursor = run(self, text, *rest)
        if text.startswith(("DELETE FROM waste", "DELETE FROM entries")):
            counts.append(self._connection.changes())
        return cursor

    monkeypatch.setattr(Writer, "_run", counted)
    return counts


@pytest.mark.parametrize("seed", range(2))
def test_rows_of_a_deleted_table_are_removed_during_other_writes(
    engines: list[Engine], between: Any, largest: list[int], seed: int
) -> None:
    """A table with the same name can be created immediately, and keeps its items."""
    create(engines[0])
    engines[0].call("UpdateTable", ADD_VECTORS)
    engines[0].call("UpdateTimeToLive", EXPIRE)
    for number in range(60):
        put(engines[0], "a", f"{number:02}", g=s("g"), h=s("h"), times=n(number), v={"L": [n(1), n(2)]})
    others = Writers(engines, seed)
    seen: list[list[str]] = []

    def meanwhile() -> None:
        seen.append(waste_of(engines[-1]))
        if len(seen) == 1:
            assert engines[-1].call("ListTables", {})["TableNames"] == []
            assert answer(engines[-1], "Scan", TABLE)["error"] == "ResourceNotFoundException"
            create(engines[-1])
            engines[-1].call("UpdateTable", ADD_VECTORS)
            engines[-1].call("UpdateTimeToLive", EXPIRE)
        others.write()
        others.check()
        assert engines[-1].check() == []

    between(meanwhile)
    engines[0].call("DeleteTable", TABLE)
    assert seen[0] == ["waste_1", "waste_2", "waste_3", str(1 << 32 | 1)]  # items, vectors, expiration times; entries
    assert largest
    assert max(largest) <= 16
    between(lambda: None)
    assert not waste_of(engines[0])
    for engine in engines:
        assert engine.check() == []
        found = [each["Item"] for each in engine.call("SearchVectors", SEARCH)["SearchResults"]]
        assert by_key(found).keys() == {key for key, item in others.stored.items() if "v" in item}
    gone = {key for key, item in others.stored.items() if "times" in item}
    for engine in engines:
        engine.database.clock = engine._storage.clock = lambda: 1000.0
    assert engines[0].sweep() == len(gone)


def removals(engine: Engine) -> dict[str, Callable[[], Any]]:
    """Create a table. For each prefix of SQLite table names, return an operation that deletes rows of such tables."""
    create(engine)
    engine.call("UpdateTable", ADD)
    engine.call("UpdateTable", ADD_VECTORS)
    engine.call("UpdateTable", STREAM)
    engine.call("UpdateTimeToLive", EXPIRE)
    engine.call("UpdateContinuousBackups", HISTORY)
    empty_s = time.time()
    for number in range(40):
        put(engine, "a", f"{number:02}", x=s("x"), times=n(number), v={"L": [n(1), n(2)]})
    arn = back_up(engine)

    restore = {**LATEST, "UseLatestRestorableTime": False, "RestoreDateTime": empty_s}

    def later() -> None:
        moment_s = time.time() + 2 * 86_400
        engine.call("UpdateTable", {**TABLE, "StreamSpecification": {"StreamEnabled": False}})
        engine.database.clock = engine._storage.clock = lambda: moment_s
        engine.trim_streams()

    return {
        "backup": lambda: engine.call("DeleteBackup", {"BackupArn": arn}),
        "restoring": lambda: engine.call("RestoreTableToPointInTime", restore),
        "history": lambda: engine.call("UpdateContinuousBackups", NO_HISTORY),
        "index": lambda: engine.call("UpdateTable", DROP),
        "vectors": lambda: engine.call("UpdateTable", DROP_VECTORS),
        "expires": lambda: engine.call("UpdateTimeToLive", EXPIRE_NOT),
        "changes": later,
    }


def test_rows_of_deleted_tables_are_removed_in_batches(tmp_path: Path, between: Any, largest: list[int]) -> None:
    """All rows of the removed tables are deleted, and all other rows are kept."""
    with Engine.open(tmp_path / "store.db") as engine:
        made = removals(engine)
        batches = between(lambda: None)
        for name, remove in made.items():
            kinds = [each for each in tables_of(engine) if each.partition("_")[0] == name]
            largest.clear()
            batches.clear()
            remove()
            assert largest, name
            assert max(largest) <= 16, name
            assert len(batches) >= 2, name
            if name not in {"index", "vectors"}:
                assert not [each for each in tables_of(engine) if each.partition("_")[0] == name], kinds
            assert not waste_of(engine)
            assert engine.check() == []
        assert len(pages(engine, "Scan", TABLE)) == 40
        assert pages(engine, "Scan", COPY) == []
        assert engine.call("DescribeTable", TABLE)["Table"]["GlobalSecondaryIndexes"]
        free = engine._storage.pool.take()
        assert not free.execute("SELECT 1 FROM entries_1_0").fetchall()  # the index that was dropped had this key
        assert not free.execute("SELECT 1 FROM sqlite_schema WHERE tbl_name LIKE 'waste%'").fetchall()
        engine._storage.pool.give(free)


def test_failed_cleanup_is_retried_when_the_file_is_opened(tmp_path: Path, between: Any, caplog: Any) -> None:
    """The failure doesn't affect the deletion of the table. The next process that opens the file frees the space."""
    path = tmp_path / "store.db"
    with Engine.open(path) as engine:
        create(engine)
        for number in range(60):
            put(engine, "a", str(number))

        def fail() -> None:
            raise StoreError("The disk is full; nothing was written")

        between(fail)
        engine.call("DeleteTable", TABLE)
        assert "Can't free the disk space of deleted data; Keyplan will retry: The disk is full" in caplog.text
        assert waste_of(engine) == ["waste_1"]
        create(engine)
        put(engine, "a", "1")
    between(lambda: None)
    with Engine.open(path) as engine:
        engine.sweep()
        assert not waste_of(engine)
        assert len(pages(engine, "Scan", TABLE)) == 1
        before = engine.statements
        engine.sweep()
        assert engine.statements - before <= 4  # leftover data is searched for once per hour


def test_requests_by_another_process_to_a_deleted_table_are_rejected(tmp_path: Path, between: Any) -> None:
    """The other process has cached the names of the deleted SQLite tables."""
    path = tmp_path / "store.db"
    with Engine.open(path) as engine, Engine.open(path) as other:
        create(engine)
        for number in range(60):
            put(engine, "a", str(number))
        assert len(pages(other, "Scan", TABLE)) == 60

        def meanwhile() -> None:
            key = {"pk": s("a"), "sk": s("1")}
            for operation, params in (
                ("GetItem", {**TABLE, "Key": key}),
                ("PutItem", {**TABLE, "Item": key}),
                ("DeleteItem", {**TABLE, "Key": key}),
                ("Scan", TABLE),
                ("Query", {**TABLE, "KeyConditionExpression": "pk = :a", "ExpressionAttributeValues": {":a": s("a")}}),
            ):
                assert answer(other, operation, params)["error"] == "ResourceNotFoundException"

        between(meanwhile)
        engine.call("DeleteTable", TABLE)
