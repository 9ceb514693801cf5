"""Rate limits per key, and limits of concurrency; in this process, in bounded memory. The limits slow down password
guessing and flooding. Each process of a site counts separately.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

KEYS_MAX = 20_000


@dataclass(frozen=True)
class Limit:
    """Allows ``attempts`` immediately, and one more every ``seconds / attempts`` seconds."""

    attempts: int
    seconds: float


class TooBusy(Exception):
    """The waiting queue is full."""


class Gate:
    """Limits concurrency, with a bounded waiting queue."""

    def __init__(self, at_once: int, waiting_max: int) -> None:
        self._inside = threading.BoundedSemaphore(at_once)
        self._places = threading.BoundedSemaphore(at_once + waiting_max)

    def __enter__(self) -> None:
        if not self._places.acquire(blocking=False):
            raise TooBusy
        self._inside.acquire()

    def __exit__(self, *exc: object) -> None:
        self._inside.release()
        self._places.release()


class RateLimiter:
    """Token buckets by key. The least recently used keys are removed first."""

    def __init__(self, limit: Limit, clock: Callable[[], float], keys_max: int = KEYS_MAX) -> None:
        self.limit = limit
        self._clock = clock
        self._keys_max = keys_max
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait_seconds(self, *keys: str, cost: float = 1) -> float:
        """Use one attempt of each key and return 0; if a key has none left, use none and return the seconds to wait.

        Expensive requests use ``cost`` attempts, at most the capacity.
        """
        cost = min(cost, float(self.limit.attempts))
        with self._lock:
            now = self._clock()
            levels = {key: self._level(key, now) for key in keys}
            lowest = min(levels.values(), default=cost)
            if lowest < cost:
                return (cost - lowest) * self.limit.seconds / self.limit.attempts
            for key, level in levels.items():
                self._buckets[key] = (level - cost, now)
                self._buckets.move_to_end(key)
            while len(self._buckets) > self._keys_max:
                self._buckets.popitem(last=False)
            return 0.0

    def _level(self, key: str, now: float) -> float:
        level, then = self._buckets.get(key, (float(self.limit.attempts), now))
        gained = max(0.0, now - then) * self.limit.attempts / self.limit.seconds
        return min(float(self.limit.attempts), level + gained)
