"""The embedded store as a transport: its operations are called directly, in DynamoDB's JSON form, without bytes.

The engine itself is handed in as a function, so that the client doesn't know it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from keyplan.client.conversations import Request

__all__ = ["AsyncEmbedded", "Embedded", "InProcess"]

WORKERS_MAX = 8

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


class Embedded:
    """Requests to an engine in this process, one after the other."""

    def __init__(self, call: Call) -> None:
        self.call = call

    def call_all(self, requests: list[Request]) -> list[dict[str, Any]]:
        """The responses, in order."""
        return [self.call(*request) for request in requests]


class AsyncEmbedded:
    """The same from asynchronous code: in a worker thread, since a write waits for the disk."""

    def __init__(self, call: Call, executor: Executor) -> None:
        self._embedded = Embedded(call)
        self._executor = executor

    async def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """The response."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self._embedded.call, operation, parameters)

    async def call_all(self, requests: list[Request]) -> list[dict[str, Any]]:
        """The responses, in order."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self._embedded.call_all, requests)


class InProcess:
    """An engine in this process as a store's backend: its transports, and closing it."""

    def __init__(self, call: Call, close: Callable[[], None]) -> None:
        self.transport = Embedded(call)
        self.on_call: Any = None
        """Nothing is told: a call costs nothing but its time."""
        self._call = call
        self._close = close
        self._executor: ThreadPoolExecutor | None = None
        self._async: AsyncEmbedded | None = None

    @property
    def async_transport(self) -> AsyncEmbedded:
        """The transport for asynchronous callers, made when first used."""
        if self._async is None:
            self._executor = ThreadPoolExecutor(WORKERS_MAX, thread_name_prefix="keyplan")
            self._async = AsyncEmbedded(self._call, self._executor)
        return self._async

    def close(self) -> None:
        """Release files and threads."""
        if self._executor is not None:
            self._executor.shutdown()
        self._close()

    async def aclose(self) -> None:
        """The same: it takes no time that is worth a thread."""
        self.close()
