"""The -wal and -shm files of an open store are deleted, manually or by another copy of SQLite in the process. All
acknowledged writes are kept, and the store remains usable.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from keyplan.errors import StoreError
from keyplan.store import Engine, check_file
from tests.engine.support import create, get, put
from tests.processes import Process

WRITER = """
import sqlite3, sys
from tests.engine.support import Engine, put
path, name = sys.argv[1:]
engine = Engine.open(path, busy_timeout_s=60)
print("ready", flush=True)
for line in sys.stdin:
    for number in line.split():
        put(engine, name, number)
        if name.startswith("other-sqlite"):
            connection = sqlite3.connect(path)
            connection.execute("SELECT count(*) FROM keyplan_catalog").fetchall()
            connection.close()
    print("done", flush=True)
if not name.endswith("-killed"):
    engine.close()
"""


class Writer(Process):
    """A process that opens the store and puts items with increasing numbers."""

    def __init__(self, path: str, name: str) -> None:
        command = [sys.executable, "-c", WRITER, path, name]
        super().__init__(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2])
        assert self.stdout is not None
        assert self.stdin is not None
        self.lines, self.requests = self.stdout, self.stdin
        assert self.lines.readline() == "ready\n"

    def start_putting(self, *numbers: int) -> None:
        self.requests.write(" ".join(map(str, numbers)) + "\n")
        self.requests.flush()

    def put(self, *numbers: int) -> None:
        self.start_putting(*numbers)
        assert self.lines.readline() == "done\n"


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / "store.db")
    with Engine.open(path) as engine:
        create(engine)
    return path


def read_with_another_sqlite(path: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute("SELECT count(*) FROM keyplan_catalog").fetchall()
    connection.close()


def missing(path: str, wanted: dict[str, int]) -> list[tuple[str, int]]:
    """Return the acknowledged writes that aren't in the file. ``wanted`` has the number of writes by name."""
    assert check_file(path) == []
    with Engine.open(path) as engine:
        return [
            (name, each) for name, count in wanted.items() for each in range(count) if not get(engine, name, str(each))
        ]


def test_no_write_is_lost_if_another_copy_of_sqlite_in_the_process_opens_the_file(path: str) -> None:
    with Engine.open(path) as engine:
        for number in range(20):
            put(engine, "a", str(number))
            read_with_another_sqlite(path)
        ends = threading.Event()

        def disturb() -> None:
            while not ends.is_set():
                read_with_another_sqlite(path)

        thread = threading.Thread(target=disturb)
        thread.start()
        try:
            for number in range(20, 300):
                put(engine, "a", str(number))
        finally:
            ends.set()
            thread.join()
    assert missing(path, {"a": 300}) == []


def test_no_write_is_lost_if_one_of_two_processes_uses_another_copy_of_sqlite(path: str) -> None:
    """Both processes acknowledge writes while a third engine opens the file repeatedly."""
    with Writer(path, "other-sqlite") as one, Writer(path, "two") as two:
        one.start_putting(*range(150))
        two.start_putting(*range(150))
        for number in range(10):
            with Engine.open(path, busy_timeout_s=60) as engine:
                put(engine, "third", str(number))
        assert [one.lines.readline(), two.lines.readline()] == ["done\n"] * 2
    assert missing(path, {"other-sqlite": 150, "two": 150, "third": 10}) == []


@pytest.mark.parametrize("removed", [["-wal"], ["-wal", "-shm"], ["-shm"]])
@pytest.mark.parametrize("second", ["idle", "writes", "none"])
def test_manual_deletion_of_the_wal_and_shm_files_loses_no_write(
    path: str, removed: list[str], second: str, caplog: pytest.LogCaptureFixture
) -> None:
    """One process keeps writing; another one writes, is idle or has been killed. Then a third engine opens the file."""
    with Engine.open(path) as engine, Writer(path, "other") as other:
        if second == "none":
            other.kill_all()
            other.wait()
        else:
            other.put(*range(5))
        for number in range(5):
            put(engine, "own", str(number))
        for suffix in removed:
            Path(path + suffix).unlink()
        put(engine, "own", "5")
        if second == "writes":
            other.put(5)
        other.kill_all()  # its acknowledged writes are in the file
        other.wait()
        put(engine, "own", "6")
        with Engine.open(path) as third:
            put(third, "third", "0")
        put(engine, "own", "7")
        assert get(engine, "third", "0")
    assert "by another copy of SQLite in this process" in caplog.text
    assert missing(path, {"own": 8, "third": 1, "other": {"idle": 5, "writes": 6, "none": 0}[second]}) == []


def test_store_file_whose_wal_was_deleted_is_not_opened_by_another_process(path: str) -> None:
    """The second process would write to another WAL. The error names the process that has the store open, if known."""
    with Writer(path, "other") as other:
        other.put(*range(5))
        Path(f"{path}-wal").unlink()
        with pytest.raises(StoreError, match=f"store's -wal file was removed, and (another )?process.*({other.pid})?"):
            Engine.open(path, busy_timeout_s=0.1)
        other.put(5)
        with Engine.open(path) as engine:
            put(engine, "own", "0")
        other.put(6)
        other.requests.close()
        assert other.wait() == 0
    assert missing(path, {"other": 7, "own": 1}) == []


def test_outcome_is_reported_as_unknown_if_a_write_may_be_lost(path: str) -> None:
    """Both files are deleted, and another process writes to new files before the store detects the deletion."""
    with Engine.open(path) as engine:
        put(engine, "own", "0")
        Path(f"{path}-wal").unlink()
        Path(f"{path}-shm").unlink()
        with Writer(path, "other") as other:
            other.put(0)
            for _ in range(2):
                with pytest.raises(StoreError, match="whether the last writes are stored is unknown"):
                    put(engine, "own", "1")
    assert missing(path, {"other": 1}) == []


def test_open_snapshot_prevents_reopening_a_store_with_deleted_files(path: str) -> None:
    """The snapshot's connection still uses the deleted files."""
    with Engine.open(path, busy_timeout_s=0.1) as engine:
        put(engine, "own", "0")
        snapshot: Any = engine._storage.snapshot()
        Path(f"{path}-shm").unlink()
        with pytest.raises(StoreError, match="the request was rolled back"):
            put(engine, "own", "1")
        snapshot.close()
        put(engine, "own", "1")
    assert missing(path, {"own": 2}) == []


def test_opening_a_symbolic_link_opens_the_same_store_as_its_target(path: str, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "link.db"
    link.symlink_to("../store.db")
    with Writer(str(link), "link-killed") as one, Writer(path, "file") as two:
        for number in range(20):
            one.put(number)
            two.put(number)
        read_with_another_sqlite(str(link))
        one.kill()
        two.put(20)
    assert missing(path, {"link-killed": 20, "file": 21}) == []
    assert missing(str(link), {"link-killed": 20, "file": 21}) == []
    assert check_file(link) == []
    assert [each.name for each in link.parent.iterdir()] == ["link.db"]
