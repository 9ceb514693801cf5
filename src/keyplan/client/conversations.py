"""Conversations: generators that yield requests and are sent the responses; and the two drivers that run them.

A multi-step operation (paging, batches, fan-out, retries) is written once, as a conversation. It yields a request, a
list of requests that may go out together, or a pause. An error of a request is thrown into the conversation, which
may catch it.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from keyplan.errors import KeyplanError

__all__ = ["AsyncTransport", "Conversation", "Pause", "Request", "Transport", "converse", "converse_async"]

T = TypeVar("T")


class Request(NamedTuple):
    """One request: DynamoDB's operation, and its parameters in the API's JSON form."""

    operation: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait so long before going on."""

    seconds: float


Conversation: TypeAlias = Generator["Request | list[Request] | Pause", Any, T]


class Transport(Protocol):
    """How requests are made by synchronous code."""

    def call(self, operation: str, parameters: dict[str, Any], /) -> dict[str, Any]:
        """The response of one request. Raises DynamoDBError or StoreError."""
        ...

    def call_all(self, requests: list[Request], /) -> list[dict[str, Any]]:
        """The responses of several requests, in their order."""
        ...


class AsyncTransport(Protocol):
    """How requests are made by asynchronous code."""

    async def call(self, operation: str, parameters: dict[str, Any], /) -> dict[str, Any]:
        """The response of one request. Raises DynamoDBError or StoreError."""
        ...

    async def call_all(self, requests: list[Request], /) -> list[dict[str, Any]]:
        """The responses of several requests, in their order."""
        ...


def converse(conversation: Conversation[T], transport: Transport) -> T:
    """Run a conversation to its end, and give its result."""
    try:
        step = next(conversation)
        while True:
            try:
                answer: Any = None
                if isinstance(step, Request):
                    answer = transport.call(*step)
                elif isinstance(step, Pause):
                    time.sleep(step.seconds)
                else:
                    answer = transport.call_all(step)
            except KeyplanError as error:
                step = conversation.throw(error)
            else:
                step = conversation.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def converse_async(conversation: Conversation[T], transport: AsyncTransport) -> T:
    """Run a conversation to its end from asynchronous code, and give its result."""
    try:
        step = next(conversation)
        while True:
            try:
                answer: Any = None
                if isinstance(step, Request):
                    answer = await transport.call(*step)
                elif isinstance(step, Pause):
                    await _sleep(step.seconds)
                else:
                    answer = await transport.call_all(step)
            except KeyplanError as error:
                step = conversation.throw(error)
            else:
                step = conversation.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def _sleep(seconds: float) -> None:
    import asyncio  # noqa: PLC0415 - it is there when this runs, and not imported by those who run no event loop

    await asyncio.sleep(seconds)
