"""The blog has the same results, and consistent items, on the embedded store, the HTTP server and DynamoDB Local."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher

from keyplan.errors import Refused, WriteFailed
from keyplan_systems.blog import accounts
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import FrontPage
from keyplan_systems.blog.files import FILES_VARIABLE
from keyplan_systems.blog.sample import NEWEST, sample
from keyplan_systems.site import passwords
from keyplan_systems.site.signing import Signer
from tests.contract.remote import local_address, new_table, server_address
from tests.systems.blog.read_arguments import SAMPLED, arguments, completed
from tests.systems.blog.support import check_books, new_post, new_user, silent

STORES: dict[str, Callable[[Path], Blog]] = {
    "file": lambda folder: Blog.open(folder / "blog.db"),
    "server": lambda folder: Blog.open(f"dynamodb+http://{server_address()}/{new_table()}", create=True),
    "dynamodb-local": lambda folder: Blog.open(f"dynamodb+http://{local_address()}/{new_table()}", create=True),
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Blog]:
    with STORES[request.param](tmp_path) as opened:
        yield opened


@pytest.fixture(autouse=True)
def same_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give all samples the same timestamp."""
    monkeypatch.setattr("keyplan_systems.blog.sample.now", lambda: NEWEST)


def filled(blog: Blog) -> Blog:
    """Add the sample and additional items to the store."""
    sample(blog, SAMPLED, silent)
    completed(blog)
    return blog


def answers(blog: Blog) -> dict[str, Any]:
    """Return the result of every read, with at most 30 pages."""
    result: dict[str, Any] = {}
    for name, given in arguments().items():
        answer = blog.call(name, given)
        if isinstance(answer, FrontPage):
            answer = answer.model_copy(update={"refreshed_at": None})
        result[name] = [answer]
        while getattr(answer, "cursor", None) is not None and len(result[name]) < 30:
            answer = blog.call(name, {**given, "cursor": answer.cursor})
            result[name].append(answer)
    return result


def test_every_read_returns_the_same_result_as_on_the_memory_store(
    store: Blog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FILES_VARIABLE, str(tmp_path / "files"))  # a remote store has no image storage
    with Blog.open(":memory:") as memory:
        wanted = answers(filled(memory))
    result = answers(filled(store))
    for name, answer in wanted.items():
        assert result[name] == answer, name


def test_items_stay_consistent_after_concurrent_writes(store: Blog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    user = new_user(store, "ada")
    posts = [new_post(store, user, f"post-{number}", ("a", "b")).post_id for number in range(2)]
    store.publish(posts[0])

    def writer(number: int) -> None:
        for turn in range(3):
            post = posts[(number + turn) % 2]
            store.count_view(posts[0])
            store.view_post(posts[0], f"u{turn}")
            store.rate_post(posts[0], f"u{turn}", 1 + number)
            with suppress(WriteFailed):
                store.refresh_ranking(posts[0])
            with suppress(Refused):
                new_post(store, user, f"new-{turn}", ("c",))
            with suppress(Refused):
                store.edit_post(post, 1 + turn, "T", "x", f"slug-{number}", ("a", f"t{turn}"), user.user_id)
            store.publish(post)

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(writer, range(3))) == [None] * 3
    check_books(store, anonymous_views=9)


def test_only_one_of_two_conflicting_concurrent_writes_succeeds(store: Blog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))

    def register(number: int, email: str, username: str) -> str:
        try:
            register_one = partial(accounts.register, store, name="N", password="seven quiet lamps")
            register_one(email=email.format(number), username=username.format(number))
        except Refused as refused:
            return ",".join(fault.place for fault in refused.errors)
        return "won"

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(lambda n: register(n, "one@example.com", "user-{}"), range(4))) == ["email"] * 3 + [
            "won"
        ]
        assert sorted(pool.map(lambda n: register(n, "{}@example.com", "two"), range(4))) == ["username"] * 3 + ["won"]
    check_books(store)


def test_a_suspension_ends_the_sessions_of_the_user(store: Blog) -> None:
    user = new_user(store, "ada")
    sessions = accounts.sessions_of(store, Signer(b"a secret of the tests"))
    token = sessions.open(user)
    assert sessions.of(token) is not None
    store.set_status(user.user_id, "suspended")
    store.set_status(user.user_id, "active")
    assert sessions.of(token) is None
