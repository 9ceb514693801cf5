"""Authorization: who can call which pattern over the API.

Patterns themselves check no permissions; the API's policy uses this table. A pattern that isn't listed is closed, and
``OWN`` lists ownership rules that the policy checks as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

__all__ = ["OWN", "WHO", "Audience"]

Audience = Literal["anyone", "reader", "author", "moderator", "nobody"]
"""The minimum role for a pattern; ``nobody``: only this system's functions."""

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
    "posts_by_status": "moderator",
    "users_by_rating": "moderator",
    "latest_users": "moderator",
    "user_by_email": "moderator",
    "contact_messages": "moderator",
    "latest_comments": "moderator",
    "comments_of_user": "moderator",
    "moderation_log": "moderator",
    "moderate_comment": "moderator",
    "take_down": "moderator",
    "handle_message": "moderator",
    "delete_message": "moderator",
    "set_role": "moderator",
    "set_status": "moderator",
    # internal
    "session": "nobody",
    "sessions": "nobody",
    "counters": "nobody",
    "addresses_of": "nobody",
    "comment": "nobody",
    "contents": "nobody",
    "delete_post": "nobody",
    "posts": "nobody",
    "redirect": "nobody",
    "uploads_of": "nobody",
    "viewed_by": "nobody",
    "lead": "nobody",
    "note_upload": "nobody",
    "user_by_provider": "nobody",
    "user_to_sign_in": "nobody",
    "provider_user": "nobody",
    "name_co_authors": "nobody",
    "publish_as_of": "nobody",
    "register": "nobody",
    "open_session": "nobody",
    "set_password": "nobody",
    "link_provider": "nobody",
    "count_view": "nobody",
    "count_attempt": "nobody",
    "send_message": "nobody",
    "refresh_ranking": "nobody",
    "refresh_tag": "nobody",
    "refresh_user": "nobody",
    "refresh_front_page": "nobody",
}

OWN: Mapping[str, str] = {
    "post": "a post that isn't published is its author's, its co-authors' and the moderators'",
    "whole_post": "a post that isn't published is its author's, its co-authors' and the moderators'",
    "post_by_slug": "a post that isn't published is its author's, its co-authors' and the moderators'",
    "user": "a user who was removed is there for moderators only",
    "users": "a user who was removed is there for moderators only",
    "user_by_username": "a user who was removed is there for moderators only",
    "slug_of": "the slug of a post that isn't published is its author's, its co-authors' and the moderators'",
    "posts_of_user": "drafts and archived posts are their author's and the moderators'",
    "who_saw_post": "only of one's own post, or as a moderator",
    "create_post": "user_id is the caller",
    "edit_post": "only one's own post, or as a moderator that of an unclaimed imported author; edited_by is the caller",
    "publish": "only one's own post, or as a moderator",
    "unpublish": "only one's own post, or as a moderator",
    "archive": "only one's own post, or as a moderator",
    "restore": "only one's own post, or as a moderator",
    "post_seen": "user_id is the caller",
    "user_viewed": "user_id is the caller",
    "edit_profile": "user_id is the caller",
    "view_post": "user_id is the caller, and the post is published",
    "like_post": "user_id is the caller, and the post is published",
    "unlike_post": "user_id is the caller",
    "rate_post": "user_id is the caller, and the post is published",
    "view_user": "user_id is the caller, and the viewed user is there",
    "comments": "only of a post that is there for the caller; without the texts that are hidden",
    "add_comment": "user_id is the caller, and the post is published",
    "remove_comment": "only one's own",
    "moderate_comment": "by is the caller",
    "take_down": "by is the caller",
    "end_session": "user_id is the caller",
    "end_sessions": "user_id is the caller",
    "set_role": "not of a moderator; by is the caller",
    "set_status": "not of a moderator",
}
"""Ownership rules in addition to the role, in words."""
