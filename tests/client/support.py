"""Helpers for tests of the client: transports that record requests or change responses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyplan import Design

REQUESTS_MAX = 20_000
Answer = Callable[[str, dict[str, Any]], dict[str, Any]]


class Recorder:
    """A transport that records requests and can change responses. ``before`` is called with each request and may raise
    an error; ``around`` can return a different response. ``REQUESTS_MAX`` requests raise an AssertionError.
    """

    def __init__(self, design: Design) -> None:
        self.inner = design.store.transport
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.before: Callable[[str, dict[str, Any]], None] = lambda operation, parameters: None
        self.around: Callable[[Answer, str, dict[str, Any]], dict[str, Any]] = lambda call, *request: call(*request)

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self.requests.append((operation, parameters))
        assert len(self.requests) < REQUESTS_MAX, "a call that has no end"
        self.before(operation, parameters)
        return self.around(self.inner.call, operation, parameters)

    def call_all(self, requests: list[Any]) -> list[dict[str, Any]]:
        return [self.call(*request) for request in requests]

    @property
    def operations(self) -> list[str]:
        return [operation for operation, _ in self.requests]


def record(design: Design) -> Recorder:
    """Record the requests of an open design from now on, and return the recorder."""
    recorder = Recorder(design)
    design.store.transport = recorder
    return recorder
