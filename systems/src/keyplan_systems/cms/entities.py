"""The entities of the CMS, and their keys: the document's three, and what lists, addresses and people need besides.

Key shapes, index and attribute names follow the document; where the system departs from it, README.md says why. The
questions are in ``reads.py``, the writes in ``articles.py``, ``publishing.py`` and ``members.py``.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal, NamedTuple

from pydantic import ConfigDict, StringConstraints, computed_field
from pydantic.alias_generators import to_camel

from keyplan import Entity, Field, Index, Key, Ttl, Unique, now, ulid

__all__ = [
    "BODY_BYTES_MAX",
    "EVENT_KEPT",
    "EXCERPT_MAX",
    "FORMER_SLUGS_MAX",
    "GSI1",
    "ITEM_BYTES_MAX",
    "MAIN",
    "RETAGGED_MAX",
    "TAGS_MAX",
    "Action",
    "Article",
    "ArticleSlug",
    "ArticleVersion",
    "ArticleWithVersion",
    "Credential",
    "DueArticle",
    "Email",
    "Event",
    "EventKind",
    "Excerpt",
    "Founded",
    "Id",
    "Locale",
    "Member",
    "Name",
    "Preview",
    "PublishedArticle",
    "PublishedTag",
    "Role",
    "StateArticle",
    "Status",
    "Tag",
    "TagArticle",
    "Translation",
    "VersionCard",
    "second_of",
]

TAGS_MAX = 40
"""Tags an article may have: changing all of them is two actions a tag, within the 100 of one transaction."""
RETAGGED_MAX = 48
"""Tags that may come and go at once of a published article: each is two actions, junction and list entry."""
EXCERPT_MAX = 1000
"""Characters of an excerpt: it stands on every card of every list, so it stays small."""
ITEM_BYTES_MAX = 400 * 1024
BODY_BYTES_MAX = 395 * 1024
"""Bytes (UTF-8) of a body: DynamoDB's limit for an item, less 5 KB for the version's keys and other attributes."""
FORMER_SLUGS_MAX = 10
"""Slugs that an article had and that still lead to it; of more, the oldest is given up."""
EVENT_KEPT = timedelta(days=30)
"""How long it is known what was published when, and whether the webhooks took it."""
MAIN = "main"
"""The place in lists of the articles that name no locale: the language that the site is written in."""

Status = Literal["draft", "published", "archived"]
Action = Literal["publish", "unpublish"]
EventKind = Literal["article.published", "article.updated", "article.unpublished", "article.deleted"]
Role = Literal["none", "author", "editor", "admin"]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=100, strip_whitespace=True)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Excerpt = Annotated[str, StringConstraints(max_length=EXCERPT_MAX)]
Id = Annotated[str, StringConstraints(min_length=1)]
Locale = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$")]
"""A language, perhaps with a script and a region: ``de``, ``pt-BR``, ``zh-Hant-TW``."""
Email = Annotated[str, StringConstraints(min_length=3, max_length=254, strip_whitespace=True, to_lower=True)]

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


def second_of(moment: datetime) -> str:
    """A moment to the second, in UTC, as keys have it: an id may be so long that a key has no room for more."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")[:19]


class CmsEntity(Entity):
    """The base of the CMS's entities: attributes are spelt as the document has them, in camel case."""

    model_config = ConfigDict(alias_generator=to_camel)


# Articles


class Article(CmsEntity):
    """An article's metadata; its body lives in its versions, so that lists never load bodies.

    ``article_id`` is a ULID, so that articles in the order of their ids are in the order of their making. Readers see
    ``current_version`` of a published article; ``published_version`` is there only while they see an earlier one, since
    somebody works on the next. ``locale`` and ``translation_of`` are those of a translation.
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
    locale: Locale | None = None
    translation_of: Id | None = None
    publish_at: datetime | None = None
    publish_next: int | None = Field(default=None, ge=1)
    """The version that is published at ``publish_at``."""
    unpublish_at: datetime | None = None

    primary = Key("ARTICLE#{article_id}", "#METADATA")
    by_author = Key("AUTHOR#{author_id}", "ARTICLE#{article_id}", index=GSI1)

    @property
    def shown_version(self) -> int | None:
        """The version that readers see; None of what isn't published, or has no version yet."""
        return (self.published_version or self.current_version or None) if self.status == "published" else None

    @property
    def has_draft(self) -> bool:
        """Whether readers see an earlier version than the newest."""
        return self.status == "published" and self.shown_version != (self.current_version or None)


class ArticleVersion(CmsEntity):
    """One version of an article's body. The number is padded and turned in its key, so that version 10 doesn't stand
    between 1 and 2, and the newest version stands right behind the metadata.

    A draft may have a title and an excerpt of its own, which become the article's when it is published.
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
    """A version without its body, written with it: ten of them are less than one unit to read, whatever the bodies are.

    They stand behind the versions, where the query for metadata and newest version doesn't come.
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
    """An article carries a tag. The index turns the question around, to the tags that an article carries."""

    tag: Tag
    article_id: Id
    tagged_at: datetime = Field(default_factory=now)

    primary = Key("TAG#{tag}", "ARTICLE#{article_id}")
    by_article = Key("ARTICLE#{article_id}", "TAG#{tag}", index=GSI1)


class ArticleWithVersion(NamedTuple):
    """An article and its newest version; a draft that nothing was written for yet has none."""

    article: Article
    version: ArticleVersion | None


class ArticleSlug(CmsEntity):
    """An address leads to an article. One article has it: the item is created, never overwritten."""

    slug: Name
    article_id: Id

    primary = Key("SLUG#{slug}", "ARTICLE")


class StateArticle(CmsEntity):
    """An article is in a state: what an editor's lists are made of."""

    status: Status
    article_id: Id

    primary = Key("STATE#{status}", "ARTICLE#{article_id}")


class Translation(CmsEntity):
    """An article has a text in another language, which is an article of its own: one in each language."""

    article_id: Id
    locale: Locale
    translation_id: Id

    primary = Key("TRANSLATIONS#{article_id}", "LOCALE#{locale}")


# What readers see


class PublishedArticle(CmsEntity):
    """A published article on a card: in the list of its language, and in the index in that of its author."""

    locale: str
    article_id: Id
    published_at: datetime
    title: Name
    slug: Name
    excerpt: Excerpt | None = None
    author_id: Id
    tags: set[Tag] = Field(default_factory=set)

    @computed_field  # type: ignore[prop-decorator] # pydantic's documented form
    @property
    def second(self) -> str:
        """When it was published, as the key has it."""
        return second_of(self.published_at)

    primary = Key("PUBLISHED#{locale}", "{second}#{article_id}")
    by_author = Key("PUBLISHED#{locale}#AUTHOR#{author_id}", "{second}#{article_id}", index=GSI1)


class PublishedTag(CmsEntity):
    """A published article on a card, in the list of one of its tags; so few words, since each tag has its own."""

    locale: str
    tag: Tag
    article_id: Id
    published_at: datetime
    title: Name
    slug: Name
    excerpt: Excerpt | None = None
    author_id: Id

    @computed_field  # type: ignore[prop-decorator] # pydantic's documented form
    @property
    def second(self) -> str:
        """When it was published, as the key has it."""
        return second_of(self.published_at)

    primary = Key("PUBLISHED#{locale}#TAG#{tag}", "{second}#{article_id}")


class Preview(CmsEntity):
    """A link that shows somebody a version that isn't published. Its token isn't stored, only the token's hash."""

    token_hash: Id
    article_id: Id
    version: int = Field(ge=1)
    created_by: Id
    created_at: datetime = Field(default_factory=now)
    expires_at: Ttl = Field(alias="expires_at")

    primary = Key("PREVIEW#{token_hash}", "PREVIEW")


# What is to be done


class DueArticle(CmsEntity):
    """Something is to be done with an article at a time; the list is in the order of the times."""

    at: datetime
    action: Action
    article_id: Id

    @computed_field  # type: ignore[prop-decorator] # pydantic's documented form
    @property
    def second(self) -> str:
        """The time, as the key has it."""
        return second_of(self.at)

    primary = Key("DUE", "{second}#{action:rank}#{article_id}")


class Event(CmsEntity):
    """Something was published, changed or taken back: written in the same transaction, then delivered to the webhooks.

    ``next_at`` is when it is tried next; ``delivered`` names the webhooks that took it.
    """

    event_id: Id = Field(default_factory=ulid)
    kind: EventKind
    article_id: Id
    slug: Name
    title: Name
    locale: Locale | None = None
    version: int | None = None
    at: datetime = Field(default_factory=now)
    state: Literal["waiting", "delivered", "failed"] = "waiting"
    next_at: datetime
    attempts: int = Field(default=0, ge=0)
    delivered: set[str] = Field(default_factory=set)
    told: str | None = None
    """What was answered last where a webhook didn't take it."""
    expires_at: Ttl = Field(alias="expires_at")

    primary = Key("EVENT#{event_id}", "EVENT")
    waiting = Key("OUTBOX", "{next_at}#{event_id}", index=GSI1, when={"state": "waiting"})


# People


class Member(CmsEntity):
    """Somebody who signs in to the editor. ``none`` may look at nothing until an administrator says what they are."""

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
        """Their id, by the name that sites have for it."""
        return self.member_id


class Credential(CmsEntity):
    """What a member signs in with, apart from what others see of them."""

    member_id: Id
    password_hash: str = Field(min_length=1, max_length=500, repr=False)

    primary = Key("MEMBER#{member_id}", "CREDENTIAL")


class Founded(CmsEntity):
    """Somebody has joined: only the first becomes administrator by joining."""

    place: Literal["cms"] = "cms"
    member_id: Id

    primary = Key("FOUNDED#{place}", "FOUNDED")
