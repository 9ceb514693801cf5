"""The entities of the social network and their keys.

A time in a key has microseconds and is followed by the item's id, so that two posts of one minute have an order.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal, Self
from urllib.parse import quote

from pydantic import AfterValidator, StringConstraints

from keyplan import Entity, Field, Index, Key, Ttl, Unique, now, ulid
from keyplan_systems.words import visible

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
GSI2 = Index("GSI2", "gsi2pk", "gsi2sk", projection="KEYS_ONLY")
"""The index of the public timeline. A like changes no key, so it doesn't write to this index."""

Id = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Handle = Annotated[str, StringConstraints(min_length=1, max_length=50, strip_whitespace=True, to_lower=True)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=5000), AfterValidator(visible)]

NotificationKind = Literal["follow", "like", "comment"]

PREVIEW_MAX = 80
"""Maximum number of characters of a message that its conversation shows."""
NOTIFICATIONS_KEPT = timedelta(days=90)


class User(Entity):
    """A user's profile, with counters.

    ``followers`` is exact until the counter is sharded (``shards``). Then the sum of its tallies is exact, and
    ``followers`` is the last sum that was read. ``audience`` counts the timelines that posts are delivered to.
    ``audience_changes`` and ``posts_ever`` only grow: writes use them as versions.
    """

    user_id: Id = Field(default_factory=ulid)
    handle: Handle
    name: Name
    bio: str = Field(default="", max_length=5000)
    followers: int = Field(default=0, ge=0)
    following: int = Field(default=0, ge=0)
    posts: int = Field(default=0, ge=0)
    posts_ever: int = Field(default=0, ge=0)
    audience: int = Field(default=0, ge=0)
    audience_changes: int = Field(default=0, ge=0)
    shards: int = Field(default=0, ge=0)
    joined_at: datetime = Field(default_factory=now)

    primary = Key("user#{user_id}", "info")
    one_handle = Unique("handle#{handle}")


class Credential(Entity):
    """Data for sign-in: the hash of a password, separate from the public profile."""

    user_id: Id
    password_hash: Annotated[str, StringConstraints(min_length=1, max_length=500)] = Field(repr=False)

    primary = Key("user#{user_id}", "credential")


class Block(Entity):
    """``user_id`` blocks ``blocked_id``: neither can follow, like, comment on or write to the other."""

    user_id: Id
    blocked_id: Id
    since: datetime = Field(default_factory=now)

    primary = Key("user#{user_id}#blocks", "user#{blocked_id}")


class Notification(Entity):
    """Another user followed ``user_id``, or liked or commented on a post of theirs. The key is built from that action,
    so that undoing it can delete the notification.
    """

    user_id: Id
    at: datetime
    kind: NotificationKind
    by_user_id: Id
    post_id: Id | None = None
    text: str = ""
    expires_at: Ttl

    primary = Key("user#{user_id}#notifications", "date#{at:%Y%m%d%H%M%S%f}#{kind}#{by_user_id}")

    @classmethod
    def of_follow(cls, link: Following) -> Self:
        """The notification of a new follower."""
        return cls._of(link.followed_id, "follow", link.user_id, link.since)

    @classmethod
    def of_said(cls, post: Post, said: Like | Comment) -> Self:
        if isinstance(said, Like):
            made = cls._of(post.user_id, "like", said.user_id, said.liked_at)
            text = post.text
        else:
            made = cls._of(post.user_id, "comment", said.user_id, said.created_at)
            text = said.text
        return made.model_copy(update={"post_id": post.post_id, "text": preview_of(text)})

    @classmethod
    def _of(cls, user_id: str, kind: NotificationKind, by_user_id: str, at: datetime) -> Self:
        expires_at = (at + NOTIFICATIONS_KEPT).replace(microsecond=0)
        return cls(user_id=user_id, at=at, kind=kind, by_user_id=by_user_id, expires_at=expires_at)


class NotificationsSeen(Entity):
    """The time up to which a user has seen their notifications."""

    user_id: Id
    until: datetime

    primary = Key("user#{user_id}", "notifications")


class Post(Entity):
    """A post, in its author's partition of posts; by its id in GSI1, and by time among all posts in GSI2.

    ``likes`` and ``comments`` are exact until they are sharded over ``shards`` tallies.
    """

    post_id: Id = Field(default_factory=ulid)
    user_id: Id
    text: Text
    likes: int = Field(default=0, ge=0)
    comments: int = Field(default=0, ge=0)
    shards: int = Field(default=0, ge=0)
    created_at: datetime = Field(default_factory=now)

    primary = Key("user#{user_id}#post", "date#{created_at:%Y%m%d%H%M%S%f}#post#{post_id}")
    by_id = Key("post#{post_id}", "info", index=GSI1)
    latest = Key("posts", "date#{created_at:%Y%m%d%H%M%S%f}#post#{post_id}", index=GSI2, shards=8)


class Comment(Entity):
    """A comment on a post."""

    comment_id: Id = Field(default_factory=ulid)
    post_id: Id
    user_id: Id
    text: Text
    created_at: datetime = Field(default_factory=now)

    primary = Key("post#{post_id}#comment", "date#{created_at:%Y%m%d%H%M%S%f}#comment#{comment_id}")


class Like(Entity):
    """A user's like of a post: one item, so a user can like a post only once."""

    post_id: Id
    user_id: Id
    liked_at: datetime = Field(default_factory=now)

    primary = Key("post#{post_id}#like", "like#{user_id}")


class Follower(Entity):
    """``follower_id`` follows ``user_id``: the user's side."""

    user_id: Id
    follower_id: Id
    since: datetime = Field(default_factory=now)

    primary = Key("user#{user_id}#followers", "user#{follower_id}")


class Following(Entity):
    """``user_id`` follows ``followed_id``: the follower's side, the mirror of Follower.

    ``delivery`` sets how posts get into the feed: queried when the feed is read, or delivered when they are published.
    Followings with delivery on read are also in GSI1, so that a feed reads only those.
    """

    user_id: Id
    followed_id: Id
    since: datetime = Field(default_factory=now)
    delivery: Literal["read", "write"] = "read"

    primary = Key("user#{user_id}#following", "user#{followed_id}")
    on_read = Key("user#{user_id}#following", "user#{followed_id}", index=GSI1, when={"delivery": "read"})


class Subscription(Entity):
    """The posts of ``user_id`` are delivered into the timeline of ``reader_id``: the mirror of a Following on write."""

    user_id: Id
    reader_id: Id

    primary = Key("user#{user_id}#audience", "user#{reader_id}")


class TimelineEntry(Entity):
    """A post in a reader's timeline: a pointer, under the same sort key as the post itself."""

    user_id: Id
    author_id: Id
    created_at: datetime
    post_id: Id

    primary = Key("user#{user_id}#timeline", "date#{created_at:%Y%m%d%H%M%S%f}#post#{post_id}")

    @classmethod
    def of(cls, post: Post, reader_id: str) -> Self:
        """A post's entry in a reader's timeline."""
        return cls(user_id=reader_id, author_id=post.user_id, created_at=post.created_at, post_id=post.post_id)


class Delivery(Entity):
    """A write of timelines in progress: one post (``post_id``) into all timelines of its author's audience, or all
    posts of an author into or out of the timeline of ``reader_id``. It is created in the transaction that needs it, and
    deleted when all entries are written. All deliveries are in GSI1, in 8 shards.
    """

    delivery_id: Id = Field(default_factory=ulid)
    user_id: Id
    post_id: Id | None = None
    created_at: datetime | None = None
    reader_id: Id | None = None
    begun_at: datetime = Field(default_factory=now)

    primary = Key("user#{user_id}#delivery", "delivery#{delivery_id}")
    pending = Key("delivery", "date#{begun_at:%Y%m%d%H%M%S%f}#{delivery_id}", index=GSI1, shards=8)

    @classmethod
    def of(cls, post: Post) -> Self:
        return cls(user_id=post.user_id, post_id=post.post_id, created_at=post.created_at)

    def entries(self, reader_id: str) -> list[TimelineEntry]:
        if self.post_id is None or self.created_at is None:
            return []
        entry = TimelineEntry(
            user_id=reader_id, author_id=self.user_id, created_at=self.created_at, post_id=self.post_id
        )
        return [entry]

    def concerns(self, reader_id: str) -> bool:
        """Whether this delivery may write the reader's timeline."""
        return self.reader_id is None or self.reader_id == reader_id


class UserTally(Entity):
    """One shard of a counter of followers. A shard may be negative; the sum isn't."""

    user_id: Id
    shard: int = Field(ge=0)
    followers: int = 0

    primary = Key("user#{user_id}#tally", "shard#{shard:02d}")


class PostTally(Entity):
    """One shard of a post's counters."""

    post_id: Id
    shard: int = Field(ge=0)
    likes: int = 0
    comments: int = 0

    primary = Key("post#{post_id}#tally", "shard#{shard:02d}")


class Membership(Entity):
    """A user takes part in a conversation; on GSI1 by the time of its last message."""

    user_id: Id
    conversation_id: Id
    with_user_id: Id
    last_message_at: datetime
    last_text: str = ""
    unread: int = Field(default=0, ge=0)

    primary = Key("user#{user_id}#conversation", "conversation#{conversation_id}")
    by_recent = Key(
        "user#{user_id}#conversation", "date#{last_message_at:%Y%m%d%H%M%S%f}#{conversation_id}", index=GSI1
    )


class Message(Entity):
    """A message of a conversation."""

    message_id: Id = Field(default_factory=ulid)
    conversation_id: Id
    user_id: Id
    text: Text
    sent_at: datetime = Field(default_factory=now)

    primary = Key("conversation#{conversation_id}#message", "date#{sent_at:%Y%m%d%H%M%S%f}#message#{message_id}")


def conversation_of(text: str, other: str) -> str:
    """The id of the conversation of two users: the same from both sides, and unique to these two users."""
    return ":".join(sorted(quote(name, safe="", errors="surrogatepass") for name in (text, other)))


def preview_of(text: str) -> str:
    """The beginning of a message, as its conversation shows it."""
    return text if len(text) <= PREVIEW_MAX else f"{text[: PREVIEW_MAX - 1].rstrip()}…"
