"""Connections that are bounded: so many at once, and each ends that doesn't get on with its request.

uvicorn ends a connection that rests between two requests, but not one whose first request never comes whole: a few
hundred of those would hold all the files that a process may open. Here is a protocol for uvicorn that does.
"""

from __future__ import annotations

import asyncio
import resource
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["Bounds", "allow_many_files", "bounded_protocol"]

FILES_WANTED = 8192
CONNECTIONS_MIN = 16
FILES_SPARE = 256
"""Open files that aren't connections: the store, its readers, libraries."""
_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one client may take of the server's connections. Times in seconds."""

    connections_max: int = 2048
    """At once, of one process. Who comes then is turned away."""
    request_s_max: float = 20.0
    """A request must have arrived that long after the connection was ready for it, plus what
    ``body_bytes_per_s_min`` grants. An answer must have been taken that long after it could be sent.
    """
    body_bytes_per_s_min: int = 16 * 1024
    look_s: float = 1.0
    """How often a connection is looked at."""


def bounded_protocol(bounds: Bounds) -> type[asyncio.Protocol]:
    """Uvicorn's protocol for HTTP/1.1, with these bounds."""
    base = _protocol()

    class Bounded(base):  # type: ignore[misc, valid-type] # whichever of its two uvicorn has
        """A connection of uvicorn's, looked at now and then."""

        def connection_made(self, transport: Any) -> None:
            """Take the connection, or turn it away when there are too many."""
            self._refused = len(self.connections) >= bounds.connections_max
            super().connection_made(transport)
            self._wait = _Wait(bounds, self.loop.time())
            self._look_timer = None
            if self._refused:
                transport.abort()
            else:
                self._look_timer = self.loop.call_later(bounds.look_s, self._look)

        def data_received(self, data: bytes) -> None:
            """Count what came, and go on."""
            self._wait.received_bytes += len(data)
            super().data_received(data)

        def connection_lost(self, exc: Exception | None) -> None:
            """It needs no more looks."""
            if self._look_timer is not None:
                self._look_timer.cancel()
            super().connection_lost(exc)

        def _look(self) -> None:
            if self.transport.is_closing():  # what is still to be sent may wait for a client that doesn't read
                late = self._wait.is_over(("closing", None), self.loop.time())
            else:
                late = self._wait.is_over(self._waits_for(), self.loop.time())
            if not late:
                self._look_timer = self.loop.call_later(bounds.look_s, self._look)
                return
            if self.cycle is None or not self.cycle.response_started or self.cycle.response_complete:
                self.transport.write(_LATE)
                self.transport.close()
            self.loop.call_later(bounds.look_s, self.transport.abort)

        def _waits_for(self) -> tuple[str, Any] | None:
            """What the client has to do, and for which request; None while it is the server's turn."""
            if self.flow.write_paused:  # who takes something of the answer gets on
                return "reads", self.transport.get_write_buffer_size()
            if self.cycle is None or self.cycle.response_complete:
                return "asks", self.cycle
            return ("sends", self.cycle) if self.cycle.more_body else None

    return Bounded


def _protocol() -> Any:
    """The quicker one of uvicorn's two where its parser is installed."""
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol  # noqa: PLC0415 - extras
    except ModuleNotFoundError:
        from uvicorn.protocols.http.h11_impl import H11Protocol  # noqa: PLC0415

        return H11Protocol
    return HttpToolsProtocol


class _Wait:
    """How long a client has been waited for, for one thing."""

    __slots__ = ("_for", "_since", "bounds", "received_bytes")

    def __init__(self, bounds: Bounds, now: float) -> None:
        self.bounds = bounds
        self.received_bytes = 0
        self._for: tuple[str, Any] | None = ("asks", None)
        self._since = now

    def is_over(self, waits_for: tuple[str, Any] | None, now: float) -> bool:
        """Whether that has taken too long. Another thing, or the same of another request, begins anew."""
        if waits_for is None or waits_for != self._for:
            self._for, self._since, self.received_bytes = waits_for, now, 0
            return False
        granted = self.received_bytes / self.bounds.body_bytes_per_s_min if waits_for[0] == "sends" else 0.0
        return now - self._since > self.bounds.request_s_max + granted


def allow_many_files(bounds: Bounds) -> Bounds:
    """Raise the number of files that the process may open as far as the system allows; gives the bounds, with no more
    connections than there are files for.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_WANTED if hard == resource.RLIM_INFINITY else min(FILES_WANTED, hard)
    if soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    most = min(bounds.connections_max, max(CONNECTIONS_MIN, soft - FILES_SPARE))
    return replace(bounds, connections_max=most)
