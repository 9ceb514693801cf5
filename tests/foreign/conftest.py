"""Fixtures: a server, and a function that runs programs of other libraries on the server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.foreign.packages import missing, modules
from tests.processes import PATIENCE_S
from tests.server.support import Server, serving

RunProgram: TypeAlias = Callable[[str, str], str]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Keyplan server without tables."""
    with serving(str(tmp_path_factory.mktemp("foreign") / "store.db")) as running:
        yield running


@pytest.fixture(scope="session")
def node() -> None:
    """Skip the test if JavaScript programs can't be run."""
    why = missing()
    if why is not None:
        pytest.skip(why)


@pytest.fixture
def run_program(server: Server, tmp_path: Path) -> RunProgram:
    """Return a function that runs a ``js`` or ``py`` program on the server and returns its output."""
    environment = {
        **os.environ,
        "AWS_ENDPOINT_URL_DYNAMODB": server.url,
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "y",
        "AWS_REGION": "eu-west-1",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "NODE_NO_WARNINGS": "1",
    }

    def run(language: str, code: str) -> str:
        if language == "js":
            program = tmp_path / "program.mjs"
            if not (tmp_path / "node_modules").exists():
                (tmp_path / "node_modules").symlink_to(modules())
            command = ["node", program.name]
        else:
            program = tmp_path / "program.py"
            command = [sys.executable, program.name]
        program.write_text(code, encoding="utf-8")
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
