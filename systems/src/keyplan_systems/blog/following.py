"""Writes of follows, and the posts that followed authors wrote with others.

An author's new post is written once, for any number of followers: readers' pages query the followed authors.
"""

from __future__ import annotations

from keyplan import Check, Create, Cursor, Delete, Example, Page, Writes, write
from keyplan.errors import ItemNotFound, Refused
from keyplan_systems.blog.counting import counted
from keyplan_systems.blog.entities import FOLLOWS_MAX, Follow, Post, User
from keyplan_systems.blog.reads import Reads
from keyplan_systems.paging import items_of_ids

__all__ = ["FollowWrites", "posts_with_others"]


class FollowWrites(Reads):
    """Writes of follows."""

    @write("W38", attempts=10, example=Example().missing("follows"))
    def follow(self, user_id: str, author_id: str) -> Writes[bool]:
        """Follow an author; returns whether it is new.

        Raises ItemNotFound for a missing or inactive author; Refused for oneself, beyond FOLLOWS_MAX authors, and for
        an inactive user.
        """
        if user_id == author_id:
            raise Refused("nobody follows themselves", place="Blog.follow")
        if (yield from self.follows.read(user_id, author_id)) is not None:
            return False
        author = yield from self.user.read(author_id)
        if author is None or author.status != "active":
            raise ItemNotFound(f"there is no author {author_id!r}", place="Blog.follow")
        if len((yield from self.follows_of.read(user_id))) >= FOLLOWS_MAX:
            raise Refused(
                f"a reader follows {FOLLOWS_MAX} authors at most", place="Blog.follow", hint="unfollow somebody first"
            )
        yield Create(Follow(user_id=user_id, author_id=author_id))
        yield Check(User, user_id=user_id).only_if(status="active")
        yield counted("user", author_id, {"followers": 1})  # rejected if the author is being deleted
        return True

    @write("W39", attempts=10)
    def unfollow(self, user_id: str, author_id: str) -> Writes[bool]:
        """Unfollow an author; returns whether the user followed them."""
        follow = yield from self.follows.read(user_id, author_id)
        if follow is None:
            return False
        yield Delete(follow).only_if(at=follow.at)
        yield counted("user", author_id, {"followers": -1})
        return True


def posts_with_others(blog: Reads, user_id: str, limit: int, cursor: Cursor | None = None) -> Page[Post]:
    """The published posts of others with followed users as co-authors, newest first, without duplicates on a page.

    As many requests as ``followed_posts``, and one for the posts. It is a separate list, because merging both would
    query both for each page. Raises CursorError.
    """
    page = blog.followed_co_authors(user_id, limit=limit, cursor=cursor)
    ids = list(dict.fromkeys(entry.post_id for entry in page.items))
    posts = items_of_ids(ids, blog.posts, lambda post: post.post_id)
    return Page([post for post in posts if post.status == "published"], page.cursor)
