"""The design of the blog: one table, eight indexes, and every question and write of the document.

Its parts: entities in ``entities.py``, questions in ``reads.py``, writes in ``posts.py``, ``people.py`` and
``counting.py``.
"""

from __future__ import annotations

from keyplan import Design, Table
from keyplan.systems.blog.counting import CountingWrites
from keyplan.systems.blog.entities import (
    INDEXES,
    Account,
    Byline,
    ContactMessage,
    Counter,
    Credential,
    FrontPage,
    Post,
    PostContent,
    PostImpression,
    PostSlug,
    PostTag,
    PostTagCombo,
    PostWithContent,
    ProviderUser,
    RateLimit,
    Session,
    TagCount,
    User,
    UserImpression,
)
from keyplan.systems.blog.people import PeopleWrites
from keyplan.systems.blog.posts import PostWrites

__all__ = [
    "Account",
    "Blog",
    "Byline",
    "ContactMessage",
    "Counter",
    "Credential",
    "FrontPage",
    "Post",
    "PostContent",
    "PostImpression",
    "PostSlug",
    "PostTag",
    "PostTagCombo",
    "PostWithContent",
    "ProviderUser",
    "RateLimit",
    "Session",
    "TagCount",
    "User",
    "UserImpression",
]


class Blog(CountingWrites, PeopleWrites, PostWrites, Design):
    """A blog platform: fifteen questions, one table, eight indexes."""

    table = Table("blog", indexes=INDEXES, entities=[RateLimit])
