"""The ``-shm`` file, which contains the locks between processes, is deleted or replaced while a store is open."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from keyplan.store import Engine
from tests.engine.support import create, get, put, s

WRITES = "import sys; from tests.engine.support import *; engine = Engine.open(sys.argv[1]); put(engine, 'b', '1')"


@pytest.mark.parametrize("how", ["removed", "replaced", "renewed"])
def test_open_store_detects_a_replaced_lock_file(path: str, how: str) -> None:
    """A process with a new lock file doesn't share the store's locks, so both would overwrite each other's WAL."""
    shared = Path(f"{path}-shm")
    with Engine.open(path) as engine:
        create(engine)
        put(engine, "a", "1")
        content = shared.read_bytes()
        shared.rename(f"{path}-old")  # the next file has another inode
        if how == "replaced":
            shared.write_bytes(content)
        if how == "renewed":
            subprocess.run([sys.executable, "-c", WRITES, path], check=True)
        put(engine, "a", "2", g=s("g"), h=s("h"))
        assert (get(engine, "b", "1") is not None) == (how == "renewed")
    with Engine.open(path) as engine:
        assert get(engine, "a", "1") is not None
        assert get(engine, "a", "2") is not None
        assert engine.check() == []


def test_closing_the_last_connection_keeps_the_writes_of_other_processes(path: str) -> None:
    """The last connection deletes its own WAL, but not a WAL that another process has created since."""
    with Engine.open(path) as engine:
        create(engine)
        put(engine, "a", "1")
        Path(f"{path}-shm").rename(f"{path}-old")
        subprocess.run([sys.executable, "-c", WRITES, path], check=True)
    with Engine.open(path) as engine:
        assert get(engine, "a", "1") is not None
        assert get(engine, "b", "1") is not None
