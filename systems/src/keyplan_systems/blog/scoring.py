"""Numbers for rankings: a post's rating, a tag's heat, and the number that sorts by rating, then time.

``counting`` and ``ranking`` have the writes and their schedule.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from math import log2
from typing import Protocol

LIKE_POINTS = 10
STAR_POINTS = 5
"""Points of each star above three; stars below three subtract them."""
MIDDLE_STARS = 3
PUBLISHED_POINTS = 20
"""Points of a tag when a post with it is published."""

EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
HALF_LIFE_SECONDS = 3 * 24 * 3600
HEAT_PARTS = 1000
"""A tag's rating is stored in thousandths of a doubling."""


class Counted(Protocol):
    """A post, a shard of a counter, or their sum. ``stars`` is the sum of the ratings."""

    views: int
    likes: int
    ratings: int
    stars: int


class Shard(Counted, Protocol):
    """A shard of a counter. ``points`` are added directly."""

    comments: int
    points: int


@dataclass
class Totals:
    """The sum of a counter's shards."""

    views: int = 0
    likes: int = 0
    ratings: int = 0
    stars: int = 0
    comments: int = 0
    points: int = 0


def totals_of(shards: Iterable[Shard]) -> Totals:
    items = list(shards)
    return Totals(**{each.name: sum(getattr(item, each.name) for item in items) for each in fields(Totals)})


def points_of(counted: Counted) -> int:
    """A post's rating: one point per view, ten per like, five per star above three, minus five per star below three.

    Never below 0, so that a badly rated post ranks like an unseen one.
    """
    stars = counted.stars - MIDDLE_STARS * counted.ratings
    return max(0, counted.views + LIKE_POINTS * counted.likes + STAR_POINTS * stars)


def rating_key(rating: int, at: datetime) -> int:
    """One number that sorts by rating, then by time: 10000001759086095241 is rating 1,000,000 and 1759086095241 ms."""
    return rating * 10**13 + int(at.timestamp() * 1000)


def heated(rating: int, points: int, at: datetime) -> int:
    """A tag's rating after new points. Newer points weigh more: twice as much every three days.

    So the ranking decays without writes. The rating is the logarithm of the weighted sum, in thousandths of a doubling
    (forward decay; Cormode et al., ICDE 2009). 0: no points yet.
    """
    if points <= 0:
        return rating
    added = log2(points) + (at - EPOCH).total_seconds() / HALF_LIFE_SECONDS
    if rating > 0:
        before = rating / HEAT_PARTS
        more, less = max(before, added), min(before, added)
        added = more + log2(1 + 2 ** (less - more))
    return max(1, round(added * HEAT_PARTS))
