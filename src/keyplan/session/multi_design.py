"""``transact``: writes of several opened designs in one transaction, where their tables are in one store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, overload

from keyplan.client.conversations import Conversation, converse, converse_async
from keyplan.client.multi_design_writes import run_together
from keyplan.errors import RequestError, shown
from keyplan.model.declared.patterns import Joined
from keyplan.session.stores import Store

__all__ = ["transact"]

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")

_PLACE = "transact"


class _Transact:
    """Carry out writes of several designs in one transaction: all or nothing, at most 100 actions together.

    ::

        order, entry = transact(shop.place_order.join(order), ledger.book.join(order.order_id, 20))

    Gives what each write returns. The designs are opened on one store: one file, one region or endpoint of DynamoDB
    with one profile, or one by the other (``Ledger.open(shop.store)``). A write that must know what its action leaves
    in the store is refused, as beside other actions; ``attempts=`` counts as the most that one of the writes has.
    ``await transact.aio(...)`` is the same from asynchronous code.

    Raises RequestError for designs on different stores, and what a write raises; then nothing is written.
    """

    @overload
    def __call__(self, first: Joined[A], second: Joined[B], /) -> tuple[A, B]: ...
    @overload
    def __call__(self, first: Joined[A], second: Joined[B], third: Joined[C], /) -> tuple[A, B, C]: ...
    @overload
    def __call__(self, *writes: Joined[Any]) -> tuple[Any, ...]: ...
    def __call__(self, *writes: Joined[Any]) -> tuple[Any, ...]:
        """What each write returns."""
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
        """The same, awaited."""
        store, conversation = _prepared(writes)
        if not store.watched:
            return await converse_async(conversation, store.async_transport)
        with store.counting(_PLACE):
            return await converse_async(conversation, store.async_transport)


transact = _Transact()


def _prepared(writes: Sequence[Any]) -> tuple[Store, Conversation[tuple[Any, ...]]]:
    if not writes:
        raise RequestError("no write is given", place=_PLACE, hint="transact(shop.place.join(order), ...)")
    for value in writes:
        if not isinstance(value, Joined):
            raise RequestError(
                f"writes are given by join, not {shown(value)}",
                place=_PLACE,
                hint="transact(shop.place.join(order), ...)",
            )
    runners: list[Any] = [value.runner for value in writes]
    store: Store = runners[0].store
    for other in runners[1:]:
        if not store.is_beside(other.store):
            raise RequestError(
                f"{runners[0]!r} and {other!r} aren't on one store, and a transaction is of one",
                place=_PLACE,
                hint=f"open one by the other: {type(other).__name__}.open(first.store)",
            )
    parts = [runner.run_joined(value.name, value.arguments) for runner, value in zip(runners, writes, strict=True)]
    return store, run_together(parts, _PLACE)
