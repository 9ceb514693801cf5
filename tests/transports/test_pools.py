"""Pools without a network: which connections are kept, taken again, closed; clocks, hooks, and how transports close."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import pytest

from keyplan.client.call_records import RunningCall
from keyplan.client.conversations import Request
from keyplan.client.transports import http_async, http_sync
from keyplan.client.transports.credentials import NOBODY, Credentials, Fixed
from keyplan.client.transports.dynamodb import DynamoDB
from keyplan.client.transports.embedded import Embedded, InProcess
from keyplan.client.transports.endpoint import Endpoint
from keyplan.client.transports.http1 import Reply
from keyplan.client.transports.http_async import AsyncHttp, AsyncPool
from keyplan.client.transports.http_sync import Pool
from keyplan.client.transports.responses import Failure, Kind
from keyplan.client.transports.signing import Signed
from keyplan.client.transports.urls import Location, parse_url
from keyplan.client.transports.workers import Workers
from keyplan.errors import DynamoDBError, StoreError

NOW = 1_000_000.0
REQUEST = Signed(b"POST / HTTP/1.1\r\n\r\n", b"{}")


def location(options: str = "") -> Location:
    return parse_url(f"dynamodb+http://127.0.0.1:8000/notes?{options}", "notes", {"AWS_REGION": "eu-west-1"})


def answer(*headers: str) -> bytes:
    lines = ["HTTP/1.1 200 OK", "Content-Length: 2", *headers]
    return "\r\n".join([*lines, "", "{}"]).encode()


class Line:
    """Connections that have their answers already; the other ends, in the order of connecting."""

    def __init__(self) -> None:
        self.answers: list[bytes] = []
        self.ends: list[socket.socket] = []
        self.asked: list[tuple[Any, float]] = []

    def connect(self, address: Any, seconds: float) -> Any:
        ours, other = socket.socketpair()
        other.sendall(self.answers.pop(0))
        self.ends.append(other)
        self.asked.append((address, seconds))
        return Plain(ours)


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    made = Line()
    monkeypatch.setattr(socket, "create_connection", made.connect)
    yield made
    for end in made.ends:
        end.close()


class Plain:
    """A socket that takes the options of another kind."""

    def __init__(self, inner: socket.socket) -> None:
        self._inner = inner
        self.options: list[tuple[int, int]] = []

    def setsockopt(self, level: int, name: int, value: int) -> None:
        assert value
        self.options.append((level, name))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def idle(pool: Pool) -> list[Any]:
    return [connection for connection, _ in pool._idle]


def test_a_connection_is_kept_as_long_as_both_sides_want_it(line: Line) -> None:
    line.answers = [answer(), answer("Connection: close")]
    pool = Pool(location())
    first = pool.exchange(REQUEST, time.monotonic() + 9)
    assert (first.status, first.body, first.keep) == (200, b"{}", True)
    (kept,) = idle(pool)
    assert kept.options == [
        (socket.IPPROTO_TCP, socket.TCP_NODELAY),
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE),
    ]
    line.ends[0].sendall(b"x")  # nobody asked for that
    second = pool.exchange(REQUEST, time.monotonic() + 9)
    assert (second.status, second.body, second.keep) == (200, b"{}", False)
    assert kept.fileno() == -1
    assert idle(pool) == []
    assert len(line.ends) == 2
    assert line.ends[1].recv(100) == REQUEST.head + REQUEST.body
    assert line.ends[1].recv(100) == b""


def test_a_connection_is_used_again_and_closed_with_its_pool(line: Line) -> None:
    line.answers = [answer()]
    pool = Pool(location())
    pool.exchange(REQUEST, time.monotonic() + 9)
    (kept,) = idle(pool)
    taken: Any = pool._take()
    assert taken is kept
    assert pool._take() is None
    pool._idle.append((taken, time.monotonic()))
    pool.close()
    assert kept.fileno() == -1
    with pytest.raises(Failure, match="the design was closed"):
        pool.exchange(REQUEST, time.monotonic() + 9)
    assert len(line.ends) == 1


def test_a_pool_that_is_closed_while_it_is_used_keeps_nothing(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    line.answers = [answer()]
    pool = Pool(location())
    exchange = pool._exchange

    def closing(*given: Any) -> Reply:
        pool.close()
        return exchange(*given)

    monkeypatch.setattr(pool, "_exchange", closing)
    assert pool.exchange(REQUEST, time.monotonic() + 9).body == b"{}"
    assert idle(pool) == []


@pytest.mark.parametrize(("since", "is_taken"), [(55.0, False), (54.999, True), (55.001, False), (0.0, True)])
def test_how_long_a_connection_is_good(monkeypatch: pytest.MonkeyPatch, since: float, is_taken: bool) -> None:
    ours, other = socket.socketpair()
    pool = Pool(location())
    pool._idle.append((ours, NOW - since))
    monkeypatch.setattr(time, "monotonic", lambda: NOW)
    assert (pool._take() is ours) is is_taken
    assert (ours.fileno() != -1) is is_taken
    ours.close()
    other.close()


@pytest.mark.parametrize(("left", "waits"), [(2.5, 2.5), (0.0, 0.0), (-1.0, 0.0)])
def test_how_long_a_connection_is_waited_for(monkeypatch: pytest.MonkeyPatch, left: float, waits: float) -> None:
    pool = Pool(location())
    waited: list[float] = []

    class Taken:
        def acquire(self, timeout: float) -> bool:
            waited.append(timeout)
            return False

    monkeypatch.setattr(pool, "_free", Taken())
    monkeypatch.setattr(time, "monotonic", lambda: NOW)
    with pytest.raises(Failure, match="connections") as caught:
        pool.exchange(REQUEST, NOW + left)
    assert waited == [waits]
    assert caught.value.error.hint


@pytest.mark.parametrize(("left", "seconds"), [(9.0, 3.0), (3.0, 3.0), (1.5, 1.5), (0.0, None), (-1.0, None)])
def test_how_long_connecting_may_take(
    line: Line, monkeypatch: pytest.MonkeyPatch, left: float, seconds: float | None
) -> None:
    line.answers = [answer()]
    pool = Pool(location("connect_seconds=3"))
    monkeypatch.setattr(time, "monotonic", lambda: NOW)
    if seconds is None:
        with pytest.raises(Failure):
            pool._connect(NOW + left)
        assert line.asked == []
    else:
        pool._connect(NOW + left).close()
        assert line.asked == [(("127.0.0.1", 8000), seconds)]


@pytest.mark.parametrize(("until", "left"), [(NOW + 2, 2.0), (NOW, None), (NOW - 1, None)])
def test_what_is_left_of_the_time(monkeypatch: pytest.MonkeyPatch, until: float, left: float | None) -> None:
    given: list[float] = []

    class Timed:
        def settimeout(self, seconds: float) -> None:
            given.append(seconds)

    monkeypatch.setattr(time, "monotonic", lambda: NOW)
    if left is None:
        with pytest.raises(TimeoutError):
            http_sync._wait_until(cast("socket.socket", Timed()), until)
    else:
        http_sync._wait_until(cast("socket.socket", Timed()), until)
    assert given == ([] if left is None else [left])


# Asynchronous pools


class Held:
    """A connection of an asynchronous pool."""

    def __init__(self, reply: Reply | None = None, *, good: bool = True, since: float = 0.0) -> None:
        self.good = good
        self.since = since
        self.reply = reply
        self.aborted = 0
        self.during: Callable[[], None] = lambda: None

    def abort(self) -> None:
        self.aborted += 1

    async def exchange(self, request: bytes, until: float, loop: Any) -> Reply:
        assert request == REQUEST.head + REQUEST.body
        assert until <= loop.time() + 9
        self.during()
        assert self.reply is not None
        return self.reply


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("good", [True, False])
@pytest.mark.parametrize("closes", [True, False])
def test_which_asynchronous_connection_is_kept(
    monkeypatch: pytest.MonkeyPatch, keep: bool, good: bool, closes: bool
) -> None:
    async def run() -> None:
        pool = AsyncPool(location(), None)
        held = Held(Reply(200, {}, b"{}", keep))

        def during() -> None:
            held.good = good
            if closes:
                pool.close()

        held.during = during

        async def connected(*_: Any) -> Any:
            return held

        monkeypatch.setattr(pool, "_connect", connected)
        assert (await pool.exchange(REQUEST, time.monotonic() + 9)).body == b"{}"
        is_kept = keep and good and not closes
        assert (cast("list[Any]", pool._idle), held.aborted) == (([held], 0) if is_kept else ([], 1))
        if is_kept:
            assert 0 <= asyncio.get_running_loop().time() - held.since < 60
            pool.close()
            assert held.aborted == 1

    asyncio.run(run())


@pytest.mark.parametrize(
    ("good", "since", "is_taken"),
    [(True, 54.999, True), (True, 55.0, False), (True, 55.001, False), (False, 1.0, False), (False, 60.0, False)],
)
def test_how_long_an_asynchronous_connection_is_good(good: bool, since: float, is_taken: bool) -> None:
    class Clock:
        def time(self) -> float:
            return NOW

    async def run() -> None:
        pool = AsyncPool(location(), None)
        held = Held(good=good, since=NOW - since)
        pool._idle.append(cast("Any", held))
        taken: Any = pool._take(cast("asyncio.AbstractEventLoop", Clock()))
        assert (taken is held) is is_taken
        assert held.aborted == (not is_taken)
        assert pool._idle == []

    asyncio.run(run())


def test_a_connection_is_good_until_it_is_closed() -> None:
    connection = http_async._Connection(location())
    assert connection.good
    connection.abort()
    assert not connection.good


class FakeLoop:
    def __init__(self, *, closed: bool = False, running: bool = False) -> None:
        self.closed = closed
        self.running = running
        self.called: list[Any] = []

    def is_closed(self) -> bool:
        return self.closed

    def is_running(self) -> bool:
        return self.running

    def call_soon_threadsafe(self, called: Any) -> None:
        self.called.append(called)


class FakePool:
    closed = 0

    def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("is_awaited", [True, False])
def test_each_loops_connections_are_closed_where_it_runs(is_awaited: bool) -> None:
    http = AsyncHttp(Endpoint(location(), Fixed(NOBODY)))
    gone, elsewhere, asleep = FakeLoop(closed=True), FakeLoop(running=True), FakeLoop()
    pools: dict[Any, Any] = {loop: FakePool() for loop in (gone, elsewhere, asleep)}
    http._pools = pools

    async def run() -> None:
        here = pools[asyncio.get_running_loop()] = FakePool()
        await http.aclose()
        assert here.closed == 1
        with pytest.raises(StoreError, match="the design was closed"):
            await AsyncHttp._pool(http, cast("Any", FakeLoop())).exchange(REQUEST, 0)

    if is_awaited:
        asyncio.run(run())
    else:
        http.close()
    assert [pools[loop].closed for loop in (gone, elsewhere, asleep)] == [0, 0, 1]
    assert elsewhere.called == [pools[elsewhere].close]
    assert gone.called == asleep.called == []


def test_pools_of_closed_loops_are_forgotten() -> None:
    async def run() -> None:
        http = AsyncHttp(Endpoint(location(), Fixed(NOBODY)))
        gone, other = FakeLoop(closed=True), FakeLoop(running=True)
        pools: dict[Any, Any] = {gone: FakePool(), other: FakePool()}
        http._pools = pools
        loop = asyncio.get_running_loop()
        made = http._pool(loop)
        assert http._pool(loop) is made
        assert list(pools) == [other, loop]

    asyncio.run(run())


@pytest.mark.parametrize(("parallel", "sent"), [(1, 1), (2, 2), (4, 4)])
def test_what_waits_is_not_sent_once_another_has_failed(parallel: int, sent: int) -> None:
    count = 0

    async def fail(request: Signed, deadline: float) -> Reply:
        nonlocal count
        count += 1
        await asyncio.sleep(0)
        return Reply(400, {}, b'{"__type":"x#ValidationException","message":"no"}', keep=True)

    async def run() -> None:
        http = AsyncHttp(Endpoint(location(f"parallel={parallel}"), Fixed(NOBODY)), fail)
        with pytest.raises(DynamoDBError, match="no"):
            await http.call_all([Request("GetItem", {})] * 4)

    asyncio.run(run())
    assert count == sent


# Endpoints


@pytest.mark.parametrize(
    ("ahead", "before", "is_healed"),
    [
        (240.0, 0.0, True),
        (239.9, 0.0, False),
        (-240.0, 0.0, True),
        (-239.9, 0.0, False),
        (500.0, 300.0, False),
        (500.0, 260.0, True),
        (0.0, 500.0, True),
        (None, 0.0, False),
    ],
)
def test_clocks_that_are_far_apart_are_corrected(
    monkeypatch: pytest.MonkeyPatch, ahead: float | None, before: float, is_healed: bool
) -> None:
    monkeypatch.setattr(time, "time", lambda: NOW)
    tested = Endpoint(location(), Fixed(NOBODY))
    tested._clock_seconds = before
    failure = Failure(StoreError("late"), Kind.CLOCK)
    failure.date = None if ahead is None else NOW + ahead
    tested.heal(failure, 0.0)
    assert failure.kind is (Kind.CLOCK if is_healed else Kind.FINAL)
    assert tested._clock_seconds == (ahead if is_healed else before)
    signed = tested.request("GetItem", b"{}")
    again = tested.request_at_once("GetItem", b"{}")
    assert again == signed
    shown = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(NOW + tested._clock_seconds))
    assert dict(signed.headers)["X-Amz-Date"] == shown


class Changing:
    """Credentials that are counted."""

    def __init__(self) -> None:
        self.due = False
        self.count = 0

    def current(self) -> Credentials:
        self.count += 1
        return Credentials(f"key{self.count}", "secret")

    def renew(self) -> bool:
        return True


def test_credentials_are_asked_for_when_they_are_due() -> None:
    source = Changing()
    tested = Endpoint(location(), source)
    assert tested.request_at_once("GetItem", b"") is None
    assert b"key1/" in tested.request("GetItem", b"").head
    signed = tested.request_at_once("GetItem", b"")
    assert signed is not None
    assert b"key1/" in signed.head
    source.due = True
    assert tested.request_at_once("GetItem", b"") is None
    assert b"key2/" in tested.request("GetItem", b"").head
    source.due = False
    failure = Failure(StoreError("expired"), Kind.EXPIRED)
    tested.heal(failure, time.monotonic())
    assert failure.kind is Kind.EXPIRED
    assert tested.request_at_once("GetItem", b"") is None
    assert source.count == 2


def test_the_place_and_the_hook() -> None:
    backend = DynamoDB(location(), Fixed(NOBODY))
    assert backend.endpoint.place == "http://127.0.0.1:8000"
    assert backend.on_call is None
    told: list[RunningCall] = []
    backend.on_call = cast("Any", told.append)
    assert backend.on_call == cast("Any", told.append)
    assert backend.endpoint.on_call == cast("Any", told.append)
    backend.close()


@pytest.mark.parametrize("is_awaited", [True, False])
@pytest.mark.parametrize("is_used", [True, False])
def test_how_a_backend_is_closed(monkeypatch: pytest.MonkeyPatch, is_awaited: bool, is_used: bool) -> None:
    """Asynchronous code waits for no thread."""
    backend = DynamoDB(location(), Fixed(NOBODY))
    done: list[Any] = []
    shutdown, close = Workers.shutdown, backend.transport.close

    def noted(workers: Workers, wait: bool = True, *, cancel_futures: bool = False) -> None:
        done.append((workers._name, wait, cancel_futures))
        shutdown(workers, wait, cancel_futures=cancel_futures)

    monkeypatch.setattr(Workers, "shutdown", noted)

    def noted_close(*, wait: bool = True) -> None:
        done.append(("sync", wait))
        close(wait=wait)

    monkeypatch.setattr(backend.transport, "close", noted_close)
    if is_used:
        assert not backend.async_transport._closed
    if is_awaited:
        asyncio.run(backend.aclose())
    else:
        backend.close()
    wait = not is_awaited
    assert done == [("keyplan-ahead", wait, True), ("sync", wait), ("keyplan", wait, False)]
    assert backend.async_transport._closed
    with pytest.raises(StoreError, match="the design was closed"):
        backend.ahead.submit(print)
    with pytest.raises(StoreError, match="the design was closed"):
        backend.transport.call("GetItem", {})


@pytest.mark.parametrize("is_used", [True, False])
def test_threads_that_were_ended_do_nothing_more(is_used: bool) -> None:
    workers = Workers(2, "some")
    if is_used:
        assert workers.submit(threading.get_ident).result() != threading.get_ident()
        assert workers.submit(lambda: threading.current_thread().name).result().startswith("some")
    workers.shutdown()
    with pytest.raises(StoreError, match="the design was closed") as caught:
        workers.submit(print)
    assert caught.value.hint == "open it again"
    assert len(workers._made) == is_used


# In this process


def test_an_engine_in_this_process() -> None:
    asked: list[Any] = []
    closed: list[str] = []

    def called(operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        asked.append((operation, parameters, threading.current_thread() is threading.main_thread()))
        return {"n": len(asked)}

    backend = InProcess(called, partial(closed.append, "closed"))
    assert backend.ahead is None
    requests: list[Any] = [("GetItem", {"a": 1}), ("PutItem", {})]
    assert backend.transport.call_all(requests) == [{"n": 1}, {"n": 2}]

    async def run() -> None:
        assert await backend.async_transport.call_all(requests) == [{"n": 3}, {"n": 4}]
        assert await backend.async_transport.call("Query", {}) == {"n": 5}
        told: list[RunningCall] = []
        backend.on_call = cast("Any", told.append)
        assert backend.on_call == cast("Any", told.append)
        assert await backend.async_transport.call("Query", {}) == {"n": 6}
        assert backend.transport.call("Query", {}) == {"n": 7}
        assert len(told) == 2
        backend.on_call = None
        assert await backend.async_transport.call("Scan", {}) == {"n": 8}
        assert len(told) == 2
        await backend.aclose()

    asyncio.run(run())
    assert [is_main for _, _, is_main in asked] == [True, True, False, False, False, False, True, False]
    assert asked[7][:2] == ("Scan", {})
    assert "ReturnConsumedCapacity" in asked[5][1]
    assert closed == ["closed"]
    assert Embedded(called).call_all([]) == []
