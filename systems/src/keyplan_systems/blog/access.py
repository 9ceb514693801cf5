"""Authorization: who can call which pattern over the API.

Patterns themselves check no permissions; the API's policy uses this table, and checks ownership as well. A pattern that
isn't listed is closed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Audience = Literal["anyone", "reader", "author", "moderator", "internal"]
"""The minimum role for a pattern; ``internal``: only this system's functions."""

WHO: Mapping[str, Audience] = {
    # public
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
    # readers, for themselves
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
    # authors, for their own posts
    "who_saw_post": "author",
    "create_post": "author",
    "edit_post": "author",
    "publish": "author",
    "unpublish": "author",
    "archive": "author",
    "restore": "author",
    # moderators
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
    # internal
    "session": "internal",
    "sessions": "internal",
    "counters": "internal",
    "addresses_of": "internal",
    "comment": "internal",
    "contents": "internal",
    "delete_post": "internal",
    "posts": "internal",
    "redirect": "internal",
    "uploads_of": "internal",
    "viewed_by": "internal",
    "lead": "internal",
    "note_upload": "internal",
    "user_by_provider": "internal",
    "user_to_sign_in": "internal",
    "provider_user": "internal",
    "name_co_authors": "internal",
    "publish_as_of": "internal",
    "register": "internal",
    "open_session": "internal",
    "set_password": "internal",
    "link_provider": "internal",
    "count_view": "internal",
    "send_message": "internal",
    "refresh_ranking": "internal",
    "refresh_tag": "internal",
    "refresh_user": "internal",
    "refresh_front_page": "internal",
}
