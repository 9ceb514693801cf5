"""Thread pools of a store. A pool starts on first use in each process, including forked processes."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from keyplan.errors import StoreError

P = ParamSpec("P")
T = TypeVar("T")


class Workers(Executor):
    """A thread pool with at most ``number`` threads. After ``shutdown``, ``submit`` raises StoreError."""

    def __init__(self, number: int, name: str) -> None:
        self._number = number
        self._name = name
        self._made: dict[int, ThreadPoolExecutor] = {}
        """The pool of each process, by process ID."""
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a function in a thread. Raises StoreError if the design was closed."""
        if self._closed:
            raise _closed()
        process = os.getpid()
        made = self._made.get(process)
        if made is None:  # a pool starts threads on demand, so an unused pool costs nothing
            made = self._made.setdefault(process, ThreadPoolExecutor(self._number, thread_name_prefix=self._name))
        try:
            return made.submit(fn, *args, **kwargs)
        except RuntimeError:  # the pool was closed meanwhile, or the interpreter is exiting
            raise _closed() from None

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop the threads after their current work."""
        self._closed = True
        made = self._made.get(os.getpid())
        if made is not None:
            made.shutdown(wait, cancel_futures=cancel_futures)


def _closed() -> StoreError:
    return StoreError("the design was closed", hint="open the design again")
