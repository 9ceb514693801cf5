"""The list items of an article, as pure functions: writes add them to their transactions.

The design's writes, the import and the sample share them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from keyplan import Create, Delete, Put
from keyplan.errors import ItemTooLarge
from keyplan_systems.cms.entities import (
    BODY_BYTES_MAX,
    FORMER_SLUGS_MAX,
    ITEM_BYTES_MAX,
    Article,
    ArticleVersion,
    PublishedArticle,
    PublishedTag,
    StateArticle,
    TagArticle,
    VersionCard,
    second_of,
)

Placed = StateArticle | PublishedArticle | PublishedTag


def _places(article: Article) -> dict[tuple[object, ...], Placed]:
    """The items of an article's lists, by identity."""
    name = article.article_id
    result: dict[tuple[object, ...], Placed] = {
        ("state", article.status): StateArticle(status=article.status, article_id=name)
    }
    if article.status == "published" and article.published_at is not None:
        # Keys and the item's identity contain the time in seconds.
        second = second_of(article.published_at)
        shown: dict[str, Any] = {
            "article_id": name,
            "published_at": article.published_at,
            "title": article.title,
            "slug": article.slug,
            "excerpt": article.excerpt,
            "author_id": article.author_id,
        }
        result["published", second] = PublishedArticle(**shown, tags=article.tags)
        for tag in sorted(article.tags):
            result["tag", second, tag] = PublishedTag(**shown, tag=tag)
    return result


def moved(before: Article | None, after: Article | None) -> Iterator[Put | Delete]:
    """The changes of list items when an article is created (``before`` is None), changed, or deleted (``after`` is
    None).

    Without the tags' junction items, which have their own times (``TagArticle``).
    """
    old, new = ({} if article is None else _places(article) for article in (before, after))
    for name, item in new.items():
        if old.get(name) != item:
            yield Put(item)
    for name, item in old.items():
        if name not in new:
            yield Delete(item)


def tagged(article: Article, moment: datetime) -> Iterator[Put]:
    for tag in sorted(article.tags):
        yield Put(TagArticle(tag=tag, article_id=article.article_id, tagged_at=moment))


def card_of(version: ArticleVersion) -> VersionCard:
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
    yield Create(version)
    yield Put(card_of(version))


def former_slugs(article: Article, slug: str) -> tuple[list[str] | None, list[str]]:
    """The former slugs of an article with a new slug; and those that are dropped."""
    if slug == article.slug:
        return article.former_slugs, []
    known = [*(text for text in article.former_slugs or () if text not in {slug, article.slug}), article.slug]
    return known[-FORMER_SLUGS_MAX:], known[:-FORMER_SLUGS_MAX]


def word_count(body: str) -> int:
    """The number of words, separated by white space."""
    return len(body.split())


def check_body(body: str, place: str) -> None:
    """Raises ItemTooLarge for a body that exceeds the maximum, before anything is sent."""
    size = len(body.encode("utf-8", "surrogatepass"))
    if size > BODY_BYTES_MAX:
        raise ItemTooLarge(
            f"the body is {size:,} bytes; a version holds at most {BODY_BYTES_MAX:,}, because DynamoDB limits "
            f"an item with all its attributes to {ITEM_BYTES_MAX:,}",
            place=place,
            hint="split the text into several articles, or store it in Amazon S3 and publish a summary with a link",
        )
