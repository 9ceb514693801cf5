"""The writes about following: a reader follows an author, and stops; and the list of what those whom they follow have
written with others.

An author's new post is written once, whoever follows them: the page of followed authors' posts asks for them when it is
read.
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
    """The writes about following."""

    @write("W38", attempts=10, example=Example().missing("follows"))
    def follow(self, user_id: str, author_id: str) -> Writes[bool]:
        """A user follows an author: whether they didn't before.

        Raises ItemNotFound for an author who isn't there or isn't active; Refused for oneself, beyond FOLLOWS_MAX
        authors, and for a user who isn't active.
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
        yield counted("user", author_id, {"followers": 1})  # refused when the author is deleted at this moment
        return True

    @write("W39", attempts=10)
    def unfollow(self, user_id: str, author_id: str) -> Writes[bool]:
        """A user follows an author no longer: whether they did."""
        follow = yield from self.follows.read(user_id, author_id)
        if follow is None:
            return False
        yield Delete(follow).only_if(at=follow.at)
        yield counted("user", author_id, {"followers": -1})
        return True


def posts_with_others(blog: Reads, user_id: str, limit: int, cursor: Cursor | None = None) -> Page[Post]:
    """The published posts of others on which those whom a user follows are named, newest first, each once on a page.

    As many requests as ``followed_posts``, and one for the posts. It is a list of its own: put together with that one,
    newest first, both were asked twice for each page. Raises CursorError.
    """
    page = blog.followed_co_authors(user_id, limit=limit, cursor=cursor)
    ids = list(dict.fromkeys(entry.post_id for entry in page.items))
    posts = items_of_ids(ids, blog.posts, lambda post: post.post_id)
    return Page([post for post in posts if post.status == "published"], page.cursor)
