# mypy: disable-error-code="empty-body"
"""The design of the blog: users, posts, slugs, tags and their combinations, impressions, contact messages.

Index and attribute names follow the document. Hot index partitions (all published posts) are spread over shards.
"""

from __future__ import annotations

from datetime import datetime
from itertools import combinations
from typing import Annotated, Literal

from pydantic import AfterValidator, computed_field

from keyplan import (
    Create,
    Cursor,
    Design,
    Entity,
    Field,
    Index,
    Key,
    Number,
    Page,
    Prefix,
    Table,
    Unique,
    Writes,
    now,
    read,
    ulid,
    write,
)
from keyplan.errors import Refused

__all__ = [
    "Blog",
    "ContactMessage",
    "Post",
    "PostImpression",
    "PostSlug",
    "PostTag",
    "PostTagCombo",
    "ProviderUser",
    "User",
    "UserImpression",
]

USERS_BY_EMAIL = Index("USERS_BY_EMAIL", "user_email_pk")
USERS_BY_USERNAME = Index("USERS_BY_USERNAME", "username")
USERS_BY_STATUS_RATING = Index("USERS_BY_STATUS_RATING", "user_status_pk", Number("rating_sk"))
USERS_BY_STATUS_CREATED_AT = Index("USERS_BY_STATUS_CREATED_AT", "user_status_pk", Number("created_at_sk"))
POSTS_BY_STATUS_CREATED_AT = Index("POSTS_BY_STATUS_CREATED_AT", "post_status_pk", Number("created_at_sk"))
POSTS_BY_STATUS_RATING = Index("POSTS_BY_STATUS_RATING", "post_status_pk", Number("rating_sk"))
POSTS_BY_USER_STATUS_CREATED_AT = Index(
    "POSTS_BY_USER_STATUS_CREATED_AT", "post_user_status_pk", Number("created_at_sk")
)
POSTS_BY_SLUG = Index("POSTS_BY_SLUG", "post_slug")
TAGS_BY_TYPE_RATING = Index("TAGS_BY_TYPE_RATING", "tag_type_pk", Number("rating_sk"))
TAGS_BY_TYPE_NAME = Index("TAGS_BY_TYPE_NAME", "tag_type_pk", "tag_name_sk")

UserStatus = Literal["active", "suspended", "deleted"]
PostStatus = Literal["unpublished", "published", "archived"]
STATUS_SHARDS = 8
COMBO_TAGS_MAX = 5
"""Tags of a post that make combinations: n tags are 2ⁿ−1 items."""


def _sorted(tags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(tags)))


Tags = Annotated[tuple[str, ...], AfterValidator(_sorted), Field(min_length=1, max_length=COMBO_TAGS_MAX)]


def rating_key(rating: int, at: datetime) -> int:
    """One number that sorts by rating, then by time: 10000001759086095241 is rating 1,000,000 and 1759086095241 ms."""
    return rating * 10**13 + int(at.timestamp() * 1000)


class User(Entity):
    """A user: profile, sign-in, counters."""

    user_id: str = Field(default_factory=ulid)
    email: str
    name: str
    username: str
    status: UserStatus = "active"
    rating: int = 0
    created_at: datetime = Field(default_factory=now)

    @computed_field  # type: ignore[prop-decorator] # pydantic's documented form
    @property
    def rating_sk(self) -> int:
        """Rating, then time."""
        return rating_key(self.rating, self.created_at)

    primary = Key("USER#{user_id}", "META")
    by_email = Key("{email}", index=USERS_BY_EMAIL)
    by_username = Key("{username}", index=USERS_BY_USERNAME)
    by_status_rating = Key("USER#{status}", "{rating_sk}", index=USERS_BY_STATUS_RATING)
    by_status_created = Key("USER#{status}", "{created_at:ms}", index=USERS_BY_STATUS_CREATED_AT)
    email_claim = Unique("USER_EMAIL#{email}", "META")
    username_claim = Unique("USERNAME#{username}", "META")


class ProviderUser(Entity):
    """A user of an external identity provider."""

    provider: str
    external_id: str
    user_id: str

    primary = Key("PROVIDER_USER#{provider}#{external_id}", "META")


class Post(Entity):
    """A post with its ranking."""

    post_id: str = Field(default_factory=ulid)
    user_id: str
    slug: str
    title: str
    content: str
    status: PostStatus = "unpublished"
    rating: int = 0
    tags: tuple[str, ...] = ()
    created_at: datetime = Field(default_factory=now)

    @computed_field  # type: ignore[prop-decorator] # pydantic's documented form
    @property
    def rating_sk(self) -> int:
        """Rating, then time."""
        return rating_key(self.rating, self.created_at)

    primary = Key("POST#{post_id}", "META")
    by_status_created = Key(
        "POST#STATUS#{status}", "{created_at:ms}", index=POSTS_BY_STATUS_CREATED_AT, shards=STATUS_SHARDS
    )
    by_status_rating = Key("POST#STATUS#{status}", "{rating_sk}", index=POSTS_BY_STATUS_RATING, shards=STATUS_SHARDS)
    by_user_status = Key(
        "POST#USER#{user_id}#STATUS#{status}", "{created_at:ms}", index=POSTS_BY_USER_STATUS_CREATED_AT
    )
    by_slug = Key("{slug}", index=POSTS_BY_SLUG)


class PostSlug(Entity):
    """A slug leads to a post; a post's old slugs stay, and redirect."""

    slug: str
    post_id: str

    primary = Key("POST_SLUG#{slug}", "META")


class PostTag(Entity):
    """A tag with its popularity."""

    tag: str
    rating: int = 0
    created_at: datetime = Field(default_factory=now)

    @computed_field  # type: ignore[prop-decorator] # pydantic's documented form
    @property
    def rating_sk(self) -> int:
        """Rating, then time."""
        return rating_key(self.rating, self.created_at)

    primary = Key("POST_TAG#{tag}", "META")
    by_rating = Key("POST_TAG", "{rating_sk}", index=TAGS_BY_TYPE_RATING)
    by_name = Key("POST_TAG", "{tag}", index=TAGS_BY_TYPE_NAME)


class PostTagCombo(Entity):
    """A post carries all of these tags."""

    tags: Tags
    post_id: str

    primary = Key("POST_TAG_COMBO#{tags}", "POST#{post_id}")


class UserImpression(Entity):
    """A user has viewed another."""

    user_id: str
    viewed_id: str
    at: datetime = Field(default_factory=now)

    primary = Key("USER#{user_id}", "REL#USER#{viewed_id}")


class PostImpression(Entity):
    """A user has seen a post."""

    post_id: str
    user_id: str
    at: datetime = Field(default_factory=now)

    primary = Key("POST#{post_id}", "IMP#USER#{user_id}")


class ContactMessage(Entity):
    """A message of the contact form; a month's messages are one partition."""

    message_id: str = Field(default_factory=ulid)
    name: str
    email: str
    text: str
    at: datetime = Field(default_factory=now)

    @computed_field  # type: ignore[prop-decorator] # pydantic's documented form
    @property
    def month(self) -> str:
        """The month of the message, ``2026-11``."""
        return f"{self.at:%Y-%m}"

    primary = Key("CONTACT_MESSAGE#{month}", "{at}#{message_id}")


class Blog(Design):
    """A blog platform: fifteen questions, one table, ten indexes."""

    table = Table(
        "blog",
        indexes=[
            USERS_BY_EMAIL,
            USERS_BY_USERNAME,
            USERS_BY_STATUS_RATING,
            USERS_BY_STATUS_CREATED_AT,
            POSTS_BY_STATUS_CREATED_AT,
            POSTS_BY_SLUG,
            TAGS_BY_TYPE_RATING,
            POSTS_BY_STATUS_RATING,
            TAGS_BY_TYPE_NAME,
            POSTS_BY_USER_STATUS_CREATED_AT,
        ],
    )

    @read("B1", where={"status": "published"}, order_by="-created_at")
    def latest_posts(self, limit: int = 10, cursor: Cursor | None = None) -> Page[Post]:
        """The latest published posts."""
        ...

    @read("B2", where={"status": "published"}, order_by="-rating_sk")
    def popular_posts(self, limit: int = 10, cursor: Cursor | None = None) -> Page[Post]:
        """The most popular posts."""
        ...

    @read("B3", through=PostSlug)
    def post_by_slug(self, slug: str) -> Post | None:
        """A post by its slug, current or old."""
        ...

    @read("B4", newest_first=True)
    def posts_of_user(
        self, user_id: str, status: PostStatus, limit: int = 10, cursor: Cursor | None = None
    ) -> Page[Post]:
        """An author's posts in a status, newest first."""
        ...

    @read("B5", order_by="-rating_sk")
    def trending_tags(self, limit: int = 10) -> list[PostTag]:
        """The tags with the highest rating."""
        ...

    @read("B6")
    def tags_starting(self, tag: Prefix, limit: int = 10) -> list[PostTag]:
        """The tags that begin with a text."""
        ...

    @read("B7", through=PostTagCombo, newest_first=True)
    def posts_by_tags(self, tags: Tags, limit: int = 10, cursor: Cursor | None = None) -> Page[Post]:
        """The posts that carry all of these tags, newest first."""
        ...

    @read("B8", consistent=True)
    def user_by_email(self, email: str) -> User | None:
        """A user by email, for sign-in: strongly consistent, by the claim on the email."""
        ...

    @read("B9")
    def user_by_username(self, username: str) -> User | None:
        """A user by username."""
        ...

    @read("B10", through=ProviderUser)
    def user_by_provider(self, provider: str, external_id: str) -> User | None:
        """A user by an external identity."""
        ...

    @read("B11", order_by="-rating_sk")
    def users_by_rating(self, status: UserStatus, limit: int = 20, cursor: Cursor | None = None) -> Page[User]:
        """The users in a status, the highest rated first."""
        ...

    @read("B12", order_by="-created_at")
    def latest_users(self, status: UserStatus, limit: int = 20, cursor: Cursor | None = None) -> Page[User]:
        """The users in a status, newest first."""
        ...

    @read("B13a")
    def post_seen(self, post_id: str, user_id: str) -> PostImpression | None:
        """Whether a user has seen a post."""
        ...

    @read("B13b")
    def who_saw_post(self, post_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[PostImpression]:
        """Who saw a post."""
        ...

    @read("B14")
    def user_viewed(self, user_id: str, viewed_id: str) -> UserImpression | None:
        """Whether a user has viewed another."""
        ...

    @read("B15", newest_first=True)
    def contact_messages(self, month: str, limit: int = 20, cursor: Cursor | None = None) -> Page[ContactMessage]:
        """A month's contact messages, newest first."""
        ...

    @write("W1")
    def register(self, user: User) -> Writes[User]:
        """Register a user; email and username must be free."""
        yield Create(user)
        return user

    @write("W2")
    def create_post(self, post: Post) -> Writes[Post]:
        """Create an unpublished post; its slug must be free."""
        if post.status != "unpublished":
            raise Refused("a new post is unpublished", place="Blog.create_post", hint="publish it afterwards")
        yield Create(post)
        yield Create(PostSlug(slug=post.slug, post_id=post.post_id))
        for combo in tag_combos(post.tags):
            yield Create(PostTagCombo(tags=combo, post_id=post.post_id))
        return post


def tag_combos(tags: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Every combination of a post's first tags: 2ⁿ−1 of them, n bounded."""
    chosen = _sorted(tags[:COMBO_TAGS_MAX])
    return [combo for size in range(1, len(chosen) + 1) for combo in combinations(chosen, size)]
