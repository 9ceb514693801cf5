"""Opens designs over HTTP, on Keyplan's server and, if KEYPLAN_DYNAMODB_LOCAL is a URL, on DynamoDB Local.

One server serves all tests of a process; each test has its own table.
"""

from __future__ import annotations

import atexit
import importlib.util
import itertools
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.contract.design import Everything
from tests.processes import PATIENCE_S, Process

_SERVER = """
from keyplan.store.server import Settings, serve
serve(Settings(db=":memory:", port=0), lambda port: print(port, flush=True))
"""
_numbers = itertools.count()


@cache
def server_address() -> str:
    """Start Keyplan's server in a separate process and return its address."""
    if importlib.util.find_spec("keyplan.store.server") is None:
        pytest.skip("this Keyplan has no server")
    process = Process([sys.executable, "-c", _SERVER], stdout=subprocess.PIPE)
    atexit.register(_stop, process)
    assert process.stdout is not None
    return f"127.0.0.1:{process.stdout.readline().strip()}"


def _stop(process: Process) -> None:
    process.terminate()
    with process:
        process.wait(PATIENCE_S)


def local_address() -> str:
    """Return the address of DynamoDB Local. The test is skipped if no address is configured."""
    url = os.environ.get("KEYPLAN_DYNAMODB_LOCAL")
    if not url:
        pytest.skip("KEYPLAN_DYNAMODB_LOCAL names no DynamoDB Local, such as http://127.0.0.1:8000")
    return url.removeprefix("http://").rstrip("/")


def new_table() -> str:
    return f"contract-{os.getpid()}-{next(_numbers)}"


def our_server(folder: Path, design: type[Any] = Everything) -> Any:
    """Open the design on Keyplan's server."""
    return _open(server_address(), design)


def dynamodb_local(folder: Path, design: type[Any] = Everything) -> Any:
    """Open the design on DynamoDB Local."""
    return _open(local_address(), design)


def _open(address: str, design: type[Any]) -> Any:
    return design.open(f"dynamodb+http://{address}/{new_table()}", secret="s", create=True)
