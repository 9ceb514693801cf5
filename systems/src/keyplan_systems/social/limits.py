"""The thresholds of the social network: when a post is delivered on write, and when a counter is spread.

The arithmetic behind each number is in README.md, measured by ``benchmarks/social_feed.py``.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from keyplan_systems.social.entities import User

__all__ = [
    "AUDIENCE_MAX",
    "BACKFILL_MAX",
    "DELIVERY_SECONDS_MAX",
    "GATHER_EVERY",
    "POST_SPREAD_AT",
    "READ_MAX",
    "SHARDS",
    "SWEEP",
    "USER_SPREAD_AT",
    "delivery_of",
    "shard_of",
]

READ_MAX = 200
"""Whom a reader follows on read: their partitions are asked for every page, in 10 rounds of 20 in parallel."""
AUDIENCE_MAX = 1000
"""Timelines that an author's posts are delivered to: so many write units a post, in 40 batches of 25."""
BACKFILL_MAX = 200
"""Posts an author may have to be followed on write: so many write units for the follow, in 8 batches."""
DELIVERY_SECONDS_MAX = 60
"""Seconds after which a delivery that hasn't ended counts as broken off, and nobody waits for it."""
USER_SPREAD_AT = 10_000
"""Followers at which their counter is spread over shards. An item takes 500 transactional writes a second, two units
each; who has fewer followers doesn't gain them at such a rate.
"""
POST_SPREAD_AT = 1000
"""Likes and comments at which a post's counters are spread. A post of a user whose counter is spread begins so."""
SHARDS = 16
"""Over how many items a counter is spread: 8,000 counted a second."""
GATHER_EVERY = 100
"""One in so many changes of a spread counter also brings the number that is shown up to date."""
SWEEP = 1000
"""Likes and comments of a deleted post that are removed at a time."""


def delivery_of(reader: User, author: User) -> Literal["read", "write"]:
    """How an author's posts reach a reader who begins to follow: asked for when the feed is read, or delivered into the
    reader's timeline when they are written.

    On read is the rule. Who follows very many gets a timeline for all further ones; except for authors with an
    audience or a past that would be too much to write.
    """
    if reader.following < READ_MAX or author.audience >= AUDIENCE_MAX or author.posts > BACKFILL_MAX:
        return "read"
    return "write"


def shard_of(who: str) -> int:
    """The shard in which somebody is counted."""
    return zlib.crc32(who.encode("utf-8", "surrogatepass")) % SHARDS
