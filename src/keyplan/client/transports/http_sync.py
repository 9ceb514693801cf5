"""The synchronous transport, with a connection pool."""

from __future__ import annotations

import os
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import Any, cast

from keyplan.client.conversations import Request, converse
from keyplan.client.transports.endpoint import (
    Endpoint,
    Exchange,
    Proxy,
    ProxyRefusedError,
    Sending,
    Tunnel,
    call,
    proxy_for,
)
from keyplan.client.transports.http1 import ProtocolViolation, Reply, ReplyReader
from keyplan.client.transports.responses import Failure, Kind
from keyplan.client.transports.signing import Signed
from keyplan.client.transports.urls import Location
from keyplan.client.transports.workers import Workers
from keyplan.errors import StoreError

RECEIVE_BYTES = 256 * 1024
IDLE_SECONDS_MAX = 55.0
"""Connections that are idle for longer are closed, because many networks silently drop them after a minute."""


class Pool:
    """A limited number of open connections to one endpoint. Forked processes don't share connections."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._tls = tls_context() if location.tls else None
        self._proxy = proxy_for(location)
        self._idle: list[tuple[socket.socket, float]] = []
        self._free = threading.Semaphore(location.settings.connections)
        self._process = os.getpid()
        self._closed = False

    def exchange(self, request: Signed, deadline: float) -> Reply:
        """Send a request and return the reply. ``deadline`` is a time.monotonic() value. Raises Failure."""
        if self._process != os.getpid():
            self._forked()
        if not self._free.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise busy(self._location)
        try:
            connection = self._take() or self._connect(deadline)
            try:
                reply = self._exchange(connection, request.head + request.body, deadline)
            except BaseException:
                connection.close()  # later data on this connection must not reach another request
                raise
            if not reply.keep:
                connection.close()
                return reply
            self._idle.append((connection, time.monotonic()))
            if self._closed:
                self.close()  # the pool was closed while this connection was in use
            return reply
        finally:
            self._free.release()

    def _take(self) -> socket.socket | None:
        """A usable idle connection. If a connection has data to read, the peer closed it, or it is out of sync."""
        oldest = time.monotonic() - IDLE_SECONDS_MAX
        while True:
            try:
                connection, since = self._idle.pop()
            except IndexError:
                return None
            if since > oldest and not _readable(connection):
                return connection
            connection.close()

    def _connect(self, deadline: float) -> socket.socket:
        if self._closed:
            raise Failure(StoreError(f"{self._location.endpoint}: the design was closed"))
        location = self._location
        seconds = min(location.settings.connect_seconds, deadline - time.monotonic())
        if seconds <= 0:
            raise too_slow(location)
        proxy = self._proxy
        try:
            plain = socket.create_connection((location if proxy is None else proxy).address, seconds)
        except OSError as error:
            raise connect_failed(location, error, proxy) from error
        try:
            if proxy is not None:
                _tunnel(plain, Tunnel(proxy, location), time.monotonic() + seconds)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            return plain if self._tls is None else self._tls.wrap_socket(plain, server_hostname=location.host)
        except OSError as error:
            plain.close()
            raise connect_failed(location, error) from error

    def _exchange(self, connection: socket.socket, request: bytes, deadline: float) -> Reply:
        location = self._location
        until = min(deadline, time.monotonic() + location.settings.answer_seconds)
        reader = ReplyReader()
        try:
            _wait_until(connection, until)
            connection.sendall(request)
            while True:
                data = connection.recv(RECEIVE_BYTES)
                if not data:
                    raise closed(location)
                reply = reader.feed(data)
                if reply is not None:
                    return reply
                _wait_until(connection, until)
        except (OSError, ProtocolViolation) as error:
            raise exchange_failed(location, error) from error

    def _forked(self) -> None:
        """In a forked process, close the copies of the parent's connections, which doesn't affect the parent."""
        left, self._idle = self._idle, []
        for connection, _ in left:
            connection.close()
        self._free = threading.Semaphore(self._location.settings.connections)
        self._process = os.getpid()

    def close(self) -> None:
        """Close idle connections; connections in use are closed after their response."""
        self._closed = True
        while self._idle:
            self._idle.pop()[0].close()


def _readable(connection: socket.socket) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))


def _wait_until(connection: socket.socket, until: float) -> None:
    """Set the timeout of the next send or receive call. Raises TimeoutError if no time remains."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    connection.settimeout(left)


class Http:
    """The transport for synchronous code."""

    def __init__(self, endpoint: Endpoint, exchange: Exchange | None = None) -> None:
        self.endpoint = endpoint
        self._pool = Pool(endpoint.location) if exchange is None else None
        self._exchange: Exchange = self._pool.exchange if self._pool is not None else cast("Exchange", exchange)
        self._sending = Sending(self._exchange, lambda work: work())
        self._workers = Workers(endpoint.settings.parallel, "keyplan")

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """The response of a request. Raises DynamoDBError, StoreError, RequestError."""
        conversation = call(self.endpoint, operation, parameters)
        return converse(conversation, self._sending, Failure)

    def call_all(self, requests: list[Request]) -> list[dict[str, Any]]:
        """The responses of parallel requests, in order. The method returns or raises after all have finished."""
        if len(requests) < 2:
            return [self.call(*request) for request in requests]
        futures = [self._workers.submit(self._call_of(request)) for request in requests[1:]]
        try:
            answers = [self.call(*requests[0])]
            answers.extend(future.result() for future in futures)
        except BaseException:
            for future in futures:
                future.cancel()
            for future in futures:
                if not future.cancelled():
                    future.exception()
            raise
        return answers

    def _call_of(self, request: Request) -> Callable[[], dict[str, Any]]:
        call = partial(self.call, *request)
        return call if self.endpoint.on_call is None else partial(copy_context().run, call)

    def close(self, *, wait: bool = True) -> None:
        """Close the connections and stop the threads. With ``wait``, the threads finish their requests first."""
        self._workers.shutdown(wait)
        if self._pool is not None:
            self._pool.close()


def _tunnel(connection: socket.socket, tunnel: Tunnel, until: float) -> None:
    connection.sendall(tunnel.request)
    _wait_until(connection, until)
    while not tunnel.feed(connection.recv(RECEIVE_BYTES)):
        _wait_until(connection, until)


_AUTHORITIES = ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE")


def connect_failed(location: Location, error: OSError | ssl.SSLError, proxy: Proxy | None = None) -> Failure:
    """The error if a connection can't be opened, so nothing was sent. ``proxy``: the connection's proxy."""
    where = location.endpoint if proxy is None else f"{location.endpoint} through {proxy}"
    if isinstance(error, ssl.SSLCertVerificationError):
        hint = "set AWS_CA_BUNDLE to a file with the CA certificate of the endpoint"
        return Failure(StoreError(f"{where} isn't trusted: {error.verify_message}", hint=hint))
    if isinstance(error, ssl.SSLError):
        why, hint = f"TLS failed: {error}", "for an endpoint without TLS, write dynamodb+http://HOST:PORT/TABLE"
    elif isinstance(error, ProxyRefusedError):
        why, hint = str(error), "set user and password in HTTPS_PROXY, or add the host to NO_PROXY"
    elif isinstance(error, socket.gaierror):
        why = f"unknown host {location.host if proxy is None else proxy.host}"
        hint = "check the region or host, and the network"
    elif isinstance(error, TimeoutError):
        given = location.settings
        limits = f"connect_seconds ({given.connect_seconds:g}) or total_seconds ({given.total_seconds:g})"
        why, hint = f"no connection within {limits}", "check the network, or increase these options of the URL"
    elif isinstance(error, ConnectionRefusedError):
        why, hint = "connection refused", "check that the store is running, and check the port"
    else:
        why, hint = f"no connection: {error}", "check the network"
    return Failure(StoreError(f"{where}: {why}", hint=hint), Kind.TRANSIENT)


def exchange_failed(location: Location, error: OSError | ssl.SSLError | ProtocolViolation) -> Failure:
    """The error if the connection failed, or the response is invalid, after data was sent."""
    if isinstance(error, TimeoutError):
        return too_slow(location)
    if isinstance(error, ProtocolViolation):
        text = f"{location.endpoint}: {error}"
        hint = "check that the URL is a DynamoDB endpoint; for TLS, write dynamodb+https://HOST:PORT/TABLE"
        return Failure(StoreError(text, hint=hint), Kind.TRANSIENT, lost=True)
    text = f"{location.endpoint}: the connection failed: {error}"
    return Failure(StoreError(text, hint="check the network, and retry"), Kind.TRANSIENT, lost=True)


def closed(location: Location) -> Failure:
    """The error if the store closed the connection before the response was complete."""
    text = f"{location.endpoint}: the connection was closed before the response was complete"
    return Failure(StoreError(text, hint="check the network, and retry"), Kind.TRANSIENT, lost=True)


def too_slow(location: Location) -> Failure:
    """The error if the response wasn't complete before the timeout."""
    given = location.settings
    limits = f"answer_seconds ({given.answer_seconds:g}) or total_seconds ({given.total_seconds:g})"
    text = f"{location.endpoint}: no complete response within {limits}"
    return Failure(StoreError(text, hint="increase ?answer_seconds= or ?total_seconds="), Kind.TRANSIENT, lost=True)


def busy(location: Location) -> Failure:
    """The error if all connections stayed in use, so that nothing was sent."""
    number = location.settings.connections
    text = f"{location.endpoint}: all {number} connections were busy for {location.settings.total_seconds:g} s"
    return Failure(StoreError(text, hint="increase ?connections= in the URL"))


def tls_context() -> ssl.SSLContext:
    """A TLS context with the system's certificate authorities, or those in AWS_CA_BUNDLE or REQUESTS_CA_BUNDLE."""
    bundle = next((os.environ[name] for name in _AUTHORITIES if os.environ.get(name)), None)
    try:
        return ssl.create_default_context(cafile=bundle)
    except OSError as error:
        hint = "check the path in AWS_CA_BUNDLE or REQUESTS_CA_BUNDLE"
        raise StoreError(f"the certificates in {bundle} can't be read: {error}", hint=hint) from None
