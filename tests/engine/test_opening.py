"""Opening a store. Each error is a ``StoreError`` with a place and a hint."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw
import pytest

from keyplan.errors import StoreError
from keyplan.store import Engine
from keyplan.store.database import Database
from keyplan.store.storage.sqlite import Storage
from tests.engine.support import create, get, put, s


def refused(path: str, **options: object) -> StoreError:
    with pytest.raises(StoreError) as caught:
        Engine.open(path, **options)  # type: ignore[arg-type]  # options of several types
    assert caught.value.code == "StoreError"
    assert caught.value.place == path
    assert caught.value.hint
    return caught.value


def test_reopened_store_contains_its_items(path: str) -> None:
    with Engine.open(path) as engine:
        create(engine)
        put(engine, "a", "1", x=s("y"))
    with Engine.open(path, create=False) as engine:
        assert get(engine, "a", "1") == {"pk": s("a"), "sk": s("1"), "x": s("y")}


def test_store_file_contains_its_format_number(path: str) -> None:
    with Engine.open(path) as engine:
        create(engine)
        put(engine, "a", "1", x=s("é"))
    shell = sqlite3.connect(path)
    assert shell.execute("PRAGMA application_id").fetchone() == (0x4B504C4E,)
    assert shell.execute("PRAGMA user_version").fetchone() == (3,)
    assert shell.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    row = shell.execute("SELECT pk, sk, CAST(body AS TEXT) FROM items_1_1").fetchone()
    assert row == ("a", "1", '{"pk":{"S":"a"},"sk":{"S":"1"},"x":{"S":"é"}}')
    shell.close()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("store.db", {"create": False}, "The file doesn't exist"),
        ("none/store.db", {}, "The folder of the file doesn't exist"),
        ("", {}, "can't be opened"),
    ],
)
def test_an_invalid_path_raises_an_error(tmp_path: Path, name: str, options: dict[str, bool], message: str) -> None:
    assert message in refused(str(tmp_path / name), **options).message


def test_opening_an_empty_path_raises_an_error() -> None:
    with pytest.raises(StoreError, match="The file doesn't exist"):
        Engine.open("")


def test_opening_a_file_of_another_type_raises_an_error_and_keeps_the_file(path: str) -> None:
    Path(path).write_bytes(b"something else, and rather long " * 100)
    before = Path(path).read_bytes()
    assert "isn't a SQLite file" in refused(path).message
    assert Path(path).read_bytes() == before


def test_opening_a_database_of_another_program_raises_an_error_and_keeps_the_file(path: str) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE notes (text)")
    other.close()
    before = Path(path).read_bytes()
    assert "another program" in refused(path).message
    assert Path(path).read_bytes() == before


def test_opening_a_damaged_file_raises_an_error(path: str) -> None:
    with Engine.open(path) as engine:
        create(engine)
        for number in range(300):
            put(engine, "a", f"{number:04d}", x=s("y" * 500))
    raw = bytearray(Path(path).read_bytes())
    raw[4096 * 3 : 4096 * 30] = b"\x99" * (4096 * 27)
    Path(path).write_bytes(raw)
    with Engine.open(path) as engine, pytest.raises(StoreError, match="damaged"):
        engine.call("Scan", {"TableName": "orders"})
    with Engine.open(path) as engine:
        assert {finding.code for finding in engine.check()} == {"FileDamaged"}


def fill(engine: Engine) -> None:
    for number in range(100):
        put(engine, "b", f"{number}", g=s("g"), h=s("h" * 900), x=s("x" * 20_000))


def test_opening_a_store_on_a_full_disk_leaves_it_unchanged(path: str) -> None:
    storage = Storage.file(path)
    engine = Engine(Database(storage))
    create(engine)
    put(engine, "a", "before", g=s("g"), h=s("h"))
    connection = storage.pool.take()
    pages = connection.pragma("page_count")
    connection.execute(f"PRAGMA max_page_count = {pages}")
    storage.pool.give(connection)
    with pytest.raises(StoreError, match="disk is full"):
        fill(engine)
    assert get(engine, "a", "before") is not None
    assert engine.check() == []
    connection = storage.pool.take()
    connection.execute("PRAGMA max_page_count = 1000000")
    storage.pool.give(connection)
    put(engine, "b", "after", x=s("x" * 20_000))
    engine.close()


def test_write_that_waits_too_long_for_the_lock_raises_an_error(path: str) -> None:
    with Engine.open(path, busy_timeout_s=0.2) as engine:
        create(engine)
        other = apsw.Connection(path)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"held the store's write lock for 0\.2 s"):
            put(engine, "a", "1")
        other.execute("ROLLBACK")
        other.close()
        put(engine, "a", "1")


def test_write_lock_held_by_another_thread_is_reported(path: str) -> None:
    storage = Storage.file(path, busy_timeout_s=0.2)
    inside, leave = threading.Event(), threading.Event()

    def hold(_: object) -> None:
        inside.set()
        leave.wait(20)

    thread = threading.Thread(target=storage.write, args=(hold,))
    thread.start()
    inside.wait(20)
    with pytest.raises(StoreError, match="write lock"):
        storage.write(lambda writer: writer.tables())
    leave.set()
    thread.join()
    assert storage.write(lambda writer: writer.tables()) == []
    storage.close()


def open_unprivileged(path: Path) -> str:
    """Open the file in an unprivileged child process, and return the error message."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            try:
                Engine.open(str(path)).call("ListTables", {})
                text = "opened"
            except StoreError as error:
                text = error.message if error.hint and error.place == str(path) else "no hint"
            os.write(writing, text.encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as pipe:
        return pipe.read()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can read. pytest makes its own folders private, also while another run uses them."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


def test_opening_a_read_only_file_raises_an_error(open_folder: Path) -> None:
    path = open_folder / "store.db"
    Engine.open(path).close()
    path.chmod(0o444)
    assert "can't be written" in open_unprivileged(path)


def test_opening_a_file_in_a_read_only_folder_raises_an_error(open_folder: Path) -> None:
    path = open_folder / "store.db"
    open_folder.chmod(0o555)
    assert "can't be opened" in open_unprivileged(path)
    open_folder.chmod(0o755)
    Engine.open(path).close()
    path.chmod(0o666)
    open_folder.chmod(0o555)
    assert "can't be" in open_unprivileged(path)


@pytest.mark.parametrize("place", ["file", ":memory:"])
def test_closed_store_rejects_requests(path: str, place: str) -> None:
    engine = Engine.open(path if place == "file" else place)
    create(engine)
    engine.close()
    engine.close()
    for operation, params in (
        ("ListTables", {}),
        ("GetItem", {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("b")}}),
    ):
        with pytest.raises(StoreError, match="closed"):
            engine.call(operation, params)


def test_forked_process_can_use_the_engine_of_its_parent(path: str) -> None:
    with Engine.open(path) as engine:
        create(engine)
        put(engine, "a", "parent")
        child = os.fork()
        if child == 0:
            try:
                assert get(engine, "a", "parent") is not None
                put(engine, "a", "child")
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        put(engine, "a", "after")
        assert get(engine, "a", "child") is not None
        assert engine.check() == []


def test_journal_mode_is_reset_to_wal(path: str) -> None:
    with Engine.open(path) as engine:
        create(engine)
    file = sqlite3.connect(path)
    file.execute("PRAGMA journal_mode = DELETE")
    file.close()
    with Engine.open(path) as engine:
        put(engine, "a", "1")
        assert Path(f"{path}-wal").exists()
