"""Following: the page of followed authors' posts equals a filter over everything, each counts once, and what is
deleted at the same moment gets no mark that outlives it.
"""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from keyplan import Put
from keyplan.errors import ConditionFailed, ItemNotFound, Refused, WriteFailed
from keyplan_systems.blog.design import Blog, Follow, Post, User
from keyplan_systems.blog.entities import COUNTER_SHARDS, COUNTER_SLOTS, FOLLOWS_MAX, Comment, Counter, PostImpression
from keyplan_systems.blog.removing import delete_account, delete_post, export_of
from keyplan_systems.blog.searching import search_of
from keyplan_systems.site.files import MemoryFiles
from tests.systems.blog.support import (
    check_books,
    counted,
    items_of,
    new_post,
    new_user,
    published,
    recorded,
)


def test_pages_equal_a_filter_whatever_is_published_followed_and_taken_back_meanwhile(blog: Blog, eve: User) -> None:
    chance = random.Random(7)
    authors = [new_user(blog, f"author-{number}", role="author") for number in range(6)]
    posts = [new_post(blog, chance.choice(authors), f"post-{number}", ("t",)) for number in range(30)]
    followed: set[str] = set()
    seen: list[str] = []
    cursor = None
    for turn in range(60):
        author, post = chance.choice(authors), chance.choice(posts)
        match chance.randrange(4):
            case 0:
                assert blog.follow(eve.user_id, author.user_id) is (author.user_id not in followed)
                followed.add(author.user_id)
            case 1 if turn % 3 == 0:
                assert blog.unfollow(eve.user_id, author.user_id) is (author.user_id in followed)
                followed.discard(author.user_id)
            case 2:
                blog.unpublish(post.post_id)
            case _:
                blog.publish(post.post_id)
        wanted = [value for value in items_of(blog, Post) if value.status == "published" and value.user_id in followed]
        wanted.sort(key=lambda value: value.listed_at, reverse=True)
        limit = chance.choice((1, 3, 50))
        assert [value.post_id for value in blog.followed_posts(eve.user_id, limit=limit)] == [
            value.post_id for value in wanted[:limit]
        ]
        page = blog.followed_posts(eve.user_id, limit=2, cursor=cursor)
        seen = [value.post_id for value in page] if cursor is None else seen + [value.post_id for value in page]
        assert len(set(seen)) == len(seen) or turn % 3 == 0  # none twice on the way through, unless it came again
        cursor = page.cursor
        assert {user.user_id for user in blog.followed_authors(eve.user_id)} == followed
    tally = {author.user_id: int(author.user_id in followed) for author in authors}
    assert {user_id: counted(blog, user_id).followers for user_id in tally} == tally
    blog.refresh_user(authors[0].user_id)
    assert blog.user(authors[0].user_id) is not None
    check_books(blog)


def test_whom_nobody_may_follow(blog: Blog, ada: User, eve: User) -> None:
    with pytest.raises(Refused, match="themselves"):
        blog.follow(ada.user_id, ada.user_id)
    with pytest.raises(ItemNotFound):
        blog.follow(eve.user_id, "nobody")
    blog.set_status(ada.user_id, "suspended")
    with pytest.raises(ItemNotFound):
        blog.follow(eve.user_id, ada.user_id)
    with pytest.raises(WriteFailed):  # whoever is suspended follows nobody more
        blog.follow(ada.user_id, eve.user_id)
    blog.set_status(ada.user_id, "active")
    blog.batch([Put(Follow(user_id=eve.user_id, author_id=f"a{number}")) for number in range(FOLLOWS_MAX)])
    with pytest.raises(Refused, match="at most"):
        blog.follow(eve.user_id, ada.user_id)
    assert items_of(blog, Counter) == []


def test_one_of_several_at_once_counts(blog: Blog, ada: User, eve: User) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(lambda _: blog.follow(eve.user_id, ada.user_id), range(4))) == [False] * 3 + [True]
        assert sorted(pool.map(lambda _: blog.unfollow(eve.user_id, ada.user_id), range(4))) == [False] * 3 + [True]
    assert (counted(blog, ada.user_id).followers, items_of(blog, Follow)) == (0, [])


def test_what_following_costs(blog: Blog, eve: User) -> None:
    authors = [new_user(blog, f"author-{number}", role="author") for number in range(10)]
    for author in authors:
        for number in range(12):
            published(blog, author, f"{author.username}-{number}")
    requests = recorded(blog)
    assert blog.follow(eve.user_id, authors[0].user_id)
    assert requests.operations == ["GetItem", "GetItem", "Query", "TransactWriteItems"]
    # what is read first, consistently; the follow, the reader's own item, a part of the author's counter
    assert requests.units_by_place() == {"table": 3 + 2 * 3, "POSTS_BY_USER_STATUS_CREATED_AT": 1}
    assert blog.unfollow(eve.user_id, authors[0].user_id)
    assert requests.units_by_place() == {"table": 1 + 2 * 2, "POSTS_BY_USER_STATUS_CREATED_AT": 1}
    for author in authors:
        blog.follow(eve.user_id, author.user_id)
    requests.made.clear()
    page = blog.followed_posts(eve.user_id)
    # the follows; each author's newest; those who have more on the page again
    assert set(requests.operations) == {"Query"}
    assert len(requests.operations) <= 1 + 3 * len(authors)
    assert requests.units() <= 0.5 + 0.5 * 3 * len(authors)
    blog.followed_posts(eve.user_id, cursor=page.cursor)
    assert len(requests.operations) <= 1 + 3 * len(authors)


def test_accounts_go_with_their_follows_and_take_them_along(blog: Blog, ada: User, eve: User) -> None:
    blog.follow(eve.user_id, ada.user_id)
    blog.follow(ada.user_id, eve.user_id)
    taken = export_of(blog, eve.user_id)["follows"]
    assert [(value["username"], value["name"]) for value in taken] == [("ada", "Ada")]
    delete_account(blog, ada.user_id, MemoryFiles(), search_of(blog))
    assert (items_of(blog, Follow), counted(blog, eve.user_id).followers) == ([], 0)
    assert list(blog.followed_authors(eve.user_id)) == []
    check_books(blog)


def late(blog: Blog, post_id: str, user: User, author: User) -> list[Any]:
    """What a request that read the post and its author a moment ago may still write."""
    return [
        lambda: blog.count_view(post_id),
        lambda: blog.view_post(post_id, "v"),
        lambda: blog.like_post(post_id, "l"),
        lambda: blog.rate_post(post_id, "r", 5),
        lambda: blog.add_comment(post_id, user.user_id, "Late."),
        lambda: blog.lead("/old", post_id),
        lambda: blog.view_user(user.user_id, author.user_id),
        lambda: blog.follow(user.user_id, author.user_id),
        lambda: blog.note_upload(author.user_id, "a.png"),
        lambda: blog.add_comment(post_id, author.user_id, "Late."),
    ]


def test_what_comes_after_a_deletion_leaves_no_mark(blog: Blog, ada: User, eve: User) -> None:
    post = published(blog, ada, "one", ("t",))
    blog.like_post(post.post_id, eve.user_id)
    delete_account(blog, ada.user_id, MemoryFiles(), search_of(blog))
    for write in late(blog, post.post_id, eve, ada):
        with pytest.raises((ConditionFailed, ItemNotFound, Refused, WriteFailed)):
            write()
    assert items_of(blog, PostImpression, Comment, Follow) == []
    parts = [value for value in items_of(blog, Counter) if value.subject == post.post_id]
    assert len(parts) == COUNTER_SHARDS["post"] * (COUNTER_SLOTS + 1)
    assert all(part.closed and part.expires_at and not part.views for part in parts)


def test_what_comes_during_a_deletion_leaves_no_mark(blog: Blog, ada: User, eve: User) -> None:
    for turn in range(3):
        post = published(blog, ada, f"post-{turn}")
        begun: list[int] = []

        def readers(number: int, post_id: str = post.post_id, begun: list[int] = begun) -> None:
            for reader in range(60):
                begun.append(reader)
                try:
                    blog.like_post(post_id, f"reader-{number}-{reader}")
                    blog.rate_post(post_id, f"rater-{number}-{reader}", 4)
                    blog.count_view(post_id)
                except WriteFailed:
                    return

        with ThreadPoolExecutor(3) as pool:
            result = [pool.submit(readers, number) for number in range(2)]
            while len(begun) < 10:
                pass
            delete_post(blog, post.post_id)
            for future in result:
                future.result()
        assert [value for value in items_of(blog, PostImpression) if value.post_id == post.post_id] == []
        assert {value.closed for value in items_of(blog, Counter) if value.subject == post.post_id} == {True}
    check_books(blog)
