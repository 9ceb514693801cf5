"""Concurrent writers in threads and processes on one file keep counters, tags and unique values exact."""

from __future__ import annotations

import json
import random
from collections import Counter as Tally
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from argon2 import PasswordHasher

from keyplan.errors import KeyplanError, Refused, WriteFailed
from keyplan_systems.blog import accounts, counting
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Counter, Credential, PostSlug, User
from keyplan_systems.site import passwords
from keyplan_systems.site.signing import Signer
from tests.systems.blog.support import check_books, counted, items_of, new_post, new_user, published
from tests.systems.support import in_processes

THREADS = 8

WORK = """
import json, random, sys
from contextlib import suppress
from keyplan.errors import Refused, WriteFailed
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post

path, number, given = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
chance = random.Random(number)
views = made = 0
with Blog.open(path, create=False) as blog:
    print("ready", flush=True)
    sys.stdin.readline()
    for turn in range(12):
        for post_id in given["posts"]:
            blog.count_view(post_id)
            views += 1
            user = f"u{chance.randrange(6)}"
            blog.view_post(post_id, user)
            (blog.like_post if turn % 3 else blog.unlike_post)(post_id, user)
            blog.rate_post(post_id, user, chance.choice([1, 5, None]))
            with suppress(WriteFailed):
                blog.refresh_ranking(post_id)
        blog.publish(given["posts"][turn % 2])
        blog.unpublish(given["posts"][turn % 2])
        try:
            blog.create_post(Post(user_id=given["user"], slug=f"slug-{turn}", title="T", tags=("a", f"t{turn}")), "x")
            made += 1
        except Refused:
            pass
print(json.dumps([views, made]))
"""


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Blog]:
    with Blog.open(tmp_path / "blog.db") as opened:
        yield opened


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refresh rankings without a rate limit, and make password hashing fast."""
    for name in ("RANKING_SECONDS", "TAG_SECONDS", "USER_SECONDS"):
        monkeypatch.setattr(counting, name, 0)
    monkeypatch.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Start all calls at the same time, and return each call's result or error."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return call()
        except KeyplanError as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def refused(outcomes: list[Any]) -> list[str]:
    """Return the field names in the errors of rejected calls, after checking that there are no other errors."""
    assert all(isinstance(outcome, Refused) for outcome in outcomes if isinstance(outcome, Exception)), outcomes
    return [fault.place for outcome in outcomes if isinstance(outcome, Refused) for fault in outcome.errors]


def register(blog: Blog, email: str, username: str) -> Callable[[], User]:
    return lambda: accounts.register(blog, email=email, username=username, name="N", password="seven quiet lamps")


# One call succeeds, the others are rejected


def test_only_one_of_several_concurrently_created_posts_gets_the_slug(shared: Blog) -> None:
    user = new_user(shared, "ada")
    outcomes = at_once([lambda: new_post(shared, user, "one", ("a",))] * THREADS)
    assert refused(outcomes) == ["slug"] * (THREADS - 1)
    assert len(items_of(shared, PostSlug)) == 1
    check_books(shared)


def test_only_one_of_several_concurrently_edited_posts_gets_the_slug(shared: Blog) -> None:
    user = new_user(shared, "ada")
    posts = [new_post(shared, user, f"post-{number}") for number in range(THREADS)]
    outcomes = at_once(
        [partial(shared.edit_post, post.post_id, 1, "T", "x", "wanted", (), user.user_id) for post in posts]
    )
    assert refused(outcomes) == ["slug"] * (THREADS - 1)
    check_books(shared)


def test_only_one_of_several_concurrent_registrations_gets_the_email_address(shared: Blog) -> None:
    calls = [register(shared, "one@example.com", f"user-{number}") for number in range(THREADS)]
    assert refused(at_once(calls)) == ["email"] * (THREADS - 1)
    assert len(items_of(shared, User)) == len(items_of(shared, Credential)) == 1
    check_books(shared)


def test_only_one_of_several_concurrent_registrations_gets_the_username(shared: Blog) -> None:
    calls = [register(shared, f"{number}@example.com", "one") for number in range(THREADS)]
    assert refused(at_once(calls)) == ["username"] * (THREADS - 1)
    assert len(items_of(shared, User)) == len(items_of(shared, Credential)) == 1
    check_books(shared)


def test_only_one_of_several_concurrent_edits_of_a_post_version_is_saved(shared: Blog) -> None:
    user = new_user(shared, "ada")
    post = published(shared, user, "one", ("a", "b"))
    calls = [
        partial(
            shared.edit_post,
            post.post_id,
            1,
            f"T{number}",
            f"text {number}",
            f"slug-{number}",
            ("a", f"t{number}"),
            user.user_id,
        )
        for number in range(THREADS)
    ]
    outcomes = at_once(calls)
    assert refused(outcomes) == ["version"] * (THREADS - 1)
    (won,) = [outcome for outcome in outcomes if not isinstance(outcome, Exception)]
    assert shared.whole_post(post.post_id) == won
    check_books(shared)


def test_only_one_of_several_concurrent_users_can_link_an_external_identity(shared: Blog) -> None:
    users = [new_user(shared, f"user-{number}") for number in range(THREADS)]
    outcomes = at_once([partial(shared.link_provider, user.user_id, "github", "1") for user in users])
    assert sum(isinstance(outcome, Refused) for outcome in outcomes) == THREADS - 1
    assert sum(bool(value.providers) for value in items_of(shared, Credential)) == 1


# Nothing is lost or counted twice


def test_concurrent_views_by_one_user_are_counted_once(shared: Blog) -> None:
    user = new_user(shared, "ada")
    post = published(shared, user, "one").post_id
    for write in (shared.view_post, shared.like_post, shared.view_user):
        outcomes = at_once([partial(write, post, "reader")] * THREADS)
        assert Tally(outcomes) == {True: 1, False: THREADS - 1}
    assert Tally(at_once([lambda: shared.unlike_post(post, "reader")] * THREADS)) == {True: 1, False: THREADS - 1}
    totals = counted(shared, post)
    assert (totals.views, totals.likes) == (1, 0)


def test_concurrent_views_by_different_users_are_all_counted(shared: Blog) -> None:
    user = new_user(shared, "ada")
    post = published(shared, user, "one", ("a",)).post_id

    def reader(number: int) -> None:
        for turn in range(10):
            shared.count_view(post)
            shared.view_post(post, f"u{number}-{turn}")
            shared.rate_post(post, f"u{turn}", 1 + (number + turn) % 5)
            with suppress(WriteFailed):  # other threads refresh it at the same time
                shared.refresh_ranking(post)

    outcomes = at_once([partial(reader, number) for number in range(THREADS)])
    assert outcomes == [None] * THREADS
    shared.refresh_ranking(post)
    totals = counted(shared, post)
    assert totals.views == THREADS * 20 + 10
    assert totals.ratings == 10
    result = shared.post(post)
    assert result is not None
    assert (result.views, result.ratings, result.stars) == (totals.views, totals.ratings, totals.stars)
    assert counted(shared, "a").points == counted(shared, user.user_id).points == result.rating
    check_books(shared, anonymous_views=THREADS * 10)


def test_concurrent_publishing_and_editing_keeps_items_consistent(shared: Blog) -> None:
    users = [new_user(shared, f"user-{number}") for number in range(2)]
    posts = [new_post(shared, users[number % 2], f"post-{number}", ("a", "b", "c")) for number in range(4)]

    def author(number: int) -> None:
        chance = random.Random(number)
        for _ in range(8):
            post = chance.choice(posts)
            move = chance.choice([shared.publish, shared.unpublish, shared.archive, shared.restore, None])
            try:
                if move is not None:
                    move(post.post_id)
                    continue
                whole = shared.whole_post(post.post_id)
                assert whole is not None
                tags = tuple(chance.sample("abcdef", chance.randrange(5)))
                slug = f"slug-{chance.randrange(6)}"
                shared.edit_post(post.post_id, whole.content.version, "T", "x", slug, tags, "u")
            except Refused:
                continue

    outcomes = at_once([partial(author, number) for number in range(THREADS)])
    assert outcomes == [None] * THREADS
    check_books(shared)


def test_a_user_suspended_during_sign_in_has_no_session(shared: Blog) -> None:
    sessions = accounts.sessions_of(shared, Signer(b"a secret of the tests"))
    for number in range(5):
        user = new_user(shared, f"user-{number}")
        suspend = partial(shared.set_status, user.user_id, "suspended")
        *opened, _ = at_once([*[partial(sessions.open, user)] * 3, suspend])
        shared.set_status(user.user_id, "active")
        assert [sessions.of(str(token)) for token in opened] == [None] * 3


def test_items_stay_consistent_when_processes_share_one_file(tmp_path: Path) -> None:
    path = tmp_path / "blog.db"
    with Blog.open(path) as blog:
        user = new_user(blog, "ada")
        posts = [new_post(blog, user, f"post-{number}", ("a", "b")).post_id for number in range(2)]
        given = json.dumps({"user": user.user_id, "posts": posts})
    printed = in_processes(WORK, [(str(path), str(number), given) for number in range(3)])
    views, made = (sum(each) for each in zip(*map(json.loads, printed), strict=True))
    with Blog.open(path, create=False) as blog:
        assert made == 12
        check_books(blog, anonymous_views=views)
        assert {value.subject for value in items_of(blog, Counter) if value.kind == "post"} == set(posts)
