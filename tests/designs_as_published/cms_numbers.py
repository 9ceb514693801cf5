# mypy: disable-error-code="empty-body"
"""The version numbers of the published CMS, where VERSION#10 precedes VERSION#2: the compiler rejects them."""

from __future__ import annotations

from keyplan import Cursor, Design, Entity, Key, Page, Table, read


class ArticleVersion(Entity):
    """The body of a version."""

    article_id: str
    version: int
    body: str

    primary = Key("ARTICLE#{article_id}", "VERSION#{version}")


class CmsNumbers(Design):
    """Versions."""

    table = Table("cms")

    @read("AP4", newest_first=True)
    def article_versions(
        self, article_id: str, limit: int = 10, cursor: Cursor | None = None
    ) -> Page[ArticleVersion]: ...
