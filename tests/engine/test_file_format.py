"""Store files of older formats are migrated, and files of newer formats are rejected."""

from __future__ import annotations

import multiprocessing
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from keyplan.errors import StoreError
from keyplan.store import Engine, check_file
from tests.engine.old_formats import as_format_2
from tests.engine.support import create, index, n, pages, put, s

TABLE = {"TableName": "orders"}
INDEXES = [index("ByG", "g", "sk"), index("Keys", "g", projection="KEYS_ONLY"), index("Empty", "h")]


def filled(path: str) -> list[list[dict[str, Any]]]:
    """Create a file of format 2, and return the contents of its tables and indexes."""
    with Engine.open(path) as engine:
        create(engine, GlobalSecondaryIndexes=INDEXES)
        create(engine, "others")
        engine.call(
            "UpdateTimeToLive", {**TABLE, "TimeToLiveSpecification": {"AttributeName": "until", "Enabled": True}}
        )
        for number in range(20):
            put(engine, "a", f"{number:02}", g=s(f"g{number % 3}"), until=n(1000 + number))
        contents = contents_of(engine)
    as_format_2(path)
    return contents


def contents_of(engine: Engine) -> list[list[dict[str, Any]]]:
    names = [{}, *({"IndexName": each["IndexName"]} for each in INDEXES)]
    return [pages(engine, "Scan", {**TABLE, **name}) for name in names]


def test_store_file_of_format_2_is_migrated(path: str) -> None:
    contents = filled(path)
    with Engine.open(path, clock=lambda: 1010.5) as engine:
        assert contents_of(engine) == contents
        assert engine.check() == []
        put(engine, "a", "00", g=s("new"), h=s("x"))
        engine.call("DeleteItem", {**TABLE, "Key": {"pk": s("a"), "sk": s("19")}})
        assert [each["sk"] for each in contents_of(engine)[3]] == [s("00")]
        assert engine.sweep() == 10
        create(engine, "third", GlobalSecondaryIndexes=INDEXES)
        assert engine.check() == []
    with Engine.open(path) as engine:
        assert len(pages(engine, "Scan", TABLE)) == 9
    shell = sqlite3.connect(path)
    assert shell.execute("PRAGMA user_version").fetchone() == (3,)
    assert not shell.execute("SELECT name FROM sqlite_schema WHERE name GLOB 'index_*'").fetchall()
    shell.close()


def _open_and_write(path: str, start: Any) -> None:
    start.wait(timeout=10)
    with Engine.open(path, busy_timeout_s=60) as engine:
        for number in range(20):
            put(engine, str(start.n_waiting), str(number), g=s("g"), h=s("h"))


def test_several_processes_can_migrate_a_store_file_concurrently(path: str) -> None:
    filled(path)
    context = multiprocessing.get_context("fork")
    start = context.Barrier(4)
    processes = [context.Process(target=_open_and_write, args=(path, start)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert check_file(path) == []


@pytest.mark.parametrize(("version", "hint"), [(1, "older version"), (99, "Update keyplan")])
def test_store_file_of_an_unsupported_format_is_rejected(path: str, version: int, hint: str) -> None:
    filled(path)
    file = sqlite3.connect(path)
    file.execute(f"PRAGMA user_version = {version}")
    file.close()
    before = Path(path).read_bytes()
    with pytest.raises(
        StoreError, match=f"format {version}, but this version of Keyplan supports only formats 2 and 3"
    ) as caught:
        Engine.open(path)
    assert hint in str(caught.value.hint)
    assert Path(path).read_bytes() == before


def test_open_store_reports_a_migration_by_a_newer_version(path: str) -> None:
    """A migration can rename the catalog table and the item tables."""
    with Engine.open(path) as engine:
        create(engine)
        put(engine, "a", "1", g=s("g"), h=s("h"))
        newer = sqlite3.connect(path)
        newer.execute("ALTER TABLE items_1_1 RENAME TO items_1_2")
        newer.execute("ALTER TABLE keyplan_catalog RENAME TO catalog")
        newer.execute("PRAGMA user_version = 4")
        newer.commit()
        newer.close()
        key = {**TABLE, "Key": {"pk": s("a"), "sk": s("1")}}
        for operation, params in (
            ("GetItem", key),
            ("PutItem", {**TABLE, "Item": key["Key"]}),
            ("DeleteItem", key),
            ("Scan", {**TABLE, "IndexName": "ByG"}),
            ("TransactWriteItems", {"TransactItems": [{"Delete": key}]}),
            ("DeleteTable", TABLE),
            ("ListTables", {}),
        ):
            with pytest.raises(StoreError, match="A newer version of Keyplan has migrated the file") as caught:
                engine.call(operation, params)
            assert "restart" in str(caught.value.hint)


def test_cost_of_creating_a_table_does_not_grow_with_the_number_of_tables(path: str) -> None:
    """Each SQLite connection reads the whole schema again after the schema has changed."""

    def objects() -> int:
        shell = sqlite3.connect(path)
        (count,) = shell.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        shell.close()
        return int(count)

    def cost(engine: Engine, name: str) -> int:
        before = engine.statements
        create(engine, name, GlobalSecondaryIndexes=INDEXES)
        engine.call("DeleteTable", {"TableName": name})
        return engine.statements - before

    with Engine.open(path) as engine:
        create(engine, "first", GlobalSecondaryIndexes=INDEXES)
        first, first_cost = objects(), cost(engine, "other")
        for number in range(5):
            create(engine, f"table{number}", GlobalSecondaryIndexes=INDEXES)
            assert objects() == first + 2 * (number + 1)  # the items and their key index
        assert cost(engine, "other") == first_cost
