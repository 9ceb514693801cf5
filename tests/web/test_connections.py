"""Connections that don't get on end, and there are never more than so many: over sockets, with small bounds."""

from __future__ import annotations

import resource
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from keyplan.web import app
from keyplan.web.connections import Bounds, allow_many_files, bounded_protocol
from tests.web.library import Library

BOUNDS = Bounds(connections_max=12, request_s_max=0.3, look_s=0.05)
ASK = b"GET /api/book?isbn=i0 HTTP/1.1\r\nhost: x\r\n\r\n"
HALF = b"POST /api/add_book HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"


@pytest.fixture
def port(filled: Library) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(app(filled), http=bounded_protocol(BOUNDS), log_level="critical", access_log=False)
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
    """All that comes, until the connection ends."""
    parts = b""
    try:
        while part := connection.recv(4096):
            parts += part
    except ConnectionResetError:
        return b""
    return parts


def test_half_sent_requests_end_and_others_are_answered(port: int) -> None:
    with ExitStack() as stack:
        slow = [sent(stack, port, data) for data in (HALF, HALF[:30], b"", ASK[:-2], ASK + ASK[:9])]
        first = sent(stack, port, ASK).recv(4096)
        assert first.startswith(b"HTTP/1.1 200")
        answers = [answer(element) for element in slow]
        assert all(b"HTTP/1.1 408 " in element for element in answers)
        assert answers[-1].startswith(b"HTTP/1.1 200")


def test_who_comes_when_all_places_are_taken_is_turned_away(port: int) -> None:
    with ExitStack() as stack:
        inside = [sent(stack, port, ASK) for _ in range(BOUNDS.connections_max)]
        assert all(element.recv(4096).startswith(b"HTTP/1.1 200") for element in inside)
        assert answer(sent(stack, port, ASK)) == b""


def test_no_more_connections_than_files() -> None:
    assert allow_many_files(Bounds(connections_max=10)).connections_max == 10
    assert (
        allow_many_files(Bounds(connections_max=10**9)).connections_max < resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    )


class Timer:
    """What is to be done later."""

    def __init__(self, clock: Clock, at: float, callback: Callable[[], None]) -> None:
        self.clock = clock
        self.at = at
        self.callback = callback

    def cancel(self) -> None:
        self.clock.later.remove(self)

    def add_done_callback(self, _callback: Any) -> None:
        """As a task, it is never done."""


class Clock:
    """A loop whose time goes on when it is told to, and a connection's transport that notes what is done with it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.later: list[Timer] = []
        self.events: list[tuple[float, str]] = []
        self.closing = False
        self.unsent = 0

    def time(self) -> float:
        return self.now

    def create_task(self, coroutine: Any, **_: Any) -> Timer:
        coroutine.close()
        return Timer(self, self.now, lambda: None)

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        self.later.append(Timer(self, self.now + delay, callback))
        return self.later[-1]

    def pass_by(self, until: float) -> None:
        while due := sorted((timer for timer in self.later if timer.at <= until), key=lambda timer: timer.at):
            self.now = due[0].at
            self.later.remove(due[0])
            due[0].callback()
        self.now = until

    # What a transport does

    def is_closing(self) -> bool:
        return self.closing

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def get_extra_info(self, _name: str) -> None:
        return None

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def write(self, data: bytes) -> None:
        self.events.append((self.now, data.partition(b"\r\n")[0].decode()))

    def close(self) -> None:
        self.closing = True
        self.events.append((self.now, "closed"))

    def abort(self) -> None:
        self.events.append((self.now, "aborted"))


async def nothing(_scope: Any, _receive: Any, _send: Any) -> None:
    """An application that answers nothing."""


def connected(clock: Clock, most: int = 9) -> Any:
    protocol: Any = bounded_protocol(Bounds(most, 3.0, 100, 1.0))
    config = uvicorn.Config(nothing, log_level="critical")
    config.load()
    connection = protocol(config=config, server_state=ServerState(), app_state={}, _loop=clock)
    connection.connection_made(clock)
    return connection


def test_a_connection_ends_when_it_has_waited_too_long() -> None:
    """By a clock of the test's own: for a request, for its body, which is granted more time the more of it comes, and
    for who takes an answer.
    """
    late = [(4.0, "HTTP/1.1 408 Request Timeout"), (4.0, "closed"), (5.0, "aborted")]
    clock = Clock()
    connected(clock)
    clock.pass_by(20)
    assert clock.events == late, "it asks for nothing"
    clock = Clock()
    connected(clock).data_received(HALF[:30])
    clock.pass_by(20)
    assert clock.events == late, "its head doesn't end"
    clock = Clock()
    protocol = connected(clock)
    protocol.data_received(HALF.replace(b"100", b"900"))
    clock.pass_by(2.5)
    protocol.data_received(b"x" * 400)
    clock.pass_by(30)
    assert clock.events == [(at + 5, event) for at, event in late], "its body: 1 s until it is seen, 4 s for 400 bytes"


def test_an_answer_that_nobody_takes_ends_without_another() -> None:
    clock = Clock()
    protocol = connected(clock)
    protocol.data_received(ASK)
    clock.pass_by(10)
    assert not clock.events, "it is the server's turn"
    protocol.cycle.response_started = True
    protocol.flow.write_paused, clock.unsent = True, 900
    clock.pass_by(12.5)
    clock.unsent = 800
    clock.pass_by(16.5)
    assert not clock.events, "some of it was taken"
    clock.pass_by(30)
    assert clock.events == [(18.0, "aborted")]


def test_a_connection_that_is_gone_is_looked_at_no_more() -> None:
    clock = Clock()
    protocol = connected(clock)
    clock.pass_by(1.5)
    protocol.connection_lost(None)
    assert not clock.later
    refused = Clock()
    connected(refused, most=0).connection_lost(None)
    assert refused.events[:1] == [(0.0, "aborted")]
    assert not refused.later
