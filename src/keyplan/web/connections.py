"""Limits the number of a server's connections, and the time that the server waits for a client. uvicorn closes idle
connections, but not connections whose first request never completes; they would exhaust the process's file descriptors.
This module uses only the callbacks of asyncio's protocols and of ASGI, and no internals of uvicorn.
"""

from __future__ import annotations

import asyncio
import resource
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

FILES_WANTED = 8192
CONNECTIONS_MIN = 16
FILES_SPARE = 256
"""File descriptors reserved for the store, its readers, and libraries."""
_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a server's connections. Times are in seconds."""

    connections_max: int = 2048
    """Maximum number of open connections of one process."""
    request_s_max: float = 20.0
    """Maximum time to receive a request (plus bytes / ``body_bytes_per_s_min``), and to send a part of a response."""
    body_bytes_per_s_min: int = 16 * 1024
    look_s: float = 1.0
    """Interval between checks of a connection."""


class BoundedConnection(asyncio.Protocol):
    """A connection whose limits are checked periodically. ``inner`` is the class that implements HTTP."""

    bounds: ClassVar[Bounds]
    inner: ClassVar[Any]
    open: ClassVar[set[BoundedConnection]]

    def __init__(self, **given: Any) -> None:
        self._inner = self.inner(**given)
        self.waits_for: str | None = "request"
        """What the server waits for: ``request`` or ``body``; None while the server processes the request."""
        self.received_bytes = 0
        self.has_response = False
        """Whether the response to the current request has started."""
        self._timer: asyncio.TimerHandle | None = None
        self._unread_bytes: int | None = None
        """Size of the write buffer at the last check, if the client isn't reading; otherwise None."""

    def connection_made(self, transport: Any) -> None:
        """Accept a connection. At the limit, close the longest-waiting connection, or else the new connection."""
        self._transport, self._loop = transport, asyncio.get_running_loop()
        self.wait_for("request")
        self._inner.connection_made(transport)
        if len(self.open) >= self.bounds.connections_max and not self._end_longest_waiting():
            transport.abort()
            return
        self.open.add(self)
        self._timer = self._loop.call_later(self.bounds.look_s, self._look)

    def _end_longest_waiting(self) -> bool:
        longest = max((each for each in self.open if each.waits_for), key=lambda each: each.waited_s, default=None)
        if longest is None:
            return False
        longest.end()
        return True

    def end(self) -> None:
        self.open.discard(self)
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Parse the data. The task that processes the request inherits the context variable ``_connection``."""
        self.received_bytes += len(data)
        token = _connection.set(self)
        try:
            self._inner.data_received(data)
        finally:
            _connection.reset(token)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()  # type: ignore[no-any-return]

    def pause_writing(self) -> None:
        self._unread_bytes = -1
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._unread_bytes = None
        self._inner.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self.open.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        self._inner.connection_lost(exc)

    def wait_for(self, part: str | None, waited_s: float = 0.0) -> None:
        self.waits_for, self._since = part, self._loop.time() - waited_s

    @property
    def waited_s(self) -> float:
        return self._loop.time() - self._since

    def _is_late(self) -> bool:
        limit_s = self.bounds.request_s_max
        if self._unread_bytes is not None or self._transport.is_closing():
            unread_bytes = self._transport.get_write_buffer_size()
            if unread_bytes != self._unread_bytes:
                self._unread_bytes, self._since = unread_bytes, self._loop.time()
        elif self.waits_for is None:
            return False
        elif self.waits_for == "body":
            limit_s += self.received_bytes / self.bounds.body_bytes_per_s_min
        return self.waited_s > limit_s

    def _look(self) -> None:
        wait = self._look
        if self._is_late():
            wait = self._transport.abort
            if not self.has_response:
                self._transport.write(_LATE)
                self._transport.close()
        self._timer = self._loop.call_later(self.bounds.look_s, wait)


_connection: ContextVar[BoundedConnection | None] = ContextVar("_connection", default=None)
"""The connection whose request the current task processes."""


def bounded_protocol(bounds: Bounds) -> type[asyncio.Protocol]:
    """The protocol class for ``uvicorn.Config(http=)``. The server's application must be a ``BoundedApplication``."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol  # noqa: PLC0415 - uvicorn is in an extra

    return type("Bounded", (BoundedConnection,), {"bounds": bounds, "inner": AutoHTTPProtocol, "open": set()})


class BoundedApplication:
    """An ASGI application that records in the connection whether the application waits for the client."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = _connection.get()
        if scope["type"] != "http" or connection is None:
            await self.app(scope, receive, send)
            return
        is_complete, waited_s = False, 0.0

        async def received() -> Message:
            nonlocal is_complete, waited_s
            if is_complete:  # the application waits for the client to disconnect
                return await receive()
            connection.wait_for("body", waited_s)
            message = await receive()
            waited_s = connection.waited_s
            connection.wait_for(None)
            is_complete = not message.get("more_body", False)
            return message

        async def sent(message: Message) -> None:
            connection.has_response = True
            await send(message)

        connection.wait_for(None)
        connection.received_bytes = 0
        try:
            await self.app(scope, received, sent)
        finally:
            connection.wait_for("request")
            connection.has_response = False


def allow_many_files(bounds: Bounds) -> Bounds:
    """Raise the process's limit of file descriptors. Returns the bounds, with ``connections_max`` below this limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_WANTED if hard == resource.RLIM_INFINITY else min(FILES_WANTED, hard)
    if soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    most = min(bounds.connections_max, max(CONNECTIONS_MIN, soft - FILES_SPARE))
    return replace(bounds, connections_max=most)
