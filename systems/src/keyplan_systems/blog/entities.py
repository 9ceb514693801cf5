"""The blog's indexes and entities: people, posts, tags, counters, impressions, messages.

Names of entities, keys, indexes and attributes follow the document; README.md explains exceptions. Reads are in
``reads``, writes in ``posts``, ``people`` and ``counting``.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, computed_field

from keyplan import Entity, Field, Index, Key, Number, Ttl, Unique, Version, now, ulid
from keyplan_systems.blog.scoring import rating_key
from keyplan_systems.words import is_slug

USERS_BY_USERNAME = Index("USERS_BY_USERNAME", "username")
USERS_BY_STATUS_RATING = Index("USERS_BY_STATUS_RATING", "user_status_pk", Number("rating_sk"))
USERS_BY_STATUS_CREATED_AT = Index("USERS_BY_STATUS_CREATED_AT", "user_status_pk", Number("created_at_sk"))
POSTS_BY_STATUS_CREATED_AT = Index("POSTS_BY_STATUS_CREATED_AT", "post_status_pk", Number("created_at_sk"))
POSTS_BY_STATUS_RATING = Index("POSTS_BY_STATUS_RATING", "post_status_pk", Number("rating_sk"))
POSTS_BY_USER_STATUS_CREATED_AT = Index(
    "POSTS_BY_USER_STATUS_CREATED_AT", "post_user_status_pk", Number("created_at_sk")
)
TAGS_BY_TYPE_RATING = Index("TAGS_BY_TYPE_RATING", "tag_type_pk", Number("rating_sk"))
TAGS_BY_TYPE_NAME = Index("TAGS_BY_TYPE_NAME", "tag_type_pk", "tag_name_sk")

INDEXES = [
    USERS_BY_USERNAME,
    USERS_BY_STATUS_RATING,
    USERS_BY_STATUS_CREATED_AT,
    POSTS_BY_STATUS_CREATED_AT,
    POSTS_BY_STATUS_RATING,
    POSTS_BY_USER_STATUS_CREATED_AT,
    TAGS_BY_TYPE_RATING,
    TAGS_BY_TYPE_NAME,
]

STATUS_SHARDS = 4
"""Number of shards for the published posts in an index: README.md has the arithmetic of these numbers."""
READER_SHARDS = 32
"""Number of shards for the readers of one post."""
COUNTER_SHARDS = {"post": 32, "user": 4, "tag": 4}
"""Number of partitions for the counter of one post, user or tag."""
COUNTER_SLOTS = 8
"""Number of items per partition of a counter for transactions; one additional item is for single updates."""
FRONT_PAGE_REPLICAS = 8
COMBO_TAGS_MAX = 5
"""Maximum number of tags of a post: n tags are 2ⁿ−1 combinations."""
CONTENT_BYTES_MAX = 390 * 1024
"""Maximum size of a post's content in bytes (UTF-8): DynamoDB's 400 KB for an item, minus keys and other attributes."""
CO_AUTHORS_MAX = 20
"""Maximum number of co-authors of a post."""

ADDRESS_MAX = 250
"""Maximum length of a redirected URL."""

UserStatus = Literal["active", "suspended", "deleted"]
PostStatus = Literal["unpublished", "published", "archived"]
Role = Literal["reader", "author", "moderator"]
CommentStatus = Literal["shown", "hidden", "removed"]
"""``hidden`` by a moderator, ``removed`` by its author, which deletes its text."""
CounterKind = Literal["post", "user", "tag"]


def _slug(text: str) -> str:
    lower = text.lower()
    if not is_slug(lower):
        raise ValueError("a slug must consist of words of letters and digits, separated by single hyphens")
    return lower


def _sorted(tags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(tags)))


Username = Annotated[str, Field(min_length=3, max_length=40), AfterValidator(str.lower)]
Email = Annotated[str, Field(min_length=3, max_length=254), AfterValidator(str.lower)]
Slug = Annotated[
    str,
    Field(max_length=200, json_schema_extra={"pattern": r"^[^\W_]+(?:-[^\W_]+)*$"}),
    AfterValidator(_slug),
]
"""The last part of a URL: letters and numbers of any script, with hyphens between them."""
Tag = Annotated[str, Field(min_length=1, max_length=40), AfterValidator(str.lower)]
Tags = Annotated[tuple[Tag, ...], AfterValidator(_sorted), Field(min_length=1, max_length=COMBO_TAGS_MAX)]
"""The tags of a combination: sorted, without duplicates."""
PostTags = Annotated[tuple[Tag, ...], AfterValidator(_sorted), Field(max_length=COMBO_TAGS_MAX)]
Title = Annotated[str, StringConstraints(min_length=1, max_length=300, strip_whitespace=True)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=80, strip_whitespace=True)]
Excerpt = Annotated[str, Field(max_length=300)]
Stars = Annotated[int, Field(ge=1, le=5)]
Id = Annotated[str, Field(min_length=1, max_length=100)]
CoAuthors = Annotated[tuple[Id, ...], Field(max_length=CO_AUTHORS_MAX)]
Month = Annotated[str, Field(pattern=r"^\d{4}-(?:0[1-9]|1[0-2])$")]


# People


class User(Entity):
    """A public user profile: role, counters. Email and password are in Credential.

    ``drafts``, ``published`` and ``archived`` count the user's posts by status. ``rating`` is the sum of their posts'
    ratings, and ``views`` counts profile views, both aggregated periodically. A session is valid while its mark equals
    the user's ``session_epoch``.
    """

    user_id: Id = Field(default_factory=ulid)
    username: Username
    name: Name
    bio: str = Field(default="", max_length=1000)
    role: Role = "reader"
    status: UserStatus = "active"
    drafts: int = Field(default=0, ge=0)
    published: int = Field(default=0, ge=0)
    archived: int = Field(default=0, ge=0)
    views: int = Field(default=0, ge=0)
    rating: int = Field(default=0, ge=0, lt=10**15)
    ranked_at: datetime | None = None
    session_epoch: int = 0
    created_at: datetime = Field(default_factory=now)

    @computed_field  # type: ignore[prop-decorator] # as pydantic documents
    @property
    def rating_sk(self) -> int:
        """A number that sorts by rating, then time."""
        return rating_key(self.rating, self.created_at)

    @property
    def session_mark(self) -> str:
        """The mark of the user's sessions: they end when ``session_epoch`` changes."""
        return str(self.session_epoch)

    primary = Key("USER#{user_id}", "META")
    by_username = Key("{username}", index=USERS_BY_USERNAME)
    by_status_rating = Key("USER#{status}", "{rating_sk}", index=USERS_BY_STATUS_RATING)
    by_status_created = Key("USER#{status}", "{created_at:ms}", index=USERS_BY_STATUS_CREATED_AT)
    username_claim = Unique("USERNAME#{username}", "META")


class Credential(Entity):
    """Data for sign-in only: a user's email, password hash, and external identities.

    ``providers`` has identities as ``provider:external_id``. No pattern returns a credential.
    """

    user_id: Id
    email: Email
    password_hash: str | None = Field(default=None, repr=False)
    providers: set[str] = Field(default_factory=set)
    changed_at: datetime = Field(default_factory=now)

    primary = Key("USER#{user_id}", "CREDENTIAL")
    email_claim = Unique("USER_EMAIL#{email}", "META")


class ProviderUser(Entity):
    """The user with an identity at an external provider."""

    provider: str = Field(min_length=1, max_length=40)
    external_id: str = Field(min_length=1, max_length=400)
    user_id: Id

    primary = Key("PROVIDER_USER#{provider}#{external_id}", "META")


class Upload(Entity):
    """An image that a user uploaded, by file name."""

    user_id: Id
    name: str = Field(min_length=1, max_length=100)
    at: datetime = Field(default_factory=now)

    primary = Key("USER#{user_id}", "UPLOAD#{name}")


class UserImpression(Entity):
    """A user has viewed another user's profile."""

    user_id: Id
    viewed_id: Id
    at: datetime = Field(default_factory=now)

    primary = Key("USER#{user_id}", "REL#USER#{viewed_id}")


# Posts


class Post(Entity):
    """A post without its content, which is a separate item, so that no list and no index loads it.

    ``views``, ``likes``, ``ratings`` (their number), ``stars`` (their sum) and ``comments`` are aggregated from
    counters, and determine ``rating``. ``co_authors`` are named in the byline. ``listed_at`` is the first publication,
    or the creation: the order of lists.
    """

    post_id: Id = Field(default_factory=ulid)
    user_id: Id
    slug: Slug
    title: Title
    excerpt: Excerpt = ""
    status: PostStatus = "unpublished"
    tags: PostTags = ()
    co_authors: CoAuthors = ()
    words: int = Field(default=0, ge=0)
    views: int = 0
    likes: int = 0
    ratings: int = 0
    stars: int = 0
    comments: int = 0
    rating: int = Field(default=0, ge=0, lt=10**15)
    ranked_at: datetime | None = None
    created_at: datetime = Field(default_factory=now)
    updated_at: datetime = Field(default_factory=now)
    published_at: datetime | None = None

    @computed_field  # type: ignore[prop-decorator] # as pydantic documents
    @property
    def rating_sk(self) -> int:
        """A number that sorts by rating, then time."""
        return rating_key(self.rating, self.listed_at)

    @computed_field  # type: ignore[prop-decorator] # as pydantic documents
    @property
    def listed_at(self) -> datetime:
        """The first publication, or the creation."""
        return self.published_at or self.created_at

    primary = Key("POST#{post_id}", "META")
    by_status_created = Key(
        "POST#STATUS#{status}", "{listed_at:ms}", index=POSTS_BY_STATUS_CREATED_AT, shards=STATUS_SHARDS
    )
    by_status_rating = Key("POST#STATUS#{status}", "{rating_sk}", index=POSTS_BY_STATUS_RATING, shards=STATUS_SHARDS)
    by_user_status = Key("POST#USER#{user_id}#STATUS#{status}", "{listed_at:ms}", index=POSTS_BY_USER_STATUS_CREATED_AT)


class PostContent(Entity):
    """A post's text in Markdown. ``version`` counts edits: an edit based on an older version is rejected.

    ``imported`` is a digest of the imported file: importing the same file again changes nothing.
    """

    post_id: Id
    content: str
    version: Version = 0
    edited_at: datetime = Field(default_factory=now)
    edited_by: Id
    imported: str | None = None

    primary = Key("POST#{post_id}", "META#CONTENT")


class PostWithContent(NamedTuple):
    """A post and its text, in one query."""

    post: Post
    content: PostContent


class PostSlug(Entity):
    """The post with a slug. Former slugs are kept and redirect."""

    slug: Slug
    post_id: Id
    since: datetime = Field(default_factory=now)

    primary = Key("POST_SLUG#{slug}", "META")


class Redirect(Entity):
    """The post of a URL elsewhere, for example the URL before an import."""

    path: str = Field(min_length=1, max_length=ADDRESS_MAX)
    post_id: Id

    primary = Key("REDIRECT#{path}", "META")


class PostAddress(Entity):
    """Another URL of a post: a former slug (``slug:…``), or a URL elsewhere (``/…``). For its deletion."""

    post_id: Id
    address: str = Field(min_length=1, max_length=ADDRESS_MAX)

    primary = Key("POST#{post_id}", "ADDRESS#{address}")


class PostTag(Entity):
    """A tag: the number of published posts with it, and its popularity.

    ``counted`` are the points of its counter that ``rating`` includes. A tag without posts is in no index.
    """

    tag: Tag
    posts: int = Field(default=0, ge=0)
    rating: int = Field(default=0, ge=0, lt=10**15)
    counted: int = 0
    ranked_at: datetime | None = None
    created_at: datetime = Field(default_factory=now)

    @computed_field  # type: ignore[prop-decorator] # as pydantic documents
    @property
    def rating_sk(self) -> int:
        """A number that sorts by rating, then time."""
        return rating_key(self.rating, self.created_at)

    @computed_field  # type: ignore[prop-decorator] # as pydantic documents
    @property
    def used(self) -> bool:
        """Whether a published post has it."""
        return self.posts > 0

    primary = Key("POST_TAG#{tag}", "META")
    by_rating = Key("POST_TAG", "{rating_sk}", index=TAGS_BY_TYPE_RATING, when={"used": True})
    by_name = Key("POST_TAG", "{tag}", index=TAGS_BY_TYPE_NAME, when={"used": True})


class PostTagCombo(Entity):
    """A published post with all of these tags."""

    tags: Tags
    published_at: datetime
    post_id: Id

    primary = Key("POST_TAG_COMBO#{tags}", "POST#{published_at}#{post_id}")


class PostImpression(Entity):
    """A user's actions on a post: the first view, the like, the stars."""

    post_id: Id
    user_id: Id
    at: datetime = Field(default_factory=now)
    liked: bool = False
    stars: Stars | None = None

    primary = Key("POST#{post_id}", "IMP#USER#{user_id}", shards=READER_SHARDS)


class Comment(Entity):
    """A comment on a post. A thread is a comment with its replies, identified by the first comment's id.

    A post's comments are one partition, in which replies follow their comment.
    """

    post_id: Id
    thread_id: Id
    comment_id: Id = Field(default_factory=ulid)
    user_id: Id
    text: str = Field(max_length=5000)
    status: CommentStatus = "shown"
    at: datetime = Field(default_factory=now)

    primary = Key("COMMENTS#{post_id}", "{thread_id}#{comment_id}")
    by_status_created = Key(
        "COMMENT#STATUS#{status}", "{at:ms}", index=POSTS_BY_STATUS_CREATED_AT, shards=STATUS_SHARDS
    )
    by_user = Key("COMMENT#USER#{user_id}", "{at:ms}", index=POSTS_BY_USER_STATUS_CREATED_AT)


class Counter(Entity):
    """A shard of the counts of one post, user or tag: the sum of the shards is the count.

    Writers add to a random shard, so that no item is hot. Unused shards don't exist. Shards of a deleted post or user
    are ``closed`` until they expire: concurrent counts are rejected.
    """

    kind: CounterKind
    subject: Id
    shard: int = Field(ge=0, lt=100)
    slot: int = Field(ge=0, lt=100)
    views: int = 0
    likes: int = 0
    ratings: int = 0
    stars: int = 0
    comments: int = 0
    points: int = 0
    closed: bool | None = None
    expires_at: Ttl | None = None

    primary = Key("COUNTER#{kind}#{subject}#{shard}", "{slot:02d}")


# Front page and messages


class Byline(BaseModel):
    """The author of a post on a card."""

    model_config = ConfigDict(frozen=True)

    name: str
    username: str


class TagCount(BaseModel):
    """A tag and the number of its posts."""

    model_config = ConfigDict(frozen=True)

    tag: str
    posts: int


class FrontPage(Entity):
    """The contents of the front page, for a single read: latest posts, popular posts, trending tags.

    It is rebuilt at most every few seconds, and stored in several copies, because everyone reads it. ``bylines`` are by
    user id.
    """

    replica: int = Field(ge=0, lt=100)
    latest: tuple[Post, ...] = ()
    popular: tuple[Post, ...] = ()
    tags: tuple[TagCount, ...] = ()
    bylines: dict[str, Byline] = Field(default_factory=dict[str, Byline])
    refreshed_at: datetime

    primary = Key("FRONT_PAGE#{replica}", "META")


class ContactMessage(Entity):
    """A message of the contact form; each month is a partition."""

    message_id: Id = Field(default_factory=ulid)
    name: str = Field(min_length=1, max_length=100)
    email: Email
    subject: str = Field(default="", max_length=200)
    text: str = Field(min_length=1, max_length=10_000)
    handled: bool = False
    at: datetime = Field(default_factory=now)

    @computed_field  # type: ignore[prop-decorator] # as pydantic documents
    @property
    def month(self) -> str:
        """The month of the message in UTC, ``2026-11``."""
        return f"{self.at:%Y-%m}"

    primary = Key("CONTACT_MESSAGE#{month}", "{at}#{message_id}")
