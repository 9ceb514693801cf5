# mypy: disable-error-code="empty-body"
"""The design of the social network: users, posts, comments, likes, follows in both directions, conversations.

Times stand in keys to the microsecond, followed by the item's id, so that two posts of one minute have an order.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import StringConstraints

from keyplan import (
    Add,
    Check,
    Create,
    Cursor,
    Delete,
    Design,
    Entity,
    Field,
    Index,
    Key,
    Page,
    Range,
    Table,
    Through,
    Update,
    Writes,
    now,
    read,
    ulid,
    write,
)
from keyplan.errors import ItemNotFound, Refused

__all__ = ["Comment", "Follower", "Following", "Like", "Membership", "Message", "Post", "Social", "User"]

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")

Text = Annotated[str, StringConstraints(min_length=1, max_length=5000)]


class User(Entity):
    """A user's profile, with counters."""

    user_id: str = Field(default_factory=ulid)
    name: str
    bio: str = ""
    followers: int = 0
    following: int = 0
    posts: int = 0
    joined_at: datetime = Field(default_factory=now)

    primary = Key("user#{user_id}", "info")


class Post(Entity):
    """A post, in its author's partition of posts; by its id on GSI1."""

    post_id: str = Field(default_factory=ulid)
    user_id: str
    text: Text
    likes: int = 0
    comments: int = 0
    created_at: datetime = Field(default_factory=now)

    primary = Key("user#{user_id}#post", "date#{created_at:%Y%m%d%H%M%S%f}#post#{post_id}")
    by_id = Key("post#{post_id}", "info", index=GSI1)


class Comment(Entity):
    """A comment on a post."""

    comment_id: str = Field(default_factory=ulid)
    post_id: str
    user_id: str
    text: Text
    created_at: datetime = Field(default_factory=now)

    primary = Key("post#{post_id}#comment", "date#{created_at:%Y%m%d%H%M%S%f}#comment#{comment_id}")


class Like(Entity):
    """A user likes a post; once, since it is one item."""

    post_id: str
    user_id: str
    liked_at: datetime = Field(default_factory=now)

    primary = Key("post#{post_id}#like", "like#{user_id}")


class Follower(Entity):
    """``follower_id`` follows ``user_id``: the user's side."""

    user_id: str
    follower_id: str
    since: datetime = Field(default_factory=now)

    primary = Key("user#{user_id}#followers", "user#{follower_id}")


class Following(Entity):
    """``user_id`` follows ``followed_id``: the follower's side, the mirror of Follower."""

    user_id: str
    followed_id: str
    since: datetime = Field(default_factory=now)

    primary = Key("user#{user_id}#following", "user#{followed_id}")


class Membership(Entity):
    """A user takes part in a conversation; on GSI1 by the time of its last message."""

    user_id: str
    conversation_id: str
    with_user_id: str
    last_message_at: datetime

    primary = Key("user#{user_id}#conversation", "conversation#{conversation_id}")
    by_recent = Key("user#{user_id}#conversation", "date#{last_message_at}", index=GSI1)


class Message(Entity):
    """A message of a conversation."""

    message_id: str = Field(default_factory=ulid)
    conversation_id: str
    user_id: str
    text: Text
    sent_at: datetime = Field(default_factory=now)

    primary = Key("conversation#{conversation_id}#message", "date#{sent_at:%Y%m%d%H%M%S%f}#message#{message_id}")


class Social(Design):
    """A social network: feeds, profiles, posts, comments, likes, follows, messages."""

    table = Table("social-media", indexes=[GSI1])

    @read("S1", through=Through(Following, user_id="followed_id"), newest_first=True)
    def feed(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Post]:
        """A user's feed: the posts of everyone whom the user follows, newest first."""
        ...

    @read("S2")
    def profile(self, user_id: str) -> User | None:
        """A user's profile."""
        ...

    @read("S3", newest_first=True)
    def posts_of_user(
        self, user_id: str, created_at: Range[datetime] | None = None, limit: int = 20, cursor: Cursor | None = None
    ) -> Page[Post]:
        """A user's posts, newest first; all, or those of a time."""
        ...

    @read("S4")
    def post_by_id(self, post_id: str) -> Post | None:
        """A post by its id."""
        ...

    @read("S5")
    def comments_on_post(self, post_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Comment]:
        """A post's comments, oldest first."""
        ...

    @read("S6")
    def likes_of_post(self, post_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[Like]:
        """Who likes a post."""
        ...

    @read("S7a")
    def followers(self, user_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[Follower]:
        """A user's followers."""
        ...

    @read("S7b")
    def following(self, user_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[Following]:
        """Whom a user follows."""
        ...

    @read("S8", order_by="-last_message_at")
    def conversations(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Membership]:
        """A user's conversations, the latest first."""
        ...

    @read("S9", newest_first=True)
    def messages(self, conversation_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[Message]:
        """The messages of a conversation, newest first."""
        ...

    @write("W1")
    def sign_up(self, user: User) -> Writes[User]:
        """A new user."""
        yield Create(user)
        return user

    @write("W2")
    def publish(self, post: Post) -> Writes[Post]:
        """A new post, counted by its author."""
        yield Create(post)
        yield Update(User, user_id=post.user_id).set(posts=Add(1))
        return post

    @write("W3", attempts=5)
    def delete_post(self, post_id: str) -> Writes:
        """Delete a post."""
        post = yield from self._post(post_id)
        yield Delete(post).only_if("attribute_exists(post_id)")
        yield Update(User, user_id=post.user_id).set(posts=Add(-1))

    @write("W4")
    def comment(self, comment: Comment) -> Writes[Comment]:
        """Comment on a post."""
        post = yield from self._post(comment.post_id)
        yield Create(comment)
        yield Update(post).set(comments=Add(1))
        return comment

    @write("W5")
    def like(self, post_id: str, user_id: str) -> Writes:
        """Like a post; a second time is refused."""
        post = yield from self._post(post_id)
        yield Create(Like(post_id=post_id, user_id=user_id))
        yield Check(User, user_id=user_id)
        yield Update(post).set(likes=Add(1))

    @write("W6")
    def unlike(self, post_id: str, user_id: str) -> Writes:
        """Take a like back."""
        post = yield from self._post(post_id)
        yield Delete(Like, post_id=post_id, user_id=user_id).only_if("attribute_exists(user_id)")
        yield Update(post).set(likes=Add(-1))

    @write("W7")
    def follow(self, user_id: str, followed_id: str) -> Writes:
        """Follow a user: both directions and both counters, all or nothing."""
        if user_id == followed_id:
            raise Refused("nobody follows themselves", place="Social.follow")
        moment = now()
        yield Create(Following(user_id=user_id, followed_id=followed_id, since=moment))
        yield Create(Follower(user_id=followed_id, follower_id=user_id, since=moment))
        yield Update(User, user_id=user_id).set(following=Add(1))
        yield Update(User, user_id=followed_id).set(followers=Add(1))

    @write("W8")
    def unfollow(self, user_id: str, followed_id: str) -> Writes:
        """Stop following a user."""
        yield Delete(Following, user_id=user_id, followed_id=followed_id).only_if("attribute_exists(user_id)")
        yield Delete(Follower, user_id=followed_id, follower_id=user_id)
        yield Update(User, user_id=user_id).set(following=Add(-1))
        yield Update(User, user_id=followed_id).set(followers=Add(-1))

    def _post(self, post_id: str) -> Writes[Post]:
        post = yield from self.post_by_id.ask(post_id)
        if post is None:
            raise ItemNotFound(f"there is no post {post_id!r}", place="Social.post_by_id")
        return post
