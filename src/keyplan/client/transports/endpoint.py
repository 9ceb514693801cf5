"""The common part of synchronous and asynchronous calls: serialize and sign requests, classify responses, and correct
the clock and the credentials.
"""

from __future__ import annotations

import threading
import time
from base64 import b64encode
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias
from urllib.parse import unquote, urlsplit

import orjson

from keyplan._version import __version__
from keyplan.client.call_records import OnCall, RunningCall, metered
from keyplan.client.conversations import Pause
from keyplan.client.transports.credentials import Credentials, Source, find_credentials, find_region
from keyplan.client.transports.http1 import Reply
from keyplan.client.transports.responses import Failure, Kind, answer_of, check_answer
from keyplan.client.transports.retries import Attempts, Quota
from keyplan.client.transports.signing import Signed, Signer
from keyplan.client.transports.urls import Location
from keyplan.errors import KeyplanError, RequestError, StoreError

CLOCK_SECONDS_MAX = 240.0
"""A clock skew above this maximum is corrected. AWS rejects signatures whose time differs by over five minutes."""


class Endpoint:
    """One store's endpoint, shared by threads and event loops."""

    def __init__(self, location: Location, source: Source | None = None) -> None:
        self.source = source or find_credentials(location)
        if not location.region:
            location = location.in_region(find_region(location))
        self.location = location
        self.settings = location.settings
        self.quota = Quota()
        self.on_call: OnCall | None = None
        encoding = "gzip" if location.settings.gzip else "identity"
        unsigned = (("User-Agent", f"keyplan/{__version__}"), ("Accept-Encoding", encoding))
        self._signer = Signer(location.authority, location.region, unsigned)
        self._credentials: Credentials | None = None
        self._clock_seconds = 0.0
        """The store's time minus the local time."""
        self._healing = threading.Lock()
        self._healed: dict[Kind, float] = {}

    @property
    def place(self) -> str:
        return self.location.endpoint

    def body(self, operation: str, parameters: Mapping[str, Any]) -> bytes:
        """The JSON body of a request. Raises RequestError if the parameters can't be serialized."""
        if self.on_call is not None:
            parameters = metered(operation, parameters)
        try:
            return orjson.dumps(parameters)
        except TypeError as error:
            raise RequestError(f"{operation} can't be sent as JSON: {error}") from None

    def request_at_once(self, operation: str, body: bytes) -> Signed | None:
        """A signed request; None if credentials must be fetched first, which may block."""
        credentials = self._credentials
        if credentials is None or self.source.due:
            return None
        return self._signer.request(operation, body, credentials, time.time() + self._clock_seconds)

    def request(self, operation: str, body: bytes) -> Signed:
        """A signed request. Raises StoreError if there are no credentials."""
        credentials = self._credentials = self.source.current()
        return self._signer.request(operation, body, credentials, time.time() + self._clock_seconds)

    def attempts(self, operation: str, parameters: Mapping[str, Any], deadline: float) -> Attempts:
        """The attempts of a call after its first failure."""
        return Attempts(operation, parameters, self.quota, self.settings.attempts, deadline)

    def heal(self, failure: Failure, signed: float) -> None:
        """Correct the cause of a failure before the retry; fetching credentials may block. ``signed`` is the
        time.monotonic() value when the request was signed. If several requests fail together, only the first request
        corrects the cause, and all requests are retried.
        """
        kind = failure.kind
        with self._healing:
            if self._healed.get(kind, signed) > signed:
                return
            if kind is Kind.CLOCK:
                self._heal_clock(failure)
            elif kind is Kind.EXPIRED:
                self._heal_credentials(failure)
            if failure.kind is kind:
                self._healed[kind] = time.monotonic()

    def _heal_clock(self, failure: Failure) -> None:
        ahead = None if failure.date is None else failure.date - time.time()
        if ahead is None or abs(ahead - self._clock_seconds) < CLOCK_SECONDS_MAX:
            failure.kind = Kind.FINAL
        else:
            self._clock_seconds = ahead

    def _heal_credentials(self, failure: Failure) -> None:
        try:
            renewed = self.source.renew()
        except StoreError as error:
            failure.error, failure.kind = error, Kind.FINAL
            return
        if renewed:
            self._credentials = None
        else:
            failure.kind = Kind.FINAL

    def record(
        self,
        operation: str,
        started: float,
        sizes: tuple[int, int],
        attempts: Attempts | None,
        outcome: Mapping[str, Any] | KeyplanError,
        parameters: Mapping[str, Any],
    ) -> None:
        """Report a call to the hook. ``started`` is a time.monotonic() value, ``sizes`` are body sizes in bytes."""
        hook = self.on_call
        if hook is not None:
            retries = 0 if attempts is None else attempts.count - 1
            hook(RunningCall.finished_request(operation, started, sizes, retries, outcome, parameters))


class Exchange(Protocol):
    """Sends a request and returns the reply. ``deadline`` is a time.monotonic() value. Raises Failure."""

    def __call__(self, request: Signed, deadline: float, /) -> Reply:
        """Send the request and return the reply."""
        ...


class AsyncExchange(Protocol):
    """Sends a request from asynchronous code."""

    def __call__(self, request: Signed, deadline: float, /) -> Awaitable[Reply]:
        """Send the request and return the reply."""
        ...


class Send(NamedTuple):
    """A step that sends a request. ``deadline`` is a time.monotonic() value."""

    request: Signed
    deadline: float


class Sending:
    """Executes the steps of a call, where ``send`` sends requests and ``work`` runs functions that may block."""

    __slots__ = ("call", "call_all")

    def __init__(self, send: Exchange | AsyncExchange, work: Callable[[Callable[[], Any]], Any]) -> None:
        self.call: Any = send  # Any, because type checkers would treat a function as a method
        self.call_all: Any = work


Step: TypeAlias = "Send | Pause | Callable[[], Any]"


def call(endpoint: Endpoint, operation: str, parameters: Mapping[str, Any]) -> Generator[Step, Any, dict[str, Any]]:
    """The response of a call. Raises DynamoDBError, StoreError and RequestError."""
    started = signed = time.monotonic()
    deadline = started + endpoint.settings.total_seconds
    body = endpoint.body(operation, parameters)
    attempts = None
    while True:
        try:
            request = endpoint.request_at_once(operation, body)
            if request is None:
                request = yield partial(endpoint.request, operation, body)
            reply: Reply = yield Send(request, deadline)
            answer = answer_of(reply)
            check_answer(operation, parameters, answer)
        except Failure as failure:
            if failure.kind in {Kind.CLOCK, Kind.EXPIRED}:
                yield partial(endpoint.heal, failure, signed)
            if attempts is None:
                attempts = endpoint.attempts(operation, parameters, deadline)
            try:
                pause = attempts.after(failure)
            except KeyplanError as error:
                endpoint.record(operation, started, (len(body), 0), attempts, error, parameters)
                raise
        else:
            if attempts is None:
                endpoint.quota.give()
            else:
                attempts.succeeded()
            if endpoint.on_call is not None:
                endpoint.record(operation, started, (len(body), len(reply.body)), attempts, answer, parameters)
            return answer
        yield Pause(pause)
        signed = time.monotonic()


HEAD_BYTES_MAX = 64 * 1024


class ProxyRefusedError(OSError):
    """Raised if the proxy rejects the connection."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy and its credentials."""

    host: str
    port: int
    authorization: str = ""

    @property
    def address(self) -> tuple[str, int]:
        return self.host, self.port

    def __str__(self) -> str:
        return f"the proxy {self.host}:{self.port}"


def proxy_for(location: Location) -> Proxy | None:
    """The proxy for an endpoint, or None. Raises StoreError for an invalid address."""
    if not location.tls or location.local:
        return None
    from urllib.request import (  # noqa: PLC0415 - slow to import, and rarely needed
        getproxies_environment,
        proxy_bypass,
    )

    address = getproxies_environment().get("https")
    if not address or proxy_bypass(f"{location.host}:{location.port}"):
        return None
    return _proxy(address if "://" in address else f"http://{address}")


def _proxy(address: str) -> Proxy:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme != "http" or not parts.hostname:
        raise StoreError(
            "HTTPS_PROXY isn't an http URL",
            hint="write http://HOST:PORT; list hosts to connect to directly in NO_PROXY",
        )
    authorization = ""
    if parts.username is not None:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = b64encode(user.encode()).decode()
    return Proxy(parts.hostname, port or 80, authorization)


class Tunnel:
    """The exchange with a proxy before TLS starts. Send ``request`` to the proxy, and pass its response to ``feed``."""

    def __init__(self, proxy: Proxy, location: Location) -> None:
        self._proxy = proxy
        host = f"[{location.host}]" if ":" in location.host else location.host
        lines = [f"CONNECT {host}:{location.port} HTTP/1.1", f"Host: {host}:{location.port}"]
        if proxy.authorization:
            lines.append(f"Proxy-Authorization: Basic {proxy.authorization}")
        self.request = "\r\n".join([*lines, "", ""]).encode()
        self._head = b""

    def feed(self, data: bytes) -> bool:
        """Process data from the proxy. Returns whether the tunnel is open. Raises ProxyRefusedError."""
        self._head += data
        if not data:
            raise ProxyRefusedError(f"{self._proxy} closed the connection")
        if b"\r\n\r\n" not in self._head and len(self._head) < HEAD_BYTES_MAX:
            return False
        status = self._head.partition(b"\r\n")[0]
        if not status.startswith(b"HTTP/1.") or status[8:10] != b" 2":
            raise ProxyRefusedError(f"{self._proxy} answered {status[:60].decode('latin-1')!r}")
        return True
