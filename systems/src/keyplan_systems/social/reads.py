# mypy: disable-error-code="empty-body"
"""The read patterns of the social network."""

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


class Reads:
    """Every read pattern."""

    @read(
        "S1",
        through=[Through(Following, user_id="followed_id"), Through(TimelineEntry, user_id="author_id")],
        where={"delivery": "read"},
        newest_first=True,
    )
    def feed(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Post]:
        """A user's feed: the posts of all users that they follow, newest first."""
        ...

    @read("S2")
    def profile(self, user_id: str) -> User | None:
        """A user's profile."""
        ...

    @read("R11")
    def profiles(self, user_id: Each[str]) -> list[User]:
        """The profiles of several users."""
        ...

    @read("S2b", consistent=True)
    def user_by_handle(self, handle: Handle) -> User | None:
        """A user by their unique handle."""
        ...

    @read("S3", newest_first=True)
    def posts_of_user(
        self, user_id: str, created_at: Range[datetime] | None = None, limit: int = 20, cursor: Cursor | None = None
    ) -> Page[Post]:
        """A user's posts, newest first: all, or those of a day or another time range."""
        ...

    @read("S4")
    def post_by_id(self, post_id: str) -> Post | None:
        """A post by its id."""
        ...

    @read("S12", newest_first=True, complete=True)
    def latest_posts(self, limit: int = 20, cursor: Cursor | None = None) -> Page[Post]:
        """The newest posts of all users."""
        ...

    @read("S5")
    def comments_on_post(self, post_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Comment]:
        """A post's comments, oldest first."""
        ...

    @read("S6a")
    def likes_of_post(self, post_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[Like]:
        """The likes of a post."""
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
        """The users that a user follows."""
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
        """A user's side of a conversation: the other user, and the number of unread messages."""
        ...

    @read("S9", newest_first=True)
    def messages(self, conversation_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[Message]:
        """The messages of a conversation, newest first."""
        ...

    @read("R1", items=AUDIENCE_MAX)
    def audience(self, user_id: str) -> list[Subscription]:
        """The timelines that a user's posts are delivered to."""
        ...

    @read("R2", items=SHARDS)
    def user_tallies(self, user_id: str) -> list[UserTally]:
        """The shards of a counter of followers; their sum is exact."""
        ...

    @read("R3", items=SHARDS)
    def post_tallies(self, post_id: str) -> list[PostTally]:
        """The shards of a post's counters; their sums are exact."""
        ...

    @read("R4", order_by="begun_at")
    def undelivered(self, limit: int = 20, cursor: Cursor | None = None) -> Page[Delivery]:
        """The unfinished deliveries, oldest first. ``deliver`` finishes one that was interrupted."""
        ...

    @read("R5")
    def deliveries_of(self, user_id: str) -> list[Delivery]:
        """The unfinished deliveries of an author."""
        ...

    @read("R6")
    def subscription(self, user_id: str, reader_id: str) -> Subscription | None:
        """Whether an author's posts are delivered into a reader's timeline."""
        ...

    @read("R7")
    def credential(self, user_id: str) -> Credential | None:
        """A user's password hash."""
        ...

    @read("R8")
    def block_of(self, user_id: str, blocked_id: str) -> Block | None:
        """Whether a user blocks another."""
        ...

    @read("R9")
    def blocks(self, user_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[Block]:
        """The users that a user blocks."""
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
        """A comment by its key."""
        ...

    @read("S10", newest_first=True)
    def notifications(
        self, user_id: str, at: Range[datetime] | None = None, limit: int = 20, cursor: Cursor | None = None
    ) -> Page[Notification]:
        """A user's notifications, newest first: all, or those of a time range."""
        ...

    @read("S10b")
    def notifications_seen(self, user_id: str) -> NotificationsSeen | None:
        """The time up to which a user has seen their notifications."""
        ...
