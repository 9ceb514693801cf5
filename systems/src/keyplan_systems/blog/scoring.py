"""The numbers that rankings sort by: a post's rating, a tag's heat, and the one number that sorts by rating, then time.

Who counts, and when a ranking is made anew, is in ``counting.py`` and ``ranking.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from math import log2
from typing import Protocol

__all__ = ["PUBLISHED_POINTS", "Totals", "heated", "points_of", "rating_key", "totals_of"]

LIKE_POINTS = 10
STAR_POINTS = 5
"""Points of a star above three; a star below three takes them away."""
MIDDLE_STARS = 3
PUBLISHED_POINTS = 20
"""Points that a tag gets when a post that carries it is published."""

EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
HALF_LIFE_SECONDS = 3 * 24 * 3600
HEAT_PARTS = 1000
"""A tag's rating is stored in thousandths of a doubling."""


class Counted(Protocol):
    """What has counts: a post, an item of a counter, or their sum."""

    @property
    def views(self) -> int:
        """How often it was viewed."""
        ...

    @property
    def likes(self) -> int:
        """How many like it."""
        ...

    @property
    def ratings(self) -> int:
        """How many have rated it."""
        ...

    @property
    def stars(self) -> int:
        """The sum of their stars."""
        ...


class Part(Counted, Protocol):
    """An item of a counter."""

    @property
    def comments(self) -> int:
        """How many comments were written, less those that are gone."""
        ...

    @property
    def followers(self) -> int:
        """How many follow the user."""
        ...

    @property
    def points(self) -> int:
        """Points that were added as such."""
        ...


class Totals:
    """The sum of a counter's items."""

    __slots__ = ("comments", "followers", "likes", "points", "ratings", "stars", "views")

    def __init__(self) -> None:
        self.views = self.likes = self.ratings = self.stars = self.comments = self.followers = self.points = 0


def totals_of(items: Iterable[Part]) -> Totals:
    """The sums over the items of one counter."""
    totals = Totals()
    for item in items:
        totals.views += item.views
        totals.likes += item.likes
        totals.ratings += item.ratings
        totals.stars += item.stars
        totals.comments += item.comments
        totals.followers += item.followers
        totals.points += item.points
    return totals


def points_of(counted: Counted) -> int:
    """A post's rating: a view is one point, a like ten, a star above three five, one below three five less.

    Never below 0, so that a badly rated post ranks with one that nobody has seen.
    """
    stars = counted.stars - MIDDLE_STARS * counted.ratings
    return max(0, counted.views + LIKE_POINTS * counted.likes + STAR_POINTS * stars)


def rating_key(rating: int, at: datetime) -> int:
    """One number that sorts by rating, then by time: 10000001759086095241 is rating 1,000,000 and 1759086095241 ms."""
    return rating * 10**13 + int(at.timestamp() * 1000)


def heated(rating: int, points: int, at: datetime) -> int:
    """A tag's rating after it got points at a moment. Newer points weigh more: twice as much each three days.

    So a ranking by it forgets by itself, and no tag needs a write to cool down. The rating is the logarithm of the
    weighted sum, in thousandths of a doubling (forward decay; Cormode et al., ICDE 2009). 0: no points yet.
    """
    if points <= 0:
        return rating
    added = log2(points) + (at - EPOCH).total_seconds() / HALF_LIFE_SECONDS
    if rating > 0:
        before = rating / HEAT_PARTS
        more, less = max(before, added), min(before, added)
        added = more + log2(1 + 2 ** (less - more))
    return max(1, round(added * HEAT_PARTS))
