"""What would hold up the event loop, in threads beside it: large requests, large answers that are to be packed, and
changes of whole tables.

Python's threads take turns, so that the loop goes on answering others meanwhile, as long as
nothing runs for long in one go (``parsing``).
"""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

LARGE_BYTES_MIN = 64 * 1024
"""A body of more than that, as it was sent, isn't parsed on the event loop; nor is any that was packed."""
PACKED_BYTES_MIN = 256 * 1024
"""An answer of more than that isn't packed on the event loop."""
_THREADS = 3
_CHANGING_THREADS = 8
_TURN_S = 0.0005
"""How long a thread goes on, beside large requests, while others wait for their turn."""


class Resting:
    """Lets the garbage collector rest while large requests are answered: it would look at all that is made of them,
    again and again, in one go each time, and nearly nothing of it is garbage that it is needed for. And lets threads
    take turns more often: the event loop gives up its own several times in a small request, wherever SQLite or a
    socket is asked, and has to wait each time until all others have had theirs.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._count = 0
        self._usual_s = sys.getswitchinterval()

    def __enter__(self) -> None:
        with self._guard:
            self._count += 1
            if self._count == 1:
                gc.disable()
                self._usual_s = sys.getswitchinterval()
                sys.setswitchinterval(_TURN_S)

    def __exit__(self, *exception: object) -> None:
        with self._guard:
            self._count -= 1
            if self._count == 0:
                gc.enable()
                sys.setswitchinterval(self._usual_s)


resting = Resting()
"""The collector is one of the process."""

Work = Callable[[], bytes | None]
"""Gives the answer, or None when it is to be done in the slow lane."""
Done = Callable[[bytes], None]


class Aside(Protocol):
    """Does work beside the event loop."""

    def submit(self, work: Work, slow: Work | None, done: Done) -> None:
        """Do ``work``, and if it gives None ``slow``; call ``done`` with the answer, on the event loop."""
        ...

    def submit_change(self, work: Work, done: Done) -> None:
        """Do ``work``, a change of tables, and call ``done`` with the answer, on the event loop."""
        ...


class AtOnce:
    """Does it at once, where there is no event loop."""

    def submit(self, work: Work, slow: Work | None, done: Done) -> None:
        """Do it."""
        answer = work()
        if answer is None and slow is not None:
            answer = slow()
        if answer is not None:
            done(answer)

    def submit_change(self, work: Work, done: Done) -> None:
        """Do it."""
        self.submit(work, None, done)


class Threads:
    """Some threads for what is large, and one for what is slow besides: several of these at a time would take too much
    memory. And some for changes of tables, each of which may last long, in which others must be answered what a table
    that is being changed answers.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._large = ThreadPoolExecutor(_THREADS, "keyplan-large")
        self._slow = ThreadPoolExecutor(1, "keyplan-slow")
        self._changing = ThreadPoolExecutor(_CHANGING_THREADS, "keyplan-tables")

    def submit(self, work: Work, slow: Work | None, done: Done) -> None:
        """Do it in a thread."""
        self._submit(self._large, work, slow, done)

    def submit_change(self, work: Work, done: Done) -> None:
        """Do it in a thread."""
        self._submit(self._changing, work, None, done)

    def _submit(self, executor: ThreadPoolExecutor, work: Work, slow: Work | None, done: Done) -> None:
        def end(future: asyncio.Future[bytes | None]) -> None:
            if future.cancelled():
                return
            answer = future.result()
            if answer is not None:
                done(answer)
            elif slow is not None:
                self._loop.run_in_executor(self._slow, slow).add_done_callback(end)

        self._loop.run_in_executor(executor, work).add_done_callback(end)

    def close(self) -> None:
        """Finish what was begun, and end."""
        self._large.shutdown(cancel_futures=True)
        self._slow.shutdown(cancel_futures=True)
        self._changing.shutdown(cancel_futures=True)
