"""Writes of articles: create, edit, tag, archive, delete. ``publishing`` has those of versions.

The article's list items are written in the same transaction (``placing``), which requires that the article is unchanged
since it was read.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from keyplan import Batch, Create, Cursor, Delete, Example, Put, Update, Writes, now, write
from keyplan.errors import ItemNotFound, Refused
from keyplan_systems.cms.entities import (
    RETAGGED_MAX,
    Article,
    ArticleSlug,
    ArticleVersion,
    Excerpt,
    Name,
    Tag,
    TagArticle,
    VersionCard,
)
from keyplan_systems.cms.placing import former_slugs, moved, tagged
from keyplan_systems.cms.reads import Reads

DELETE_PAGE = 25
"""Versions that a deletion reads at a time: at most 10 MB of bodies in memory."""
_SHOWN = ("title", "slug", "excerpt", "author_id", "tags")
"""Fields of an article that readers see, besides its text."""


def pinned(article: Article) -> dict[str, Any]:
    """The fields that a write requires to be unchanged: all fields that lists contain."""
    names = (*_SHOWN, "status", "published_at", "current_version", "published_version", "former_slugs")
    return {name: getattr(article, name) for name in names}


Action = Update[Article] | Create | Put | Delete


def changed(before: Article, moment: datetime, **changes: Any) -> tuple[Article, list[Action]]:
    after = before.model_copy(update={**changes, "updated_at": moment})
    actions: list[Action] = [
        Update(before, **changes, updated_at=moment).only_if(**pinned(before)),
        *moved(before, after),
    ]
    return after, actions


def write_change(before: Article, moment: datetime, **changes: Any) -> Writes[Article]:
    """Change an article with its list items. Returns the changed article."""
    after, actions = changed(before, moment, **changes)
    for action in actions:  # noqa: UP028 - `yield from` would send responses to a list iterator
        yield action
    return after


class ArticleWrites(Reads):
    """Writes of articles."""

    @write("W1")
    def create_article(self, article: Article) -> Writes[Article]:
        """Create an article, a draft without versions, with its tags and slug.

        Raises ItemExists for a taken id or slug.
        """
        created = _fresh(article)
        yield Create(created)
        yield Create(ArticleSlug(slug=created.slug, article_id=created.article_id))
        yield from tagged(created, created.created_at)
        yield from moved(None, created)
        return created

    @write("W3", attempts=30)
    def edit(self, article_id: str, title: Name, slug: Name, excerpt: Excerpt | None = None) -> Writes[Article]:
        """Change an article's title, slug and excerpt, all three: None removes the excerpt.

        Its former slugs, up to ten, redirect. Raises ItemExists for another article's slug.
        """
        article = yield from self._editable(article_id)
        former, given_up = former_slugs(article, slug)
        changes: dict[str, Any] = {"title": title, "slug": slug, "excerpt": excerpt}
        if slug != article.slug:
            changes["former_slugs"] = former
        after = yield from write_change(article, now(), **changes)
        if slug not in {article.slug, *(article.former_slugs or ())}:
            yield Create(ArticleSlug(slug=slug, article_id=article_id))
        for old in given_up:
            yield Delete(ArticleSlug, slug=old)
        return after

    @write("W2", attempts=30)
    def retag(self, article_id: str, tags: set[Tag]) -> Writes[Article]:
        """Set an article's tags: junction items and the article's own set, in one transaction.

        Raises Refused if more tags of a published article change than one transaction can contain.
        """
        article = yield from self._editable(article_id)
        moment = now()
        come, go = sorted(tags - article.tags), sorted(article.tags - tags)
        if article.status == "published" and len(come) + len(go) > RETAGGED_MAX:
            raise Refused(
                f"{len(come) + len(go)} tags of a published article change; at most {RETAGGED_MAX} can change together",
                place="Cms.retag",
                hint="change the tags in several calls",
            )
        after = yield from write_change(article, moment, tags=tags)
        for tag in come:
            yield Put(TagArticle(tag=tag, article_id=article_id, tagged_at=moment))
        for tag in go:
            yield Delete(TagArticle, tag=tag, article_id=article_id)
        return after

    @write("W4", attempts=30)
    def archive(self, article_id: str) -> Writes[Article]:
        """Archive an article: it can be read, listed and deleted, but not changed; readers don't see it."""
        article = yield from self._editable(article_id)
        return (yield from write_change(article, now(), status="archived"))

    @write("W7", attempts=30, example=Example().found(Article, status="archived"))
    def unarchive(self, article_id: str) -> Writes[Article]:
        """Make an archived article a draft. Raises ItemNotFound; Refused for one that isn't archived."""
        article = yield from self._known(article_id)
        if article.status != "archived":
            raise Refused(f"article {article_id!r} isn't archived", place="Cms.unarchive")
        return (yield from write_change(article, now(), status="draft", published_version=None))

    @write("W5", attempts=10)
    def delete_article(self, article_id: str) -> Writes:
        """Delete an article with its tags, slugs, list items and all versions.

        The metadata and references are deleted in one transaction; the versions follow in batches. After a failure,
        calling again deletes the rest; deleting a missing article is no error.
        """
        article = yield from self.article.read(article_id)
        if article is not None:
            yield Delete(article).only_if(**pinned(article))
            for tag in sorted(article.tags):
                yield Delete(TagArticle, tag=tag, article_id=article_id)
            yield from moved(article, None)
            for slug in (article.slug, *(article.former_slugs or ())):
                yield Delete(ArticleSlug, slug=slug)
        numbers: list[int] = []
        cursor: Cursor | None = None
        while True:
            # Query the stored versions, because an interrupted deletion may have left some. Read page by page and keep
            # only the version numbers, because the query also returns bodies.
            page = yield from self.article_versions.read(article_id, limit=DELETE_PAGE, cursor=cursor)
            numbers += [version.version for version in page]
            cursor = page.cursor
            if cursor is None:
                break
        yield Batch(
            Delete(entity, article_id=article_id, version=number)
            for number in numbers
            for entity in (VersionCard, ArticleVersion)  # versions last: a repeated deletion finds cards by version
        )

    def _known(self, article_id: str) -> Writes[Article]:
        article = yield from self.article.read(article_id)
        if article is None:
            raise ItemNotFound(
                f"there is no article {article_id!r}", place="Cms.article", hint="call create_article first"
            )
        return article

    def _editable(self, article_id: str) -> Writes[Article]:
        article = yield from self._known(article_id)
        if article.status == "archived":
            raise Refused(
                f"article {article_id!r} is archived",
                place="Cms.article",
                hint="archived articles can be read, deleted or unarchived, but not changed",
            )
        return article


def _fresh(article: Article) -> Article:
    """A new article: a draft without versions."""
    return article.model_copy(
        update={
            "current_version": 0,
            "published_at": None,
            "status": "draft",
            "updated_at": article.created_at,
            "published_version": None,
            "former_slugs": None,
        }
    )
