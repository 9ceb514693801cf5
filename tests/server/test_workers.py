"""Processes that share a socket and a file: who is started, with what, and what follows when one ends."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keyplan.errors import StoreError
from keyplan.store.server import Settings, serve
from keyplan.store.server import server_process as running


@pytest.fixture
def workers() -> Iterator[running._Workers]:
    with socket.socket() as listening:
        yield running._Workers(Settings(db="x.db", workers=3), listening)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What time it is."""
    now = [100.0]
    monkeypatch.setattr(running, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_one_worker_removes_expired_items(workers: running._Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    did: list[Any] = []

    def run(*given: Any, sweeps: bool) -> None:
        did.append((given[4], sweeps))

    monkeypatch.setattr(running, "_run_loop", run)
    monkeypatch.setattr(running, "_open", lambda _: nullcontext())
    monkeypatch.setattr(signal, "signal", lambda number, handler: did.append((number, handler)))
    monkeypatch.setattr(signal, "pthread_sigmask", lambda how, numbers: did.append((how, *numbers)))
    monkeypatch.setattr(running, "renew_ids", lambda: did.append("new ids"))
    begun = [
        (signal.SIGTERM, signal.SIG_DFL),
        (signal.SIGINT, signal.SIG_DFL),
        (signal.SIG_UNBLOCK, signal.SIGTERM, signal.SIGINT),
        "new ids",
    ]
    end = workers._to_workers
    for worker in range(3):
        did.clear()
        workers._to_workers = os.dup(end)  # each process closes its own
        assert workers._work(worker) == 0
        assert did == [*begun, (workers._from_parent, worker == 0)]
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(workers._to_workers)


def test_a_worker_that_fails_says_so(
    workers: running._Workers, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_: Settings) -> None:
        raise StoreError("the disk is full", place="x.db")

    monkeypatch.setattr(running, "_open", refuse)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(signal, "pthread_sigmask", lambda *_: None)
    monkeypatch.setattr(running, "renew_ids", lambda: None)
    assert workers._work(0) == 1
    assert "A worker failed" in caplog.text
    assert "the disk is full" in caplog.text


@pytest.mark.parametrize("is_stopping", [False, True])
def test_a_worker_is_started_with_signals_held_back(
    is_stopping: bool, workers: running._Workers, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And with nothing left to print, which it would print again."""
    did: list[Any] = []
    processes = iter([11, 12])

    def fork() -> int:
        did.append("fork")
        return next(processes)

    monkeypatch.setattr(sys, "stdout", SimpleNamespace(flush=lambda: did.append("out")))
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(flush=lambda: did.append("err")))
    monkeypatch.setattr(signal, "pthread_sigmask", lambda how, numbers: did.append((how, *numbers)))
    monkeypatch.setattr(os, "fork", fork)
    monkeypatch.setattr(os, "kill", lambda process, number: did.append((process, number)))
    workers._start(0)
    clock[0] = 103.0
    workers._is_stopping = is_stopping
    did.clear()
    workers._start(2)
    monkeypatch.undo()
    numbers = (signal.SIGTERM, signal.SIGINT)
    ends = [(11, signal.SIGTERM), (12, signal.SIGTERM)] if is_stopping else []
    assert did == ["out", "err", (signal.SIG_BLOCK, *numbers), "fork", (signal.SIG_UNBLOCK, *numbers), *ends]
    assert workers._started == {11: (0, 100.0), 12: (2, 103.0)}


@pytest.mark.parametrize(
    ("process", "at", "is_stopping", "expected"),
    [
        (11, 101.0, False, ["start 0"]),
        (11, 100.99, False, ["end 12", "failed"]),
        (11, 100.99, True, []),
        (11, 101.0, True, []),
        (99, 101.0, False, []),  # the child of something else
        (99, 100.0, False, []),
    ],
)
def test_a_worker_that_ends_is_replaced_unless_it_ended_at_once(
    process: int,
    at: float,
    is_stopping: bool,
    expected: list[str],
    workers: running._Workers,
    clock: list[float],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    did: list[str] = []
    workers._started = {11: (0, 100.0), 12: (1, 100.0)}
    workers._is_stopping = is_stopping
    monkeypatch.setattr(os, "wait", lambda: (process, 0))
    monkeypatch.setattr(os, "kill", lambda process, _: did.append(f"end {process}"))
    monkeypatch.setattr(workers, "_start", lambda worker: did.append(f"start {worker}"))
    clock[0] = at
    if workers._wait():
        did.append("failed")
    monkeypatch.undo()
    assert did == expected
    assert workers._is_stopping is (is_stopping or "failed" in expected)
    assert workers._started.keys() == {11, 12} - {process}
    assert ("A worker died and is started again" in caplog.text) is ("start 0" in expected)


def test_workers_that_are_gone_already_keep_none_of_the_others(
    workers: running._Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[int] = []

    def kill(process: int, number: int) -> None:
        assert number == signal.SIGTERM
        ended.append(process)
        raise ProcessLookupError

    workers._started = {11: (0, 100.0), 12: (1, 100.0)}
    monkeypatch.setattr(os, "kill", kill)
    workers._stop(signal.SIGINT, None)
    assert (ended, workers._is_stopping) == ([11, 12], True)


@pytest.mark.parametrize("outcomes", [[False] * 3, [True, False, False], [False, False, True], [False, True, False]])
def test_one_worker_that_can_not_start_is_an_error_when_all_have_ended(
    outcomes: list[bool], workers: running._Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    did: list[str] = []
    left = iter(outcomes)

    def start(worker: int) -> None:
        did.append(f"start {worker}")
        workers._started[worker] = worker, 0.0

    def wait() -> bool:
        workers._started.popitem()
        did.append("ended")
        assert signal.getsignal(signal.SIGTERM) == signal.getsignal(signal.SIGINT) == workers._stop
        return next(left)

    monkeypatch.setattr(workers, "_start", start)
    monkeypatch.setattr(workers, "_wait", wait)
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with pytest.raises(StoreError, match="A worker process ended") if any(outcomes) else nullcontext():
        workers.run(lambda: did.append("ready"))
    assert did == ["start 0", "start 1", "start 2", "ready", "ended", "ended", "ended"]
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
    for file in (workers._from_parent, workers._to_workers):
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(file)


@pytest.mark.parametrize("workers", [1, 2])
def test_who_serves_knows_the_port(workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ports: list[int] = []
    given: list[Settings] = []

    class Workers:
        def __init__(self, settings: Settings, listening: socket.socket) -> None:
            assert listening.getsockname()[1] == settings.port
            given.append(settings)

        def run(self, ready: Callable[[], None]) -> None:
            ready()

    def run_loop(
        regions: Any, settings: Settings, _: socket.socket, ready: Callable[[], None], *, sweeps: bool
    ) -> None:
        assert [engine.endpoint for engine in regions.engines.values()] == [settings.address]
        assert sweeps
        given.append(settings)
        ready()

    monkeypatch.setattr(running, "_Workers", Workers)
    monkeypatch.setattr(running, "_run_loop", run_loop)
    serve(Settings(port=0, db=str(tmp_path / "store.db"), workers=workers), ports.append)
    assert [settings.port for settings in given] == ports != [0]
    assert (tmp_path / "store.db").exists()
    with pytest.raises(StoreError, match="There is no such folder"):
        serve(Settings(port=0, db=str(tmp_path / "no" / "store.db"), workers=workers))
    assert len(given) == 1
