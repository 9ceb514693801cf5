"""Store files of other formats are rejected."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from keyplan.errors import StoreError
from keyplan.store import Engine
from tests.engine.support import create, index, put, s

TABLE = {"TableName": "orders"}
INDEXES = [index("ByG", "g", "sk"), index("Keys", "g", projection="KEYS_ONLY"), index("Empty", "h")]


@pytest.mark.parametrize(("version", "hint"), [(2, "new store"), (99, "Update keyplan")])
def test_unsupported_format_is_rejected(path: str, version: int, hint: str) -> None:
    with Engine.open(path) as engine:
        create(engine)
    file = sqlite3.connect(path)
    file.execute(f"PRAGMA user_version = {version}")
    file.close()
    before = Path(path).read_bytes()
    with pytest.raises(StoreError, match=f"format {version}, and this version of Keyplan reads format 3") as caught:
        Engine.open(path)
    assert hint in str(caught.value.hint)
    assert Path(path).read_bytes() == before


def test_open_store_reports_a_migration_by_a_newer_version(path: str) -> None:
    """A migration can rename the catalog and the item tables."""
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


def test_cost_of_a_table_does_not_grow_with_the_number_of_tables(path: str) -> None:
    """After a schema change, each connection reads the whole schema again."""

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
