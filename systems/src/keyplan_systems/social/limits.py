"""Thresholds for delivery on write and for sharded counters. README.md explains each number, and
``benchmarks/social_feed.py`` measures it.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from keyplan_systems.social.entities import User


READ_MAX = 200
"""Maximum number of followed users that a feed page queries, in 10 rounds of 20 parallel queries."""
AUDIENCE_MAX = 1000
"""Maximum number of timelines to which a post is delivered: one write unit each, in 40 batches of 25."""
BACKFILL_MAX = 200
"""Maximum number of an author's posts for a follow on write: one write unit each, in 8 batches."""
DELIVERY_SECONDS_MAX = 60
"""Seconds after which an unfinished delivery counts as interrupted."""
USER_SPREAD_AT = 10_000
"""Number of followers from which the counter is sharded. One item supports 500 transactional writes per second."""
POST_SPREAD_AT = 1000
"""Likes or comments from which a post's counters are sharded. Posts of users with a sharded counter start sharded."""
SHARDS = 16
"""Number of shards of a counter, for 8,000 updates per second."""
GATHER_EVERY = 100
"""One in this many changes of a sharded counter also updates the displayed number."""
SWEEP = 1000
"""Number of likes and comments of a deleted post that are removed at a time."""


def delivery_of(reader: User, author: User) -> Literal["read", "write"]:
    """How an author's posts reach a new follower: queried when the feed is read, or written to the follower's timeline.

    A reader who follows READ_MAX users gets a timeline for further ones, except for authors with too large an audience
    or too many posts.
    """
    if reader.following < READ_MAX or author.audience >= AUDIENCE_MAX or author.posts > BACKFILL_MAX:
        return "read"
    return "write"


def shard_of(who: str) -> int:
    return zlib.crc32(who.encode("utf-8", "surrogatepass")) % SHARDS
