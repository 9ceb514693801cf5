"""Threads of a store: started when they are first needed, and anew in a forked process, which has none of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from keyplan.errors import StoreError

__all__ = ["Workers"]

P = ParamSpec("P")
T = TypeVar("T")


class Workers(Executor):
    """At most ``number`` threads. After ``shutdown`` whoever wants one gets a StoreError."""

    def __init__(self, number: int, name: str) -> None:
        self._number = number
        self._name = name
        self._made: dict[int, ThreadPoolExecutor] = {}
        """By process."""
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run it in a thread. Raises StoreError when the design was closed."""
        if self._closed:
            raise _closed()
        process = os.getpid()
        made = self._made.get(process)
        if made is None:  # a pool has no threads before it has work: one that comes too late here costs nothing
            made = self._made.setdefault(process, ThreadPoolExecutor(self._number, thread_name_prefix=self._name))
        try:
            return made.submit(fn, *args, **kwargs)
        except RuntimeError:  # closed a moment ago, or the interpreter ends
            raise _closed() from None

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads, when they have done what they do."""
        self._closed = True
        made = self._made.get(os.getpid())
        if made is not None:
            made.shutdown(wait, cancel_futures=cancel_futures)


def _closed() -> StoreError:
    return StoreError("the design was closed", hint="open it again")
