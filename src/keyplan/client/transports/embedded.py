"""The embedded store as a transport: its operations are called directly, in DynamoDB's JSON form, without bytes.

The engine itself is handed in as a function, so that the client doesn't know it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from keyplan.client.conversations import Request

__all__ = ["AsyncEmbedded", "Embedded"]

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
