"""The design of the CMS: one table, one index, all access patterns.

Entities are in ``entities``, reads in ``reads``, writes in ``articles``, ``publishing`` and ``members``; ``placing``
determines an article's list items. README.md explains where the system differs from the document.
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
    "KP103 ArticleVersion.body": "check_body refuses a longer one before the request, and says what works instead",
    "KP201 DueArticle.primary": "an entry goes when its time has come, and few articles have a time",
    "KP201 Event.waiting": "an event leaves the index when the webhooks have taken it, and is made when people publish",
    "KP201 Member.every": "those who write for a site are few",
    "KP202 Founded.primary": "one item, written once",
    "KP202 StateArticle.primary": "written when people publish, take back or archive, and read by editors alone",
    "KP303 article_history": "it is asked for when a whole history is exported, not for a page; AP4 pages",
    "KP602 Event.expires_at": "an event is as true as before: it expires so that they don't grow for ever",
    "KP602 Preview.expires_at": "whoever shows a preview looks at its time (reading.py)",
    "KP602 Session.expires_at": "Sessions.of compares it with the time",
}
"""Ignored findings of ``keyplan check``, with reasons."""


class Cms(MemberWrites, SessionPatterns, Design, ignore=SILENCE):
    """Articles with versions, tags, slugs and translations, lists for readers, and members."""

    table = Table("cms", indexes=[GSI1])
