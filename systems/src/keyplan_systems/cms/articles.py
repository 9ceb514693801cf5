"""Writes of articles: create, translate, edit, tag, archive, delete. ``publishing`` has those of versions.

The items of an article's lists are written in the same transaction (``placing``), which expects the article as it was
read.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from keyplan import Batch, Check, Create, Cursor, Delete, Example, Put, Update, Writes, now, write
from keyplan.errors import ItemNotFound, Refused
from keyplan_systems.cms.entities import (
    RETAGGED_MAX,
    Article,
    ArticleSlug,
    ArticleVersion,
    EventKind,
    Excerpt,
    Locale,
    Name,
    Tag,
    TagArticle,
    Translation,
    VersionCard,
)
from keyplan_systems.cms.placing import due_of, event_of, former_slugs, moved, tagged
from keyplan_systems.cms.reads import Reads

__all__ = ["ArticleWrites", "changed", "pinned", "write_change"]

DELETE_PAGE = 25
"""Versions that a deletion reads at a time: at most 10 MB of bodies in memory."""
_SHOWN = ("title", "slug", "excerpt", "author_id", "tags")
"""Fields of an article that readers see, besides its text."""


def pinned(article: Article) -> dict[str, Any]:
    """The fields that a write expects unchanged: all that lists contain."""
    names = (*_SHOWN, "status", "published_at", "current_version", "published_version", "publish_at", "unpublish_at")
    return {name: getattr(article, name) for name in names}


def changed(before: Article, moment: datetime, **changes: Any) -> tuple[Article, list[Update[Article] | Put | Delete]]:
    """The changed article, and the actions: the article, its list items, schedule, and event."""
    after = before.model_copy(update={**changes, "updated_at": moment})
    actions: list[Update[Article] | Put | Delete] = [
        Update(before, **changes, updated_at=moment).only_if(**pinned(before)),
        *moved(before, after),
        *_due(before, after),
    ]
    kind = _told(before, after)
    if kind is not None:
        actions.append(Put(event_of(kind, after, moment)))
    return after, actions


def write_change(before: Article, moment: datetime, **changes: Any) -> Writes[Article]:
    """Change an article with its list items, schedule and event. Returns the changed article."""
    after, actions = changed(before, moment, **changes)
    for action in actions:  # noqa: UP028 - a list's iterator takes no answers
        yield action
    return after


def _due(before: Article, after: Article) -> Iterator[Put | Delete]:
    old, new = due_of(before), due_of(after)
    yield from (Delete(article) for article in old if article not in new)
    yield from (Put(article) for article in new if article not in old)


def _told(before: Article, after: Article) -> EventKind | None:
    """The webhook event of a change; None for one that readers don't see."""
    if after.shown_version != before.shown_version:
        return "article.unpublished" if after.status != "published" else "article.published"
    if after.status != before.status and "published" in {before.status, after.status}:
        return "article.published" if after.status == "published" else "article.unpublished"
    seen = after.status == "published" and any(getattr(after, text) != getattr(before, text) for text in _SHOWN)
    return "article.updated" if seen else None


class ArticleWrites(Reads):
    """Writes of articles."""

    @write("W1")
    def create_article(self, article: Article) -> Writes[Article]:
        """Create an article, a draft without versions, with its tags and slug.

        Raises ItemExists for a taken id or slug.
        """
        created = _fresh(article, locale=article.locale, translation_of=None)
        yield from _created(created)
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
                f"{len(come) + len(go)} tags of a published article come and go at once; at most {RETAGGED_MAX} can",
                place="Cms.retag",
                hint="change them in two steps",
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
        return (
            yield from write_change(
                article, now(), status="archived", publish_at=None, publish_next=None, unpublish_at=None
            )
        )

    @write("W7", attempts=30, example=Example().found(Article, status="archived"))
    def unarchive(self, article_id: str) -> Writes[Article]:
        """Make an archived article a draft. Raises ItemNotFound; Refused for one that isn't archived."""
        article = yield from self._known(article_id)
        if article.status != "archived":
            raise Refused(f"article {article_id!r} isn't archived", place="Cms.unarchive")
        return (yield from write_change(article, now(), status="draft", published_version=None))

    @write("W8", attempts=10, example=Example(article_id="a1").found(Article, translation_of=None))
    def translate(self, article_id: str, locale: Locale, translation: Article) -> Writes[Article]:
        """Create the translation of an article into a language, as a separate article: a draft with its own slug,
        versions and tags. A translation of a translation belongs to the original.

        Raises ItemNotFound for an unknown article, ItemExists for an existing translation or a taken slug, Refused for
        the original's language.
        """
        given = yield from self._editable(article_id)
        original_id = given.translation_of or article_id
        created = _fresh(translation, locale=locale, translation_of=original_id)
        if given.locale == locale or created.article_id == original_id:
            what = f"is in {locale} itself" if given.locale == locale else "can't be its own translation"
            raise Refused(f"article {article_id!r} {what}", place="Cms.translate", hint="edit it")
        yield Check(Article, article_id=original_id)
        yield Create(Translation(article_id=original_id, locale=locale, translation_id=created.article_id))
        yield from _created(created)
        return created

    @write("W5", attempts=10)
    def delete_article(self, article_id: str) -> Writes:
        """Delete an article with its tags, slugs, list items and all versions; its translations stay.

        The metadata and references are deleted in one transaction; the versions follow in batches. After a failure,
        calling again deletes the rest; deleting a missing article is no error.
        """
        article = yield from self.article.read(article_id)
        if article is not None:
            yield Delete(article).only_if(**pinned(article))
            for tag in sorted(article.tags):
                yield Delete(TagArticle, tag=tag, article_id=article_id)
            yield from moved(article, None)
            for due in due_of(article):
                yield Delete(due)
            yield from self._unled(article)
            if article.status == "published":
                yield Put(event_of("article.deleted", article, now()))
        numbers: list[int] = []
        cursor: Cursor | None = None
        while True:
            # Queries the existing versions, because an interrupted deletion can have left some. Page by page, because a
            # query also reads bodies, and keeps only version numbers.
            page = yield from self.article_versions.read(article_id, limit=DELETE_PAGE, cursor=cursor)
            numbers += [version.version for version in page]
            cursor = page.cursor
            if cursor is None:
                break
        yield Batch(
            Delete(entity, article_id=article_id, version=number)
            for number in numbers
            for entity in (VersionCard, ArticleVersion)  # a remaining version lets the next deletion find its card
        )

    def _unled(self, article: Article) -> Writes:
        """Delete references to an article: its slugs, and the link from its original."""
        holders = yield from self.slug_holders.read([article.slug, *(article.former_slugs or ())])
        for holder in holders:
            # In a table without unique slugs, it can belong to another article.
            if holder.article_id == article.article_id:
                yield Delete(holder).only_if(article_id=article.article_id)
        if article.translation_of is not None and article.locale is not None:
            yield Delete(Translation, article_id=article.translation_of, locale=article.locale)

    def _known(self, article_id: str) -> Writes[Article]:
        article = yield from self.article.read(article_id)
        if article is None:
            raise ItemNotFound(
                f"there is no article {article_id!r}", place="Cms.article", hint="create it first: create_article"
            )
        return article

    def _editable(self, article_id: str) -> Writes[Article]:
        article = yield from self._known(article_id)
        if article.status == "archived":
            raise Refused(
                f"article {article_id!r} is archived",
                place="Cms.article",
                hint="archived articles stay as they are; they can be read, deleted, and made drafts again",
            )
        return article


def _fresh(article: Article, *, locale: str | None, translation_of: str | None) -> Article:
    """A new article: a draft without versions."""
    return article.model_copy(
        update={
            "current_version": 0,
            "published_at": None,
            "status": "draft",
            "updated_at": article.created_at,
            "published_version": None,
            "former_slugs": None,
            "locale": locale,
            "translation_of": translation_of,
            "publish_at": None,
            "publish_next": None,
            "unpublish_at": None,
        }
    )


def _created(article: Article) -> Iterator[Create | Put | Delete]:
    yield Create(article)
    yield Create(ArticleSlug(slug=article.slug, article_id=article.article_id))
    yield from tagged(article, article.created_at)
    yield from moved(None, article)
