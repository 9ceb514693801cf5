"""The file beside the store's in which processes lock each other out: removed, or replaced, while a store is open."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from keyplan.store import Engine
from tests.engine.support import create, get, put, s


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store.db")


WRITES = "import sys; from tests.engine.support import *; engine = Engine.open(sys.argv[1]); put(engine, 'b', '1')"


@pytest.mark.parametrize("how", ["removed", "replaced", "renewed"])
def test_a_store_goes_on_with_the_locks_of_others(path: str, how: str) -> None:
    """A process that opens the file when the ``-shm`` file is gone has locks of its own: each would overwrite in the
    WAL what the other one wrote.
    """
    shared = Path(f"{path}-shm")
    with Engine.open(path) as engine:
        create(engine)
        put(engine, "a", "1")
        content = shared.read_bytes()
        shared.rename(f"{path}-old")  # so that the next one has another inode
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


def test_who_closes_last_leaves_what_others_wrote(path: str) -> None:
    """The last connection removes the WAL: not that of others, which it doesn't know of."""
    with Engine.open(path) as engine:
        create(engine)
        put(engine, "a", "1")
        Path(f"{path}-shm").rename(f"{path}-old")
        subprocess.run([sys.executable, "-c", WRITES, path], check=True)
    with Engine.open(path) as engine:
        assert get(engine, "a", "1") is not None
        assert get(engine, "b", "1") is not None
