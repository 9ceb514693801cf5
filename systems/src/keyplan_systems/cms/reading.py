"""The versions that readers see: the published one, or that of a preview link."""

from __future__ import annotations

from typing import NamedTuple

from keyplan import now
from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.entities import Article, ArticleVersion
from keyplan_systems.cms.publishing import token_hash

TOKEN_CHARACTERS_MAX = 100


class Readable(NamedTuple):
    """An article with the version that readers see."""

    article: Article
    version: ArticleVersion


def readable(cms: Cms, slug: str) -> Readable | None:
    """The published article with a current or former slug; None if there is none."""
    article = cms.article_by_slug(slug) if slug else None
    return None if article is None else _with_version(cms, article, article.shown_version)


def previewed(cms: Cms, token: str) -> Readable | None:
    """The version of a preview link; None if it has expired or is invalid."""
    shared = cms.preview(token_hash(token)) if len(token) <= TOKEN_CHARACTERS_MAX else None
    if shared is None or shared.expires_at <= now():  # DynamoDB can take days to delete an expired item
        return None
    article = cms.article(shared.article_id)
    return None if article is None else _with_version(cms, article, shared.version)


def _with_version(cms: Cms, article: Article, number: int | None) -> Readable | None:
    version = None if number is None else cms.article_version(article.article_id, number)
    return None if version is None else Readable(article, version)
