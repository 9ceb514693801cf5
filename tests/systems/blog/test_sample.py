"""The sample is reproducible and consistent, and its users can sign in."""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from keyplan.client.conversations import Request
from keyplan.errors import StoreError
from keyplan.testing.stored_world import scan
from keyplan_systems.blog import accounts
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import ContactMessage, Counter, Post, PostImpression, PostSlug, User
from keyplan_systems.blog.sample import DEMO_PASSWORD, DEMO_USERS, sample, sample_user, users_for, whole_post
from keyplan_systems.blog.scoring import totals_of
from keyplan_systems.sampling import shifted
from tests.systems.blog.support import Recorder, check_books, items_of, new_post, new_user, silent

SAMPLED = 200


def check_sample(blog: Blog, count: int) -> None:
    """Raise AssertionError unless the sample is consistent and each reported count equals its counter."""
    posts, seen = items_of(blog, Post), items_of(blog, PostImpression)
    assert len(posts) == count
    check_books(blog, anonymous_views=sum(value.views for value in posts) - len(seen))
    counters = items_of(blog, Counter)
    for post in posts:
        own = totals_of(counter for counter in counters if (counter.kind, counter.subject) == ("post", post.post_id))
        assert (own.views, own.likes, own.ratings, own.stars) == (post.views, post.likes, post.ratings, post.stars)
    for user in items_of(blog, User):
        assert user.rating == totals_of(counter for counter in counters if counter.subject == user.user_id).points


def test_counters_and_denormalized_items_of_the_sample_are_consistent(blog: Blog) -> None:
    assert sample(blog, SAMPLED, silent) == SAMPLED
    check_sample(blog, SAMPLED)
    assert len(items_of(blog, User)) == users_for(SAMPLED)
    assert len(items_of(blog, ContactMessage)) == 8
    statuses = Tally(value.status for value in items_of(blog, Post))
    assert min(statuses.values()) > 3
    page = blog.front_page(5)
    assert page is not None
    assert (len(page.latest), len(page.popular), len(page.tags)) == (10, 10, 20)


def test_a_few_sample_posts_have_most_of_the_views(blog: Blog) -> None:
    views = sorted((whole_post(number).post.views for number in range(1000)), reverse=True)
    assert sum(views[:100]) > sum(views) / 2
    assert views[0] > 5000


def test_titles_and_slugs_of_sample_posts_are_unique() -> None:
    posts = [whole_post(number).post for number in range(3000)]
    assert len({post.slug for post in posts}) == 3000
    assert len({post.title for post in posts[:430]}) == 430
    assert len({sample_user(number).username for number in range(10_000)}) == 10_000


def test_adding_the_sample_again_adds_only_missing_items(blog: Blog) -> None:
    sample(blog, 70, silent)
    before = {str(row.item) for row in scan(blog).rows if "FRONT_PAGE" not in str(row.item["pk"])}
    assert sample(blog, 70, silent) == 0
    assert {str(row.item) for row in scan(blog).rows if "FRONT_PAGE" not in str(row.item["pk"])} == before
    assert sample(blog, 100, silent) == 30
    check_sample(blog, 100)


def test_a_sample_added_in_parts_equals_a_sample_added_at_once(blog: Blog) -> None:
    with Blog.open(":memory:") as other:
        sample(other, 60, silent)
        for count in (10, 45, 60):
            sample(blog, count, silent)
        at_once, in_parts = (design.published_between(limit=100).items for design in (other, blog))
        moved = in_parts[0].created_at - at_once[0].created_at  # relative to the time of its first part
        assert [shifted(post, moved) for post in at_once] == in_parts


def test_adding_the_sample_again_keeps_edited_posts(blog: Blog) -> None:
    sample(blog, 30, silent)
    post = next(iter(blog.latest_posts()))
    blog.edit_post(post.post_id, 1, "Mine", "text", "mine", ("mine",), post.user_id)
    blog.unpublish(next(iter(blog.popular_posts())).post_id)
    assert sample(blog, 30, silent) == 0
    check_sample(blog, 30)
    result = blog.post(post.post_id)
    assert result is not None
    assert result.title == "Mine"


def test_adding_the_sample_keeps_the_slug_of_an_existing_post(blog: Blog) -> None:
    mine = new_post(blog, new_user(blog, "ada"), whole_post(0).post.slug)
    sample(blog, 5, silent)
    check_books(
        blog, anonymous_views=sum(value.views for value in items_of(blog, Post)) - len(items_of(blog, PostImpression))
    )
    slug = blog.slug_of(mine.slug)
    assert slug is not None
    assert slug.post_id == mine.post_id
    assert len(items_of(blog, PostSlug)) == 6


class CutError(Exception):
    """An error that simulates the end of a process."""


@dataclass
class Cutting:
    """A transport that forwards a limited number of requests, and then raises an error."""

    inner: Recorder
    limit: int

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        if len(self.inner.made) >= self.limit:
            raise CutError
        return self.inner.call(operation, parameters)

    def call_all(self, requests: list[Request]) -> list[dict[str, Any]]:
        return [self.call(*request) for request in requests]


def test_adding_the_sample_again_completes_an_interrupted_sample(tmp_path: Path) -> None:
    def cut_after(limit: int) -> None:
        with Blog.open(tmp_path / "blog.db") as blog:
            requests = Recorder(blog.store.transport)
            blog.store.transport = Cutting(requests, limit)
            with pytest.raises(CutError):
                sample(blog, 80, silent)

    for limit in (2, 5, 8, 11, 14):
        cut_after(limit)
    with Blog.open(tmp_path / "blog.db") as blog:
        sample(blog, 80, silent)
        check_sample(blog, 80)


def test_the_demo_users_can_sign_in(blog: Blog) -> None:
    sample(blog, 12, silent)
    for username, name, role in DEMO_USERS:
        user = accounts.sign_in(blog, f"{username}@example.com", DEMO_PASSWORD)
        assert (user.username, user.name, user.role) == (username, name, role)
    author = blog.user_by_username("author")
    assert author is not None
    assert author.published > 0


def test_reported_progress_of_the_sample_ends_at_the_total(blog: Blog) -> None:
    result: list[tuple[int, int | None]] = []
    sample(blog, 40, lambda done, total: result.append((done, total)))
    assert result[0] == (0, 52)
    assert result[-1] == (52, 52)
    assert [done for done, _ in result] == sorted(done for done, _ in result)


def test_adding_the_sample_to_a_closed_store_raises_an_error() -> None:
    blog = Blog.open(":memory:")
    blog.close()
    with pytest.raises(StoreError):
        sample(blog, 1, silent)
