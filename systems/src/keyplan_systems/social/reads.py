# mypy: disable-error-code="empty-body"
"""The questions of the social network. The writes are in ``people.py`` and ``design.py``, the entities in
``entities.py``.
"""

from __future__ import annotations

from datetime import datetime

from keyplan import Cursor, Each, Page, Range, Through, read
from keyplan_systems.social.entities import (
    Block,
    Comment,
    Credential,
    Delivery,
    Follower,
    Following,
    FollowRequest,
    Handle,
    Like,
    Membership,
    Message,
    Notification,
    NotificationsSeen,
    Post,
    PostTally,
    Subscription,
    TimelineEntry,
    User,
    UserTally,
)
from keyplan_systems.social.limits import AUDIENCE_MAX, SHARDS

__all__ = ["Reads"]


class Reads:
    """Every question of the network."""

    @read(
        "S1",
        through=[Through(Following, user_id="followed_id"), Through(TimelineEntry, user_id="author_id")],
        where={"delivery": "read"},
        newest_first=True,
    )
    def feed(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Post]:
        """A user's feed: the posts of everyone whom the user follows, newest first."""
        ...

    @read("S2")
    def profile(self, user_id: str) -> User | None:
        """A user's profile."""
        ...

    @read("S2b", consistent=True)
    def user_by_handle(self, handle: Handle) -> User | None:
        """A user by the handle, which one user has."""
        ...

    @read("S3", newest_first=True)
    def posts_of_user(
        self, user_id: str, created_at: Range[datetime] | None = None, limit: int = 20, cursor: Cursor | None = None
    ) -> Page[Post]:
        """A user's posts, newest first; all, or those of a day or another time."""
        ...

    @read("S4")
    def post_by_id(self, post_id: str) -> Post | None:
        """A post by its id."""
        ...

    @read("S5")
    def comments_on_post(self, post_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Comment]:
        """A post's comments, oldest first."""
        ...

    @read("S6a")
    def likes_of_post(self, post_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[Like]:
        """Who likes a post."""
        ...

    @read("S6b")
    def like_of(self, post_id: str, user_id: str) -> Like | None:
        """Whether a user likes a post."""
        ...

    @read("S7a")
    def followers(self, user_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[Follower]:
        """A user's followers."""
        ...

    @read("S7b")
    def following(self, user_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[Following]:
        """Whom a user follows."""
        ...

    @read("S7c")
    def follows(self, user_id: str, followed_id: str) -> Following | None:
        """Whether a user follows another."""
        ...

    @read("S8a", order_by="-last_message_at")
    def conversations(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Membership]:
        """A user's conversations, the latest first."""
        ...

    @read("S8b")
    def membership(self, user_id: str, conversation_id: str) -> Membership | None:
        """A user's part in a conversation: with whom, how many messages are unread."""
        ...

    @read("S9", newest_first=True)
    def messages(self, conversation_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[Message]:
        """The messages of a conversation, newest first."""
        ...

    @read("R1", items=AUDIENCE_MAX)
    def audience(self, user_id: str) -> list[Subscription]:
        """Into whose timelines a user's posts are delivered."""
        ...

    @read("R2", items=SHARDS)
    def user_tallies(self, user_id: str) -> list[UserTally]:
        """The parts of a counter of followers that was spread; their sum is exact."""
        ...

    @read("R3", items=SHARDS)
    def post_tallies(self, post_id: str) -> list[PostTally]:
        """The parts of a post's counters that were spread; their sums are exact."""
        ...

    @read("R4", order_by="begun_at")
    def undelivered(self, limit: int = 20, cursor: Cursor | None = None) -> Page[Delivery]:
        """The deliveries that haven't ended, oldest first. One runs, or was broken off: then ``deliver`` ends it."""
        ...

    @read("R5")
    def deliveries_of(self, user_id: str) -> list[Delivery]:
        """The deliveries of an author's posts that haven't ended."""
        ...

    @read("R6")
    def subscription(self, user_id: str, reader_id: str) -> Subscription | None:
        """Whether an author's posts are delivered into a reader's timeline."""
        ...

    @read("R7")
    def credential(self, user_id: str) -> Credential | None:
        """What a user signs in with."""
        ...

    @read("R8")
    def block_of(self, user_id: str, blocked_id: str) -> Block | None:
        """Whether a user blocks another."""
        ...

    @read("R9")
    def blocks(self, user_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[Block]:
        """Whom a user blocks."""
        ...

    @read("R12")
    def blocked_by(self, user_id: Each[str], blocked_id: str) -> list[Block]:
        """Which of several users block one."""
        ...

    @read("R13")
    def blocked_of(self, user_id: str, blocked_id: Each[str]) -> list[Block]:
        """Which of several users one blocks."""
        ...

    @read("R10")
    def comment_of(self, post_id: str, created_at: datetime, comment_id: str) -> Comment | None:
        """A comment, by its place under its post."""
        ...

    @read("R11")
    def request_of(self, user_id: str, follower_id: str) -> FollowRequest | None:
        """Whether somebody has asked to follow a private user."""
        ...

    @read("S10", newest_first=True)
    def notifications(
        self, user_id: str, at: Range[datetime] | None = None, limit: int = 20, cursor: Cursor | None = None
    ) -> Page[Notification]:
        """What others did that a user hears of, newest first: all of it, or of a span of time."""
        ...

    @read("S10b")
    def notifications_seen(self, user_id: str) -> NotificationsSeen | None:
        """Until when a user has seen their notifications."""
        ...

    @read("S11")
    def follow_requests(self, user_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[FollowRequest]:
        """Who asks to follow a private user."""
        ...
