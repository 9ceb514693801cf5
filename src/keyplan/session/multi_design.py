"""``transact`` executes writes of several opened designs in one transaction, if their tables are in one store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from keyplan.client.batches import batch_write
from keyplan.client.conversations import Conversation, converse, converse_async
from keyplan.client.results import Answer
from keyplan.client.transactions import Refusal, pause_before_retry, send
from keyplan.client.write_attempts import Actions, Attempt, Findings
from keyplan.client.write_compiler import Operation, WriteCompiler
from keyplan.errors import RequestError, WriteFailed, shown
from keyplan.model.declared.patterns import Joined
from keyplan.session.stores import Store

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")

_PLACE = "transact"


class _Transact:
    """Execute writes of several designs in one transaction of at most 100 actions.

    ::

        order, entry = transact(shop.place_order.in_transaction(order), ledger.book.in_transaction(order.order_id, 20))

    Returns the result of each write. The designs must be opened on one store: one file, one region or endpoint of
    DynamoDB with one profile, or one design by the other's store (``Ledger.open(shop.store)``). A write that needs the
    result of its action is rejected, as with several actions; ``attempts`` is the maximum of the writes' attempts.
    ``await transact.aio(...)`` is the same for asynchronous code.

    Raises RequestError for designs on different stores, and the errors of the writes; then nothing is written.
    """

    @overload
    def __call__(self, first: Joined[A], second: Joined[B], /) -> tuple[A, B]: ...
    @overload
    def __call__(self, first: Joined[A], second: Joined[B], third: Joined[C], /) -> tuple[A, B, C]: ...
    @overload
    def __call__(self, *writes: Joined[Any]) -> tuple[Any, ...]: ...
    def __call__(self, *writes: Joined[Any]) -> tuple[Any, ...]:
        """The result of each write."""
        store, conversation = _prepared(writes)
        if not store.watched:
            return converse(conversation, store.transport)
        with store.counting(_PLACE):
            return converse(conversation, store.transport)

    @overload
    async def aio(self, first: Joined[A], second: Joined[B], /) -> tuple[A, B]: ...
    @overload
    async def aio(self, first: Joined[A], second: Joined[B], third: Joined[C], /) -> tuple[A, B, C]: ...
    @overload
    async def aio(self, *writes: Joined[Any]) -> tuple[Any, ...]: ...
    async def aio(self, *writes: Joined[Any]) -> tuple[Any, ...]:
        """Like a call of ``transact``, from asynchronous code."""
        store, conversation = _prepared(writes)
        if not store.watched:
            return await converse_async(conversation, store.async_transport)
        with store.counting(_PLACE):
            return await converse_async(conversation, store.async_transport)


transact = _Transact()


def _prepared(writes: Sequence[Any]) -> tuple[Store, Conversation[tuple[Any, ...]]]:
    if not writes:
        raise RequestError(
            "transact requires at least one write", place=_PLACE, hint="transact(shop.place.in_transaction(order), ...)"
        )
    for value in writes:
        if not isinstance(value, Joined):
            raise RequestError(
                f"not a write: {shown(value)}",
                place=_PLACE,
                hint="transact(shop.place.in_transaction(order), ...)",
            )
    runners: list[Any] = [value.runner for value in writes]
    store: Store = runners[0].store
    for other in runners[1:]:
        if not store.is_beside(other.store):
            raise RequestError(
                f"{runners[0]!r} and {other!r} are on different stores; a transaction requires one store",
                place=_PLACE,
                hint=f"open one design on the other's store: {type(other).__name__}.open(first.store)",
            )
    parts = [runner.run_joined(value.name, value.arguments) for runner, value in zip(runners, writes, strict=True)]
    return store, run_together(parts, _PLACE)


@dataclass(frozen=True)
class Joining:
    """One write, with its design's compiler and reads, its generator, and its maximum number of attempts."""

    compiler: WriteCompiler
    answers: Mapping[str, Answer]
    make: Callable[[], Actions[Any]]
    place: str
    attempts: int


def run_together(parts: Sequence[Joining], place: str) -> Conversation[tuple[Any, ...]]:
    """Run writes, send their actions in one transaction, and return the result of each write. The number of attempts is
    at most the largest maximum of these writes.

    Raises exceptions of the writes' bodies, and WriteFailed; after an exception, nothing is written.
    """
    attempts = max(part.attempts for part in parts)
    before: list[frozenset[str]] = [frozenset()] * len(parts)
    for number in range(1, attempts + 1):
        findings = [
            Findings(joining.compiler.target.table, result) for joining, result in zip(parts, before, strict=True)
        ]
        runs = [
            Attempt(joining.compiler, joining.answers, joining.place, noted)
            for joining, noted in zip(parts, findings, strict=True)
        ]
        refusals: list[Refusal] = []
        try:
            return (yield from _run(parts, runs, place, refusals))
        except WriteFailed:
            own = [_of_table(refusals, part.compiler.target.name) for part in parts]
            judged = zip(runs, findings, own, strict=True)
            final = any(refusal.operation.final for refusal in refusals)
            if (
                number == attempts
                or final
                or not any(noted.curable(refused, gave_up=run.gave_up) for run, noted, refused in judged)
            ):
                raise
            before = [Findings.comparable(refused) for refused in own]
        yield pause_before_retry(number)
    raise AssertionError("attempts= must be at least 1")


def _run(
    parts: Sequence[Joining], runs: Sequence[Attempt], place: str, refusals: list[Refusal]
) -> Conversation[tuple[Any, ...]]:
    results: list[Any] = []
    operations: list[Operation] = []
    for part, run in zip(parts, runs, strict=True):
        results.append((yield from run.gather(part.make)))
        operations.extend(run.operations)
    yield from send(operations, place, refusals=refusals)
    for part, run in zip(parts, runs, strict=True):
        for batch in run.batches:
            yield from batch_write(part.compiler.target.name, batch)
    return tuple(results)


def _of_table(refusals: Sequence[Refusal], name: str) -> list[Refusal]:
    return [refusal for refusal in refusals if refusal.operation.parameters["TableName"] == name]
