"""A load generator with minimal overhead: prepared requests, raw sockets, one thread, one or several connections.

It reads only the status and the end of a response, so that it measures the server.
"""

from __future__ import annotations

import json
import selectors
import socket
import time
from collections.abc import Iterator
from typing import Any

_ANSWER_S_MAX = 30.0
"""A server that takes longer fails."""
_CREDENTIAL = "Credential=local/20260101/us-east-1/dynamodb/aws4_request"


def request_bytes(operation: str, params: dict[str, Any]) -> bytes:
    """A whole request, as an SDK would send it, with a signature that nobody looks at."""
    body = json.dumps(params).encode()
    head = (
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: identity\r\n"
        f"X-Amz-Target: DynamoDB_20120810.{operation}\r\nContent-Type: application/x-amz-json-1.0\r\n"
        "User-Agent: lean\r\nX-Amz-Date: 20260101T000000Z\r\n"
        f"Authorization: AWS4-HMAC-SHA256 {_CREDENTIAL}, SignedHeaders=host;x-amz-date;x-amz-target, "
        f"Signature={'0' * 64}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class Failed(Exception):
    """An answer that isn't 200."""


class Connection:
    """One keep-alive connection, which is made again when the server closes it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None
        self._buffer = b""

    @property
    def socket(self) -> socket.socket:
        """The open socket."""
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), _ANSWER_S_MAX)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._socket

    def send(self, request: bytes) -> None:
        """Send a request."""
        self._buffer = b""
        self.socket.sendall(request)

    def receive(self) -> bytes | None:
        """Read once; the body of the answer when it is complete, else None."""
        data = self.socket.recv(1 << 18)
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if found:
            lowered = head.lower()
            _, has_length, rest = lowered.partition(b"content-length:")
            if has_length:
                is_complete = len(body) >= int(rest.split(b"\r\n", 1)[0])
            else:
                is_complete = body.endswith(b"0\r\n\r\n") if b"chunked" in lowered else not data
            if is_complete:
                if b" 200 " not in head[:16]:
                    raise Failed(self._buffer[:600].decode(errors="replace"))
                if not data or b"connection: close" in lowered or head.startswith(b"HTTP/1.0"):
                    self.close()
                return body
        if not data:
            raise Failed("the connection ended")
        return None

    def ask(self, request: bytes) -> bytes:
        """Send a request and wait for the body of its answer."""
        self.send(request)
        while (body := self.receive()) is None:
            pass
        return body

    def close(self) -> None:
        """Close; the next request connects again."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def run(port: int, requests: Iterator[bytes], connections: int, seconds_max: float) -> tuple[int, float]:
    """Send requests over some connections, one at a time on each, until they end or the time is over; how many were
    answered, and in how many seconds.
    """
    if connections == 1:
        return _run_one(port, requests, seconds_max)
    answered = 0
    with selectors.DefaultSelector() as selector:
        working: dict[Connection, socket.socket] = {}
        for _ in range(connections):
            connection = Connection(port)
            working[connection] = connection.socket
            selector.register(connection.socket, selectors.EVENT_READ, connection)
        start = time.perf_counter()
        for connection in list(working):
            connection.send(next(requests))
        while working:
            ready = selector.select(_ANSWER_S_MAX)
            if not ready:
                raise Failed(f"no answer within {_ANSWER_S_MAX:.0f} s")
            for key, _ in ready:
                connection = key.data
                if connection.receive() is None:
                    continue
                answered += 1
                request = next(requests, None) if time.perf_counter() - start < seconds_max else None
                selector.unregister(working.pop(connection))
                if request is not None:
                    working[connection] = connection.socket
                    selector.register(connection.socket, selectors.EVENT_READ, connection)
                    connection.send(request)
                else:
                    connection.close()
        return answered, time.perf_counter() - start


def _run_one(port: int, requests: Iterator[bytes], seconds_max: float) -> tuple[int, float]:
    connection = Connection(port)
    answered = 0
    start = time.perf_counter()
    for request in requests:
        connection.ask(request)
        answered += 1
        if time.perf_counter() - start > seconds_max:
            break
    seconds = time.perf_counter() - start
    connection.close()
    return answered, seconds
