"""The design of the blog: one table, eight indexes, all access patterns of the document.

Entities are in ``entities``, reads in ``reads``, writes in ``posts``, ``people``, ``comments`` and ``counting``.
"""

from __future__ import annotations

from keyplan import Design, Table
from keyplan_systems.blog.comments import CommentWrites
from keyplan_systems.blog.counting import CountingWrites
from keyplan_systems.blog.entities import INDEXES, PostAddress, Upload
from keyplan_systems.blog.people import PeopleWrites
from keyplan_systems.blog.posts import PostWrites

_FOLDED = "accounts.py folds the case of input before the query"
_ONCE_A_MINUTE = "each item is written at most once a minute: see README.md"
_BOUNDED = "this write refreshes a ranking at a bounded rate"
_ALL_STATUSES = "the specification requires posts of every status in the index"
_REASONS = {
    "KP103 PostContent.content": "check_content rejects longer content before the request",
    "KP103 Blog.link_provider": "a user has at most one identity per provider",
    "KP213 user_by_email": _FOLDED,
    "KP213 user_by_username": _FOLDED,
    "KP213 user_to_sign_in": _FOLDED,
    "KP201 PostTag.by_name": _ONCE_A_MINUTE,
    "KP201 PostTag.by_rating": _ONCE_A_MINUTE,
    "KP202 User.by_status_created": _ONCE_A_MINUTE,
    "KP202 User.by_status_rating": _ONCE_A_MINUTE,
    "KP203 ContactMessage.primary": "the contact form is rate limited",
    "KP209 Blog.refresh_ranking": _BOUNDED,
    "KP209 Blog.refresh_tag": _BOUNDED,
    "KP209 Blog.refresh_user": _BOUNDED,
    "KP314 Blog.end_sessions": "incrementing the epoch twice ends the same sessions",
    "KP306 Blog.lead": "an import overwrites the redirects of an earlier import",
    "KP405": "the specification defines the index names",
    "KP406 Post.by_status_created": _ALL_STATUSES,
    "KP406 Post.by_status_rating": _ALL_STATUSES,
    "KP602 Counter.expires_at": "only closed shards expire, and they are no longer counted",
    "KP602 Session.expires_at": "Sessions.of compares expires_at with the current time",
}
"""Ignored findings of ``keyplan check``, with reasons."""


class Blog(CommentWrites, CountingWrites, PeopleWrites, PostWrites, Design, ignore=_REASONS):
    """A blog platform: one table, eight indexes."""

    table = Table("blog", indexes=INDEXES, entities=[PostAddress, Upload])
