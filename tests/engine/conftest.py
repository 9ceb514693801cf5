"""Fixtures for engines. A test that uses ``engine`` or ``storage`` runs once in memory and once on a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from keyplan.store import Engine
from keyplan.store.storage.sqlite import Storage
from tests.engine.support import Clock


@pytest.fixture(params=["memory", "file"])
def engine(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Engine]:
    path = ":memory:" if request.param == "memory" else str(tmp_path / "store.db")
    with Engine.open(path, clock=clock) as opened:
        yield opened


@pytest.fixture(params=["memory", "file"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    in_memory = request.param == "memory"
    opened = Storage.memory() if in_memory else Storage.file(str(tmp_path / "store.db"))
    yield opened
    opened.close()


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store.db")


@pytest.fixture
def clock() -> Clock:
    return Clock()
