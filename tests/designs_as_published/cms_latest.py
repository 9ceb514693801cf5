# mypy: disable-error-code="empty-body"
"""The CMS's second access pattern as published: metadata and latest version in one Query, with ascending versions. The
compiler rejects this design.
"""

from __future__ import annotations

from typing import NamedTuple

from keyplan import Design, Entity, Key, Table, read


class Article(Entity):
    """The metadata of an article."""

    article_id: str
    title: str

    primary = Key("ARTICLE#{article_id}", "#METADATA")


class ArticleVersion(Entity):
    """The body of a version."""

    article_id: str
    version: int
    body: str

    primary = Key("ARTICLE#{article_id}", "VERSION#{version:08d}")


class ArticleWithVersion(NamedTuple):
    """An article and its latest version."""

    article: Article
    version: ArticleVersion | None


class CmsLatest(Design):
    table = Table("cms")

    @read("AP2", newest_first=True)
    def article_with_latest(self, article_id: str) -> ArticleWithVersion | None: ...
