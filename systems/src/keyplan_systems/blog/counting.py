"""The writes that count: views, likes, ratings, and the gathering of what was counted.

Nothing here writes an item that everybody writes: a view, a like and a rating touch one part of a counter, taken at
random, and the reader's own impression. The post itself, the tag and the author are written when they are gathered,
at most once in some seconds each. README.md has the arithmetic.
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

__all__ = [
    "FRONT_PAGE_SECONDS",
    "RANKING_SECONDS",
    "TAG_SECONDS",
    "USER_SECONDS",
    "CountingWrites",
    "Refreshed",
    "closed",
    "copies_of",
    "counted",
    "parts",
]

ViewCount = Annotated[int, Field(ge=1, le=1_000_000)]

RANKING_SECONDS = 10
"""A post's ranking is made anew at most once in so many seconds."""
TAG_SECONDS = 60
USER_SECONDS = 60
FRONT_PAGE_SECONDS = 10

Refreshed = Literal["refreshed", "unchanged", "too early", "missing"]
"""What became of a refreshing."""

CLOSED_SECONDS = 3600
"""So long the counter of what was deleted stays closed: longer than any request takes."""

FRONT_POSTS = 10
FRONT_TAGS = 20


def parts(kind: CounterKind) -> list[int]:
    """The numbers of the partitions of a counter of this kind."""
    return list(range(COUNTER_SHARDS[kind]))


def counted(kind: CounterKind, subject: str, changes: Mapping[str, int], *, alone: bool = False) -> Update:
    """Add to a part of a counter. ``alone``: as a request of its own, kept apart from the parts that transactions use,
    since a transaction makes others wait for the items it writes.

    Nothing is added to what is closed: so what counts needn't read the post or the user that it is about, and leaves
    no mark on one that is deleted at this moment.
    """
    shard = random.randrange(COUNTER_SHARDS[kind])  # noqa: S311 - to spread writes, not a secret
    slot = COUNTER_SLOTS if alone else random.randrange(COUNTER_SLOTS)  # noqa: S311
    added = {name: Add(amount) for name, amount in changes.items()}
    update = Update(Counter, kind=kind, subject=subject, shard=shard, slot=slot).set(**added).or_create()
    return update.only_if("attribute_not_exists(closed)").final()


def closed(kind: CounterKind, subject: str) -> list[Put]:
    """Close every part of a counter, before what was counted is removed: whatever is on its way fails as a whole. The
    parts expire when nothing can be on its way any more.
    """
    over = now() + timedelta(seconds=CLOSED_SECONDS)
    return [
        Put(Counter(kind=kind, subject=subject, shard=shard, slot=slot, closed=True, expires_at=over))
        for shard in parts(kind)
        for slot in range(COUNTER_SLOTS + 1)
    ]


class CountingWrites(Reads):
    """The writes of readers, and the gathering.

    Views, likes and ratings don't read the post, whose key would be as hot as the counters must not be: the caller has
    read it, and knows that it is published.
    """

    @write("W11")
    def count_view(self, post_id: str, views: ViewCount = 1) -> Writes:
        """Count a view by somebody who isn't signed in, or as many as a process has gathered: one addition."""
        yield counted("post", post_id, {"views": views}, alone=True)

    @write("W12", attempts=30)
    def view_post(self, post_id: str, user_id: str) -> Writes[bool]:
        """A user views a post, which counts once: whether it was the first time."""
        if (yield from self.post_seen.read(post_id, user_id)) is not None:
            return False
        yield Create(PostImpression(post_id=post_id, user_id=user_id))
        yield counted("post", post_id, {"views": 1})
        return True

    @write("W13", attempts=30)
    def like_post(self, post_id: str, user_id: str) -> Writes[bool]:
        """A user likes a post (and has seen it): whether they didn't before."""
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
        """A user takes a like back: whether there was one."""
        seen = yield from self.post_seen.read(post_id, user_id)
        if seen is None or not seen.liked:
            return False
        yield Update(seen, liked=False).only_if(liked=True)
        yield counted("post", post_id, {"likes": -1})
        return True

    @write("W15", attempts=30)
    def rate_post(self, post_id: str, user_id: str, stars: Stars | None) -> Writes[bool]:
        """A user gives a post one to five stars, or takes them back (None): whether that changed anything."""
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
        """A user views another's profile, which counts once: whether it was the first time. One's own doesn't count."""
        if user_id == viewed_id or (yield from self.user_viewed.read(user_id, viewed_id)) is not None:
            return False
        yield Create(UserImpression(user_id=user_id, viewed_id=viewed_id))
        yield counted("user", viewed_id, {"views": 1})
        return True

    # Gathering

    @write(
        "W17",
        attempts=3,
        example=Example().found(Post, status="published", ranked_at=None, views=0).found(Counter, closed=None),
    )
    def refresh_ranking(self, post_id: str) -> Writes[Refreshed]:
        """Bring a published post's counts and ranking up to date, at most once in RANKING_SECONDS.

        The points that it gained go to counters of its author and its tags, in the same transaction.
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
        """Bring a tag's rating up to date, at most once in TAG_SECONDS."""
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
        """Bring an author's rating, views and followers up to date, at most once in USER_SECONDS."""
        user = yield from self.user.read(user_id)
        if user is None:
            return "missing"
        if not _due(user.ranked_at, USER_SECONDS):
            return "too early"
        totals = totals_of((yield from self.counters.read("user", user_id, parts("user"))))
        rating, followers = max(0, totals.points), max(0, totals.followers)
        if (rating, totals.views, followers) == (user.rating, user.views, user.followers):
            return "unchanged"
        yield Update(user, rating=rating, views=totals.views, followers=followers, ranked_at=now()).only_if(
            ranked_at=user.ranked_at
        )
        return "refreshed"

    @write("W20", attempts=3)
    def refresh_front_page(self, *, force: bool = False, copies: bool = True) -> Writes[FrontPage]:
        """Make the front page anew, at most once in FRONT_PAGE_SECONDS unless ``force`` says so; gives it as it is
        then.

        The first copy is written on the condition that nobody else has made it meanwhile; the others follow, unless
        the caller writes them (``copies_of``).
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
    """The other copies of a front page that was made anew."""
    return (page.model_copy(update={"replica": replica}) for replica in range(1, FRONT_PAGE_REPLICAS))


def _due(last: datetime | None, seconds: float) -> bool:
    """Whether something that was done at ``last`` may be done again."""
    return last is None or now() - last >= timedelta(seconds=seconds)
