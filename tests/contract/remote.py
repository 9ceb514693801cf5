"""Stores that are reached over HTTP: our own server, and DynamoDB Local where KEYPLAN_DYNAMODB_LOCAL names its URL.

One server serves all tests of a process; each test has a table of its own.
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

import pytest

from tests.contract.design import Everything

__all__ = ["dynamodb_local", "our_server"]

_SERVER = """
from keyplan.server import Settings, serve
serve(Settings(db=":memory:", port=0), lambda port: print(port, flush=True))
"""
_numbers = itertools.count()


@cache
def _server() -> str:
    """Our server in a process of its own; gives its address."""
    process = subprocess.Popen([sys.executable, "-c", _SERVER], stdout=subprocess.PIPE, text=True)
    atexit.register(_stop, process)
    assert process.stdout is not None
    return f"127.0.0.1:{process.stdout.readline().strip()}"


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    process.wait(20)
    if process.stdout is not None:
        process.stdout.close()


def our_server(folder: Path) -> Everything:
    """The design on our server."""
    if importlib.util.find_spec("keyplan.server") is None:
        pytest.skip("this Keyplan has no server")
    return _open(_server())


def dynamodb_local(folder: Path) -> Everything:
    """The design on DynamoDB Local."""
    url = os.environ.get("KEYPLAN_DYNAMODB_LOCAL")
    if not url:
        pytest.skip("KEYPLAN_DYNAMODB_LOCAL names no DynamoDB Local, such as http://127.0.0.1:8000")
    return _open(url.removeprefix("http://").rstrip("/"))


def _open(address: str) -> Everything:
    table = f"contract-{os.getpid()}-{next(_numbers)}"
    return Everything.open(f"dynamodb+http://{address}/{table}", secret="s", create=True)
