"""A cache of results in this process, with a maximum age and bounded memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
T = TypeVar("T")


class Kept(Generic[K, T]):
    """Results by key, each at most ``seconds`` old. When the sum of their sizes exceeds ``most``, the least recently
    used are removed; by default each result counts 1.
    """

    def __init__(
        self, seconds: float, clock: Callable[[], float], most: int = 1_000, size: Callable[[T], int] = lambda _: 1
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._most = most
        self._size = size
        self._total = 0
        self._results: OrderedDict[K, tuple[float, T]] = OrderedDict()
        self._lock = threading.Lock()
        self._drops = 0

    def peek(self, key: K) -> T | None:
        with self._lock:
            kept = self._results.get(key)
            if kept is None or self._clock() - kept[0] >= self._seconds:
                return None
            self._results.move_to_end(key)
            return kept[1]

    def get(self, key: K, make: Callable[[], T], *, keeps: Callable[[T], bool] = lambda _: True) -> T:
        """The cached result, or a new one, which is cached if ``keeps`` returns True and ``drop`` wasn't called in the
        meantime.
        """
        begun, drops = self._clock(), self._drops
        known = self.peek(key)
        if known is not None:
            return known
        made = make()
        with self._lock:
            if drops == self._drops and keeps(made):
                self._remove(key)
                self._results[key] = (begun, made)
                self._total += self._size(made)
                while self._total > self._most and self._results:
                    self._remove(next(iter(self._results)))
        return made

    def drop(self, *keys: K) -> None:
        """Remove the results of these keys, or all without a key."""
        with self._lock:
            self._drops += 1
            for key in keys or list(self._results):
                self._remove(key)

    def _remove(self, key: K) -> None:
        kept = self._results.pop(key, None)
        if kept is not None:
            self._total -= self._size(kept[1])
