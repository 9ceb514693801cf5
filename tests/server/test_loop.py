"""What a server does beside answering: listening, accepting, sweeping, replicating, ending."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import resource
import socket
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from keyplan.errors import RequestError, StoreError
from keyplan.store import REMOVED_TOGETHER
from keyplan.store.server import Settings
from keyplan.store.server import server_process as running
from keyplan.store.server.server_settings import Limits

Done = Callable[[int], None]


class _EnoughError(Exception):
    """Ends what would go on for ever."""


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that are made, none of which lasts; the tenth ends it all."""
    made: list[float] = []
    sleep = asyncio.sleep

    async def pause(seconds: float) -> None:
        made.append(seconds)
        if len(made) == 10:
            raise _EnoughError
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", pause)
    return made


# Serving


class _Parts:
    """What a server is made of, each part noting what is done with it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.did: list[str] = []
        self.alone: list[Callable[[], bool]] = []
        self.open_: set[Any] = set()
        monkeypatch.setattr(running, "WriterThread", self._writer)
        monkeypatch.setattr(running, "Threads", lambda _: self._noting("threads"))
        monkeypatch.setattr(running, "Service", lambda engine, *_: engine)
        monkeypatch.setattr(running, "Regional", lambda services: [*services])
        monkeypatch.setattr(running, "Connections", self._connections)
        monkeypatch.setattr(running, "_Accepting", lambda *_: self._noting("accepting", "stop"))
        monkeypatch.setattr(running, "_drain", self._drain)
        monkeypatch.setattr(running, "_sweep", lambda each, every_s: self._again(f"sweep {each.name} {every_s}"))
        monkeypatch.setattr(running, "_replicate", lambda _, lag_s: self._again(f"replicate {lag_s}"))
        monkeypatch.setattr(running, "_LOOK_S", 0.001)

    def _noting(self, name: str, end: str = "close") -> Any:
        return SimpleNamespace(name=name, **{end: lambda: self.did.append(f"{end} {name}")})

    def _writer(self, engine: str, _: object, is_alone: Callable[[], bool]) -> Any:
        self.alone.append(is_alone)
        return self._noting(engine)

    def _connections(self, service: object, _: object, open_: set[Any]) -> Any:
        self.did.append(f"connections to {service}")
        self.open_ = open_
        return SimpleNamespace(end_late=lambda: self.did.append("look"))

    async def _drain(self, _: object, seconds_max: float) -> None:
        self.did.append(f"drain {seconds_max}")

    async def _again(self, what: str) -> None:
        self.did.append(what)
        try:
            await asyncio.Event().wait()
        finally:
            self.did.append(f"end {what}")

    def serve(self, names: list[str], *, sweeps: bool, **settings: Any) -> list[str]:
        """Serve until the pipe to the parent process ends; what was done, in order."""
        parent, end = os.pipe()
        regions: Any = SimpleNamespace(engines={name: f"engine{name}" for name in names})
        limits = Limits(shutdown_s_max=7)
        loops: list[asyncio.AbstractEventLoop] = []

        def ready() -> None:
            self.did.append("ready")
            loops.append(asyncio.get_running_loop())
            loops[0].call_later(0.01, os.close, end)

        nothing: Any = None
        whole = Settings(limits=limits, regions=tuple(name for name in names if name), **settings)
        asyncio.run(running._serve(regions, whole, nothing, ready, parent, sweeps=sweeps))
        assert loops[0].remove_reader(parent) is False
        os.close(parent)
        return list(dict.fromkeys(self.did))


@pytest.mark.parametrize("sweeps", [True, False])
def test_one_store_is_served(sweeps: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    did = _Parts(monkeypatch).serve([""], sweeps=sweeps, db="x.db", sweep_s=30)
    begun, ended = (["sweep engine 30"], ["end sweep engine 30"]) if sweeps else ([], [])
    assert did == ["connections to engine", "ready", *begun, "look", "stop accepting", "drain 7", "close threads",
                   "close engine", *ended]  # fmt: skip


@pytest.mark.parametrize(("sweeps", "sweep_s"), [(True, 30), (True, 0), (False, 30)])
def test_regions_are_served(sweeps: bool, sweep_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    did = _Parts(monkeypatch).serve(["-a", "-b"], sweeps=sweeps, db="x.db", sweep_s=sweep_s, replica_lag_ms=1500)
    begun = ["sweep engine-a 30", "sweep engine-b 30"] if sweeps and sweep_s else []
    begun += ["replicate 1.5"] if sweeps else []
    assert did[:2] == ["connections to ['-a', '-b']", "ready"]
    assert did[2 : 2 + len(begun)] == begun
    assert did[2 + len(begun) : 8 + len(begun)] == [
        "look", "stop accepting", "drain 7", "close threads", "close engine-a", "close engine-b",
    ]  # fmt: skip
    assert sorted(did[8 + len(begun) :]) == sorted(f"end {what}" for what in begun)


@pytest.mark.parametrize(("db", "expected"), [(":memory:", [True] * 3), ("x.db", [False, True, False])])
def test_who_writes_at_once(db: str, expected: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """With a file only who is there alone: a commit waits for the disk, and others with it."""
    parts = _Parts(monkeypatch)
    parts.serve([""], sweeps=False, db=db)
    (is_alone,) = parts.alone
    alone: list[bool] = []
    for _ in range(3):
        alone.append(bool(is_alone()))
        parts.open_.add(object())
    assert alone == expected


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"regions": [""], "synchronous": "FULL", "jobs_behind": True}),
        ({"db": ":memory:"}, {"regions": [""], "synchronous": "FULL", "jobs_behind": False}),
        ({"sync": "normal"}, {"synchronous": "NORMAL"}),
        (
            {"regions": ("eu-west-1", "eu-west-2"), "replica_lag_ms": 20, "throttle": True, "index_lag_ms": 30,
             "settle_s": 2, "shard_s": 3, "shard_records": 4, "s3": "bucket"},
            {"regions": ("eu-west-1", "eu-west-2"), "lag_ms": 20, "throttle": True, "index_lag_ms": 30, "settle_s": 2,
             "shard_s": 3, "shard_records": 4, "s3": "bucket", "raw_items": True},
        ),
    ],
)  # fmt: skip
def test_stores_are_opened_as_the_settings_say(
    settings: dict[str, Any], expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}

    def open_(db: str, regions: object, **more: Any) -> Any:
        given.update(db=db, regions=regions, **more)
        return SimpleNamespace(engines={})

    monkeypatch.setattr(running, "Regions", SimpleNamespace(open=open_))
    running._open(Settings(**{"db": "x.db", **settings}))
    assert given["db"] == settings.get("db", "x.db")
    assert {name: given[name] for name in expected} == expected


# Listening


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_socket_to_listen_on(host: str) -> None:
    try:
        socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError:
        pytest.skip(f"this machine has no {host}")
    with running._listen(Settings(db=":memory:", host=host, port=0)) as listening:
        assert not listening.getblocking()
        assert listening.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)
        assert listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        assert listening.getsockname()[0] == host
        port = listening.getsockname()[1]
        with pytest.raises(
            RequestError, match=rf"Can't listen on {host} port {port}: Address already in use\n.*--port"
        ):
            running._listen(Settings(db=":memory:", host=host, port=port))


@pytest.mark.parametrize(
    ("soft", "hard", "expected"),
    [
        (256, 100_000, [(8192, 100_000)]),
        (8191, 8192, [(8192, 8192)]),
        (8192, 100_000, []),
        (100_000, 100_000, []),
        (256, 4096, [(4096, 4096)]),
        (4096, 4096, []),
        (256, resource.RLIM_INFINITY, [(8192, resource.RLIM_INFINITY)]),
        (8192, resource.RLIM_INFINITY, []),
    ],
)
def test_as_many_open_files_as_there_may_be(
    soft: int, hard: int, expected: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[int, int]] = []

    def refuse(_: int, wanted: tuple[int, int]) -> None:
        given.append(wanted)
        raise ValueError("not allowed")

    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    running._allow_many_files()
    assert given == expected


def test_what_is_there_before_the_first_request_is_never_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    did: list[str] = []
    monkeypatch.setattr(gc, "collect", lambda: did.append("collect"))
    monkeypatch.setattr(gc, "freeze", lambda: did.append("freeze"))
    monkeypatch.setattr(running, "_serve", lambda *_, sweeps: did.append(f"serve {sweeps}"))
    monkeypatch.setattr(asyncio, "run", lambda _: None)
    nothing: Any = None
    running._run_loop(nothing, nothing, nothing, nothing, sweeps=True)
    assert did == ["collect", "freeze", "serve True"]


# Accepting


class _Loop:
    """An event loop's part in accepting connections, done by hand."""

    def __init__(self) -> None:
        self.readers: list[Callable[[], None]] = []
        self.later: list[tuple[float, Callable[[], None]]] = []
        self.tasks: list[Any] = []

    def add_reader(self, _: object, call: Callable[[], None]) -> None:
        self.readers.append(call)

    def remove_reader(self, _: object) -> None:
        self.readers.clear()

    def call_later(self, seconds: float, call: Callable[[], None]) -> None:
        self.later.append((seconds, call))

    def connect_accepted_socket(self, factory: object, accepted: socket.socket) -> tuple[object, socket.socket]:
        return factory, accepted

    def create_task(self, work: tuple[object, socket.socket]) -> Any:
        ended: list[Callable[[object], None]] = []
        self.tasks.append(SimpleNamespace(work=work, add_done_callback=ended.append, ended=ended))
        return _Task(self.tasks[-1])


class _Task:
    def __init__(self, noted: SimpleNamespace) -> None:
        self.add_done_callback = noted.add_done_callback


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with running._listen(Settings(db=":memory:", port=0)) as listening:
        yield listening


def test_a_connection_is_taken_when_it_comes(listening: socket.socket) -> None:
    loop, factory = _Loop(), object()
    nobody: Any = factory
    anything: Any = loop
    accepting = running._Accepting(anything, listening, nobody)
    (accept,) = loop.readers
    accept()  # another worker took it
    assert loop.tasks == []
    with socket.create_connection(listening.getsockname()):
        accept()
        (task,) = loop.tasks
        given, accepted = task.work
        with accepted:
            assert given is factory
            assert not accepted.getblocking()
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert len(accepting._tasks) == 1  # it is held until it has ended, and no longer
    task.ended[0](next(iter(accepting._tasks)))
    assert not accepting._tasks
    accepting.stop()
    assert loop.readers == []


class _Refusing:
    """A socket from which nothing can be accepted."""

    def __init__(self, error: OSError) -> None:
        self._error = error

    def accept(self) -> None:
        raise self._error


@pytest.mark.parametrize("error", [BlockingIOError(), InterruptedError(), ConnectionAbortedError()])
def test_a_connection_that_is_gone_again_is_forgotten(error: OSError, caplog: pytest.LogCaptureFixture) -> None:
    loop = _Loop()
    refusing: Any = _Refusing(error)
    anything: Any = loop
    running._Accepting(anything, refusing, anything)
    (accept,) = loop.readers
    accept()
    assert (loop.readers, loop.later, caplog.records) == ([accept], [], [])


@pytest.mark.parametrize("is_stopped", [False, True])
def test_without_files_for_it_a_connection_waits_a_while(is_stopped: bool, caplog: pytest.LogCaptureFixture) -> None:
    loop = _Loop()
    refusing: Any = _Refusing(OSError(errno.EMFILE, "Too many open files"))
    anything: Any = loop
    accepting = running._Accepting(anything, refusing, anything)
    (accept,) = loop.readers
    accept()
    assert "Can't accept a connection: [Errno 24] Too many open files" in caplog.text
    assert loop.readers == []
    ((seconds, again),) = loop.later
    assert seconds == 0.1
    if is_stopped:
        accepting.stop()
    again()
    assert len(loop.readers) == (0 if is_stopped else 1)


# What is done now and then


def test_what_has_expired_is_removed_in_portions_without_a_pause(pauses: list[float]) -> None:
    counts = iter([REMOVED_TOGETHER, REMOVED_TOGETHER, REMOVED_TOGETHER - 1, 0, 1, 0])
    asked: list[int] = []

    def sweep(items_max: int, done: Done) -> None:
        asked.append(items_max)
        done(next(counts))

    writing: Any = SimpleNamespace(sweep=sweep)
    with pytest.raises(_EnoughError):
        asyncio.run(running._sweep(writing, 60.0))
    assert pauses == [60.0, 0, 0, 0, 60.0, 0, 60.0, 0, 60.0, 0]
    assert asked == [REMOVED_TOGETHER] * 6


def test_a_count_that_comes_after_the_end_is_of_no_use() -> None:
    async def late() -> asyncio.Future[int]:
        waiting: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        waiting.cancel()
        running._settle(waiting, 3)
        return waiting

    assert asyncio.run(late()).cancelled()


@pytest.mark.parametrize(("lag_s", "pause_s"), [(0, 0.02), (0.04, 0.02), (0.2, 0.05), (1, 0.25), (2, 0.5), (600, 0.5)])
def test_regions_are_brought_together_more_often_than_they_may_lag(
    lag_s: float, pause_s: float, pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    did: list[str] = []

    def replicate() -> None:
        did.append("")
        if len(did) == 2:
            raise StoreError("the disk is full", place="x.db")

    regions: Any = SimpleNamespace(replicate=replicate)
    with pytest.raises(_EnoughError):
        asyncio.run(running._replicate(regions, lag_s))
    assert (pauses, len(did)) == ([pause_s] * 10, 9)
    assert caplog.text.count("Can't bring writes from one region to another") == 1


# Ending


class _Connections:
    """Some that end after so many looks, and one that never does."""

    def __init__(self, clock: list[float], ends_at: list[float]) -> None:
        self.clock = clock
        self.is_closing = False
        self.aborted: list[float] = []
        self._ends = {end: SimpleNamespace(abort=lambda end=end: self.aborted.append(end)) for end in ends_at}

    def close_idle(self) -> None:
        """Begin to close."""
        self.is_closing = True

    @property
    def open(self) -> list[Any]:
        """Those that are left by now."""
        return [connection for end, connection in self._ends.items() if end > self.clock[0]]


@pytest.mark.parametrize(
    ("ends_at", "ended_at", "aborted"),
    [([], 0, []), ([0.1, 0.3], 0.3, []), ([0.1, 0.99], 0.99, []), ([0.1, 5], 1, [5]), ([4, 5], 1, [4, 5])],
)
def test_what_is_being_answered_has_its_time(
    ends_at: list[float], ended_at: float, aborted: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    connections = _Connections(clock, ends_at)

    async def look(seconds: float) -> None:
        clock[0] = round(clock[0] + seconds, 6)

    monkeypatch.setattr(running, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(asyncio, "sleep", look)
    anything: Any = connections
    asyncio.run(running._drain(anything, 1.0))
    assert connections.is_closing
    assert (clock[0], connections.aborted) == (ended_at, aborted)
