"""What a site does by itself, again and again, for as long as it is served.

Each job is carried out by several processes at once as well as by one: that is the job's own affair.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

from starlette.concurrency import run_in_threadpool

from keyplan.errors import KeyplanError

__all__ = ["again_and_again"]


def again_and_again(
    seconds: float, log: logging.Logger, *jobs: Callable[[], object]
) -> Callable[[], AbstractAsyncContextManager[None]]:
    """Runs the jobs one after another in a thread, then waits for so many seconds, until its end. A job that fails
    with a KeyplanError is logged, and tried again with the others the next time.
    """

    async def keep() -> None:
        while True:
            try:
                for job in jobs:
                    await run_in_threadpool(job)
            except KeyplanError as error:
                log.warning("what is due couldn't be done: %s", error)
            await asyncio.sleep(seconds)

    @asynccontextmanager
    async def beside() -> AsyncGenerator[None]:
        task = asyncio.create_task(keep())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    return beside
