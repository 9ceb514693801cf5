"""Startup and shutdown of the server, many or slow clients, and the command line."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from keyplan.errors import RequestError
from keyplan.store import Engine
from keyplan.store.server import Settings
from tests.cli.support import run
from tests.processes import PATIENCE_S
from tests.server.support import CREATE, TABLE, Raw, request, s, serving, started

CLI = [sys.executable, "-c", "from keyplan.cli.dynamodb import command; command()"]
ITEM = {"TableName": TABLE, "Item": {"pk": s("a"), "sk": s("1")}}
KEY = {"TableName": TABLE, "Key": {"pk": s("a"), "sk": s("1")}}


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.nightly), 3])
def test_server_runs_until_a_signal_and_keeps_its_data(tmp_path: Path, number: int, workers: int) -> None:
    db = str(tmp_path / "store.db")
    with started([*CLI, "--db", db, "--port", "0", "--workers", str(workers)]) as server:
        server.call("CreateTable", CREATE)
        server.call("PutItem", ITEM)
        assert server.end(number) == (0, "")
    with started([*CLI, "--db", db, "--port", "0"]) as server:
        assert server.call("GetItem", KEY)["Item"] == KEY["Key"]
        assert server.end() == (0, "")
    checked = run("dynamodb", "check", db)
    assert (checked.exit_code, checked.output) == (0, f"No damage was found in {db}.\n")


SLOW_FORKS = """
import os, time
from keyplan.store.server import Settings, serve

fork = os.fork

def slow_fork():
    process = fork()
    if process == 0:
        time.sleep(0.5)
    return process

os.fork = slow_fork
serve(Settings(port=0, db={db!r}, workers=3), lambda port: print(port, flush=True))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.nightly)])
def test_signal_during_server_startup_ends_all_workers(tmp_path: Path, number: int) -> None:
    """A worker that was just forked still has the signal handlers of its parent."""
    with started([sys.executable, "-c", SLOW_FORKS.format(db=str(tmp_path / "store.db"))]) as server:
        assert server.end(number) == (0, "")


def test_shutdown_finishes_requests_in_progress(tmp_path: Path) -> None:
    with serving(str(tmp_path / "store.db")) as server:
        server.call("CreateTable", CREATE)
        connections = [server.raw() for _ in range(8)]
        idle = server.raw()
        idle.ask(request("ListTables"))
        for number, raw in enumerate(connections):
            puts = [
                request("PutItem", {"TableName": TABLE, "Item": {"pk": s(number), "sk": s(each)}}) for each in range(3)
            ]
            raw.send(b"".join(puts))
        acknowledged = 0
        server.process.send_signal(signal.SIGTERM)
        for raw in connections:
            try:
                while True:
                    assert raw.answer().status == 200
                    acknowledged += 1
            except EOFError:
                pass
        assert idle.ended()
        assert server.process.wait(PATIENCE_S) == 0
    with Engine.open(tmp_path / "store.db") as engine:
        assert engine.call("Scan", {"TableName": TABLE})["Count"] >= acknowledged


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "either --db FILE or --memory"),
        (["--db", "x.db", "--memory"], "either --db FILE or --memory"),
        (["--memory", "--workers", "2"], "Several worker processes"),
        (["--memory", "--host", "0.0.0.0"], "--access-key ID:SECRET"),
        (["--memory", "--access-key", "nocolon"], "ID:SECRET"),
        (["--db", "x.db", "--workers", "2", "--throttle"], "require a single worker"),
        (["--db", "x.db", "--workers", "2", "--index-lag", "5"], "require a single worker"),
        (["--memory", "--ttl-interval", "-1"], "not in the range"),
        (["--db", "/nowhere/at/all/store.db"], "The folder of the file doesn't exist"),
        (["--db", "README.md"], "isn't a SQLite file"),
        (["check", "nothing.db"], "The file doesn't exist"),
    ],
)
def test_invalid_command_line_options_are_reported(arguments: list[str], message: str) -> None:
    done = run("dynamodb", *arguments)
    assert done.exit_code in {1, 2}
    assert message in done.output
    assert "Traceback" not in done.output


def test_serve_command_reports_a_port_in_use() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run("dynamodb", "--memory", "--port", str(taken.getsockname()[1]))
    assert done.exit_code == 2
    assert "Can't listen on 127.0.0.1" in done.output


def test_check_command_reports_damaged_items(tmp_path: Path) -> None:
    db = tmp_path / "store.db"
    with Engine.open(db) as engine:
        engine.call("CreateTable", CREATE)
        engine.call("PutItem", {"TableName": TABLE, "Item": {"pk": s("a"), "sk": s("1"), "g": s("g")}})
        engine._storage.write(lambda writer: writer._run("DELETE FROM entries_1_1"))
    done = run("dynamodb", "check", str(db))
    assert done.exit_code == 1
    assert "EntryMissing" in done.output


@pytest.mark.parametrize("number", [0, -1, 70_000])
def test_invalid_server_settings_are_rejected(number: int) -> None:
    with pytest.raises(RequestError):
        Settings(db="x.db", port=number or 1, workers=0 if not number else 1)


def test_a_thousand_idle_connections_take_little_memory(tmp_path: Path) -> None:
    with serving(str(tmp_path / "store.db")) as server:
        server.call("CreateTable", CREATE)
        before = server.memory_mb()
        idle = [socket.create_connection(("127.0.0.1", server.port), 20) for _ in range(900)]
        active = [Raw(server.port) for _ in range(100)]
        try:
            for raw in active:
                assert raw.ask(request("ListTables")).json() == {"TableNames": [TABLE]}
            server.call("PutItem", ITEM)
            assert server.memory_mb() - before < 100
        finally:
            for connection in [*idle, *(raw.socket for raw in active)]:
                connection.close()


def test_slow_clients_are_disconnected() -> None:
    limits = {"request_s_max": 0.3, "idle_s_max": 1.2, "body_bytes_per_s_min": 1_000_000}
    whole = request("ListTables", b"{}" + b" " * 1000)
    with serving(":memory:", limits=limits) as server:
        half = [server.raw() for _ in range(3)]
        for raw, end in zip(half, (5, 100, len(whole) - 5), strict=True):
            raw.send(whole[:end])
        idle = server.raw()
        assert idle.ask(whole).status == 200
        silent = server.raw()
        for raw in half:
            assert raw.ended()
        assert silent.ended()
        assert server.raw().ask(whole).status == 200
        assert idle.ended()


def test_client_that_does_not_read_its_responses_is_disconnected() -> None:
    with serving(":memory:", limits={"idle_s_max": 1.0}) as server, server.raw() as raw:
        server.call("CreateTable", CREATE)
        server.call("PutItem", {"TableName": TABLE, "Item": {**KEY["Key"], "big": s("x" * 300_000)}})  # type: ignore[dict-item]
        raw.socket.settimeout(2)
        many = request("GetItem", KEY) * 100_000
        with pytest.raises((TimeoutError, ConnectionError)):
            raw.send(many)
        assert server.memory_mb() < 300
        assert server.call("GetItem", KEY)["Item"]["pk"] == s("a")


def test_connections_and_request_bodies_over_the_server_limits_are_rejected() -> None:
    with serving(":memory:", limits={"connections_max": 3, "buffered_bytes_max": 100_000}) as server:
        raw, two = server.raw(), server.raw()
        assert raw.ask(request("ListTables")).status == 200
        assert two.ask(request("ListTables")).status == 200
        large = request("ListTables", b" " * 90_000)
        raw.send(large[:-10])
        time.sleep(0.2)  # the server receives it first
        refused = two.ask(large)
        assert refused.status == 503
        assert refused.type.endswith("#ServiceUnavailableException")
        assert raw.ask(large[-10:]).status == 400
        three, four = server.raw(), server.raw()
        assert three.ask(request("ListTables")).status == 200
        five = server.raw()
        assert four.ask(request("ListTables")).status == 200
        assert five.ask(request("ListTables")).status == 200


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()


def children(process: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], stdout=subprocess.PIPE, text=True, check=True)
    return [int(line) for line in listed.stdout.split()]


def wait_until(condition: Any) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_killed_workers_are_replaced_and_end_with_their_parent(tmp_path: Path) -> None:
    with serving(str(tmp_path / "store.db"), workers=2) as server:
        server.call("CreateTable", CREATE)
        parent = server.process.pid
        time.sleep(1.1)  # a worker that exits within a second isn't restarted
        first = children(parent)
        assert len(first) == 2
        os.kill(first[0], signal.SIGKILL)
        wait_until(lambda: len(set(children(parent)) - {first[0]}) == 2)
        assert server.call("ListTables", {}) == {"TableNames": [TABLE]}
        workers = children(parent)
        server.end(signal.SIGKILL)
        wait_until(lambda: not any(map(alive, workers)))
