"""A cache of results in this process, with a maximum age and bounded memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Kept"]

K = TypeVar("K")
T = TypeVar("T")


class Kept(Generic[K, T]):
    """Results by key. Each is at most ``seconds`` old; at most ``most`` are kept, the newest."""

    def __init__(self, seconds: float, clock: Callable[[], float], most: int = 1_000) -> None:
        self._seconds = seconds
        self._clock = clock
        self._most = most
        self._answers: OrderedDict[K, tuple[float, T]] = OrderedDict()
        self._lock = threading.Lock()
        self._drops = 0

    def get(self, key: K, make: Callable[[], T], *, keeps: Callable[[T], bool] = lambda _: True) -> T:
        """The cached result, or a new one, which is cached if ``keeps`` returns True and ``drop`` wasn't called in the
        meantime.
        """
        begun = self._clock()
        with self._lock:
            kept = self._answers.pop(key, None)
            if kept is not None and begun - kept[0] < self._seconds:
                self._answers[key] = kept
                return kept[1]
            drops = self._drops
        made = make()
        with self._lock:
            if drops == self._drops and keeps(made):
                self._answers[key] = (begun, made)
                while len(self._answers) > self._most:
                    self._answers.popitem(last=False)
        return made

    def drop(self, *keys: K) -> None:
        """Remove the results of these keys, or all without a key."""
        with self._lock:
            self._drops += 1
            for key in keys or list(self._answers):
                self._answers.pop(key, None)
