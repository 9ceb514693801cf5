# mypy: disable-error-code="empty-body"
"""The design of the CMS: three entities, eight questions, one table, one index.

Key shapes, index and attribute names follow the document; where the system departs from it, README.md says why.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, NamedTuple

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
    Table,
    Update,
    Writes,
    now,
    read,
    ulid,
    write,
)
from keyplan.errors import ItemNotFound, Refused

__all__ = ["TAGS_MAX", "Article", "ArticleVersion", "ArticleWithVersion", "Cms", "Status", "Tag", "TagArticle"]

TAGS_MAX = 40
"""Tags an article may have: changing all of them is two actions a tag, within the 100 of one transaction."""
VERSION_DIGITS = 8

Status = Literal["draft", "published", "archived"]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=100, strip_whitespace=True)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=500)]

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class CmsEntity(Entity):
    """The base of the CMS's entities: attributes are spelt as the document has them, in camel case."""

    model_config = ConfigDict(alias_generator=to_camel)


class Article(CmsEntity):
    """An article's metadata; its body lives in its versions, so that lists never load bodies."""

    article_id: str = Field(default_factory=ulid)
    title: Name
    slug: Name
    excerpt: str | None = None
    status: Status = "draft"
    author_id: str
    published_at: datetime | None = None
    current_version: int = 0
    tags: set[Tag] = Field(default_factory=set, max_length=TAGS_MAX)
    created_at: datetime = Field(default_factory=now)
    updated_at: datetime = Field(default_factory=now)

    primary = Key("ARTICLE#{article_id}", "#METADATA")
    by_author = Key("AUTHOR#{author_id}", "ARTICLE#{article_id}", index=GSI1)


class ArticleVersion(CmsEntity):
    """One version of an article's body. The number is turned in its key, so that the newest version stands first,
    right behind the metadata."""

    article_id: str
    version: int = Field(ge=1)
    body: str
    word_count: int
    created_by: str
    created_at: datetime = Field(default_factory=now)

    primary = Key("ARTICLE#{article_id}", "VERSION#{version:08d:desc}")


class TagArticle(CmsEntity):
    """An article carries a tag. The index turns the question around: which tags does an article carry?"""

    tag: Tag
    article_id: str
    tagged_at: datetime = Field(default_factory=now)

    primary = Key("TAG#{tag}", "ARTICLE#{article_id}")
    by_article = Key("ARTICLE#{article_id}", "TAG#{tag}", index=GSI1)


class ArticleWithVersion(NamedTuple):
    """An article and its newest version; a draft that was never published has none."""

    article: Article
    version: ArticleVersion | None


class Cms(Design):
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
    def article_versions(
        self, article_id: str, limit: int = 10, cursor: Cursor | None = None
    ) -> Page[ArticleVersion]:
        """All versions of an article, newest first."""
        ...

    @read("AP5", newest_first=True)
    def articles_by_author(self, author_id: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Article]:
        """An author's articles, newest first."""
        ...

    @read("AP6", through=TagArticle, newest_first=True)
    def articles_by_tag(self, tag: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Article]:
        """The articles that carry a tag, newest first."""
        ...

    @read("AP7")
    def tags_of_article(self, article_id: str) -> list[TagArticle]:
        """All tags of an article."""
        ...

    @write("AP8", attempts=30)
    def publish(self, article_id: str, body: str, created_by: str) -> Writes[ArticleVersion]:
        """Publish a new version: it gets the next number, and the article points to it."""
        article = yield from self._editable(article_id)
        moment = now()
        version = ArticleVersion(
            article_id=article_id,
            version=article.current_version + 1,
            body=body,
            word_count=len(body.split()),
            created_by=created_by,
            created_at=moment,
        )
        yield Create(version)
        yield Update(
            article,
            current_version=version.version,
            status="published",
            published_at=article.published_at or moment,
            updated_at=moment,
        ).only_if(current_version=article.current_version, status=article.status)
        return version

    @write("W1")
    def create_article(self, article: Article) -> Writes[Article]:
        """Create an article (a draft) with its tags."""
        created = article.model_copy(update={"current_version": 0, "published_at": None, "status": "draft"})
        yield Create(created)
        for tag in sorted(article.tags):
            yield Create(TagArticle(tag=tag, article_id=article.article_id, tagged_at=article.created_at))
        return created

    @write("W2", attempts=10)
    def retag(self, article_id: str, tags: set[Tag]) -> Writes[Article]:
        """Give an article these tags and no others: the junction items and the article's own set, in one transaction."""
        article = yield from self._editable(article_id)
        moment = now()
        changed = yield Update(article, tags=tags, updated_at=moment).only_if(tags=article.tags)
        for tag in sorted(tags - article.tags):
            yield Create(TagArticle(tag=tag, article_id=article_id, tagged_at=moment))
        for tag in sorted(article.tags - tags):
            yield Delete(TagArticle, tag=tag, article_id=article_id)
        return Article.model_validate(changed)

    @write("W3", attempts=10)
    def edit(self, article_id: str, title: Name, slug: Name, excerpt: str | None = None) -> Writes[Article]:
        """Change an article's title, slug and excerpt."""
        article = yield from self._editable(article_id)
        changed = yield Update(article, title=title, slug=slug, excerpt=excerpt, updated_at=now()).only_if(
            updated_at=article.updated_at
        )
        return Article.model_validate(changed)

    @write("W4", attempts=10)
    def archive(self, article_id: str) -> Writes[Article]:
        """Archive an article: it can be read, and no longer changed."""
        article = yield from self._editable(article_id)
        changed = yield Update(article, status="archived", updated_at=now()).only_if(status=article.status)
        return Article.model_validate(changed)

    @write("W5", attempts=10)
    def delete_article(self, article_id: str) -> Writes:
        """Delete an article with its tags and all its versions.

        The metadata and the tags go in one transaction, and nothing leads to the versions any more; they follow in
        batches. Called again after a failure, it removes what was left.
        """
        article = yield from self.article.ask(article_id)
        if article is not None:
            yield Delete(article).only_if(tags=article.tags, current_version=article.current_version)
            for tag in sorted(article.tags):
                yield Delete(TagArticle, tag=tag, article_id=article_id)
        versions = yield from self.version_numbers.ask(article_id)
        yield Batch(Delete(ArticleVersion, article_id=article_id, version=one.version) for one in versions)

    @read("R1")
    def version_numbers(self, article_id: str) -> list[ArticleVersion]:
        """All versions of an article, oldest first."""
        ...

    def _editable(self, article_id: str) -> Writes[Article]:
        article = yield from self.article.ask(article_id)
        if article is None:
            raise ItemNotFound(f"there is no article {article_id!r}", place="Cms.article")
        if article.status == "archived":
            raise Refused(f"article {article_id!r} is archived", place="Cms.article", hint="archived articles stay as they are")
        return article
