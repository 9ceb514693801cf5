"""In which lists an article stands, as pure functions: what a write adds to its transaction so that the lists follow.

The writes of the design, the import, the sample and ``renewing.py`` ask here, so that they can't differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from keyplan import Create, Delete, Put
from keyplan.errors import ItemTooLarge
from keyplan_systems.cms.entities import (
    BODY_BYTES_MAX,
    EVENT_KEPT,
    FORMER_SLUGS_MAX,
    ITEM_BYTES_MAX,
    MAIN,
    Action,
    Article,
    ArticleVersion,
    DueArticle,
    Event,
    EventKind,
    PublishedArticle,
    PublishedTag,
    StateArticle,
    TagArticle,
    VersionCard,
    second_of,
)

__all__ = [
    "card_of",
    "check_body",
    "due_of",
    "event_of",
    "former_slugs",
    "moved",
    "new_version",
    "tagged",
    "word_count",
]

Placed = StateArticle | PublishedArticle | PublishedTag


def _places(article: Article) -> dict[tuple[object, ...], Placed]:
    """The items that lists are made of, by what tells them apart."""
    name = article.article_id
    result: dict[tuple[object, ...], Placed] = {
        ("state", article.status): StateArticle(status=article.status, article_id=name)
    }
    if article.status == "published" and article.published_at is not None:
        # The key holds the second, and so does what tells places apart.
        locale, second = article.locale or MAIN, second_of(article.published_at)
        shown: dict[str, Any] = {
            "locale": locale,
            "article_id": name,
            "published_at": article.published_at,
            "title": article.title,
            "slug": article.slug,
            "excerpt": article.excerpt,
            "author_id": article.author_id,
        }
        result["published", locale, second] = PublishedArticle(**shown, tags=article.tags)
        for tag in sorted(article.tags):
            result["tag", locale, second, tag] = PublishedTag(**shown, tag=tag)
    return result


def moved(before: Article | None, after: Article | None) -> Iterator[Put | Delete]:
    """What changes in the lists when an article is made (``before`` is None), changed, or deleted (``after`` is None).

    The tags' junction items are not among it: they know when each tag was given (``TagArticle``).
    """
    old, new = ({} if article is None else _places(article) for article in (before, after))
    for name, item in new.items():
        if old.get(name) != item:
            yield Put(item)
    for name, item in old.items():
        if name not in new:
            yield Delete(item)


def tagged(article: Article, moment: datetime) -> Iterator[Put]:
    """The junction items of an article's tags."""
    for tag in sorted(article.tags):
        yield Put(TagArticle(tag=tag, article_id=article.article_id, tagged_at=moment))


def card_of(version: ArticleVersion) -> VersionCard:
    """A version without its body."""
    return VersionCard(
        article_id=version.article_id,
        version=version.version,
        word_count=version.word_count,
        created_by=version.created_by,
        created_at=version.created_at,
        title=version.title,
        excerpt=version.excerpt,
    )


def new_version(version: ArticleVersion) -> Iterator[Create | Put]:
    """A version, which must not be there, and its card."""
    yield Create(version)
    yield Put(card_of(version))


def due_of(article: Article) -> list[DueArticle]:
    """What is to be done with an article at a time."""
    times: list[tuple[Action, datetime | None]] = [
        ("publish", article.publish_at),
        ("unpublish", article.unpublish_at),
    ]
    return [DueArticle(at=at, action=action, article_id=article.article_id) for action, at in times if at is not None]


def event_of(kind: EventKind, article: Article, moment: datetime) -> Event:
    """What the webhooks are told."""
    return Event(
        kind=kind,
        article_id=article.article_id,
        slug=article.slug,
        title=article.title,
        locale=article.locale,
        version=article.shown_version,
        at=moment,
        next_at=moment,
        expires_at=moment + EVENT_KEPT,
    )


def former_slugs(article: Article, slug: str) -> tuple[list[str] | None, list[str]]:
    """The slugs that an article had, when it now has this one; and those that lead to it no longer."""
    if slug == article.slug:
        return article.former_slugs, []
    known = [*(text for text in article.former_slugs or () if text not in {slug, article.slug}), article.slug]
    return known[-FORMER_SLUGS_MAX:], known[:-FORMER_SLUGS_MAX]


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
