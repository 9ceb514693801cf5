"""The entities of the CMS and their keys: the document's three, and those for lists, slugs, previews and members.

Names of keys, indexes and attributes follow the document; README.md explains exceptions. Reads are in ``reads``, writes
in ``articles``, ``publishing`` and ``members``.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal, NamedTuple

from pydantic import ConfigDict, StringConstraints, computed_field
from pydantic.alias_generators import to_camel

from keyplan import Entity, Field, Index, Key, Ttl, Unique, now, ulid

TAGS_MAX = 40
"""Maximum number of tags of an article: changing all of them is two actions per tag, within 100 per transaction."""
RETAGGED_MAX = 48
"""Maximum number of changed tags of a published article: each is two actions, junction and list item."""
EXCERPT_MAX = 1000
"""Maximum length of an excerpt: every list item contains it."""
ITEM_BYTES_MAX = 400 * 1024
BODY_BYTES_MAX = 395 * 1024
"""Maximum size of a body in bytes (UTF-8): DynamoDB's limit for an item, minus 5 KB for other attributes."""
FORMER_SLUGS_MAX = 10
"""Maximum number of former slugs that redirect; the oldest is dropped."""

Status = Literal["draft", "published", "archived"]
Role = Literal["none", "author", "editor", "admin"]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=100, strip_whitespace=True)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Excerpt = Annotated[str, StringConstraints(max_length=EXCERPT_MAX)]
Id = Annotated[str, StringConstraints(min_length=1)]
Email = Annotated[str, StringConstraints(min_length=3, max_length=254, strip_whitespace=True, to_lower=True)]

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


def second_of(moment: datetime) -> str:
    """A time in UTC with seconds, for keys: a long id leaves no room for more digits."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")[:19]


class CmsEntity(Entity):
    """Base class of the CMS's entities: attributes have the document's camel case names."""

    model_config = ConfigDict(alias_generator=to_camel)


# Articles


class Article(CmsEntity):
    """An article's metadata; bodies are in its versions, so that lists never load them.

    ``article_id`` is a ULID, so ids sort by creation. Readers see ``current_version`` of a published article, or
    ``published_version`` while a newer draft exists.
    """

    article_id: Id = Field(default_factory=ulid)
    title: Name
    slug: Name
    excerpt: Excerpt | None = None
    status: Status = "draft"
    author_id: Id
    published_at: datetime | None = None
    current_version: int = Field(default=0, ge=0)
    tags: set[Tag] = Field(default_factory=set, max_length=TAGS_MAX)
    created_at: datetime = Field(default_factory=now)
    updated_at: datetime = Field(default_factory=now)
    published_version: int | None = Field(default=None, ge=1)
    former_slugs: list[Name] | None = Field(default=None, max_length=FORMER_SLUGS_MAX)

    primary = Key("ARTICLE#{article_id}", "#METADATA")
    by_author = Key("AUTHOR#{author_id}", "ARTICLE#{article_id}", index=GSI1)

    @property
    def shown_version(self) -> int | None:
        """The version that readers see; None if the article isn't published or has no version."""
        return (self.published_version or self.current_version or None) if self.status == "published" else None

    @property
    def has_draft(self) -> bool:
        """Whether a newer version than the published one exists."""
        return self.status == "published" and self.shown_version != (self.current_version or None)


class ArticleVersion(CmsEntity):
    """One version of an article's body. The number is padded and reversed in the key, so that versions sort
    numerically, and the newest one follows the metadata.

    A draft can have its own title and excerpt, which become the article's on publication.
    """

    article_id: Id
    version: int = Field(ge=1)
    body: str
    word_count: int = Field(ge=0)
    created_by: Id
    created_at: datetime = Field(default_factory=now)
    title: Name | None = None
    excerpt: Excerpt | None = None

    primary = Key("ARTICLE#{article_id}", "VERSION#{version:08d:desc}")


class VersionCard(CmsEntity):
    """A version without its body: ten of them cost less than one read unit, whatever the bodies' sizes.

    They sort after the versions, outside the query for metadata and newest version.
    """

    article_id: Id
    version: int = Field(ge=1)
    word_count: int = Field(ge=0)
    created_by: Id
    created_at: datetime
    title: Name | None = None
    excerpt: Excerpt | None = None

    primary = Key("ARTICLE#{article_id}", "VERSION_CARD#{version:08d:desc}")


class TagArticle(CmsEntity):
    """A tag of an article. The index lists an article's tags."""

    tag: Tag
    article_id: Id
    tagged_at: datetime = Field(default_factory=now)

    primary = Key("TAG#{tag}", "ARTICLE#{article_id}")
    by_article = Key("ARTICLE#{article_id}", "TAG#{tag}", index=GSI1)


class ArticleWithVersion(NamedTuple):
    """An article and its newest version, or None for a new draft."""

    article: Article
    version: ArticleVersion | None


class ArticleSlug(CmsEntity):
    """The article of a slug. Unique: the item is created, never overwritten."""

    slug: Name
    article_id: Id

    primary = Key("SLUG#{slug}", "ARTICLE")


class StateArticle(CmsEntity):
    """An article with a status, for editors' lists."""

    status: Status
    article_id: Id

    primary = Key("STATE#{status}", "ARTICLE#{article_id}")


# Items that readers see


class PublishedArticle(CmsEntity):
    """A published article's card, in the list of all and, in the index, of its author."""

    article_id: Id
    published_at: datetime
    title: Name
    slug: Name
    excerpt: Excerpt | None = None
    author_id: Id
    tags: set[Tag] = Field(default_factory=set)

    @computed_field  # type: ignore[prop-decorator] # as pydantic documents
    @property
    def second(self) -> str:
        return second_of(self.published_at)

    primary = Key("PUBLISHED", "{second}#{article_id}")
    by_author = Key("PUBLISHED#AUTHOR#{author_id}", "{second}#{article_id}", index=GSI1)


class PublishedTag(CmsEntity):
    """A published article's card in the list of a tag, without the article's other tags."""

    tag: Tag
    article_id: Id
    published_at: datetime
    title: Name
    slug: Name
    excerpt: Excerpt | None = None
    author_id: Id

    @computed_field  # type: ignore[prop-decorator] # as pydantic documents
    @property
    def second(self) -> str:
        return second_of(self.published_at)

    primary = Key("PUBLISHED#TAG#{tag}", "{second}#{article_id}")


class Preview(CmsEntity):
    """A preview link to an unpublished version. Only the token's hash is stored."""

    token_hash: Id
    article_id: Id
    version: int = Field(ge=1)
    created_by: Id
    created_at: datetime = Field(default_factory=now)
    expires_at: Ttl = Field(alias="expires_at")

    primary = Key("PREVIEW#{token_hash}", "PREVIEW")


# Members


class Member(CmsEntity):
    """A member who can sign in. Role ``none`` has no access until an administrator assigns a role."""

    member_id: Id = Field(default_factory=ulid)
    email: Email
    name: Name
    role: Role = "none"
    joined_at: datetime = Field(default_factory=now)

    primary = Key("MEMBER#{member_id}", "PROFILE")
    every = Key("MEMBERS", "MEMBER#{member_id}", index=GSI1)
    one_email = Unique("MEMBER_EMAIL#{email}")

    @property
    def user_id(self) -> str:
        """The id, by the sites' common name."""
        return self.member_id


class Credential(CmsEntity):
    """A member's password hash, separate from the public data."""

    member_id: Id
    password_hash: str = Field(min_length=1, max_length=500, repr=False)

    primary = Key("MEMBER#{member_id}", "CREDENTIAL")


class Founded(CmsEntity):
    """The first member, who is the founding administrator."""

    place: Literal["cms"] = "cms"
    member_id: Id

    primary = Key("FOUNDED#{place}", "FOUNDED")
