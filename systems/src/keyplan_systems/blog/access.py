"""Authorization: who can call which pattern over the API.

Patterns themselves check no permissions; the API's policy uses this table, and checks ownership as well. A pattern that
isn't listed isn't in the API: only this system's functions call it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Audience = Literal["anyone", "reader", "author", "moderator"]
"""The minimum role for a pattern."""

WHO: Mapping[str, Audience] = {
    # All callers can use these patterns
    "latest_posts": "anyone",
    "published_between": "anyone",
    "popular_posts": "anyone",
    "posts_by_tags": "anyone",
    "trending_tags": "anyone",
    "tags_starting": "anyone",
    "tag": "anyone",
    "tags": "anyone",
    "user_by_username": "anyone",
    "front_page": "anyone",
    "post_by_slug": "anyone",
    "slug_of": "anyone",
    "post": "anyone",
    "comments": "anyone",
    "whole_post": "anyone",
    "posts_of_user": "anyone",
    "user": "anyone",
    "users": "anyone",
    # Readers can use these patterns for their own data
    "post_seen": "reader",
    "user_viewed": "reader",
    "edit_profile": "reader",
    "view_post": "reader",
    "like_post": "reader",
    "unlike_post": "reader",
    "rate_post": "reader",
    "view_user": "reader",
    "add_comment": "reader",
    "remove_comment": "reader",
    "end_session": "reader",
    "end_sessions": "reader",
    # Authors can use these patterns for their own posts
    "who_saw_post": "author",
    "create_post": "author",
    "edit_post": "author",
    "publish": "author",
    "unpublish": "author",
    "archive": "author",
    "restore": "author",
    # Only moderators can use these patterns
    "users_by_rating": "moderator",
    "latest_users": "moderator",
    "user_by_email": "moderator",
    "contact_messages": "moderator",
    "latest_comments": "moderator",
    "comments_of_user": "moderator",
    "moderate_comment": "moderator",
    "handle_message": "moderator",
    "delete_message": "moderator",
    "set_role": "moderator",
    "set_status": "moderator",
}
