"""Posts as cards: with authors' names, dates, reading times and average ratings.

One request reads all authors of a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Comment, Post

WORDS_A_MINUTE = 230
UNKNOWN = ("Deleted user", "")


@dataclass(frozen=True, slots=True)
class Card:
    """A post without its text. ``at`` is its publication or creation."""

    post_id: str
    user_id: str
    slug: str
    title: str
    excerpt: str
    status: str
    tags: tuple[str, ...]
    at: datetime
    updated_at: datetime
    author_name: str
    author_username: str
    minutes: int
    views: int
    likes: int
    ratings: int
    average: float
    comments: int


def card(post: Post, name: str, username: str) -> Card:
    return Card(
        post_id=post.post_id,
        user_id=post.user_id,
        slug=post.slug,
        title=post.title,
        excerpt=post.excerpt,
        status=post.status,
        tags=post.tags,
        at=post.listed_at,
        updated_at=post.updated_at,
        author_name=name,
        author_username=username,
        minutes=max(1, round(post.words / WORDS_A_MINUTE)),
        views=max(0, post.views),
        likes=max(0, post.likes),
        ratings=max(0, post.ratings),
        average=round(post.stars / post.ratings, 1) if post.ratings > 0 else 0.0,
        comments=max(0, post.comments),
    )


def authors_of(blog: Blog, items: Iterable[Post | Comment], *, inactive: bool = False) -> dict[str, tuple[str, str]]:
    """Names and usernames of the authors of posts or comments, by user id, in one request. Inactive ones are hidden."""
    ids = list(dict.fromkeys(item.user_id for item in items))
    users = blog.users(ids) if ids else []
    return {user.user_id: (user.name, user.username) for user in users if inactive or user.status == "active"}


def shown_cards(blog: Blog, posts: Sequence[Post]) -> list[Card]:
    """Posts as public cards: those of active authors, in order."""
    authors = authors_of(blog, posts)
    return [card(post, *authors[post.user_id]) for post in posts if post.user_id in authors]


def cards(posts: Iterable[Post], authors: Mapping[str, tuple[str, str]]) -> list[Card]:
    return [card(post, *authors.get(post.user_id, UNKNOWN)) for post in posts]
