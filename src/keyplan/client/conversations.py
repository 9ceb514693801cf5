"""Conversations are generators that yield requests and receive responses. Drivers run them.

Each multi-step operation (pagination, batches, fan-out, retries) is written once, as a conversation that
yields a request, a list of requests that can be sent in parallel, or a pause. The driver throws a request's error into
the conversation. Two drivers run all conversations, including those of HTTP calls; ``relay`` observes a conversation.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from keyplan.errors import KeyplanError
from keyplan.model.declared.table import Table

T = TypeVar("T")


class Request(NamedTuple):
    """A request: an operation of DynamoDB, and its parameters as JSON data of the API."""

    operation: str
    parameters: dict[str, Any]


_EQUALS = re.compile(r"([#\w.-]+)\s*=\s*(:\w+)")


def equal_attributes(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes that a request's key condition compares with ``=``, and their values."""
    names, values = (parameters.get(f"ExpressionAttribute{kind}") or {} for kind in ("Names", "Values"))
    found = _EQUALS.findall(parameters.get("KeyConditionExpression", ""))
    return {names.get(name, name): values[value] for name, value in found if value in values}


class Idempotent(str):
    """An idempotent operation, which may be repeated after a lost response. A plain UpdateItem isn't idempotent."""

    __slots__ = ()


class ByToken(Idempotent):
    """The name of an operation whose condition is false if the item already contains the operation's token."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause of this many seconds before the next step."""

    seconds: float


Conversation: TypeAlias = Generator["Request | list[Request] | Pause", Any, T]
Observer: TypeAlias = Callable[["Request | list[Request]", Any, "Exception | None"], None]
"""A function that receives one or several requests, and their response or error."""


class Transport(Protocol):
    """Sends requests from synchronous code."""

    def call(self, operation: str, parameters: dict[str, Any], /) -> dict[str, Any]:
        """Send a request and return the response. Raises DynamoDBError or StoreError."""
        ...

    def call_all(self, requests: list[Request], /) -> list[dict[str, Any]]:
        """Send several requests and return the responses in order."""
        ...


class AsyncTransport(Protocol):
    """Sends requests from asynchronous code."""

    async def call(self, operation: str, parameters: dict[str, Any], /) -> dict[str, Any]:
        """Send a request and return the response. Raises DynamoDBError or StoreError."""
        ...

    async def call_all(self, requests: list[Request], /) -> list[dict[str, Any]]:
        """Send several requests and return the responses in order."""
        ...


class Steps(Protocol):
    """Executes a conversation's steps, with ``call`` if the step is a tuple of arguments, or ``call_all`` for
    other steps except pauses. ``Transport`` and the sender of HTTP requests implement this protocol.
    """

    @property
    def call(self) -> Callable[..., Any]:
        """Executes a step that is a tuple of arguments."""
        ...

    @property
    def call_all(self) -> Callable[[Any], Any]:
        """Executes a request or a list of requests."""
        ...


def converse(conversation: Generator[Any, Any, T], steps: Steps, failure: type[Exception] = KeyplanError) -> T:
    """Run a conversation and return its result. An exception of type ``failure`` is thrown into the conversation."""
    try:
        step = next(conversation)
        while True:
            try:
                answer: Any = None
                if isinstance(step, tuple):
                    answer = steps.call(*step)
                elif isinstance(step, Pause):
                    time.sleep(step.seconds)
                else:
                    answer = steps.call_all(step)
            except failure as error:
                step = conversation.throw(error)
            else:
                step = conversation.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def converse_async(
    conversation: Generator[Any, Any, T], steps: Steps, failure: type[Exception] = KeyplanError
) -> T:
    """Run a conversation from asynchronous code and return its result."""
    try:
        step = next(conversation)
        while True:
            try:
                answer: Any = None
                if isinstance(step, tuple):
                    answer = await steps.call(*step)
                elif isinstance(step, Pause):
                    await _sleep(step.seconds)
                else:
                    answer = await steps.call_all(step)
            except failure as error:
                step = conversation.throw(error)
            else:
                step = conversation.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def relay(conversation: Conversation[T], observe: Observer, *, pauses: bool = True) -> Conversation[T]:
    """Run a conversation, and report each finished or failed request to an observer. ``pauses=False`` skips pauses."""
    try:
        step = next(conversation)
        while True:
            if isinstance(step, Pause):
                if pauses:
                    yield step
                step = conversation.send(None)
                continue
            try:
                answer = yield step
            except Exception as error:  # noqa: BLE001 - any error is thrown into the conversation
                observe(step, None, error)
                step = conversation.throw(error)
            else:
                observe(step, answer, None)
                step = conversation.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        conversation.close()


def together(conversations: Sequence[Conversation[T]]) -> Conversation[list[T]]:
    """Run several conversations in parallel, combining their requests. Returns their results in order."""
    results: dict[int, T] = {}
    asking: dict[int, Request | list[Request]] = {}

    def go_on(at: int, answer: Any) -> Generator[Pause]:
        try:
            step = conversations[at].send(answer)
            while isinstance(step, Pause):
                yield step
                step = conversations[at].send(None)
            asking[at] = step
        except StopIteration as end:
            results[at] = end.value

    for at in range(len(conversations)):
        yield from go_on(at, None)
    while asking:
        now, asking = asking, {}
        sent = [request for step in now.values() for request in ([step] if isinstance(step, Request) else step)]
        answers = iter([(yield sent[0])] if len(sent) == 1 else (yield sent))
        for at, step in now.items():
            answer = next(answers) if isinstance(step, Request) else [next(answers) for _ in step]
            yield from go_on(at, answer)
    return [results[at] for at in range(len(conversations))]


async def _sleep(seconds: float) -> None:
    import asyncio  # noqa: PLC0415 - asyncio is imported only by asynchronous callers

    await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Target:
    """A table in a store. ``consistent``: strongly consistent reads; ``lenient``: InvalidItem for unreadable items."""

    name: str
    table: Table
    consistent: bool = False
    lenient: bool = False
