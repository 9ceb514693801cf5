"""Background jobs of a site, which run periodically. Jobs must support several concurrent processes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

from starlette.concurrency import run_in_threadpool

from keyplan.errors import KeyplanError


def again_and_again(
    seconds: float, log: logging.Logger, *jobs: Callable[[], object]
) -> Callable[[], AbstractAsyncContextManager[None]]:
    """Runs the jobs in a thread every ``seconds``. A KeyplanError is logged, and the jobs run again the next time."""

    async def keep() -> None:
        while True:
            try:
                for job in jobs:
                    await run_in_threadpool(job)
            except KeyplanError as error:
                log.warning("a background job failed: %s", error)
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
