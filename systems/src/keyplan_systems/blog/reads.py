# mypy: disable-error-code="empty-body"
"""The blog's read patterns: B1 to B15 of the document (a letter marks a variant), B16 to B18 about comments, and R1
to R16 for the site and the writes.

``entities`` has the entities; the class ``Blog`` in ``design`` combines reads and writes.
"""

from __future__ import annotations

from datetime import datetime

from keyplan import Cursor, Each, Page, Prefix, Range, read
from keyplan_systems.blog.entities import (
    Comment,
    CommentStatus,
    ContactMessage,
    Counter,
    CounterKind,
    Credential,
    FrontPage,
    Month,
    Post,
    PostAddress,
    PostContent,
    PostImpression,
    PostSlug,
    PostStatus,
    PostTag,
    PostTagCombo,
    PostWithContent,
    ProviderUser,
    Redirect,
    Tags,
    Upload,
    User,
    UserImpression,
    UserStatus,
)


class Reads:
    """All access patterns that read."""

    # Posts

    @read("B1", where={"status": "published"}, order_by="-listed_at")
    def latest_posts(self, limit: int = 10, cursor: Cursor | None = None) -> Page[Post]:
        """The latest published posts, newest first."""
        ...

    @read("B1b", where={"status": "published"}, order_by="listed_at")
    def published_between(
        self, listed_at: Range[datetime] | None = None, limit: int = 100, cursor: Cursor | None = None
    ) -> Page[Post]:
        """The posts published in a time range, oldest first: for archive pages and the sitemap."""
        ...

    @read("B2", where={"status": "published"}, order_by="-rating_sk")
    def popular_posts(self, limit: int = 10, cursor: Cursor | None = None) -> Page[Post]:
        """The most popular posts, by views, likes and ratings."""
        ...

    @read("B3", through=PostSlug)
    def post_by_slug(self, slug: str) -> Post | None:
        """A post by its slug, current or old."""
        ...

    @read("B3b")
    def slug_of(self, slug: str) -> PostSlug | None:
        """The post id of a slug."""
        ...

    @read("B3c")
    def whole_post(self, post_id: str) -> PostWithContent | None:
        """A post with its text, in one query."""
        ...

    @read("B4", newest_first=True)
    def posts_of_user(
        self, user_id: str, status: PostStatus, limit: int = 10, cursor: Cursor | None = None
    ) -> Page[Post]:
        """An author's posts with a status, newest first."""
        ...

    @read("B5", where={"used": True}, order_by="-rating_sk")
    def trending_tags(self, limit: int = 10) -> list[PostTag]:
        """The currently most popular tags."""
        ...

    @read("B6", where={"used": True})
    def tags_starting(self, tag: Prefix, limit: int = 10) -> list[PostTag]:
        """The tags with a prefix (in lower case)."""
        ...

    @read("B7", through=PostTagCombo, newest_first=True)
    def posts_by_tags(self, tags: Tags, limit: int = 10, cursor: Cursor | None = None) -> Page[Post]:
        """The published posts with all of these tags, newest first."""
        ...

    # Users

    @read("B8", through=Credential, consistent=True)
    def user_by_email(self, email: str) -> User | None:
        """A user by email (in lower case), for sign-in: strongly consistent, by the claim."""
        ...

    @read("B9")
    def user_by_username(self, username: str) -> User | None:
        """A user by username (in lower case)."""
        ...

    @read("B9b", consistent=True)
    def user_to_sign_in(self, username: str) -> User | None:
        """A user by username, for sign-in: strongly consistent, by the claim."""
        ...

    @read("B10", through=ProviderUser)
    def user_by_provider(self, provider: str, external_id: str) -> User | None:
        """A user by an external identity."""
        ...

    @read("B11", order_by="-rating_sk")
    def users_by_rating(self, status: UserStatus, limit: int = 20, cursor: Cursor | None = None) -> Page[User]:
        """The users with a status, highest rating first."""
        ...

    @read("B12", order_by="-created_at")
    def latest_users(self, status: UserStatus, limit: int = 20, cursor: Cursor | None = None) -> Page[User]:
        """The users with a status, newest first."""
        ...

    # Impressions and messages

    @read("B13a")
    def post_seen(self, post_id: str, user_id: str) -> PostImpression | None:
        """Whether a user has seen, liked or rated a post."""
        ...

    @read("B13b")
    def who_saw_post(self, post_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[PostImpression]:
        """The users who saw a post."""
        ...

    @read("B14")
    def user_viewed(self, user_id: str, viewed_id: str) -> UserImpression | None:
        """Whether a user has viewed another user's profile."""
        ...

    @read("B15", newest_first=True)
    def contact_messages(self, month: Month, limit: int = 20, cursor: Cursor | None = None) -> Page[ContactMessage]:
        """A month's contact messages, newest first."""
        ...

    # Comments

    @read("B16")
    def comments(self, post_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[Comment]:
        """A post's comments, oldest thread first, replies after the comment they reply to."""
        ...

    @read("B17", newest_first=True)
    def latest_comments(self, status: CommentStatus, limit: int = 20, cursor: Cursor | None = None) -> Page[Comment]:
        """All comments with a status, newest first: for moderators."""
        ...

    @read("B18", newest_first=True)
    def comments_of_user(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Comment]:
        """A user's comments, newest first."""
        ...

    # Patterns that the site and the writes use

    @read("R1")
    def post(self, post_id: str) -> Post | None:
        """A post by its id, without its text."""
        ...

    @read("R2")
    def user(self, user_id: str) -> User | None:
        """A user by their id."""
        ...

    @read("R3")
    def users(self, user_id: Each[str]) -> list[User]:
        """Several users by id: for example the authors of a page of posts."""
        ...

    @read("R5")
    def tag(self, tag: str) -> PostTag | None:
        """A tag by its name (in lower case)."""
        ...

    @read("R6")
    def tags(self, tag: Each[str]) -> list[PostTag]:
        """Several tags by their names (in lower case)."""
        ...

    @read("R7", items=16)
    def counters(self, kind: CounterKind, subject: str, shard: Each[int]) -> list[Counter]:
        """The shards of a counter: one query per partition."""
        ...

    @read("R8")
    def front_page(self, replica: int) -> FrontPage | None:
        """A copy of the front page's contents."""
        ...

    @read("R9")
    def provider_user(self, provider: str, external_id: str) -> ProviderUser | None:
        """The user id of an external identity."""
        ...

    @read("R10")
    def redirect(self, path: str) -> Redirect | None:
        """The post of a redirected URL."""
        ...

    @read("R11", items=8)
    def addresses_of(self, post_id: str) -> list[PostAddress]:
        """The other URLs of a post: former slugs, URLs elsewhere."""
        ...

    @read("R12", items=100)
    def uploads_of(self, user_id: str) -> list[Upload]:
        """The images that a user uploaded."""
        ...

    @read("R13")
    def comment(self, post_id: str, thread_id: str, comment_id: str) -> Comment | None:
        """A comment by its key."""
        ...

    @read("R14")
    def viewed_by(self, user_id: str, limit: int = 100, cursor: Cursor | None = None) -> Page[UserImpression]:
        """The users whose profiles a user has viewed."""
        ...

    @read("R15")
    def contents(self, post_id: Each[str]) -> list[PostContent]:
        """The content of several posts, for feeds."""
        ...

    @read("R16")
    def posts(self, post_id: Each[str]) -> list[Post]:
        """Several posts by id, for search results."""
        ...
