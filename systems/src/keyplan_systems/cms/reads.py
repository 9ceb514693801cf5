# mypy: disable-error-code="empty-body"
"""The read patterns of the CMS: AP1 to AP7 of the document, R1 to R5 for editors, P1 to P4 for readers, M1 to M5 for
members.

P1 to P3 return only published articles; a policy decides who can call the others.
"""

from __future__ import annotations

from typing import Literal

from keyplan import Cursor, Page, read
from keyplan_systems.cms.entities import (
    TAGS_MAX,
    Article,
    ArticleSlug,
    ArticleVersion,
    ArticleWithVersion,
    Credential,
    Email,
    Founded,
    Member,
    Preview,
    PublishedArticle,
    PublishedTag,
    StateArticle,
    Status,
    Tag,
    TagArticle,
    VersionCard,
)


class Reads:
    """All access patterns that read."""

    @read("AP1")
    def article(self, article_id: str) -> Article | None:
        """An article's metadata: title, status, author, tags."""
        ...

    @read("AP2", newest_first=True)
    def article_with_latest(self, article_id: str) -> ArticleWithVersion | None:
        """An article with its newest version, in one query."""
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
        """The articles with a tag, newest first, with any status."""
        ...

    @read("AP7", items=TAGS_MAX)
    def tags_of_article(self, article_id: str) -> list[TagArticle]:
        """All tags of an article."""
        ...

    # Editors

    @read("R1")
    def article_history(self, article_id: str) -> list[ArticleVersion]:
        """All versions of an article in order, with bodies: its whole history."""
        ...

    @read("R2", newest_first=True)
    def version_cards(self, article_id: str, limit: int = 10, cursor: Cursor | None = None) -> Page[VersionCard]:
        """All versions of an article without their bodies, newest first."""
        ...

    @read("R3")
    def version_card(self, article_id: str, version: int) -> VersionCard | None:
        """A version without its body."""
        ...

    @read("R4", through=StateArticle, newest_first=True)
    def articles_by_state(self, status: Status, limit: int = 20, cursor: Cursor | None = None) -> Page[Article]:
        """The articles with a status, newest first."""
        ...

    @read("R5", through=ArticleSlug)
    def article_by_slug(self, slug: str) -> Article | None:
        """An article by its current or a former slug, with any status."""
        ...

    # Readers

    @read("P1", newest_first=True)
    def published_articles(self, limit: int = 20, cursor: Cursor | None = None) -> Page[PublishedArticle]:
        """The published articles, newest first."""
        ...

    @read("P2", newest_first=True)
    def published_by_tag(self, tag: Tag, limit: int = 20, cursor: Cursor | None = None) -> Page[PublishedTag]:
        """The published articles with a tag, newest first, in one query."""
        ...

    @read("P3", newest_first=True)
    def published_by_author(
        self, author_id: str, limit: int = 20, cursor: Cursor | None = None
    ) -> Page[PublishedArticle]:
        """The published articles of an author, newest first."""
        ...

    @read("P4")
    def preview(self, token_hash: str) -> Preview | None:
        """The preview of a token's hash."""
        ...

    # Members

    @read("M1")
    def member(self, member_id: str) -> Member | None:
        """A member by their id."""
        ...

    @read("M2", consistent=True)
    def member_by_email(self, email: Email) -> Member | None:
        """A member by email address, in any case."""
        ...

    @read("M3")
    def members(self, limit: int = 50, cursor: Cursor | None = None) -> Page[Member]:
        """All members."""
        ...

    @read("M4")
    def credential(self, member_id: str) -> Credential | None:
        """A member's credential."""
        ...

    @read("M5")
    def founded(self, place: Literal["cms"]) -> Founded | None:
        """The founding member."""
        ...
