"""The writes about articles: create, translate, edit, tag, archive, delete. Their versions are in ``publishing.py``.

Whatever an article's lists are made of is written in the same transaction (``placing.py``), on condition that the
article is as it was read.
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
"""Versions that a delete reads at a time: at most 10 MB of bodies in memory."""
_SHOWN = ("title", "slug", "excerpt", "author_id", "tags")
"""What readers see of an article besides its text."""


def pinned(article: Article) -> dict[str, Any]:
    """What a write expects unchanged: all that the lists are made of."""
    names = (*_SHOWN, "status", "published_at", "current_version", "published_version", "publish_at", "unpublish_at")
    return {name: getattr(article, name) for name in names}


def changed(before: Article, moment: datetime, **changes: Any) -> tuple[Article, list[Update[Article] | Put | Delete]]:
    """The article after a change, and the actions: the article, its places in lists, what is due, and what is told."""
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
    """Change an article, with its places in lists, what is due and what is told of it. Gives it as it is then."""
    after, actions = changed(before, moment, **changes)
    for action in actions:  # noqa: UP028 - a list's iterator takes no answers
        yield action
    return after


def _due(before: Article, after: Article) -> Iterator[Put | Delete]:
    old, new = due_of(before), due_of(after)
    yield from (Delete(article) for article in old if article not in new)
    yield from (Put(article) for article in new if article not in old)


def _told(before: Article, after: Article) -> EventKind | None:
    """What the webhooks are told of a change; None of one that readers don't see."""
    if after.shown_version != before.shown_version:
        return "article.unpublished" if after.status != "published" else "article.published"
    if after.status != before.status and "published" in {before.status, after.status}:
        return "article.published" if after.status == "published" else "article.unpublished"
    seen = after.status == "published" and any(getattr(after, text) != getattr(before, text) for text in _SHOWN)
    return "article.updated" if seen else None


class ArticleWrites(Reads):
    """The writes about articles."""

    @write("W1")
    def create_article(self, article: Article) -> Writes[Article]:
        """Create an article, a draft without a version, with its tags and its slug.

        Raises ItemExists for an id or a slug that an article has.
        """
        created = _fresh(article, locale=article.locale, translation_of=None)
        yield from _created(created)
        return created

    @write("W3", attempts=30)
    def edit(self, article_id: str, title: Name, slug: Name, excerpt: Excerpt | None = None) -> Writes[Article]:
        """Change an article's title, slug and excerpt: all three, so without an excerpt it then has none.

        The slug that it had leads to it as before, and up to nine before that. Raises ItemExists for another's slug.
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
        """Give an article these tags and no others: junction items and the article's own set in one transaction.

        Raises Refused where more tags of a published article come and go than one transaction has room for.
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
        """Archive an article: it can be read, listed and deleted, and no longer changed; readers don't see it."""
        article = yield from self._editable(article_id)
        return (
            yield from write_change(
                article, now(), status="archived", publish_at=None, publish_next=None, unpublish_at=None
            )
        )

    @write("W7", attempts=30, example=Example().found(Article, status="archived"))
    def unarchive(self, article_id: str) -> Writes[Article]:
        """Make an archived article a draft again. Raises ItemNotFound; Refused for one that isn't archived."""
        article = yield from self._known(article_id)
        if article.status != "archived":
            raise Refused(f"article {article_id!r} isn't archived", place="Cms.unarchive")
        return (yield from write_change(article, now(), status="draft", published_version=None))

    @write("W8", attempts=10, example=Example(article_id="a1").found(Article, translation_of=None))
    def translate(self, article_id: str, locale: Locale, translation: Article) -> Writes[Article]:
        """Create the text of an article in another language, as an article of its own: a draft with its own slug,
        versions and tags. A translation of a translation is one of the original.

        Raises ItemNotFound for an unknown article, ItemExists where there is a text in that language or for a slug
        that is taken, Refused for the language that the original is in.
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
        """Delete an article with its tags, slugs, lists and all its versions; its translations stay.

        The metadata and what leads to it go in one transaction; the versions follow in batches. Called again after a
        failure, it removes what was left; deleting what isn't there is no error.
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
            # What is there is asked, not counted: an earlier delete may have left versions. Page by page, since a
            # query reads the bodies too, and only their numbers are kept.
            page = yield from self.article_versions.read(article_id, limit=DELETE_PAGE, cursor=cursor)
            numbers += [version.version for version in page]
            cursor = page.cursor
            if cursor is None:
                break
        yield Batch(
            Delete(entity, article_id=article_id, version=number)
            for number in numbers
            for entity in (VersionCard, ArticleVersion)  # a version that is left leads the next delete to its card
        )

    def _unled(self, article: Article) -> Writes:
        """What leads to an article goes: its slugs, and the link from what it translates."""
        holders = yield from self.slug_holders.read([article.slug, *(article.former_slugs or ())])
        for holder in holders:
            # In a table from before slugs were one article's alone, it may be another's.
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
    """An article as it is created: a draft without a version and without a past."""
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
