"""Iterators over the items of a read, fetched in parts; the next part is prefetched while the current one is consumed.

Prefetching starts when half of a part is consumed, so that a caller who stops early pays for nothing more, and only if
requests go over a network.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from keyplan.client.conversations import Conversation

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Executor, Future

    from keyplan.client.cursors import Position

__all__ = ["Part", "stream", "stream_async"]

Found: TypeAlias = "tuple[list[Any], Position | None]"
Part: TypeAlias = "Callable[[Position | None, int], Conversation[Found]]"
"""A conversation for the part behind a position, when so many items were given before."""


def stream(part: Part, run: Callable[[Conversation[Found]], Found], ahead: Executor | None) -> Iterator[Any]:
    """The items of all parts. ``ahead`` fetches the next one; None where it is fetched when it is needed."""
    from concurrent.futures import CancelledError  # noqa: PLC0415 - not needed to declare a design

    following: Future[Found] | None = None
    items, position = run(part(None, 0))
    given = len(items)
    try:
        while True:
            for number, item in enumerate(items):
                if ahead is not None and following is None and position is not None and 2 * number >= len(items):
                    following = ahead.submit(run, part(position, given))
                yield item
            if position is None:
                return
            try:
                items, position = run(part(position, given)) if following is None else following.result()
            except CancelledError:  # the store was closed before it began: let the store say so
                items, position = run(part(position, given))
            following = None
            given += len(items)
    finally:
        if following is not None:
            following.cancel()


async def stream_async(
    part: Part, run: Callable[[Conversation[Found]], Awaitable[Found]], *, ahead: bool
) -> AsyncGenerator[Any, None]:
    """The same from asynchronous code, where ``ahead`` says whether the next part is fetched by a task of its own."""
    import asyncio  # noqa: PLC0415 - asyncio is imported only by asynchronous callers

    async def fetch(position: Position | None, given: int) -> Found:
        return await run(part(position, given))

    following: asyncio.Task[Found] | None = None
    items, position = await fetch(None, 0)
    given = len(items)
    try:
        while True:
            for number, item in enumerate(items):
                if ahead and following is None and position is not None and 2 * number >= len(items):
                    following = asyncio.create_task(fetch(position, given))
                yield item
            if position is None:
                return
            items, position = await (fetch(position, given) if following is None else following)
            following = None
            given += len(items)
    finally:
        if following is not None:
            following.cancel()
            await asyncio.wait([following])
            if not following.cancelled():
                following.exception()  # nobody wants to know any more, asyncio's log neither
