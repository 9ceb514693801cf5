"""Arguments for each read pattern of the blog, for tests that run the reads in several ways."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Comment, Upload, UserImpression
from keyplan_systems.blog.sample import sample_user, whole_post
from keyplan_systems.site.sessions import Session

SAMPLED = 60
SESSION = Session(user_id=sample_user(1).user_id, mark="0", expires_at=datetime(2030, 1, 1, tzinfo=UTC))


def completed(blog: Blog) -> None:
    """Add items that the sample lacks but a read needs to return a result."""
    wholes = [whole_post(number) for number in range(SAMPLED)]
    post = max(
        (element for element in wholes if element.post.status == "published"), key=lambda post: len(post.readers)
    ).post
    user_id = sample_user(1).user_id
    at = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
    blog.link_provider(user_id, "github", "a#b")
    blog.put(UserImpression(user_id=sample_user(0).user_id, viewed_id=user_id, at=at))
    blog.put(Comment(post_id=post.post_id, thread_id="c1", comment_id="c1", user_id=user_id, text="Yes.", at=at))
    blog.lead("/2015/01/09/hello", post.post_id)
    blog.put(Upload(user_id=user_id, name="picture.png", at=at))
    blog.put(SESSION)


def arguments() -> dict[str, dict[str, Any]]:
    """Return the arguments of each read by its name. With SAMPLED posts and ``completed``, each read has a result."""
    wholes = [whole_post(number) for number in range(SAMPLED)]
    whole = max(
        (element for element in wholes if element.post.status == "published"), key=lambda post: len(post.readers)
    )
    post, user = whole.post, sample_user(1)
    result: dict[str, dict[str, Any]] = {
        "latest_posts": {"limit": 3},
        "published_between": {"limit": 4},
        "popular_posts": {"limit": 5},
        "post_by_slug": {"slug": post.slug},
        "slug_of": {"slug": post.slug},
        "whole_post": {"post_id": post.post_id},
        "posts_of_user": {"user_id": user.user_id, "status": "published", "limit": 2},
        "trending_tags": {"limit": 4},
        "tags_starting": {"tag": "b", "limit": 3},
        "posts_by_tags": {"tags": list(post.tags), "limit": 2},
        "user_by_email": {"email": "author@example.com"},
        "user_by_username": {"username": "author"},
        "user_to_sign_in": {"username": "moderator"},
        "users_by_rating": {"status": "active", "limit": 3},
        "latest_users": {"status": "active", "limit": 3},
        "post_seen": {"post_id": post.post_id, "user_id": whole.readers[0].user_id},
        "who_saw_post": {"post_id": post.post_id, "limit": 2},
        "contact_messages": {"month": "2026-11", "limit": 2},
        "post": {"post_id": post.post_id},
        "user": {"user_id": user.user_id},
        "users": {"user_id": [user.user_id, sample_user(2).user_id]},
        "session": {"user_id": user.user_id, "session_id": SESSION.session_id},
        "sessions": {"user_id": user.user_id},
        "tag": {"tag": post.tags[0]},
        "tags": {"tag": list(post.tags)},
        "counters": {"kind": "post", "subject": post.post_id, "shard": [0, 1]},
        "front_page": {"replica": 2},
        "user_by_provider": {"provider": "github", "external_id": "a#b"},
        "provider_user": {"provider": "github", "external_id": "a#b"},
        "comments": {"post_id": post.post_id, "limit": 2},
        "latest_comments": {"status": "shown", "limit": 2},
        "comments_of_user": {"user_id": user.user_id, "limit": 2},
        "redirect": {"path": "/2015/01/09/hello"},
        "addresses_of": {"post_id": post.post_id},
        "uploads_of": {"user_id": user.user_id},
        "comment": {"post_id": post.post_id, "thread_id": "c1", "comment_id": "c1"},
        "viewed_by": {"user_id": sample_user(0).user_id, "limit": 2},
        "posts": {"post_id": [post.post_id]},
        "contents": {"post_id": [post.post_id]},
        "user_viewed": {"user_id": sample_user(0).user_id, "viewed_id": user.user_id},
    }
    assert set(result) == set(Blog.compiled.reads)
    return result
