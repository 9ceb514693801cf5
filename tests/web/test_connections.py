"""Connections that don't get on end, and there are never more than so many: over sockets, with small bounds."""

from __future__ import annotations

import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import uvicorn

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
