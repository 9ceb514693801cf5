"""Helpers for tests of the CMS: a transport that records requests, and the stored items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from keyplan.client.conversations import AsyncTransport, Request, Transport
from keyplan_systems.cms import Cms


@dataclass
class Recorder:
    """A transport that forwards and records requests. ``before`` runs before each request, and may raise an error."""

    inner: Transport
    made: list[tuple[str, dict[str, Any], dict[str, Any]]] = field(default_factory=list)
    before: Callable[[str, dict[str, Any]], None] = lambda operation, parameters: None

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self.before(operation, parameters)
        response = self.inner.call(operation, parameters)
        self.made.append((operation, parameters, response))
        return response

    def call_all(self, requests: list[Request]) -> list[dict[str, Any]]:
        return [self.call(*request) for request in requests]

    @property
    def operations(self) -> list[str]:
        return [operation for operation, _, _ in self.made]


@dataclass
class AsyncRecorder:
    """A recorder with an asynchronous transport."""

    inner: AsyncTransport
    operations: list[str] = field(default_factory=list)

    async def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self.operations.append(operation)
        return await self.inner.call(operation, parameters)

    async def call_all(self, requests: list[Request]) -> list[dict[str, Any]]:
        return [await self.call(*request) for request in requests]


def recorded(cms: Cms) -> Recorder:
    """Record the design's requests from now on, and return the recorder."""
    recorder = Recorder(cms.store.transport)
    cms.store.transport = recorder
    return recorder


def stored(cms: Cms) -> list[dict[str, Any]]:
    """Return every stored item of the table. The requests of this function aren't recorded."""
    transport = cms.store.transport
    while isinstance(transport, Recorder):
        transport = transport.inner
    items: list[dict[str, Any]] = []
    request: dict[str, Any] = {"TableName": "cms"}
    while True:
        response = transport.call("Scan", request)
        items += response["Items"]
        if "LastEvaluatedKey" not in response:
            return items
        request["ExclusiveStartKey"] = response["LastEvaluatedKey"]


def keys(cms: Cms) -> set[tuple[str, str]]:
    """Return the primary keys of all items."""
    return {(item["pk"]["S"], item["sk"]["S"]) for item in stored(cms)}


def silent(done: int, total: int | None) -> None:
    """A progress callback that does nothing."""
