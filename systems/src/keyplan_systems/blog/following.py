"""The writes about following: a reader follows an author, and stops; and the list of what those whom they follow have
written, alone or with others.

An author's new post is written once, whoever follows them: the page of followed authors' posts asks for them when it is
read (docs/decisions/0084).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from keyplan import Check, Create, Cursor, Delete, Page, Writes, write
from keyplan.errors import ItemNotFound, Refused
from keyplan_systems.blog.counting import counted
from keyplan_systems.blog.entities import FOLLOWS_MAX, CoAuthor, Follow, Post, User
from keyplan_systems.blog.naming import merged
from keyplan_systems.blog.reads import Reads

__all__ = ["FollowWrites", "posts_followed"]


class FollowWrites(Reads):
    """The writes about following."""

    @write("W38", attempts=10)
    def follow(self, user_id: str, author_id: str) -> Writes[bool]:
        """A user follows an author: whether they didn't before.

        Raises ItemNotFound for an author who isn't there or isn't active; Refused for oneself, beyond FOLLOWS_MAX
        authors, and for a user who isn't active.
        """
        if user_id == author_id:
            raise Refused("nobody follows themselves", place="Blog.follow")
        if (yield from self.follows.ask(user_id, author_id)) is not None:
            return False
        author = yield from self.user.ask(author_id)
        if author is None or author.status != "active":
            raise ItemNotFound(f"there is no author {author_id!r}", place="Blog.follow")
        if len((yield from self.follows_of.ask(user_id))) >= FOLLOWS_MAX:
            raise Refused(
                f"a reader follows {FOLLOWS_MAX} authors at most", place="Blog.follow", hint="unfollow somebody first"
            )
        yield Create(Follow(user_id=user_id, author_id=author_id))
        yield Check(User, user_id=user_id).only_if(status="active")
        yield counted("user", author_id, {"followers": 1})  # refused when the author is deleted at this moment
        return True

    @write("W39", attempts=10)
    def unfollow(self, user_id: str, author_id: str) -> Writes[bool]:
        """A user follows an author no longer: whether they did."""
        follow = yield from self.follows.ask(user_id, author_id)
        if follow is None:
            return False
        yield Delete(follow).only_if(at=follow.at)
        yield counted("user", author_id, {"followers": -1})
        return True


# What those whom a reader follows have written, alone and with others

ROUNDS_MAX = 10
"""How often a page looks for more posts, where those that it found are there already under somebody else's name."""


def posts_followed(blog: Reads, user_id: str, limit: int, cursor: Cursor | None = None) -> Page[Post]:
    """The published posts that those whom a user follows wrote or are named on, each once, newest first.

    Two requests more than ``followed_posts``, for who is followed; where any of them is named on a post, as many again
    as it has, and one for these posts. Raises CursorError.
    """
    followed = list(blog.followed_authors(user_id, limit=2 * FOLLOWS_MAX))
    named = [user.user_id for user in followed if user.co_authored > 0 and user.status == "active"]
    if not named and (cursor is None or "." not in cursor):
        return blog.followed_posts(user_id, limit=limit, cursor=cursor)
    asks: list[Callable[..., Page[Post] | Page[CoAuthor]]] = [partial(blog.followed_posts, user_id)]
    if named:
        asks.append(partial(blog.followed_co_authors, user_id))
    authors = {user.user_id for user in followed}
    posts: list[Post] = []
    for _ in range(ROUNDS_MAX):
        page = merged(asks, limit - len(posts), cursor)
        posts += _each_once(blog, list(page.items), authors, named)
        cursor = page.cursor
        if cursor is None or len(posts) >= limit:
            break
    return Page(posts, cursor)


def _each_once(
    blog: Reads, entries: list[Post | CoAuthor], authors: Collection[str], named: Collection[str]
) -> list[Post]:
    """The posts of entries: one whose author isn't followed stands there for the first of its co-authors who is."""
    ids = list(dict.fromkeys(entry.post_id for entry in entries if isinstance(entry, CoAuthor)))
    named_on = {post.post_id: post for post in blog.posts(ids)} if ids else {}
    result: list[Post] = []
    for entry in entries:
        if isinstance(entry, Post):
            result.append(entry)
            continue
        post = named_on.get(entry.post_id)
        if post is None or post.status != "published" or post.user_id in authors:
            continue
        if entry.user_id == next((other for other in post.co_authors if other in named), None):
            result.append(post)
    return result
