"""Users who are named beside a post's author: the writes about them, and the list of all that an author has written.

Each has an entry of their own, which moves with the post's status, so that their pages list the post.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from heapq import merge
from itertools import islice

from keyplan import Add, Check, Cursor, Delete, Page, Put, Update, Writes, write
from keyplan.errors import ItemNotFound
from keyplan_systems.blog.entities import CoAuthor, CoAuthors, Post, PostStatus, User
from keyplan_systems.blog.reads import Reads

__all__ = ["NamingWrites", "posts_by", "without_repeats"]


class NamingWrites(Reads):
    """The writes about co-authors."""

    @write("W40", attempts=30)
    def name_co_authors(self, post_id: str, co_authors: CoAuthors) -> Writes[Post]:
        """Name these users beside a post's author, and nobody else. Repeats, and the author, are left out.

        Raises ItemNotFound for a post or a user who isn't there.
        """
        post = yield from self.post.ask(post_id)
        if post is None:
            raise ItemNotFound(f"there is no post {post_id!r}", place="Blog.name_co_authors")
        wanted = without_repeats(post.user_id, co_authors)
        if wanted == post.co_authors:
            return post
        yield Update(post, co_authors=wanted).only_if(
            status=post.status, co_authors=post.co_authors, published_at=post.published_at
        )
        after = post.model_copy(update={"co_authors": wanted})
        yield from self._begin_naming(after, [user_id for user_id in wanted if user_id not in post.co_authors])
        yield from self._end_naming(post, [user_id for user_id in post.co_authors if user_id not in wanted])
        return after

    def _begin_naming(self, post: Post, user_ids: list[str]) -> Writes:
        """Entries of users who are named from now on. Raises ItemNotFound for who isn't there, or is being deleted."""
        there = {user.user_id: user.status for user in (yield from self.users.ask(user_ids))} if user_ids else {}
        for user_id in user_ids:
            if there.get(user_id, "deleted") == "deleted":
                raise ItemNotFound(f"there is no user {user_id!r}", place="Blog.name_co_authors")
            yield Put(_entry(post, user_id))
            user: Check | Update = Check(User, user_id=user_id)
            if post.status == "published":
                user = Update(User, user_id=user_id).set(co_authored=Add(1))
            yield user.only_if("status <> :gone", gone="deleted")

    def _end_naming(self, post: Post, user_ids: list[str]) -> Writes:
        """Take away the entries of users who aren't named any more."""
        yield from self._count_named(user_ids, -1 if post.status == "published" else 0)
        for user_id in user_ids:
            yield Delete(CoAuthor, post_id=post.post_id, user_id=user_id)

    def _move_naming(self, post: Post, before: PostStatus) -> Writes:
        """Bring the entries of a post's co-authors to its status, which was another one."""
        change = (post.status == "published") - (before == "published")
        yield from self._count_named(post.co_authors, change)
        for user_id in post.co_authors:
            yield Put(_entry(post, user_id))

    def _count_named(self, user_ids: tuple[str, ...] | list[str], change: int) -> Writes:
        if change:
            for user_id in user_ids:
                yield Update(User, user_id=user_id).set(co_authored=Add(change))


def _entry(post: Post, user_id: str) -> CoAuthor:
    return CoAuthor(post_id=post.post_id, user_id=user_id, status=post.status, listed_at=post.listed_at)


def without_repeats(author_id: str, co_authors: CoAuthors) -> CoAuthors:
    """Co-authors, each once, without the author."""
    return tuple(dict.fromkeys(user_id for user_id in co_authors if user_id != author_id))


# What somebody has written, alone and with others

_START, _END = "0", "1"
"""Places in a list that no cursor of a pattern has: before its first post, and behind its last."""

_Ask = Callable[..., Page[Post]]


def posts_by(blog: Reads, user: User, limit: int, cursor: Cursor | None = None) -> Page[Post]:
    """The published posts that a user wrote or is named on, newest first.

    One request more, and a BatchGetItem, for somebody who is named on any; where both lists have posts on a page, the
    place of each behind that page is asked for, too. Raises CursorError.
    """
    asks: list[_Ask] = [partial(blog.posts_of_user, user.user_id, "published")]
    if user.co_authored > 0:
        asks.append(partial(blog.co_authored_posts, user.user_id, ["published"]))
    begins = ([] if cursor is None else cursor.split(".")) + [_START] * len(asks)
    pages = [_page(ask, place, limit) for ask, place in zip(asks, begins, strict=False)]
    lists = [[(post, number) for post in page.items] for number, page in enumerate(pages)]
    taken = list(islice(merge(*lists, key=lambda entry: entry[0].listed_at, reverse=True), limit))
    counts = [sum(number == place for _, number in taken) for place in range(len(lists))]
    ends = [_behind(*each) for each in zip(asks, begins, pages, counts, strict=False)]
    return Page([post for post, _ in taken], Cursor(".".join(ends)) if {*ends} != {_END} else None)


def _page(ask: _Ask, place: str, limit: int) -> Page[Post]:
    return Page([]) if place == _END else ask(limit=limit, cursor=None if place == _START else Cursor(place))


def _behind(ask: _Ask, begin: str, page: Page[Post], count: int) -> str:
    """The place behind the first posts of a page."""
    if count == 0 and (page.items or page.cursor is not None):
        return begin
    if count < len(page.items):
        page = _page(ask, begin, count)
    return page.cursor or _END
