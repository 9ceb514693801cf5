"""Following authors: the button, the page of their posts, the list of authors."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import Response

from keyplan import Page
from keyplan_systems.blog.entities import FOLLOWS_MAX, Follow, Post, User
from keyplan_systems.blog.following import posts_with_others
from keyplan_systems.blog.site.cards import shown_cards
from keyplan_systems.blog.site.site import Turn
from keyplan_systems.site.problems import not_found

__all__ = ["authors", "change", "follow_of", "followers_shown", "posts", "with_others"]

PAGE = 10
WITH_OTHERS = "/following/with-others"


def posts(turn: Turn) -> Response:
    """The posts of followed authors, newest first: one query per author."""
    page = turn.blog.followed_posts(turn.user.user_id, limit=PAGE, cursor=turn.cursor)
    return _list(turn, page, "/following", "New posts by the authors you follow.")


def with_others(turn: Turn) -> Response:
    """The posts of others with followed users as co-authors, newest first."""
    page = posts_with_others(turn.blog, turn.user.user_id, limit=PAGE, cursor=turn.cursor)
    return _list(turn, page, WITH_OTHERS, "New posts of others that the authors you follow wrote with them.")


def _list(turn: Turn, page: Page[Post], path: str, lede: str) -> Response:
    return turn.page(
        "following.html",
        cards=shown_cards(turn.blog, page.items, beside=True),
        cursor=page.cursor,
        first=turn.cursor is not None,
        path=path,
        lede=lede,
    )


def authors(turn: Turn) -> Response:
    """The followed authors."""
    followed = turn.blog.followed_authors(turn.user.user_id, limit=FOLLOWS_MAX)
    shown = sorted((user for user in followed if user.status == "active"), key=lambda user: user.name.casefold())
    return turn.page("followed_authors.html", authors=shown, most=FOLLOWS_MAX)


def change(turn: Turn) -> Response:
    """Follow or unfollow an author; then return to the page."""
    username = turn.path("username")
    author = turn.blog.user_by_username(username) if 3 <= len(username) <= 40 else None
    if author is None:
        raise not_found()
    turn.limit("respond", turn.user.user_id)
    if turn.form["action"] == "unfollow":
        turn.blog.unfollow(turn.user.user_id, author.user_id)
    else:
        turn.blog.follow(turn.user.user_id, author.user_id)
    turn.site.views.saw_author(author.user_id)
    return turn.go(turn.form["next"] or f"/authors/{quote(author.username, safe='')}")


def follow_of(turn: Turn, author: User | None) -> Follow | None:
    """The reader's follow of an author."""
    reader = turn.visitor.user
    if reader is None or author is None or reader.user_id == author.user_id:
        return None
    return turn.blog.follows(reader.user_id, author.user_id)


def followers_shown(author: User, follow: Follow | None) -> int:
    """The number of an author's followers: aggregated, and at least the reader."""
    counted = follow is None or (author.ranked_at is not None and follow.at <= author.ranked_at)
    return author.followers + (not counted)
