"""The check of a store finds what is wrong with it, and nothing where nothing is."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from keyplan.errors import StoreError
from keyplan.store import Engine, check_file
from keyplan.store.storage.sqlite import Storage
from tests.engine.support import create, index, n, put, s

SPOILED = {
    "DELETE FROM index_1_1 WHERE sk = '1'": {("EntryMissing", "orders/ByG 'a' '1'")},
    "DELETE FROM items_1_1 WHERE sk = '1'": {
        ("EntryStray", "orders/ByG 'a' '1'"),
        ("EntryStray", "orders/Keys 'a' '1'"),
    },
    "DELETE FROM index_1_2 WHERE sk = '3'": {("EntryMissing", "orders/Keys 'a' '3'")},
    "UPDATE index_1_1 SET item = 99 WHERE sk = '1'": {("EntryWrong", "orders/ByG 'a' '1'")},
    "UPDATE index_1_2 SET size = 1 WHERE sk = '1'": {("EntryWrong", "orders/Keys 'a' '1'")},
    "INSERT INTO index_1_1 VALUES ('g', 'other', 'a', '1', 1)": {("EntryStray", "orders/ByG 'a' '1'")},
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
       , checksum = NULL WHERE sk = '2'""": {("ItemWrong", "orders 'a' '2'")},
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


def test_a_sound_store(filled: str) -> None:
    assert check_file(filled) == []


@pytest.mark.parametrize("statement", SPOILED)
def test_a_spoiled_store(filled: str, statement: str) -> None:
    file = sqlite3.connect(filled)
    file.execute(statement)
    file.commit()
    file.close()
    findings = check_file(filled)
    assert {(finding.code, finding.place) for finding in findings} == SPOILED[statement]
    assert all(finding.code in str(finding) for finding in findings)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such file"):
        check_file(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


def files_of(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def test_what_is_only_read_is_copied_only_where_its_log_holds_something(
    filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store is large, and a copy of it takes its time; read without one, what a log holds would be missed."""
    copied: list[str] = []
    copy = shutil.copyfile

    def copyfile(source: Path, target: Path) -> None:
        copied.append(Path(source).name)
        copy(source, target)

    monkeypatch.setattr(shutil, "copyfile", copyfile)
    before = files_of(tmp_path)
    assert list(before) == ["store.db"]
    storage = Storage.read_only(filled)
    assert [len(storage.read(lambda reader: reader.tables())), storage.place, copied] == [1, filled, []]
    storage.close()

    Path(f"{filled}-wal").touch()
    Storage.read_only(filled).close()
    assert copied == []
    Path(f"{filled}-wal").unlink()

    with Engine.open(filled) as engine:
        create(engine, name="second")
        for name in ("store.db", "store.db-wal"):
            copy(tmp_path / name, tmp_path / f"left-{name}")
    left = str(tmp_path / "left-store.db")
    before = files_of(tmp_path)
    storage = Storage.read_only(left)
    assert [len(storage.read(lambda reader: reader.tables())), storage.place] == [2, left]
    assert copied == ["left-store.db", "left-store.db-wal"]
    storage.close()
    assert files_of(tmp_path) == before


def test_a_file_of_an_older_format_is_renewed_in_a_copy_where_it_is_only_read(filled: str, tmp_path: Path) -> None:
    file = sqlite3.connect(filled)
    file.executescript("""
        ALTER TABLE items_1_1 DROP COLUMN checksum; DROP TABLE keyplan_streams; DROP TABLE keyplan_shards;
        PRAGMA user_version = 1;
    """)
    file.close()
    before = files_of(tmp_path)
    storage = Storage.read_only(filled)
    assert len(storage.read(lambda reader: reader.tables())) == 1
    assert filled not in open_files()
    storage.close()
    assert files_of(tmp_path) == before


def open_files() -> list[str]:
    """What this process has open, where the system tells."""
    links = Path("/proc/self/fd")
    return [str(each.readlink()) for each in links.iterdir() if each.is_symlink()] if links.exists() else []
