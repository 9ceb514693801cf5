"""The embedded store as a transport. Requests and responses are JSON data of the API that isn't serialized. The engine
is passed as a function, so that the client doesn't import the engine.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor
from contextvars import copy_context
from typing import Any, TypeVar

from keyplan.client.call_records import OnCall, RunningCall, metered
from keyplan.client.conversations import Request
from keyplan.client.transports.workers import Workers
from keyplan.errors import KeyplanError

T = TypeVar("T")

WORKERS_MAX = 8

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


class Embedded:
    """Sends requests to an engine in this process, sequentially."""

    def __init__(self, call: Call) -> None:
        self.call = call

    def call_all(self, requests: list[Request]) -> list[dict[str, Any]]:
        return [self.call(*request) for request in requests]


class AsyncEmbedded:
    """Sends requests from asynchronous code, in a worker thread, because a write can wait for the disk."""

    def __init__(self, embedded: Embedded, executor: Executor) -> None:
        self._embedded = embedded
        self._executor = executor

    async def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        return await self._run(lambda: self._embedded.call(operation, parameters))

    async def call_all(self, requests: list[Request]) -> list[dict[str, Any]]:
        return await self._run(lambda: self._embedded.call_all(requests))

    async def _run(self, call: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        context = copy_context()  # the context identifies the call to which the requests belong
        return await loop.run_in_executor(self._executor, lambda: context.run(call))


class InProcess:
    """An engine in this process as a store's backend."""

    def __init__(self, call: Call, close: Callable[[], None]) -> None:
        self.transport = Embedded(call)
        self._on_call: OnCall | None = None
        self._call = call
        self._close = close
        self._workers = Workers(WORKERS_MAX, "keyplan")
        self.async_transport = AsyncEmbedded(self.transport, self._workers)

    @property
    def ahead(self) -> None:
        """None, because prefetching would only compete with the consumer for the processor."""
        return None

    @property
    def on_call(self) -> OnCall | None:
        """The hook for each finished call. Without a hook, calls go directly to the engine."""
        return self._on_call

    @on_call.setter
    def on_call(self, hook: OnCall | None) -> None:
        self._on_call = hook
        self.transport.call = self._call if hook is None else _told(self._call, hook)

    def close(self) -> None:
        self._workers.shutdown()
        self._close()

    async def aclose(self) -> None:
        self.close()


def _told(call: Call, hook: OnCall) -> Call:
    def telling(operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        started = time.monotonic()
        try:
            answer = call(operation, dict(metered(operation, parameters)))
        except KeyplanError as error:
            hook(RunningCall.finished_request(operation, started, (0, 0), 0, error, parameters))
            raise
        hook(RunningCall.finished_request(operation, started, (0, 0), 0, answer, parameters))
        return answer

    return telling
