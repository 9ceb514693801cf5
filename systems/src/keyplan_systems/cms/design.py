# mypy: disable-error-code="empty-body"
"""The design of the CMS: three entities, eight questions, one table, one index.

Key shapes, index and attribute names follow the document; where the system departs from it, README.md says why.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel

from keyplan import (
    Batch,
    Create,
    Cursor,
    Delete,
    Design,
    Entity,
    Field,
    Index,
    Key,
    Page,
    Put,
    Table,
    Update,
    Writes,
    now,
    read,
    ulid,
    write,
)
from keyplan.errors import ItemNotFound, ItemTooLarge, Refused

__all__ = [
    "BODY_BYTES_MAX",
    "EXCERPT_MAX",
    "TAGS_MAX",
    "Article",
    "ArticleVersion",
    "ArticleWithVersion",
    "Cms",
    "Excerpt",
    "Name",
    "Status",
    "Tag",
    "TagArticle",
    "check_body",
    "word_count",
]

TAGS_MAX = 40
"""Tags an article may have: changing all of them is two actions a tag, within the 100 of one transaction."""
EXCERPT_MAX = 1000
"""Characters of an excerpt: it stands on every card of every list, so it stays small."""
ITEM_BYTES_MAX = 400 * 1024
BODY_BYTES_MAX = 395 * 1024
"""Bytes (UTF-8) of a body: DynamoDB's limit for an item, less 5 KB for the version's keys and other attributes."""

Status = Literal["draft", "published", "archived"]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=100, strip_whitespace=True)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Excerpt = Annotated[str, StringConstraints(max_length=EXCERPT_MAX)]
Id = Annotated[str, StringConstraints(min_length=1)]

DELETE_PAGE = 25
"""Versions that a delete reads at a time: at most 10 MB of bodies in memory."""

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class CmsEntity(Entity):
    """The base of the CMS's entities: attributes are spelt as the document has them, in camel case."""

    model_config = ConfigDict(alias_generator=to_camel)


class Article(CmsEntity):
    """An article's metadata; its body lives in its versions, so that lists never load bodies.

    ``article_id`` is a ULID, so that articles in the order of their ids are in the order of their making.
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

    primary = Key("ARTICLE#{article_id}", "#METADATA")
    by_author = Key("AUTHOR#{author_id}", "ARTICLE#{article_id}", index=GSI1)


class ArticleVersion(CmsEntity):
    """One version of an article's body. The number is padded and turned in its key, so that version 10 doesn't stand
    between 1 and 2, and the newest version stands right behind the metadata.
    """

    article_id: Id
    version: int = Field(ge=1)
    body: str
    word_count: int = Field(ge=0)
    created_by: Id
    created_at: datetime = Field(default_factory=now)

    primary = Key("ARTICLE#{article_id}", "VERSION#{version:08d:desc}")


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


SILENCE = {
    "KP103 ArticleVersion.body": "check_body refuses a longer one before the request, and says what works instead",
    "KP106 retag": "an article has a handful of tags, and editors see all of them",
    "KP303 article_history": "it is asked for when a whole history is exported, not for a page; AP4 pages",
}
"""What ``keyplan check`` finds and is right so."""


class Cms(Design, silence=SILENCE):
    """Articles, their versions and their tags: eight questions, one table, one index."""

    table = Table("cms", indexes=[GSI1])

    @read("AP1")
    def article(self, article_id: str) -> Article | None:
        """An article's metadata: title, status, author, tags."""
        ...

    @read("AP2", newest_first=True)
    def article_with_latest(self, article_id: str) -> ArticleWithVersion | None:
        """An article with its newest version's body, in one query."""
        ...

    @read("AP3")
    def article_version(self, article_id: str, version: int) -> ArticleVersion | None:
        """One version of an article."""
        ...

    @read("AP4", newest_first=True)
    def article_versions(self, article_id: str, limit: int = 10, cursor: Cursor | None = None) -> Page[ArticleVersion]:
        """All versions of an article, newest first."""
        ...

    @read("AP5", newest_first=True)
    def articles_by_author(self, author_id: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Article]:
        """An author's articles, newest first."""
        ...

    @read("AP6", through=TagArticle, newest_first=True)
    def articles_by_tag(self, tag: Tag, limit: int = 10, cursor: Cursor | None = None) -> Page[Article]:
        """The articles that carry a tag, newest first, whatever their status."""
        ...

    @read("AP7", items=TAGS_MAX)
    def tags_of_article(self, article_id: str) -> list[TagArticle]:
        """All tags of an article."""
        ...

    @write("AP8", attempts=30)
    def publish(self, article_id: str, body: str, created_by: str) -> Writes[ArticleVersion]:
        """Publish a new version: it gets the next number, and the article points to it.

        Of two publishers at the same moment, the second one's condition fails, and it takes the number after.
        Raises ItemNotFound, Refused for an archived article, ItemTooLarge for a body over 395 KB.
        """
        check_body(body, "Cms.publish.body")
        article = yield from self._editable(article_id)
        moment = now()
        version = yield from _next_version(
            article, body, created_by, moment, status="published", published_at=article.published_at or moment
        )
        return version

    @write("W1")
    def create_article(self, article: Article) -> Writes[Article]:
        """Create an article, a draft without a version, with its tags.

        Raises ItemExists for an id that an article has.
        """
        created = article.model_copy(
            update={"current_version": 0, "published_at": None, "status": "draft", "updated_at": article.created_at}
        )
        yield Create(created)
        for tag in sorted(article.tags):
            yield Put(TagArticle(tag=tag, article_id=article.article_id, tagged_at=article.created_at))
        return created

    @write("W2", attempts=30)
    def retag(self, article_id: str, tags: set[Tag]) -> Writes[Article]:
        """Give an article these tags and no others: junction items and the article's own set in one transaction."""
        article = yield from self._editable(article_id)
        moment = now()
        yield Update(article, tags=tags, updated_at=moment).only_if(tags=article.tags, status=article.status)
        for tag in sorted(tags - article.tags):
            yield Put(TagArticle(tag=tag, article_id=article_id, tagged_at=moment))
        for tag in sorted(article.tags - tags):
            yield Delete(TagArticle, tag=tag, article_id=article_id)
        return article.model_copy(update={"tags": tags, "updated_at": moment})

    @write("W3", attempts=10)
    def edit(self, article_id: str, title: Name, slug: Name, excerpt: Excerpt | None = None) -> Writes[Article]:
        """Change an article's title, slug and excerpt: all three, so without an excerpt it then has none."""
        article = yield from self._editable(article_id)
        moment = now()
        yield Update(article, title=title, slug=slug, excerpt=excerpt, updated_at=moment).only_if(status=article.status)
        return article.model_copy(update={"title": title, "slug": slug, "excerpt": excerpt, "updated_at": moment})

    @write("W4", attempts=10)
    def archive(self, article_id: str) -> Writes[Article]:
        """Archive an article: it can be read, listed and deleted, and no longer changed."""
        article = yield from self._editable(article_id)
        moment = now()
        yield Update(article, status="archived", updated_at=moment).only_if(status=article.status)
        return article.model_copy(update={"status": "archived", "updated_at": moment})

    @write("W5", attempts=10)
    def delete_article(self, article_id: str) -> Writes:
        """Delete an article with its tags and all its versions.

        The metadata and the tags go in one transaction, and nothing leads to the versions any more; they follow in
        batches. Called again after a failure, it removes what was left; deleting what isn't there is no error.
        """
        article = yield from self.article.ask(article_id)
        if article is not None:
            yield Delete(article).only_if(tags=article.tags, current_version=article.current_version)
            for tag in sorted(article.tags):
                yield Delete(TagArticle, tag=tag, article_id=article_id)
        numbers: list[int] = []
        cursor: Cursor | None = None
        while True:
            # What is there is asked, not counted: an earlier delete may have left versions. Page by page, since a
            # query reads the bodies too, and only their numbers are kept.
            page = yield from self.article_versions.ask(article_id, limit=DELETE_PAGE, cursor=cursor)
            numbers += [one.version for one in page]
            cursor = page.cursor
            if cursor is None:
                break
        yield Batch(Delete(ArticleVersion, article_id=article_id, version=number) for number in numbers)

    @write("W6", attempts=30)
    def save_draft(self, article_id: str, body: str, created_by: str) -> Writes[ArticleVersion]:
        """Save the next version of a draft, which stays a draft.

        Raises Refused for an article that isn't a draft: what was published shows its newest version to readers.
        """
        check_body(body, "Cms.save_draft.body")
        article = yield from self._editable(article_id)
        if article.status != "draft":
            raise Refused(
                f"article {article_id!r} is published, and readers see its newest version",
                place="Cms.save_draft",
                hint="publish the new version",
            )
        version = yield from _next_version(article, body, created_by, now())
        return version

    @read("R1")
    def article_history(self, article_id: str) -> list[ArticleVersion]:
        """All versions of an article in the order of their numbers, bodies included: its whole history at once."""
        ...

    def _editable(self, article_id: str) -> Writes[Article]:
        article = yield from self.article.ask(article_id)
        if article is None:
            raise ItemNotFound(
                f"there is no article {article_id!r}", place="Cms.article", hint="create it first: create_article"
            )
        if article.status == "archived":
            raise Refused(
                f"article {article_id!r} is archived",
                place="Cms.article",
                hint="archived articles stay as they are; they can be read and deleted",
            )
        return article


def word_count(body: str) -> int:
    """How many words a body has: what white space divides."""
    return len(body.split())


def check_body(body: str, place: str) -> None:
    """Raises ItemTooLarge for a body that no version can hold, before anything is sent."""
    size = len(body.encode("utf-8", "surrogatepass"))
    if size > BODY_BYTES_MAX:
        raise ItemTooLarge(
            f"the body is {size:,} bytes; a version holds {BODY_BYTES_MAX:,}, since DynamoDB allows "
            f"{ITEM_BYTES_MAX:,} for an item with all its attributes",
            place=place,
            hint="publish it in parts, as articles that link to each other; "
            "or keep the whole text in an object store, and publish a summary that links to it",
        )


def _next_version(
    article: Article, body: str, created_by: str, moment: datetime, **changes: Any
) -> Writes[ArticleVersion]:
    """The version after the article's newest, if the article is still as it was read."""
    version = ArticleVersion(
        article_id=article.article_id,
        version=article.current_version + 1,
        body=body,
        word_count=word_count(body),
        created_by=created_by,
        created_at=moment,
    )
    yield Create(version)
    yield Update(article, current_version=version.version, updated_at=moment, **changes).only_if(
        current_version=article.current_version, status=article.status
    )
    return version
