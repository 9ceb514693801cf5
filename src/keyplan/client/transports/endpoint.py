"""An endpoint: what synchronous and asynchronous calls to a store have in common. No I/O but credentials that are due.

It makes the bytes of a request, says what a reply means, and sees to the clock, to credentials and to the hook.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

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

__all__ = ["AsyncExchange", "Endpoint", "Exchange", "Send", "Sending", "call"]

CLOCK_SECONDS_MAX = 240.0
"""Clocks that are further apart are corrected; AWS refuses signatures that are more than five minutes off."""


class Endpoint:
    """One store's endpoint. Threads and event loops may share it."""

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
        """How far the store's clock is ahead of ours."""
        self._healing = threading.Lock()
        self._healed: dict[Kind, float] = {}

    @property
    def place(self) -> str:
        """The endpoint, for messages."""
        return self.location.endpoint

    def body(self, operation: str, parameters: Mapping[str, Any]) -> bytes:
        """The body of a request. Raises RequestError."""
        if self.on_call is not None:
            parameters = metered(operation, parameters)
        try:
            return orjson.dumps(parameters)
        except TypeError as error:
            raise RequestError(f"{operation} can't be sent as JSON: {error}") from None

    def request_at_once(self, operation: str, body: bytes) -> Signed | None:
        """A signed request; None where credentials must be got first, which may take its time."""
        credentials = self._credentials
        if credentials is None or self.source.due:
            return None
        return self._signer.request(operation, body, credentials, time.time() + self._clock_seconds)

    def request(self, operation: str, body: bytes) -> Signed:
        """A signed request. Raises StoreError for credentials that can't be got."""
        credentials = self._credentials = self.source.current()
        return self._signer.request(operation, body, credentials, time.time() + self._clock_seconds)

    def attempts(self, operation: str, parameters: Mapping[str, Any], deadline: float) -> Attempts:
        """The attempts of a call that has just failed once."""
        return Attempts(operation, parameters, self.quota, self.settings.attempts, deadline)

    def heal(self, failure: Failure, signed: float) -> None:
        """Do what a failure asks for before it is tried again; credentials may take their time.

        ``signed`` is when the request was signed, of time.monotonic(): of many that fail together the first heals, and
        the others are only to be made again.
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
        """Tell the hook of a call. ``started`` is of time.monotonic(); ``sizes`` are the bytes of both bodies."""
        hook = self.on_call
        if hook is not None:
            retries = 0 if attempts is None else attempts.count - 1
            hook(RunningCall.told(operation, started, sizes, retries, outcome, parameters))


class Exchange(Protocol):
    """Sends a request, and gives the reply. ``deadline`` is of time.monotonic(). Raises Failure."""

    def __call__(self, request: Signed, deadline: float, /) -> Reply:
        """The reply."""
        ...


class AsyncExchange(Protocol):
    """The same for asynchronous code."""

    def __call__(self, request: Signed, deadline: float, /) -> Awaitable[Reply]:
        """The reply."""
        ...


class Send(NamedTuple):
    """A request to be sent. ``deadline`` is of time.monotonic()."""

    request: Signed
    deadline: float


class Sending:
    """Who carries out the steps of a call: what sends requests, and what does work that may take its time."""

    __slots__ = ("call", "call_all")

    def __init__(self, send: Exchange | AsyncExchange, work: Callable[[Callable[[], Any]], Any]) -> None:
        self.call: Any = send  # any: a checker would bind a function that is an attribute's value
        self.call_all: Any = work


Step: TypeAlias = "Send | Pause | Callable[[], Any]"


def call(endpoint: Endpoint, operation: str, parameters: Mapping[str, Any]) -> Generator[Step, Any, dict[str, Any]]:
    """The answer. A Failure of a request is thrown in. Raises DynamoDBError, StoreError and RequestError."""
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
