"""Runs requests to a store in this process one after the other: threads that compute in parallel only delay each other,
and each new thread opens a connection to the embedded store. A request waits for the previous one, but not for long,
because the previous one may wait for the disk, a lock, or a picture.
"""
# ruff: noqa: PLC0415 - keyplan.systems imports this module, and needs neither asyncio nor Starlette

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio

    from keyplan.session.design import Design


WAIT_SECONDS = 0.05
"""A request that has waited this long runs in parallel."""

P = ParamSpec("P")
T = TypeVar("T")

_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


async def in_turn(design: Design, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function in a worker thread and return its result; for a store in this process, after earlier requests."""
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
    import asyncio

    try:
        async with asyncio.timeout(WAIT_SECONDS):
            return await turn.acquire()
    except TimeoutError:
        return False
