"""Limits of the number of connections and of slow clients, tested over sockets and with a simulated clock."""

from __future__ import annotations

import asyncio
import contextvars
import resource
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from types import SimpleNamespace, coroutine
from typing import Any

import pytest
import uvicorn

from keyplan.web import app
from keyplan.web.connections import BoundedApplication, BoundedConnection, Bounds, allow_many_files, bounded_protocol
from tests.web.library import Library

BOUNDS = Bounds(connections_max=12, request_s_max=0.3, look_s=0.05)
ASK = b"GET /api/book?isbn=i0 HTTP/1.1\r\nhost: x\r\n\r\n"
HALF = b"POST /api/add_book HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"


@pytest.fixture
def port(filled: Library) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        application, protocol = BoundedApplication(app(filled)), bounded_protocol(BOUNDS)
        config = uvicorn.Config(application, http=protocol, log_level="critical", access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()


def sent(stack: ExitStack, port: int, data: bytes) -> socket.socket:
    connection = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
    connection.sendall(data)
    return connection


def answer(connection: socket.socket) -> bytes:
    """All bytes received until the connection is closed."""
    parts = b""
    try:
        while part := connection.recv(4096):
            parts += part
    except ConnectionResetError:
        return b""
    return parts


def test_incomplete_requests_time_out_without_blocking_others(port: int) -> None:
    with ExitStack() as stack:
        slow = [sent(stack, port, data) for data in (HALF, HALF[:30], b"", ASK[:-2], ASK + ASK[:9])]
        first = sent(stack, port, ASK).recv(4096)
        assert first.startswith(b"HTTP/1.1 200")
        answers = [answer(element) for element in slow]
        assert all(b"HTTP/1.1 408 " in element for element in answers)
        assert answers[-1].startswith(b"HTTP/1.1 200")


def test_a_new_connection_replaces_the_one_that_has_been_idle_longest(port: int) -> None:
    with ExitStack() as stack:
        silent, *others = [sent(stack, port, b"") for _ in range(BOUNDS.connections_max)]
        assert sent(stack, port, ASK).recv(4096).startswith(b"HTTP/1.1 200")
        assert answer(silent) == b""
        assert all(b"HTTP/1.1 408 " in answer(other) for other in others)


def test_the_connection_limit_is_below_the_limit_of_open_files() -> None:
    assert allow_many_files(Bounds(connections_max=10)).connections_max == 10
    assert (
        allow_many_files(Bounds(connections_max=10**9)).connections_max < resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    )


class Clock:
    """A simulated event loop with its own clock, and a connection's transport that records calls."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[tuple[float, Callable[[], None]]] = []
        self.events: list[tuple[float, str]] = []
        self.unread_bytes = 0

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Callable[[], None]) -> Any:
        timer = (self.now + delay, callback)
        self.timers.append(timer)
        return SimpleNamespace(cancel=partial(self.timers.remove, timer))

    def pass_by(self, until: float) -> None:
        while due := sorted((timer for timer in self.timers if timer[0] <= until), key=lambda timer: timer[0]):
            self.timers.remove(due[0])
            self.now = due[0][0]
            due[0][1]()
        self.now = until

    def is_closing(self) -> bool:
        return any(event == "closed" for _, event in self.events)

    def get_write_buffer_size(self) -> int:
        return self.unread_bytes

    def write(self, data: bytes) -> None:
        self.events.append((self.now, data.partition(b"\r\n")[0].decode()))

    def close(self) -> None:
        self.events.append((self.now, "closed"))

    def abort(self) -> None:
        self.events.append((self.now, "aborted"))


class Inner(asyncio.Protocol):
    """A protocol that runs an application, which waits for the body and sends its response on command."""

    def data_received(self, data: bytes) -> None:
        if not hasattr(self, "run"):
            self.run = contextvars.copy_context().run
            self.task = BoundedApplication(answer_late)({"type": "http"}, self.receive, self.send)
            self.go_on()

    def go_on(self, value: Any = None) -> None:
        with suppress(StopIteration):
            self.run(self.task.send, value)

    @coroutine
    def receive(self) -> Any:
        return (yield)

    @coroutine
    def send(self, _message: Any) -> Any:
        yield


async def answer_late(_scope: Any, receive: Any, send: Any) -> None:
    while (await receive())["more_body"]:
        pass
    await receive()  # let the server run: the application waits for the end of the connection
    await send({"type": "http.response.start"})


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    result = Clock()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: result)
    return result


def connected(clock: Clock, most: int = 9) -> Any:
    class Connection(BoundedConnection):
        bounds, inner, open = Bounds(most, 3.0, 100, 1.0), Inner, set()

    result = Connection()
    result.connection_made(clock)
    return result


LATE = [(4.0, "HTTP/1.1 408 Request Timeout"), (4.0, "closed"), (5.0, "aborted")]


def test_a_client_that_sends_no_request_is_disconnected(clock: Clock) -> None:
    connected(clock)
    clock.pass_by(20)
    assert clock.events == LATE


def test_the_time_limit_of_a_body_increases_with_the_received_bytes(clock: Clock) -> None:
    connection = connected(clock)
    connection.data_received(b"head")
    clock.pass_by(2.5)
    connection.data_received(b"x" * 400)
    connection._inner.go_on({"more_body": True})
    clock.pass_by(30)
    assert clock.events == [(at + 4, event) for at, event in LATE]


def test_a_client_that_does_not_read_the_response_is_disconnected(clock: Clock) -> None:
    connection = connected(clock)
    connection.data_received(b"head")
    connection._inner.go_on({"more_body": False})
    clock.pass_by(10)
    assert not clock.events, "it is the server's turn"
    connection._inner.go_on({})
    connection.pause_writing()
    clock.unread_bytes = 900
    clock.pass_by(12.5)
    clock.unread_bytes = 800
    clock.pass_by(16.5)
    assert not clock.events, "some of it was read"
    clock.pass_by(30)
    assert clock.events == [(18.0, "aborted")]


def test_the_timeout_of_a_lost_connection_is_cancelled(clock: Clock) -> None:
    connection = connected(clock)
    clock.pass_by(1.5)
    connection.connection_lost(None)
    assert not clock.timers
    connected(clock, most=0).connection_lost(None)
    assert clock.events == [(1.5, "aborted")]
    assert not clock.timers
