"""One call to an endpoint, its retries included, as a conversation without I/O; and what carries a request there.

The conversation yields what is to be done: a request to be sent, a pause, or work that may take its time (credentials).
The drivers are in ``http_sync.py`` and ``http_async.py``, with sockets of our own. Another HTTP client takes the
sockets' place by an ``Exchange`` or an ``AsyncExchange``: a function of a request and a deadline that gives the reply.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

from keyplan.client.conversations import Pause
from keyplan.client.transports.endpoint import Endpoint
from keyplan.client.transports.http1 import Reply
from keyplan.client.transports.responses import Failure, Kind, answer_of
from keyplan.client.transports.signing import Signed
from keyplan.errors import KeyplanError

__all__ = ["AsyncExchange", "Exchange", "Send", "Sending", "call"]


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
