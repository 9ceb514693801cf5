"""Counting: views, likes, ratings, and the aggregation of counters.

No write touches an item that all writers share: a view, a like and a rating update a random shard of a counter, and the
reader's own impression. The post, the tag and the author are written during aggregation, at most once every few seconds
each. README.md has the arithmetic.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Literal

from keyplan import Add, Batch, Create, Example, Field, Put, Update, Writes, now, write
from keyplan_systems.blog.entities import (
    COUNTER_SHARDS,
    COUNTER_SLOTS,
    FRONT_PAGE_REPLICAS,
    Byline,
    Counter,
    CounterKind,
    FrontPage,
    Post,
    PostImpression,
    Stars,
    TagCount,
    UserImpression,
)
from keyplan_systems.blog.reads import Reads
from keyplan_systems.blog.scoring import heated, points_of, totals_of

ViewCount = Annotated[int, Field(ge=1, le=1_000_000)]

RANKING_SECONDS = 10
"""Minimum interval between updates of a post's ranking, in seconds."""
TAG_SECONDS = 60
USER_SECONDS = 60
FRONT_PAGE_SECONDS = 10

Refreshed = Literal["refreshed", "unchanged", "too early", "missing"]
"""The result of an aggregation."""

CLOSED_SECONDS = 3600
"""How long counters of deleted subjects stay closed: longer than any request takes."""

FRONT_POSTS = 10
FRONT_TAGS = 20


def parts(kind: CounterKind) -> list[int]:
    return list(range(COUNTER_SHARDS[kind]))


def counted(kind: CounterKind, subject: str, changes: Mapping[str, int], *, alone: bool = False) -> Update:
    """Add to a shard of a counter. ``alone``: a single request, which uses separate shards from transactions, because
    transactions conflict with other writes of their items.

    Closed counters reject updates, so writes needn't read the post or user they count, and leave nothing on one that is
    being deleted.
    """
    shard = random.randrange(COUNTER_SHARDS[kind])  # noqa: S311 - distributes writes, not a secret
    slot = COUNTER_SLOTS if alone else random.randrange(COUNTER_SLOTS)  # noqa: S311
    added = {name: Add(amount) for name, amount in changes.items()}
    update = Update(Counter, kind=kind, subject=subject, shard=shard, slot=slot).set(**added).or_create()
    return update.only_if("attribute_not_exists(closed)").final()


def closed(kind: CounterKind, subject: str) -> list[Put]:
    """Close every shard of a counter before its subject is deleted: concurrent counts fail as a whole. The shards
    expire when none can be in progress.
    """
    over = now() + timedelta(seconds=CLOSED_SECONDS)
    return [
        Put(Counter(kind=kind, subject=subject, shard=shard, slot=slot, closed=True, expires_at=over))
        for shard in parts(kind)
        for slot in range(COUNTER_SLOTS + 1)
    ]


class CountingWrites(Reads):
    """Writes of readers, and aggregation.

    Views, likes and ratings don't read the post, whose key would become hot: the caller has read it and knows that it
    is published.
    """

    @write("W11")
    def count_view(self, post_id: str, views: ViewCount = 1) -> Writes:
        """Count one or more views by anonymous visitors, in one update."""
        yield counted("post", post_id, {"views": views}, alone=True)

    @write("W12", attempts=30)
    def view_post(self, post_id: str, user_id: str) -> Writes[bool]:
        """Count a user's view of a post, once; returns whether it was the first one."""
        if (yield from self.post_seen.read(post_id, user_id)) is not None:
            return False
        yield Create(PostImpression(post_id=post_id, user_id=user_id))
        yield counted("post", post_id, {"views": 1})
        return True

    @write("W13", attempts=30)
    def like_post(self, post_id: str, user_id: str) -> Writes[bool]:
        """Like a post (and mark it as seen); returns whether it is new."""
        seen = yield from self.post_seen.read(post_id, user_id)
        if seen is not None and seen.liked:
            return False
        if seen is None:
            yield Create(PostImpression(post_id=post_id, user_id=user_id, liked=True))
        else:
            yield Update(seen, liked=True).only_if(liked=False)
        yield counted("post", post_id, {"likes": 1, "views": 1} if seen is None else {"likes": 1})
        return True

    @write("W14", attempts=30)
    def unlike_post(self, post_id: str, user_id: str) -> Writes[bool]:
        """Remove a like; returns whether there was one."""
        seen = yield from self.post_seen.read(post_id, user_id)
        if seen is None or not seen.liked:
            return False
        yield Update(seen, liked=False).only_if(liked=True)
        yield counted("post", post_id, {"likes": -1})
        return True

    @write("W15", attempts=30)
    def rate_post(self, post_id: str, user_id: str, stars: Stars | None) -> Writes[bool]:
        """Rate a post with one to five stars, or remove the rating (None); returns whether anything changed."""
        seen = yield from self.post_seen.read(post_id, user_id)
        before = None if seen is None else seen.stars
        if stars == before:
            return False
        changes = {
            "stars": (stars or 0) - (before or 0),
            "ratings": (stars is not None) - (before is not None),
            "views": int(seen is None),
        }
        if seen is None:
            yield Create(PostImpression(post_id=post_id, user_id=user_id, stars=stars))
        else:
            yield Update(seen, stars=stars).only_if(stars=before)
        yield counted("post", post_id, {name: amount for name, amount in changes.items() if amount})
        return True

    @write("W16", attempts=30)
    def view_user(self, user_id: str, viewed_id: str) -> Writes[bool]:
        """Count a user's view of another profile, once; returns whether it was the first one. Users
        don't count for themselves.
        """
        if user_id == viewed_id or (yield from self.user_viewed.read(user_id, viewed_id)) is not None:
            return False
        yield Create(UserImpression(user_id=user_id, viewed_id=viewed_id))
        yield counted("user", viewed_id, {"views": 1})
        return True

    # Aggregation

    @write(
        "W17",
        attempts=3,
        example=Example().found(Post, status="published", ranked_at=None, views=0).found(Counter, closed=None),
    )
    def refresh_ranking(self, post_id: str) -> Writes[Refreshed]:
        """Update a published post's counts and ranking, at most once per RANKING_SECONDS.

        The gained points are added to counters of its author and tags in the same transaction.
        """
        post = yield from self.post.read(post_id)
        if post is None or post.status != "published":
            return "missing"
        if not _due(post.ranked_at, RANKING_SECONDS):
            return "too early"
        totals = totals_of((yield from self.counters.read("post", post_id, parts("post"))))
        names = ("views", "likes", "ratings", "stars", "comments")
        result = {name: getattr(totals, name) for name in names}
        if all(getattr(post, name) == count for name, count in result.items()):
            return "unchanged"
        rating = points_of(totals)
        yield Update(post, **result, rating=rating, ranked_at=now()).only_if(
            ranked_at=post.ranked_at, rating=post.rating
        )
        gained = rating - post.rating
        if gained:
            yield counted("user", post.user_id, {"points": gained})
            for tag in post.tags:
                yield counted("tag", tag, {"points": gained})
        return "refreshed"

    @write("W18", attempts=3)
    def refresh_tag(self, tag: str) -> Writes[Refreshed]:
        """Update a tag's rating, at most once per TAG_SECONDS."""
        post_tag = yield from self.tag.read(tag)
        if post_tag is None:
            return "missing"
        if not _due(post_tag.ranked_at, TAG_SECONDS):
            return "too early"
        total = totals_of((yield from self.counters.read("tag", tag, parts("tag")))).points
        if total == post_tag.counted:
            return "unchanged"
        moment = now()
        rating = heated(post_tag.rating, total - post_tag.counted, moment)
        yield Update(post_tag, rating=rating, counted=total, ranked_at=moment).only_if(
            ranked_at=post_tag.ranked_at, rating=post_tag.rating
        )
        return "refreshed"

    @write("W19", attempts=3)
    def refresh_user(self, user_id: str) -> Writes[Refreshed]:
        """Update an author's rating and views, at most once per USER_SECONDS."""
        user = yield from self.user.read(user_id)
        if user is None:
            return "missing"
        if not _due(user.ranked_at, USER_SECONDS):
            return "too early"
        totals = totals_of((yield from self.counters.read("user", user_id, parts("user"))))
        rating = max(0, totals.points)
        if (rating, totals.views) == (user.rating, user.views):
            return "unchanged"
        yield Update(user, rating=rating, views=totals.views, ranked_at=now()).only_if(ranked_at=user.ranked_at)
        return "refreshed"

    @write("W20", attempts=3)
    def refresh_front_page(self, *, force: bool = False, copies: bool = True) -> Writes[FrontPage]:
        """Rebuild the front page, at most once per FRONT_PAGE_SECONDS unless ``force``; returns the current one.

        The first copy is written on the condition that no other process rebuilt it; the others follow, unless the
        caller writes them (``copies_of``).
        """
        before = yield from self.front_page.read(0)
        if before is not None and not force and not _due(before.refreshed_at, FRONT_PAGE_SECONDS):
            return before
        latest = yield from self.latest_posts.read(limit=FRONT_POSTS)
        popular = yield from self.popular_posts.read(limit=FRONT_POSTS)
        tags = yield from self.trending_tags.read(limit=FRONT_TAGS)
        authors = yield from self.users.read(sorted({post.user_id for post in (*latest, *popular)}))
        shown = {author.user_id for author in authors if author.status == "active"}
        page = FrontPage(
            replica=0,
            latest=tuple(post for post in latest if post.user_id in shown),
            popular=tuple(post for post in popular if post.user_id in shown),
            tags=tuple(TagCount(tag=tag.tag, posts=tag.posts) for tag in tags),
            bylines={author.user_id: Byline(name=author.name, username=author.username) for author in authors},
            refreshed_at=now(),
        )
        yield Put(page).only_if(refreshed_at=None if before is None else before.refreshed_at)
        if copies:
            yield Batch(map(Put, copies_of(page)))
        return page


def copies_of(page: FrontPage) -> Iterator[FrontPage]:
    """The other copies of a rebuilt front page."""
    return (page.model_copy(update={"replica": replica}) for replica in range(1, FRONT_PAGE_REPLICAS))


def _due(last: datetime | None, seconds: float) -> bool:
    """Whether the interval since ``last`` has passed."""
    return last is None or now() - last >= timedelta(seconds=seconds)
