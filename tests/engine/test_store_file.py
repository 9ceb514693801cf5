"""Stores whose file is deleted, replaced, opened concurrently, damaged or read-only, and stores in forked processes."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import keyplan
from keyplan.errors import StoreError
from keyplan.store import Engine, check_file
from keyplan.store.storage.sqlite import Storage
from keyplan.store.storage.storage_transactions import Reader
from tests.engine.support import create, get, index, keyed, n, put, s

ROOT = Path(__file__).parents[2]


def run_sql(path: str, statement: str) -> None:
    file = sqlite3.connect(path)
    file.execute(statement)
    file.commit()
    file.close()


# --- deleted and replaced files


@pytest.mark.parametrize("how", ["removed", "replaced", "moved away"])
def test_write_to_a_deleted_or_replaced_file_is_not_acknowledged(path: str, tmp_path: Path, how: str) -> None:
    with Engine.open(path) as engine:
        create(engine)
        put(engine, "a", "1")
        if how == "removed":
            Path(path).unlink()
        elif how == "moved away":
            Path(path).rename(tmp_path / "elsewhere.db")
        else:
            with Engine.open(tmp_path / "other.db") as other:
                create(other)
            (tmp_path / "other.db").replace(path)
        for _ in range(2):
            with pytest.raises(StoreError, match="removed or replaced"):
                put(engine, "a", "2")
        with pytest.raises(StoreError, match="removed or replaced"):
            engine.call_together([("PutItem", {"TableName": "orders", "Item": {"pk": s("a"), "sk": s("3")}})])


def test_connection_to_a_replaced_file_is_rejected(path: str, tmp_path: Path) -> None:
    """All connections of a store must refer to the same file."""
    storage = Storage.file(path)
    taken = storage.pool.take()
    Storage.file(str(tmp_path / "other.db")).close()
    (tmp_path / "other.db").replace(path)
    with pytest.raises(StoreError, match="removed or replaced"):
        storage.pool.take()
    storage.pool.give(taken)
    storage.close()


def test_write_to_a_replaced_wal_is_not_acknowledged(path: str) -> None:
    """Commits are only in the WAL until the next checkpoint."""
    wal = Path(f"{path}-wal")
    with Engine.open(path) as engine:
        create(engine)
        put(engine, "a", "1")
        content = wal.read_bytes()
        wal.unlink()
        wal.write_bytes(content)
        for _ in range(2):
            with pytest.raises(StoreError, match="whether the last writes are stored is unknown"):
                put(engine, "a", "2")
    with Engine.open(path) as engine:
        assert get(engine, "a", "1") is not None
        put(engine, "a", "4")


def test_wal_recreated_by_sqlite_is_accepted(path: str) -> None:
    """SQLite deletes the WAL when the last connection closes, and creates it again when the next one opens."""
    engine = Engine.open(path)
    create(engine)
    pool = engine._storage.pool
    for number in range(5):
        Path(f"{path}-wal").rename(f"{path}-{number}")  # the next file has another inode
        pool.discard(pool.take())  # the only one
        put(engine, "a", str(number))
        with Engine.open(path) as other:
            put(other, "b", str(number))
            connection = other._storage.pool.take()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            other._storage.pool.give(connection)
        put(engine, "c", str(number))
    engine.close()


# --- concurrent processes


def _open_and_write(path: str, name: str, start: Any) -> None:
    start.wait()
    with Engine.open(path) as engine:
        create(engine, name)


def test_several_processes_can_create_a_store_file_concurrently(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    for round_ in range(4):
        path = str(tmp_path / f"{round_}.db")
        start = context.Barrier(4)
        processes = [
            context.Process(target=_open_and_write, args=(path, f"table{number}", start)) for number in range(4)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        assert [process.exitcode for process in processes] == [0] * 4
        with Engine.open(path) as engine:
            assert engine.call("ListTables", {})["TableNames"] == [f"table{number}" for number in range(4)]


# --- forks


def in_child(work: Callable[[], None]) -> int:
    """Run the work in a forked child process, and return its exit status."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def test_child_process_forked_during_writes_can_write(path: str) -> None:
    with Engine.open(path, busy_timeout_s=5) as engine:
        create(engine)
        ends = threading.Event()

        def write() -> None:
            number = 0
            while not ends.is_set():
                number += 1
                put(engine, "parent", str(number % 50), x=s("x" * 2000))

        threads = [threading.Thread(target=write) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for child in range(10):
                assert in_child(lambda name=str(child): put(engine, "child", name)) == 0  # type: ignore[misc]
        finally:
            ends.set()
            for thread in threads:
                thread.join()
        assert all(get(engine, "child", str(child)) is not None for child in range(10))
    assert check_file(path) == []


def test_writes_of_a_forked_child_survive_closing_the_parent(path: str) -> None:
    """The parent doesn't detect the child's locks, but must not delete the WAL when it closes its last connection."""
    engine = Engine.open(path)
    create(engine)
    put(engine, "parent", "1")
    context = multiprocessing.get_context("fork")
    ready, closed = context.Event(), context.Event()

    def work() -> None:
        put(engine, "child", "1")
        ready.set()
        closed.wait(20)
        put(engine, "child", "2")

    child = context.Process(target=work)
    child.start()
    assert ready.wait(20)
    engine.close()
    closed.set()
    child.join()
    assert child.exitcode == 0
    with Engine.open(path) as again:
        assert get(again, "child", "2") is not None
    assert check_file(path) == []


def test_in_memory_store_forked_during_a_request_raises_an_error(path: str) -> None:
    storage = Storage.memory()
    connection = storage.pool.take()

    def work() -> None:
        with pytest.raises(StoreError, match="forked while a thread"):
            storage.read(Reader.tables)

    assert in_child(work) == 0
    storage.pool.give(connection)
    assert in_child(lambda: None if storage.read(Reader.tables) == [] else sys.exit(1)) == 0
    storage.close()


# --- damage


@pytest.fixture(params=["plain", "indexed", "expiring", "streamed"])
def damaged(request: pytest.FixtureRequest, path: str) -> str:
    """A store with two damaged and three undamaged items."""
    with Engine.open(path) as engine:
        more: dict[str, Any] = {"GlobalSecondaryIndexes": [index("ByG", "g", "h")]}
        if request.param == "streamed":
            more["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        if request.param == "plain":
            create(engine, **keyed(pk="S", sk="S"))
        else:
            create(engine, **more)
        if request.param == "expiring":
            specification = {"Enabled": True, "AttributeName": "until"}
            engine.call("UpdateTimeToLive", {"TableName": "orders", "TimeToLiveSpecification": specification})
        for number in range(5):
            put(engine, "a", str(number), g=s("g"), h=s(str(number)), until=n(4_000_000_000 + number))
    run_sql(path, "DROP TRIGGER IF EXISTS expires_1_update")
    run_sql(path, "UPDATE items_1_1 SET body = CAST(substr(CAST(body AS TEXT), 1, 20) AS BLOB) WHERE sk = '1'")
    run_sql(path, "UPDATE items_1_1 SET body = CAST('[1]' AS BLOB) WHERE sk = '2'")
    return path


def test_damaged_item_is_reported_and_can_be_replaced_or_deleted(damaged: str) -> None:
    key = {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("1")}}
    with Engine.open(damaged) as engine:
        requests: list[tuple[str, dict[str, Any]]] = [
            ("GetItem", key),
            ("Scan", {"TableName": "orders"}),
            ("UpdateItem", {**key, "UpdateExpression": "REMOVE x"}),
            ("DeleteItem", {**key, "ReturnValues": "ALL_OLD"}),
            ("DeleteItem", {**key, "ConditionExpression": "attribute_exists(pk)"}),
        ]
        for operation, params in requests:
            with pytest.raises(StoreError, match="A stored item is damaged") as caught:
                engine.call(operation, params)
            assert "without a condition" in str(caught.value.hint)
        codes = {finding.code for finding in engine.check()}
        assert codes == {"ItemUnreadable"}
        put(engine, "a", "1", g=s("g"), h=s("new"))
        engine.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("2")}})
        assert get(engine, "a", "1") == {"pk": s("a"), "sk": s("1"), "g": s("g"), "h": s("new")}
        assert get(engine, "a", "2") is None
        assert engine.check() == []
        assert engine.sweep() == 0
        put(engine, "a", "9", until=n(1))


def test_damaged_item_of_a_table_with_ttl_can_be_replaced(path: str) -> None:
    with Engine.open(path) as engine:
        create(engine)
        put(engine, "a", "1")
        put(engine, "a", "2")
        specification = {"Enabled": True, "AttributeName": "until"}
        engine.call("UpdateTimeToLive", {"TableName": "orders", "TimeToLiveSpecification": specification})
    # Flipped on disk, without SQLite.
    raw = Path(path).read_bytes()
    assert raw.count(b'{"pk":{"S":"a"},"sk":{"S":"1"}}') == 1
    Path(path).write_bytes(raw.replace(b'{"pk":{"S":"a"},"sk":{"S":"1"}}', b'{"pk":{"S":"a"},"sk":{"S":"1"}!'))
    with Engine.open(path) as engine:
        assert [finding.code for finding in engine.check()] == ["ItemUnreadable"]
        put(engine, "a", "1", x=s("y"))
        assert get(engine, "a", "1") == {"pk": s("a"), "sk": s("1"), "x": s("y")}
        engine.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("2")}})
        put(engine, "a", "3", until=n(int(time.time()) - 5))
    with Engine.open(path) as engine:
        assert engine.sweep() == 1
        assert engine.check() == []


def test_check_reports_flipped_bits_in_items_and_stream_records(path: str) -> None:
    with Engine.open(path) as engine:
        create(engine, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
        put(engine, "a", "1", x=s("unmistakable"))
    raw = Path(path).read_bytes()
    assert raw.count(b"unmistakable") == 2
    Path(path).write_bytes(raw.replace(b"unmistakable", b"unmistakeble"))
    findings = check_file(path)
    assert [(finding.code, finding.place.split("/stream/")[0]) for finding in findings] == [
        ("ItemDamaged", "orders 'a' '1'"),
        ("RecordDamaged", "orders"),
    ]
    with Engine.open(path) as engine:
        put(engine, "a", "1", x=s("unmistakable"))
        assert [finding.code for finding in engine.check()] == ["RecordDamaged"]


# --- read-only


@pytest.fixture
def readable_folder() -> Iterator[Path]:
    """A folder that other users can read. Only their owner can read pytest's temporary folders."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.skipif(not hasattr(os, "setuid") or os.getuid() != 0, reason="another user is needed")
def test_read_only_file_can_be_checked(tmp_path: Path, readable_folder: Path) -> None:
    folder = readable_folder / "fixed"
    folder.mkdir()
    path = str(folder / "store.db")
    with Engine.open(path) as engine:
        create(engine)
        put(engine, "a", "1", x=s("unmistakable"))
        shutil.copyfile(path + "-wal", tmp_path / "wal")
    # As after a crash: the last write is only in the WAL.
    shutil.copyfile(tmp_path / "wal", path + "-wal")
    assert b"unmistakable" in Path(path + "-wal").read_bytes()
    for each in folder.iterdir():
        each.chmod(0o444)
    folder.chmod(0o555)
    program = (
        "import os, sys, tempfile\n"
        "from keyplan.store import Engine, check_file\n"
        "from keyplan.errors import StoreError\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "print(check_file(sys.argv[1]))\n"
        "try:\n Engine.open(sys.argv[1])\nexcept StoreError as error: print(error.message)\n"
    )
    before = sorted((each.name, each.stat().st_size) for each in folder.iterdir())
    ran = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, check=False, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(Path(keyplan.__file__).parents[1]), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert ran.stdout.startswith("[]\n"), ran.stderr
    assert "can't be" in ran.stdout
    assert sorted((each.name, each.stat().st_size) for each in folder.iterdir()) == before


@pytest.mark.parametrize("is_json", [True, False])
def test_reads_of_stored_bytes_verify_their_checksums(path: str, is_json: bool) -> None:
    """The server returns stored bytes to clients without decoding them."""
    with Engine.open(path) as engine:
        create(engine)
        put(engine, "a", "1", x=s("value"), g=s("g"), h=s("1"))
        put(engine, "a", "2", g=s("g"), h=s("2"))
    changed = "replace(CAST(body AS TEXT), 'value', 'valuf')" if is_json else "substr(CAST(body AS TEXT), 1, 20)"
    run_sql(path, f"UPDATE items_1_1 SET body = CAST({changed} AS BLOB) WHERE sk = '1'")
    key, other = ({"pk": s("a"), "sk": s(sort)} for sort in "12")
    statement = "SELECT * FROM orders WHERE pk = 'a' AND sk = '1'"
    of_partition = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": s("a")}}
    of_index = {"IndexName": "ByG", "KeyConditionExpression": "g = :g", "ExpressionAttributeValues": {":g": s("g")}}
    requests: list[tuple[str, dict[str, Any]]] = [
        ("GetItem", {"TableName": "orders", "Key": key}),
        ("GetItem", {"TableName": "orders", "Key": key, "ProjectionExpression": "x"}),
        ("Query", {"TableName": "orders", **of_partition}),
        ("Query", {"TableName": "orders", **of_partition, "Limit": 1}),
        ("Query", {"TableName": "orders", **of_index}),
        ("Scan", {"TableName": "orders"}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [key]}}}),
        ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "orders", "Key": key}}]}),
        ("ExecuteStatement", {"Statement": statement}),
        ("BatchExecuteStatement", {"Statements": [{"Statement": statement}]}),
        ("ExecuteTransaction", {"TransactStatements": [{"Statement": statement}]}),
    ]
    with Engine.open(path, raw_items=True) as engine:
        for operation, request_ in requests:
            with pytest.raises(StoreError, match="A stored item is damaged"):
                engine.call(operation, request_)
        assert engine.call("GetItem", {"TableName": "orders", "Key": other})["Item"]
        put(engine, "a", "1", x=s("new"))
        assert engine.call("GetItem", {"TableName": "orders", "Key": key})["Item"]
        assert engine.call("Scan", {"TableName": "orders"})["Count"] == 2
