"""Hot partitions: what one partition takes, and how many are needed. Plain arithmetic on units a second.

Source of the limits: "Partitions and data distribution" in the developer guide; reads and writes are limited
independently.
"""

from __future__ import annotations

import math

__all__ = [
    "READ_UNITS_MAX",
    "WRITE_UNITS_MAX",
    "busiest_share",
    "saturating_rate",
    "shards_for",
]

READ_UNITS_MAX = 3000
"""Read units a second that one partition gives."""
WRITE_UNITS_MAX = 1000
"""Write units a second that one partition takes; one item never more."""
HEADROOM = 0.7
"""How much of a partition's limit a plan may use."""


def shards_for(units_per_second: float, *, limit: float = WRITE_UNITS_MAX, headroom: float = HEADROOM) -> int:
    """How many shards a key needs for so many units a second on it: 20,000 write units need 29."""
    return max(1, math.ceil(round(units_per_second / (limit * headroom), 6)))


def busiest_share(exponent: float, keys: int) -> float:
    """The share of the busiest of ``keys`` keys, where they are chosen by a Zipf distribution: 0.065 for 0.99 and a
    million keys.
    """
    return 1 / math.fsum(rank**-exponent for rank in range(1, keys + 1))


def saturating_rate(share: float, *, limit: float = WRITE_UNITS_MAX) -> float:
    """Units a second of the whole table at which the key with this share of them reaches its partition's limit."""
    return limit / share
