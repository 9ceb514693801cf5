"""Requests that need the interpreter, one after the other.

Two threads that compute take turns, so both are late; one after the other, the first is as early as it can be, and the
second no later. And a thread that begins while another works opens a connection to the embedded store of its own, which
has nothing ready. So what answers a request from a store in this process waits until the one before is answered; not
for long, since that one may wait for something itself: the disk, a lock of another process, a picture.
"""
# ruff: noqa: PLC0415 - whoever names a system imports this module, and need have neither event loop nor Starlette

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio

    from keyplan.session.design import Design

__all__ = ["in_turn"]

WAIT_SECONDS = 0.05
"""Who has waited for so long begins beside the others."""

P = ParamSpec("P")
T = TypeVar("T")

_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


async def in_turn(design: Design, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of a function that asks a design's store, called in a worker thread: at once, or where the store is in
    this process, when it is its turn.
    """
    import asyncio

    from starlette.concurrency import run_in_threadpool

    from keyplan.client.transports.embedded import InProcess

    if not isinstance(design.store.backend, InProcess):
        return await run_in_threadpool(function, *args, **kwargs)
    turn = _turns.setdefault(asyncio.get_running_loop(), asyncio.Lock())
    has_turn = await taken(turn)
    try:
        return await run_in_threadpool(function, *args, **kwargs)
    finally:
        if has_turn:
            turn.release()


async def taken(turn: asyncio.Lock) -> bool:
    """Whether it is this request's turn; False when it has waited for long enough."""
    import asyncio

    try:
        async with asyncio.timeout(WAIT_SECONDS):
            return await turn.acquire()
    except TimeoutError:
        return False
