"""The design of the CMS: one table, one index, all access patterns.

Entities are in ``entities``, reads in ``reads``, writes in ``articles``, ``publishing`` and ``members``; ``placing``
determines an article's list items. README.md lists the differences from the document.
"""

from __future__ import annotations

from keyplan import Design, Table
from keyplan_systems.cms.entities import (
    BODY_BYTES_MAX,
    EXCERPT_MAX,
    GSI1,
    TAGS_MAX,
    Article,
    ArticleVersion,
    ArticleWithVersion,
    Excerpt,
    Name,
    Status,
    Tag,
    TagArticle,
)
from keyplan_systems.cms.members import MemberWrites
from keyplan_systems.cms.placing import check_body, word_count
from keyplan_systems.site.sessions import SessionPatterns

__all__ = [
    "BODY_BYTES_MAX",
    "EXCERPT_MAX",
    "TAGS_MAX",
    "Article",
    "ArticleVersion",
    "ArticleWithVersion",
    "Cms",
    "Excerpt",
    "Name",
    "Status",
    "Tag",
    "TagArticle",
    "check_body",
    "word_count",
]

SILENCE = {
    "KP103 ArticleVersion.body": "check_body rejects a longer body before the request, and suggests alternatives",
    "KP201 Member.every": "a site has few members",
    "KP201 PublishedArticle.primary": "only changes to published articles write items, at most 500 per second",
    "KP202 Founded.primary": "this entity has one item, which is written once",
    "KP202 StateArticle.primary": "items are written when an article changes its status, and only editors read them",
    "KP303 article_history": "only exports read a whole history; pages use article_versions, which is paginated",
    "KP602 Preview.expires_at": "the preview page compares expires_at with the current time",
    "KP602 Session.expires_at": "Sessions.of compares expires_at with the current time",
}
"""Ignored findings of ``keyplan check``, with reasons."""


class Cms(MemberWrites, SessionPatterns, Design, ignore=SILENCE):
    """Articles with versions, tags and slugs, lists for readers, and members."""

    table = Table("cms", indexes=[GSI1])
