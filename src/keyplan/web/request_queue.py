"""Runs the requests to an embedded store in this process one after the other. Parallel threads would only delay each
other, and each new thread opens a connection to the store. A request waits at most ``WAIT_SECONDS`` for the previous
request, which may itself wait for the disk, a lock, or an image.
"""
# ruff: noqa: PLC0415 - keyplan.systems imports this module without asyncio and Starlette

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio

    from keyplan.session.design import Design


WAIT_SECONDS = 0.05
"""A request that has waited this long runs in parallel with the previous request."""

P = ParamSpec("P")
T = TypeVar("T")

_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


async def in_turn(design: Design, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function in a worker thread. If the store is in this process, the function waits for earlier requests."""
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
