"""The asynchronous transport, with a connection pool for each event loop."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator
from functools import partial
from typing import Any, cast

from keyplan.client.conversations import Request, converse_async
from keyplan.client.transports import http_sync
from keyplan.client.transports.endpoint import AsyncExchange, Endpoint, Proxy, Sending, Tunnel, call, proxy_for
from keyplan.client.transports.http1 import ProtocolViolation, Reply, ReplyReader
from keyplan.client.transports.responses import Failure
from keyplan.client.transports.signing import Signed
from keyplan.client.transports.urls import Location
from keyplan.errors import KeyplanError, StoreError


class _Connection(asyncio.Protocol):
    """A connection that sends one request at a time. Unexpected data closes the connection."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._transport: asyncio.Transport | None = None
        self._waiting: asyncio.Future[Reply] | None = None
        self._reader = ReplyReader()
        self.good = True
        self.since = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # create_connection returns a stream transport

    def data_received(self, data: bytes) -> None:
        """Receive a part of the response, or unexpected data."""
        waiting = self._waiting
        if waiting is None or waiting.done():
            self.abort()
            return
        try:
            reply = self._reader.feed(data)
        except ProtocolViolation as error:
            self._fail(http_sync.exchange_failed(self._location, error))
        else:
            if reply is not None:
                waiting.set_result(reply)

    def eof_received(self) -> bool:
        """Handle that the peer has closed the connection."""
        self._fail(http_sync.closed(self._location))
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(
            http_sync.exchange_failed(self._location, exc)
            if isinstance(exc, OSError)
            else http_sync.closed(self._location)
        )

    def _fail(self, failure: Failure) -> None:
        self.abort()
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(failure)

    def abort(self) -> None:
        self.good = False
        if self._transport is not None:
            self._transport.abort()

    async def exchange(self, request: bytes, until: float, loop: asyncio.AbstractEventLoop) -> Reply:
        """Send a request and return the reply. ``until`` is the deadline on the loop's clock. Raises Failure."""
        if self._transport is None:
            raise http_sync.closed(self._location)
        self._reader = ReplyReader()
        waiting: asyncio.Future[Reply] = loop.create_future()
        self._waiting = waiting
        timer = loop.call_at(until, lambda: self._fail(http_sync.too_slow(self._location)))
        try:
            self._transport.write(request)
            return await waiting
        except BaseException:
            self.abort()  # later data on this connection must not reach another request
            raise
        finally:
            timer.cancel()
            self._waiting = None


class _Tunnelling(asyncio.Protocol):
    """A connection to a proxy, until the proxy's tunnel is open."""

    def __init__(self, tunnel: Tunnel, loop: asyncio.AbstractEventLoop) -> None:
        self._tunnel = tunnel
        self.opened: asyncio.Future[None] = loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast("asyncio.Transport", transport).write(self._tunnel.request)

    def data_received(self, data: bytes) -> None:
        """Receive a part of the proxy's response."""
        if self.opened.done():
            return
        try:
            if self._tunnel.feed(data):
                self.opened.set_result(None)
        except OSError as error:
            self.opened.set_exception(error)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio requires this signature
        self.data_received(b"")


class AsyncPool:
    """A limited number of open connections of one event loop to one endpoint."""

    def __init__(self, location: Location, tls: ssl.SSLContext | None) -> None:
        self._location = location
        self._tls = tls
        self._proxy = proxy_for(location)
        self._idle: list[_Connection] = []
        self._free = asyncio.Semaphore(location.settings.connections)
        self._closed = False
        self._guard: AsyncGenerator[None] | None = None

    async def exchange(self, request: Signed, deadline: float) -> Reply:
        """Send a request and return the reply. ``deadline`` is a time.monotonic() value. Raises Failure."""
        loop = asyncio.get_running_loop()
        deadline += loop.time() - time.monotonic()  # each event loop has its own clock
        if self._guard is None:
            self._guard = self._until_the_loop_ends()
            await anext(self._guard)
        if self._free.locked():
            await self._wait(deadline)
        else:
            await self._free.acquire()
        try:
            connection = self._take(loop) or await self._connect(loop, deadline)
            until = min(deadline, loop.time() + self._location.settings.answer_seconds)
            reply = await connection.exchange(request.head + request.body, until, loop)
            if reply.keep and connection.good and not self._closed:
                connection.since = loop.time()
                self._idle.append(connection)
            else:
                connection.abort()
            return reply
        finally:
            self._free.release()

    async def _until_the_loop_ends(self) -> AsyncGenerator[None]:
        """Closes the connections when the event loop ends, for a design that wasn't closed in this loop."""
        try:
            yield
        finally:
            self.close()
            await asyncio.sleep(0)  # closing takes one iteration of the loop

    async def _wait(self, deadline: float) -> None:
        try:
            async with asyncio.timeout_at(deadline):
                await self._free.acquire()
        except TimeoutError:
            raise http_sync.busy(self._location) from None

    def _take(self, loop: asyncio.AbstractEventLoop) -> _Connection | None:
        oldest = loop.time() - http_sync.IDLE_SECONDS_MAX
        while self._idle:
            connection = self._idle.pop()
            if connection.good and connection.since > oldest:
                return connection
            connection.abort()
        return None

    async def _connect(self, loop: asyncio.AbstractEventLoop, deadline: float) -> _Connection:
        location = self._location
        if self._closed:
            raise Failure(StoreError(f"{location.endpoint}: the design was closed"))
        if loop.time() >= deadline:
            raise http_sync.too_slow(location)
        try:
            async with asyncio.timeout_at(min(deadline, loop.time() + location.settings.connect_seconds)):
                if self._proxy is not None:
                    return await self._connect_by(self._proxy, loop)
                _, connection = await loop.create_connection(
                    lambda: _Connection(location), location.host, location.port, ssl=self._tls
                )
        except OSError as error:
            raise http_sync.connect_failed(location, error) from error
        return connection

    async def _connect_by(self, proxy: Proxy, loop: asyncio.AbstractEventLoop) -> _Connection:
        """Connect through a tunnel. Raises OSError, and Failure if the proxy is unreachable."""
        location = self._location
        try:
            plain, tunnelling = await loop.create_connection(
                lambda: _Tunnelling(Tunnel(proxy, location), loop), proxy.host, proxy.port
            )
        except OSError as error:
            raise http_sync.connect_failed(location, error, proxy) from error
        try:
            await tunnelling.opened
            connection = _Connection(location)
            assert self._tls is not None  # noqa: S101 - proxies are used only with TLS
            transport = await loop.start_tls(plain, connection, self._tls, server_hostname=location.host)
        except BaseException:
            plain.abort()
            raise
        connection.connection_made(cast("asyncio.BaseTransport", transport))
        return connection

    def close(self) -> None:
        """Close idle connections, in the loop's thread; connections in use are closed after their response."""
        self._closed = True
        while self._idle:
            self._idle.pop().abort()


class AsyncHttp:
    """The transport for asynchronous code. Event loops can share the transport; each has its own connections."""

    def __init__(self, endpoint: Endpoint, exchange: AsyncExchange | None = None) -> None:
        self.endpoint = endpoint
        self._exchange = exchange
        self._tls = http_sync.tls_context() if endpoint.location.tls else None
        self._pools: dict[asyncio.AbstractEventLoop, AsyncPool] = {}
        self._closed = False

    def _pool(self, loop: asyncio.AbstractEventLoop) -> AsyncPool:
        pool = self._pools.get(loop)
        if pool is None:
            if self._closed:
                raise StoreError(f"{self.endpoint.place}: the design was closed")
            for other in [other for other in self._pools if other.is_closed()]:
                self._pools.pop(other, None)  # not a WeakKeyDictionary, because a pool refers to its loop
            pool = self._pools[loop] = AsyncPool(self.endpoint.location, self._tls)
        return pool

    async def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """The response of a request. Raises DynamoDBError, StoreError, RequestError."""
        loop = asyncio.get_running_loop()
        exchange = self._exchange or self._pool(loop).exchange
        conversation = call(self.endpoint, operation, parameters)
        return await converse_async(conversation, Sending(exchange, partial(loop.run_in_executor, None)), Failure)

    async def call_all(self, requests: list[Request]) -> list[dict[str, Any]]:
        """The responses of parallel requests, in order. The method returns or raises after all have finished."""
        if len(requests) < 2:
            return [await self.call(*request) for request in requests]
        bound = asyncio.Semaphore(self.endpoint.settings.parallel)
        failed = False

        async def one(request: Request) -> dict[str, Any] | KeyplanError | None:
            nonlocal failed
            async with bound:
                if failed:
                    return None  # another connection failed before this request was sent
                try:
                    return await self.call(*request)
                except KeyplanError as error:
                    failed = True
                    return error

        result = await asyncio.gather(*(one(request) for request in requests))
        answers: list[dict[str, Any]] = []
        for answer in result:
            if isinstance(answer, KeyplanError):
                raise answer
            if answer is not None:
                answers.append(answer)
        return answers

    def close(self) -> None:
        """Close the connections of all event loops, each in its loop's thread."""
        self._closed = True
        try:
            here: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        for loop, pool in list(self._pools.items()):
            if loop.is_closed():
                continue  # the loop closed its connections when it ended
            if loop is here or not loop.is_running():
                pool.close()
            else:
                loop.call_soon_threadsafe(pool.close)

    async def aclose(self) -> None:
        """Close the connections of all event loops, and wait until the connections of this event loop are closed."""
        self.close()
        await asyncio.sleep(0)
