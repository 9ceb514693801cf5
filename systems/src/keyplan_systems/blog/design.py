"""The design of the blog: one table, eight indexes, all access patterns of the document.

Entities are in ``entities``, reads in ``reads``, writes in ``posts``, ``people``, ``comments`` and ``counting``.
"""

from __future__ import annotations

from keyplan import Design, Table
from keyplan_systems.blog.comments import CommentWrites
from keyplan_systems.blog.counting import CountingWrites
from keyplan_systems.blog.entities import (
    INDEXES,
    Byline,
    Comment,
    ContactMessage,
    Counter,
    Credential,
    FrontPage,
    Moderation,
    Post,
    PostAddress,
    PostContent,
    PostImpression,
    PostSlug,
    PostTag,
    PostTagCombo,
    PostWithContent,
    ProviderUser,
    RateLimit,
    Redirect,
    TagCount,
    Upload,
    User,
    UserImpression,
)
from keyplan_systems.blog.people import PeopleWrites
from keyplan_systems.blog.posts import PostWrites

__all__ = [
    "Blog",
    "Byline",
    "Comment",
    "ContactMessage",
    "Counter",
    "Credential",
    "FrontPage",
    "Moderation",
    "Post",
    "PostAddress",
    "PostContent",
    "PostImpression",
    "PostSlug",
    "PostTag",
    "PostTagCombo",
    "PostWithContent",
    "ProviderUser",
    "RateLimit",
    "Redirect",
    "TagCount",
    "Upload",
    "User",
    "UserImpression",
]


_REASONS = {
    "KP103 PostContent.content": "check_content refuses what is longer before anything is sent",
    "KP103 Blog.link_provider": "a user has as many identities as there are providers",
    "KP213 user_by_email": "what was typed is folded before it is asked: see accounts.py",
    "KP213 user_by_username": "what was typed is folded before it is asked: see accounts.py",
    "KP213 user_to_sign_in": "what was typed is folded before it is asked: see accounts.py",
    "KP201 PostTag.by_name": "a tag is written when a post is published, and once a minute at most: see README.md",
    "KP201 PostTag.by_rating": "a tag is written when a post is published, and once a minute at most: see README.md",
    "KP202 User.by_status_created": "a user is written once a minute at most: see README.md",
    "KP202 User.by_status_rating": "a user is written once a minute at most: see README.md",
    "KP203 Moderation.primary": "moderators write it, a few a minute",
    "KP203 ContactMessage.primary": "people write to moderators, and are limited in how often",
    "KP209 Blog.refresh_tag": "this is the refresh at a bounded rate",
    "KP314 Blog.end_sessions": "sessions end as well when the epoch is counted twice",
    "KP306 Blog.lead": "an import says anew where its addresses lead",
    "KP405": "index names are the document's, so that its readers find them",
    "KP602 Counter.expires_at": "what expires is closed, and counts nothing",
    "KP602 Session.expires_at": "Sessions.of compares it with the time",
}
"""Ignored findings of ``keyplan check``, with reasons."""


class Blog(CommentWrites, CountingWrites, PeopleWrites, PostWrites, Design, ignore=_REASONS):
    """A blog platform: nineteen access patterns, one table, eight indexes."""

    table = Table("blog", indexes=INDEXES, entities=[PostAddress, RateLimit, Upload])
