"""Iterators over the items of a read, fetched in parts. The next part is prefetched once half of the current part is
consumed, and only over a network, so that a caller who stops early reads few unused items.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from keyplan.client.conversations import Conversation

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Executor, Future

    from keyplan.client.cursors import Position


Found: TypeAlias = "tuple[list[Any], Position | None]"
Part: TypeAlias = "Callable[[Position | None, int], Conversation[Found]]"
"""A function that returns the conversation for the part after a position, given the number of returned items."""


def stream(part: Part, run: Callable[[Conversation[Found]], Found], ahead: Executor | None) -> Iterator[Any]:
    """The items of all parts. ``ahead`` prefetches the next part; None disables prefetching."""
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
            except CancelledError:  # the store was closed, so the next request raises an error
                items, position = run(part(position, given))
            following = None
            given += len(items)
    finally:
        if following is not None:
            following.cancel()


async def stream_async(
    part: Part, run: Callable[[Conversation[Found]], Awaitable[Found]], *, ahead: bool
) -> AsyncGenerator[Any, None]:
    """The items of all parts, for asynchronous code. ``ahead``: whether a task prefetches the next part."""
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
                following.exception()  # retrieve the exception, so that asyncio doesn't log it
