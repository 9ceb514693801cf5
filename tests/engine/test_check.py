"""The integrity check reports damaged items and index entries."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from keyplan.errors import StoreError
from keyplan.store import Engine, check_file
from tests.engine.support import create, index, n, put, s

DAMAGE = {
    "DELETE FROM entries_1_1 WHERE sk = '1'": {("EntryMissing", "orders/ByG 'a' '1'")},
    "DELETE FROM items_1_1 WHERE sk = '1'": {
        ("EntryStray", "orders/ByG 'a' '1'"),
        ("EntryStray", "orders/Keys 'a' '1'"),
    },
    "DELETE FROM entries_1_0 WHERE sk = '3'": {("EntryMissing", "orders/Keys 'a' '3'")},
    "UPDATE entries_1_1 SET item = 99 WHERE sk = '1'": {("EntryWrong", "orders/ByG 'a' '1'")},
    "UPDATE entries_1_0 SET size = 1 WHERE sk = '1'": {("EntryWrong", "orders/Keys 'a' '1'")},
    "INSERT INTO entries_1_1 VALUES (1 << 32 | 1, 'g', 'other', 'a', '1', 1, NULL)": {
        ("EntryStray", "orders/ByG 'a' '1'")
    },
    "UPDATE items_1_1 SET size = 1 WHERE sk = '1'": {("ItemWrong", "orders 'a' '1'")},
    "UPDATE items_1_1 SET sk = '9' WHERE sk = '0'": {
        ("ItemWrong", "orders 'a' '9'"),
        ("EntryMissing", "orders/ByG 'a' '9'"),
        ("EntryMissing", "orders/Keys 'a' '9'"),
        ("EntryStray", "orders/ByG 'a' '0'"),
        ("EntryStray", "orders/Keys 'a' '0'"),
    },
    "UPDATE items_1_1 SET body = x'7b' WHERE sk = '2'": {("ItemUnreadable", "orders 'a' '2'")},
    """UPDATE items_1_1 SET body = CAST('{"pk":{"S":"a"},"sk":{"S":"2"},"n":{"N":"1.0"}}' AS BLOB)
       , checksum = 2932721292 WHERE sk = '2'""": {("ItemWrong", "orders 'a' '2'")},
    "UPDATE items_1_1 SET body = CAST(replace(CAST(body AS TEXT), 'h1', 'h3') AS BLOB) WHERE sk = '1'": {
        ("ItemDamaged", "orders 'a' '1'")
    },
}


@pytest.fixture
def filled(tmp_path: Path) -> str:
    path = str(tmp_path / "store.db")
    with Engine.open(path) as engine:
        create(engine, GlobalSecondaryIndexes=[index("ByG", "g", "h"), index("Keys", "g", projection="KEYS_ONLY")])
        put(engine, "a", "0", g=s("g"), h=s("h0"))
        put(engine, "a", "1", g=s("g"), h=s("h1"), more=n(5))
        put(engine, "a", "2", more={"NS": ["1", "2"]})
        put(engine, "a", "3", g=s("other"))
    return path


def test_integrity_check_of_an_undamaged_store_reports_nothing(filled: str) -> None:
    assert check_file(filled) == []


@pytest.mark.parametrize("statement", DAMAGE)
def test_integrity_check_reports_damage(filled: str, statement: str) -> None:
    file = sqlite3.connect(filled)
    file.execute(statement)
    file.commit()
    file.close()
    findings = check_file(filled)
    assert {(finding.code, finding.place) for finding in findings} == DAMAGE[statement]
    assert all(finding.code in str(finding) for finding in findings)


def test_integrity_check_of_a_missing_file_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="doesn't exist"):
        check_file(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
