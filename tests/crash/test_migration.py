"""A process that is killed during a migration leaves the store file unchanged."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from keyplan.store import Engine, check_file
from tests.crash.test_kill import create, stored
from tests.crash.writer import TABLE, item
from tests.engine.old_formats import as_format_2

PROGRAM = """
import os, signal, sys
import apsw
from keyplan.store import Engine

def trace(cursor, text, bindings):
    if text.startswith(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return True

apsw.connection_hooks.append(lambda connection: connection.set_exec_trace(trace))
Engine.open(sys.argv[1])
"""


@pytest.mark.parametrize(
    "before", ["DROP TABLE index_1_2", "UPDATE items_1_1", "ALTER TABLE keyplan_tables", "PRAGMA user_v", "COMMIT"]
)
def test_killed_migration_leaves_the_store_file_unchanged(tmp_path: Path, before: str) -> None:
    path = str(tmp_path / "store.db")
    create(path)
    with Engine.open(path) as engine:
        for number in range(60):
            engine.call("PutItem", {"TableName": TABLE, "Item": item("a", str(number), number)})
    contents = stored(path)
    as_format_2(path)
    child = subprocess.run([sys.executable, "-c", PROGRAM, path, before], check=False, cwd=Path(__file__).parents[2])
    assert child.returncode == -signal.SIGKILL
    assert check_file(path) == []
    assert stored(path) == contents
