"""Co-authors of posts: writes, and the list of all posts of an author.

Each co-author has an item that follows the post's status, so that their pages list the post. Authors ask co-authors,
who have a hidden item until they agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from heapq import merge
from itertools import islice
from typing import TypeVar

from keyplan import Add, Check, Cursor, Delete, Example, Page, Put, Update, Writes, now, write
from keyplan.errors import ItemNotFound, Refused
from keyplan_systems.blog.entities import CO_AUTHORS_MAX, CoAuthor, CoAuthors, Post, PostStatus, User
from keyplan_systems.blog.reads import Reads

__all__ = ["NamingWrites", "posts_by", "without_repeats"]


class NamingWrites(Reads):
    """Writes of co-authors."""

    @write("W40", attempts=30)
    def name_co_authors(self, post_id: str, co_authors: CoAuthors) -> Writes[Post]:
        """Set a post's co-authors without asking them: for imports and deletions. Duplicates and the author are
        ignored. Users who were asked stay, if there is room.

        Raises ItemNotFound for a missing post or user.
        """
        post = yield from self._post_to_name_on(post_id)
        wanted = without_repeats(post.user_id, co_authors)
        if wanted == post.co_authors:
            return post
        before = yield from self._asked(post_id)
        asked = [user_id for user_id in before if user_id not in wanted]
        yield _renamed(post, wanted)
        after = post.model_copy(update={"co_authors": wanted})
        yield from self._ask_no_more(post_id, asked[CO_AUTHORS_MAX - len(wanted) :])
        yield from self._begin_naming(after, [user_id for user_id in wanted if user_id not in post.co_authors])
        yield from self._end_naming(post, [user_id for user_id in post.co_authors if user_id not in wanted])
        return after

    @write("W41", attempts=30, example=Example().found(User, role="author"))
    def ask_co_authors(self, post_id: str, people: CoAuthors) -> Writes[Post]:
        """Ask for a post's co-authors: existing ones among ``people`` stay, new ones are asked, all others are removed.
        Duplicates and the author are ignored.

        Raises ItemNotFound for a missing post or user; Refused for a user who isn't an active author.
        """
        post = yield from self._post_to_name_on(post_id)
        wanted = without_repeats(post.user_id, people)
        named = tuple(user_id for user_id in post.co_authors if user_id in wanted)
        before = yield from self._asked(post_id)
        new = [user_id for user_id in wanted if user_id not in (*named, *before)]
        gone = [user_id for user_id in before if user_id not in (*wanted, *post.co_authors)]
        if named == post.co_authors and not new and not gone:
            return post
        yield _renamed(post, named, updated_at=now())
        yield from self._end_naming(post, [user_id for user_id in post.co_authors if user_id not in named])
        yield from self._ask_no_more(post_id, gone)
        there = {user.user_id: user for user in (yield from self.users.read(new))} if new else {}
        for user_id in new:
            if user_id not in there:
                raise ItemNotFound(f"there is no user {user_id!r}", place="Blog.ask_co_authors")
            if there[user_id].status != "active" or there[user_id].role == "reader":
                raise Refused(f"{user_id!r} is no active author", place="Blog.ask_co_authors")
            yield Put(CoAuthor(post_id=post_id, user_id=user_id, status="asked", listed_at=now()))
            yield Check(User, user_id=user_id).only_if(status="active")
        return post.model_copy(update={"co_authors": named})

    @write("W42", attempts=30)
    def agree_to_be_named(self, post_id: str, user_id: str) -> Writes[Post]:
        """Agree to be a co-author. Raises ItemNotFound for a missing post, or without a request."""
        post = yield from self._post_to_name_on(post_id)
        entry = yield from self.co_author.read(post_id, user_id)
        if entry is None:
            raise ItemNotFound(f"nobody asked {user_id!r}", place="Blog.agree_to_be_named")
        if entry.status != "asked":
            return post
        wanted = (*post.co_authors, user_id)
        yield _renamed(post, wanted)
        yield Update(entry, status=post.status, listed_at=post.listed_at).only_if(status="asked")
        user: Check | Update = Check(User, user_id=user_id)
        if post.status == "published":
            user = Update(User, user_id=user_id).set(co_authored=Add(1))
        yield user.only_if(status="active")
        return post.model_copy(update={"co_authors": wanted})

    @write("W43", attempts=30)
    def be_named_no_more(self, post_id: str, user_id: str) -> Writes[bool]:
        """Leave a post, or decline; returns whether the user was named or asked. Raises ItemNotFound."""
        post = yield from self._post_to_name_on(post_id)
        entry = yield from self.co_author.read(post_id, user_id)
        if entry is None:
            return False
        if entry.status == "asked":
            yield Delete(entry).only_if(status="asked")
            return True
        yield _renamed(post, tuple(other for other in post.co_authors if other != user_id))
        yield from self._end_naming(post, [user_id])
        return True

    def _post_to_name_on(self, post_id: str) -> Writes[Post]:
        post = yield from self.post.read(post_id)
        if post is None:
            raise ItemNotFound(f"there is no post {post_id!r}", place="Blog.naming")
        return post

    def _asked(self, post_id: str) -> Writes[list[str]]:
        """Users who were asked and haven't agreed, oldest first."""
        entries = yield from self.co_authors_of.read(post_id)
        asked = sorted((entry for entry in entries if entry.status == "asked"), key=lambda entry: entry.listed_at)
        return [entry.user_id for entry in asked]

    def _ask_no_more(self, post_id: str, user_ids: Iterable[str]) -> Writes:
        for user_id in user_ids:  # a concurrent agreement is kept
            yield Delete(CoAuthor, post_id=post_id, user_id=user_id).only_if(status="asked")

    def _begin_naming(self, post: Post, user_ids: list[str]) -> Writes:
        """Items of new co-authors. Raises ItemNotFound for a missing or deleted user."""
        there = {user.user_id: user.status for user in (yield from self.users.read(user_ids))} if user_ids else {}
        for user_id in user_ids:
            if there.get(user_id, "deleted") == "deleted":
                raise ItemNotFound(f"there is no user {user_id!r}", place="Blog.name_co_authors")
            yield Put(_entry(post, user_id))
            user: Check | Update = Check(User, user_id=user_id)
            if post.status == "published":
                user = Update(User, user_id=user_id).set(co_authored=Add(1))
            yield user.only_if("status <> :gone", gone="deleted")

    def _end_naming(self, post: Post, user_ids: list[str]) -> Writes:
        """Delete the items of removed co-authors."""
        yield from self._count_named(user_ids, -1 if post.status == "published" else 0)
        for user_id in user_ids:
            yield Delete(CoAuthor, post_id=post.post_id, user_id=user_id)

    def _move_naming(self, post: Post, before: PostStatus) -> Writes:
        """Move the items of a post's co-authors to its new status."""
        change = (post.status == "published") - (before == "published")
        yield from self._count_named(post.co_authors, change)
        for user_id in post.co_authors:
            yield Put(_entry(post, user_id))

    def _count_named(self, user_ids: tuple[str, ...] | list[str], change: int) -> Writes:
        if change:
            for user_id in user_ids:
                yield Update(User, user_id=user_id).set(co_authored=Add(change))


def _renamed(post: Post, co_authors: CoAuthors, **also: object) -> Update[Post]:
    """A post with these co-authors, unless its status or co-authors changed."""
    return Update(post, co_authors=co_authors, **also).only_if(
        status=post.status, co_authors=post.co_authors, published_at=post.published_at
    )


def _entry(post: Post, user_id: str) -> CoAuthor:
    return CoAuthor(post_id=post.post_id, user_id=user_id, status=post.status, listed_at=post.listed_at)


def without_repeats(author_id: str, co_authors: CoAuthors) -> CoAuthors:
    """Co-authors without duplicates and without the author."""
    return tuple(dict.fromkeys(user_id for user_id in co_authors if user_id != author_id))


# All posts of an author

_START, _END = "0", "1"
"""Positions before the first and after the last post, which no cursor has."""

_Entry = TypeVar("_Entry", bound="Post | CoAuthor")


def posts_by(blog: Reads, user: User, limit: int, cursor: Cursor | None = None) -> Page[Post]:
    """The published posts of which a user is an author or co-author, newest first.

    For a co-author, one additional request and a BatchGetItem; if both lists have posts on a page, also the position of
    each after that page. Raises CursorError.
    """
    asks: list[Callable[..., Page[Post]]] = [partial(blog.posts_of_user, user.user_id, "published")]
    if user.co_authored > 0:
        asks.append(partial(blog.co_authored_posts, user.user_id, ["published"]))
    return _merged(asks, limit, cursor)


def _merged(asks: Sequence[Callable[..., Page[_Entry]]], limit: int, cursor: Cursor | None = None) -> Page[_Entry]:
    """The results of several patterns merged into one list, newest first. Raises CursorError."""
    begins = ([] if cursor is None else cursor.split(".")) + [_START] * len(asks)
    pages = [_page(ask, place, limit) for ask, place in zip(asks, begins, strict=False)]
    lists = [[(entry, number) for entry in page.items] for number, page in enumerate(pages)]
    taken = list(islice(merge(*lists, key=lambda pair: pair[0].listed_at, reverse=True), limit))
    counts = [sum(number == place for _, number in taken) for place in range(len(lists))]
    ends = [_behind(*each) for each in zip(asks, begins, pages, counts, strict=False)]
    return Page([entry for entry, _ in taken], Cursor(".".join(ends)) if {*ends} != {_END} else None)


def _page(ask: Callable[..., Page[_Entry]], place: str, limit: int) -> Page[_Entry]:
    return Page([]) if place == _END else ask(limit=limit, cursor=None if place == _START else Cursor(place))


def _behind(ask: Callable[..., Page[_Entry]], begin: str, page: Page[_Entry], count: int) -> str:
    """The position after the first entries of a page."""
    if count == 0 and (page.items or page.cursor is not None):
        return begin
    if count < len(page.items):
        page = _page(ask, begin, count)
    return page.cursor or _END
