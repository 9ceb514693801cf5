"""Published articles in a language, with the published version. Never drafts."""

from __future__ import annotations

from typing import NamedTuple

from keyplan import now
from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.entities import Article, ArticleVersion
from keyplan_systems.cms.publishing import token_hash

__all__ = ["Readable", "previewed", "readable"]

TOKEN_CHARACTERS_MAX = 100


class Readable(NamedTuple):
    """An article with the version that readers see."""

    article: Article
    version: ArticleVersion


def readable(cms: Cms, slug: str, locale: str | None = None) -> Readable | None:
    """The published article of a slug, translated if a published translation exists, else in its own language, else the
    original; None if nothing is published.
    """
    result = cms.article_by_slug(slug) if slug else None
    if result is None:
        return None
    candidates: list[Article | None] = [result]
    original_id = result.translation_of or result.article_id
    if locale is not None and locale != result.locale:
        candidates.insert(0, cms.article_in_locale(original_id, locale))
        if result.translation_of is not None:
            candidates.append(cms.article(original_id))
    for article in candidates:
        if article is not None and article.shown_version is not None:
            version = cms.article_version(article.article_id, article.shown_version)
            if version is not None:
                return Readable(article, version)
    return None


def previewed(cms: Cms, token: str) -> Readable | None:
    """The version of a preview link; None if it has expired or is invalid."""
    shared = cms.preview(token_hash(token)) if len(token) <= TOKEN_CHARACTERS_MAX else None
    if shared is None or shared.expires_at <= now():  # expired items exist for days
        return None
    article = cms.article(shared.article_id)
    version = None if article is None else cms.article_version(shared.article_id, shared.version)
    return None if article is None or version is None else Readable(article, version)
