# mypy: disable-error-code="empty-body"
"""The CMS as published, except for two flaws that the compiler rejects (see cms_latest and cms_numbers)."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from keyplan import Cursor, Design, Entity, Field, Index, Key, Page, Put, Table, Update, Writes, now, read, ulid, write
from keyplan.errors import ItemNotFound

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Article(Entity):
    """The metadata of an article."""

    article_id: str = Field(default_factory=ulid)
    title: str
    slug: str
    excerpt: str | None = None
    status: Literal["draft", "published", "archived"] = "draft"
    author_id: str
    published_at: datetime | None = None
    current_version: int = 1
    tags: set[str] = Field(default_factory=set)
    created_at: datetime = Field(default_factory=now)
    updated_at: datetime = Field(default_factory=now)

    primary = Key("ARTICLE#{article_id}", "#METADATA")
    by_author = Key("AUTHOR#{author_id}", "ARTICLE#{article_id}", index=GSI1)


class ArticleVersion(Entity):
    """The body of a version."""

    article_id: str
    version: int
    body: str
    created_by: str

    primary = Key("ARTICLE#{article_id}", "VERSION#{version:08d}")


class TagArticle(Entity):
    tag: str
    article_id: str
    tagged_at: datetime = Field(default_factory=now)

    primary = Key("TAG#{tag}", "ARTICLE#{article_id}")
    by_article = Key("ARTICLE#{article_id}", "TAG#{tag}", index=GSI1)


class Cms(Design):
    table = Table("cms", indexes=[GSI1])

    @read("AP1")
    def article(self, article_id: str) -> Article | None: ...

    @read("AP3")
    def article_version(self, article_id: str, version: int) -> ArticleVersion | None: ...

    @read("AP4", newest_first=True)
    def article_versions(
        self, article_id: str, limit: int = 10, cursor: Cursor | None = None
    ) -> Page[ArticleVersion]: ...

    @read("AP5", newest_first=True)
    def articles_by_author(self, author_id: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Article]: ...

    @read("AP6", through=TagArticle)
    def articles_by_tag(self, tag: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Article]: ...

    @read("AP7")
    def tags_of_article(self, article_id: str) -> list[TagArticle]: ...

    @write("AP8")
    def publish_version(self, article_id: str, body: str, author_id: str) -> Writes:
        """Read the last version number, and write the next version."""
        article = yield from self.article.read(article_id)
        if article is None:
            raise ItemNotFound(f"there is no article {article_id!r}")
        new_version = article.current_version + 1
        yield Put(ArticleVersion(article_id=article_id, version=new_version, body=body, created_by=author_id))
        yield Update(article, current_version=new_version, updated_at=now())
