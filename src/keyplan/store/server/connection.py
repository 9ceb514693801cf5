"""One HTTP connection: parses requests and sends responses in order, with bounded time and memory.

httptools (llhttp) parses HTTP. Requests of a connection are answered in order; clients can pipeline requests.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING

import httptools

from keyplan.store.server import responses as answers
from keyplan.store.server.responses import RETRY, protocol_fault
from keyplan.store.server.server_settings import Limits
from keyplan.store.server.service import Incoming, Regional, Service

if TYPE_CHECKING:
    from typing import Any

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_READ_BYTES = 64 * 1024
"""Bytes to read and parse at a time, a quarter of asyncio's limit, because they can all be headers."""
_TURN_S = 0.01
"""How long to answer pipelined requests before yielding to other connections."""


class Connections:
    """The connections of one process and their shared resources."""

    def __init__(self, service: Service | Regional, limits: Limits, open_: set[Connection] | None = None) -> None:
        self.service = service
        self.limits = limits
        self.open: set[Connection] = open_ if open_ is not None else set()
        self.buffered_bytes = 0
        self.is_closing = False

    def __call__(self) -> Connection:
        return Connection(self)

    def end_late(self) -> None:
        now = time.monotonic()
        for connection in [each for each in self.open if each.is_late(now)]:
            connection.abort()

    def end_longest_idle(self) -> bool:
        """Close the connection that has been idle longest. Returns False if no connection is idle."""
        idle = min((each for each in self.open if each.is_idle), key=lambda each: each.began, default=None)
        if idle is None:
            return False
        self.open.discard(idle)
        idle.abort()
        return True

    def close_idle(self) -> None:
        """Start closing connections: idle connections immediately, the others after their response."""
        self.is_closing = True
        for connection in list(self.open):
            connection.close_when_idle()


class Connection(asyncio.Protocol):
    """One client's connection."""

    def __init__(self, all_: Connections) -> None:
        self._all = all_
        self._limits = all_.limits
        self._parser: Any = httptools.HttpRequestParser(self)
        self._transport: Any = None
        self._waiting: deque[tuple[Incoming, bool] | bytes] = deque()
        self._waiting_bytes = 0
        self._is_answering = False
        self._is_running = False
        self._is_write_paused = False
        self._is_read_paused = False
        self._ends = False
        """Whether reading has ended: the last response closes the connection."""
        self._drains_bytes = 0
        """How many bytes to read and discard before closing, so that a client that is still sending can read its
        response: closing with unread bytes would reset the connection.
        """
        self._is_draining = False
        self.began = time.monotonic()
        """When the client last opened the connection, started a request or was sent a response."""
        self._is_receiving = False
        self._has_sent = False
        self._head_bytes = 0
        """Bytes since the last part of a body: of a head, the size line of a chunk, or trailers."""
        self._in_head = True
        self.on_message_begin()

    # --- called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._transport.max_size = _READ_BYTES
        if len(self._all.open) >= self._limits.connections_max and not self._all.end_longest_idle():
            self._transport.abort()
            return
        self._all.open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Discard requests that were received and not answered yet."""
        self._all.open.discard(self)
        self._all.buffered_bytes -= self._body_bytes + self._waiting_bytes
        self._waiting.clear()
        self._transport = None

    def eof_received(self) -> bool:
        """The client has stopped sending; pending requests are still answered."""
        self._ends = True
        self._drains_bytes = 0
        return self._is_answering or bool(self._waiting)

    def data_received(self, data: bytes) -> None:
        if self._ends:
            self._drain(len(data))
            return
        if not self._is_receiving:
            self._is_receiving = self._has_sent = True
            self.began = time.monotonic()
        self._head_bytes += len(data)  # reset to zero if a request ends in this data
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._ends = True  # answer the request and close: upgrades aren't supported
        except httptools.HttpParserError as error:
            # If a callback raised an exception, it is the context of the parser's error.
            refused = error.__context__
            self._refuse((refused if isinstance(refused, _RefusedError) else _bad_request()).answer)
        else:
            if self._head_bytes > self._limits.head_bytes_max:
                self._refuse(_bad_request().answer)
        self._run()

    def pause_writing(self) -> None:
        """Answer no further requests while the client doesn't read responses."""
        self._is_write_paused = True
        self.began = time.monotonic()

    def resume_writing(self) -> None:
        self._is_write_paused = False
        self._run()

    # --- called by the parser

    def on_message_begin(self) -> None:
        self._url = b""
        self._headers: dict[bytes, bytes] = {}
        self._header_bytes = 0
        self._body = bytearray()
        self._body_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a header; repeated headers are joined. Trailers, which must not change the request, are ignored."""
        if not self._in_head:
            return
        self._header_bytes += len(name) + len(value)
        if self._header_bytes + len(self._url) > self._limits.head_bytes_max:
            raise _bad_request()
        name = name.lower()
        first = self._headers.get(name)
        if first is not None and name == b"accept-encoding":
            return  # the service ignores repeated headers of this name
        self._headers[name] = value.rstrip() if first is None else b"%s,%s" % (first, value.rstrip())

    def on_headers_complete(self) -> None:
        """Reject a body that is too large before it arrives."""
        self._in_head = False
        self._head_bytes = 0
        length = self._headers.get(b"content-length")
        if length is not None and int(length) > self._limits.body_bytes_max:
            raise self._body_too_large()
        is_first = not self._is_answering and not self._waiting
        if is_first and self._headers.get(b"expect", b"").lower() == b"100-continue":
            self._transport.write(_CONTINUE)

    def on_body(self, body: bytes) -> None:
        self._head_bytes = 0
        self._body_bytes += len(body)
        self._all.buffered_bytes += len(body)
        if self._body_bytes > self._limits.body_bytes_max:
            raise self._body_too_large()
        if self._all.buffered_bytes > self._limits.buffered_bytes_max:
            fault = protocol_fault("ServiceUnavailableException", RETRY)
            raise _RefusedError(answers.error_answer(fault, self._headers))
        self._body += body

    def on_message_complete(self) -> None:
        # Pass the body without a copy: copying 16 MB would block the event loop for 12 ms.
        request = Incoming(self._parser.get_method(), self._url, self._headers, self._body)
        self._body = bytearray()
        self._waiting.append((request, bool(self._parser.should_keep_alive())))
        self._waiting_bytes += self._body_bytes
        self._body_bytes = 0
        self._is_receiving = False
        self._in_head = True
        self._head_bytes = 0

    def _body_too_large(self) -> _RefusedError:
        self._drains_bytes = self._limits.drained_bytes_max
        return _RefusedError(answers.plain_answer(413, b"", closes=True))

    # --- responses

    def _refuse(self, answer: bytes) -> None:
        """Send an error response after the pending ones, and close: the remaining input is meaningless."""
        self._ends = True
        self._waiting.append(answer)

    def _run(self) -> None:
        """Answer queued requests in order, until one is pending, the client doesn't read, or the time slice ends."""
        self._is_running = True
        ends: float | None = None
        while self._waiting and not self._is_answering and not self._is_write_paused:
            if ends is None:
                ends = time.monotonic() + _TURN_S
            elif time.monotonic() > ends:
                asyncio.get_running_loop().call_soon(self._run)
                break
            next_ = self._waiting.popleft()
            if isinstance(next_, bytes):
                self._transport.write(next_)
            else:
                self._is_answering = True
                size_bytes = len(next_[0].body)
                self._waiting_bytes -= size_bytes
                self._all.buffered_bytes -= size_bytes
                self._answer(*next_)
        self._is_running = False
        if self._transport is None:
            return
        if self._ends and not self._waiting and not self._is_answering:
            self._close()
        if self._waiting or self._is_read_paused:
            self._pace()

    def _answer(self, request: Incoming, keep_alive: bool) -> None:
        self._all.service.handle(request, lambda answer: self._reply(answer, keep_alive=keep_alive))

    def _reply(self, answer: bytes, *, keep_alive: bool) -> None:
        self._is_answering = False
        if self._transport is None:
            return
        self._transport.write(answer)
        self.began = time.monotonic()
        if not keep_alive or (self._all.is_closing and not self._waiting):
            self._ends = True
            self._waiting.clear()
        if not self._is_running:
            self._run()

    def _close(self) -> None:
        """Close after the last response and, if the client is still sending, after draining its input."""
        if self._drains_bytes <= 0:
            self._transport.close()
        elif not self._is_draining:
            self._is_draining = True
            self.began = time.monotonic()
            self._transport.write_eof()

    def _drain(self, size_bytes: int) -> None:
        self._drains_bytes -= size_bytes
        if self._is_draining and self._drains_bytes <= 0 and self._transport is not None:
            self._transport.close()

    def _pace(self) -> None:
        """Stop reading while too much is queued."""
        limits = self._limits
        is_full = len(self._waiting) >= limits.pipelined_max or self._waiting_bytes > limits.body_bytes_max
        if is_full != self._is_read_paused:
            self._is_read_paused = is_full
            (self._transport.pause_reading if is_full else self._transport.resume_reading)()

    # --- closing

    @property
    def is_idle(self) -> bool:
        """Whether the client has sent no part of an unanswered request."""
        is_busy = self._is_answering or self._is_receiving or self._is_draining or self._is_write_paused
        return not is_busy and not self._waiting

    def is_late(self, now: float) -> bool:
        passed_s = now - self.began
        if self._is_answering:
            return False
        if self._is_draining:
            return passed_s > self._limits.drained_s_max
        if self._is_receiving and not self._waiting:
            granted_s = self._body_bytes / self._limits.body_bytes_per_s_min
            return passed_s > self._limits.request_s_max + granted_s
        if not self._has_sent:  # a shorter timeout for the first request, to close silent connections early
            return passed_s > self._limits.request_s_max
        return passed_s > self._limits.idle_s_max

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def close_when_idle(self) -> None:
        """Close the connection now if it is idle, otherwise after the response."""
        if self._transport is not None and not self._is_answering and not self._waiting:
            self._transport.close()


def _bad_request() -> _RefusedError:
    return _RefusedError(answers.plain_answer(400, b"", closes=True))


class _RefusedError(Exception):
    """A request is rejected during parsing, with this response."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
