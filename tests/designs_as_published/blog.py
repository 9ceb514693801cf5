# mypy: disable-error-code="empty-body"
"""The blog platform as published, with the index and attribute names of the published template."""

from __future__ import annotations

from datetime import datetime

from keyplan import (
    Batch,
    Cursor,
    Design,
    Entity,
    Field,
    Index,
    Key,
    Number,
    Page,
    Prefix,
    Put,
    Table,
    Update,
    Writes,
    now,
    read,
    ulid,
    write,
)

USERS_BY_EMAIL = Index("USERS_BY_EMAIL", "user_email_pk")
USERS_BY_USERNAME = Index("USERS_BY_USERNAME", "username")
USERS_BY_STATUS_RATING = Index("USERS_BY_STATUS_RATING", "user_status_pk", Number("rating_sk"))
USERS_BY_STATUS_CREATED_AT_2 = Index("USERS_BY_STATUS_CREATED_AT_2", "user_status_pk", Number("created_at"))
POSTS_BY_STATUS_CREATED_AT_2 = Index("POSTS_BY_STATUS_CREATED_AT_2", "post_status_pk", Number("created_at"))
POSTS_BY_STATUS_RATING = Index("POSTS_BY_STATUS_RATING", "post_status_pk", Number("rating_sk"))
POSTS_BY_USER_STATUS_CREATED_AT_2 = Index(
    "POSTS_BY_USER_STATUS_CREATED_AT_2", "post_user_status_pk", Number("created_at")
)
POSTS_BY_SLUG = Index("POSTS_BY_SLUG", "post_slug")
TAGS_BY_TYPE_RATING = Index("TAGS_BY_TYPE_RATING", "tag_type_pk", Number("rating_sk"))
TAGS_BY_TYPE_NAME = Index("TAGS_BY_TYPE_NAME", "tag_type_pk", "tag_name_sk")
RATING = 10**13


class User(Entity):
    user_id: str = Field(default_factory=ulid)
    email: str
    username: str
    status: str = "active"
    rating_sk: int = 0
    created_at_sk: int = 0

    primary = Key("USER#{user_id}", "META")
    by_email = Key("{email}", index=USERS_BY_EMAIL)
    by_username = Key("{username}", index=USERS_BY_USERNAME)
    by_status_rating = Key("USER#{status}", "{rating_sk}", index=USERS_BY_STATUS_RATING)
    by_status_created = Key("USER#{status}", "{created_at_sk}", index=USERS_BY_STATUS_CREATED_AT_2)


class ProviderUser(Entity):
    provider: str
    external_id: str
    user_id: str

    primary = Key("PROVIDER_USER#{provider}#{external_id}", "META")


class Post(Entity):
    post_id: str = Field(default_factory=ulid)
    post_slug: str
    user_id: str
    title: str
    content: str
    status: str = "UNPUBLISHED"
    rating_sk: int = 0
    created_at_sk: int = 0

    primary = Key("POST#{post_id}", "META")
    by_status_created = Key("POST#STATUS#{status}", "{created_at_sk}", index=POSTS_BY_STATUS_CREATED_AT_2)
    by_status_rating = Key("POST#STATUS#{status}", "{rating_sk}", index=POSTS_BY_STATUS_RATING)
    by_user_status = Key(
        "POST#USER#{user_id}#STATUS#{status}", "{created_at_sk}", index=POSTS_BY_USER_STATUS_CREATED_AT_2
    )
    by_slug = Key("{post_slug}", index=POSTS_BY_SLUG)


class PostSlug(Entity):
    slug: str
    post_id: str

    primary = Key("POST_SLUG#{slug}", "META")


class PostTag(Entity):
    """A tag of a post, with the post's ranking."""

    tag: str
    rating_sk: int = 0

    primary = Key("POST_TAG#{tag}", "META")
    by_rating = Key("POST_TAG", "{rating_sk}", index=TAGS_BY_TYPE_RATING)
    by_name = Key("POST_TAG", "{tag}", index=TAGS_BY_TYPE_NAME)


class PostTagCombo(Entity):
    """A combination of tags of a post."""

    tags: tuple[str, ...]
    post_id: str

    primary = Key("POST_TAG_COMBO#{tags}", "POST#{post_id}")


class PostImpression(Entity):
    """A view of a post by a user."""

    post_id: str
    user_id: str

    primary = Key("POST#{post_id}", "IMP#USER#{user_id}")


class ContactMessage(Entity):
    at: datetime = Field(default_factory=now)
    text: str

    primary = Key("CONTACT_MESSAGE#", "{at}")


class Blog(Design):
    table = Table(
        "blog-dynamodb-table",
        indexes=[
            USERS_BY_EMAIL,
            USERS_BY_USERNAME,
            USERS_BY_STATUS_RATING,
            POSTS_BY_STATUS_CREATED_AT_2,
            POSTS_BY_SLUG,
            TAGS_BY_TYPE_RATING,
            POSTS_BY_STATUS_RATING,
            TAGS_BY_TYPE_NAME,
            USERS_BY_STATUS_CREATED_AT_2,
            POSTS_BY_USER_STATUS_CREATED_AT_2,
        ],
    )

    @read("B1", where={"status": "published"}, order_by="-created_at_sk")
    def latest_posts(self, limit: int = 10, cursor: Cursor | None = None) -> Page[Post]: ...

    @read("B2", where={"status": "published"}, order_by="-rating_sk")
    def popular_posts(self, limit: int = 10, cursor: Cursor | None = None) -> Page[Post]: ...

    @read("B3", through=PostSlug)
    def post_by_slug(self, slug: str) -> Post | None: ...

    @read("B4", newest_first=True)
    def posts_of_user(self, user_id: str, status: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Post]: ...

    @read("B5", order_by="-rating_sk")
    def trending_tags(self, limit: int = 10) -> list[PostTag]: ...

    @read("B6")
    def tags_starting(self, tag: Prefix, limit: int = 10) -> list[PostTag]: ...

    @read("B7", through=PostTagCombo)
    def posts_by_tags(self, tags: tuple[str, ...], limit: int = 10, cursor: Cursor | None = None) -> Page[Post]: ...

    @read("B8")
    def user_by_email(self, email: str) -> User | None: ...

    @read("B9")
    def user_by_username(self, username: str) -> User | None: ...

    @read("B10", through=ProviderUser)
    def user_by_provider(self, provider: str, external_id: str) -> User | None: ...

    @read("B11", order_by="-rating_sk")
    def users_by_rating(self, status: str, limit: int = 20, cursor: Cursor | None = None) -> Page[User]: ...

    @read("B12", order_by="-created_at_sk")
    def latest_users(self, status: str, limit: int = 20, cursor: Cursor | None = None) -> Page[User]: ...

    @read("B13")
    def post_seen(self, post_id: str, user_id: str) -> PostImpression | None: ...

    @read("B15", newest_first=True)
    def contact_messages(self, limit: int = 20, cursor: Cursor | None = None) -> Page[ContactMessage]: ...

    @write("W1")
    def create_post(self, post: Post) -> Writes:
        """Create a post by two puts in a batch, which isn't atomic."""
        yield Batch([Put(post), Put(PostSlug(slug=post.post_slug, post_id=post.post_id))])

    @write("W2")
    def view(self, post: Post, user_id: str) -> Writes:
        """Record an impression, and update the ranking of the post."""
        yield Put(PostImpression(post_id=post.post_id, user_id=user_id))
        yield Update(post, rating_sk=post.rating_sk + RATING)
