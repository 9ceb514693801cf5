"""The background refresh of rankings is ordered and limited in rate and memory. The front page is refreshed too."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from itertools import pairwise

import pytest

from keyplan import now
from keyplan_systems.blog import counting, ranking
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import FRONT_PAGE_REPLICAS, Post, User
from keyplan_systems.blog.ranking import Gatherer, front_page
from keyplan_systems.blog.site import views as site_views
from keyplan_systems.blog.site.views import Views
from tests.systems.blog.support import Recorder, check_books, published, recorded

WRITING = {"PutItem", "UpdateItem", "BatchWriteItem", "TransactWriteItems"}


class Clock:
    """A clock for the process and for writes, which tests can advance."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds = 0.0
        for module in (counting, ranking):
            monkeypatch.setattr(module, "now", lambda: now() + timedelta(seconds=self.seconds))

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def viewed(blog: Blog, gatherer: Gatherer, post: Post, times: int = 1) -> None:
    for _ in range(times):
        blog.count_view(post.post_id)
        gatherer.saw(post)


def views(blog: Blog, *posts: Post) -> list[int]:
    result = [blog.post(post.post_id) for post in posts]
    return [post.views for post in result if post is not None]


def test_refreshing_a_viewed_post_also_refreshes_its_tags_and_author(blog: Blog, ada: User, clock: Clock) -> None:
    post = published(blog, ada, "one", ("a", "b"))
    gatherer = Gatherer(blog, clock=clock)
    viewed(blog, gatherer, post, 3)
    assert gatherer.waiting == 1
    assert gatherer.gather() == 1 + 2 + 1
    assert gatherer.waiting == 0
    assert views(blog, post) == [3]
    assert blog.user(ada.user_id).rating == 3  # type: ignore[union-attr]
    assert next(iter(front_page(blog).popular)).views == 3
    check_books(blog, anonymous_views=3)


def test_rankings_of_a_popular_post_are_refreshed_every_ten_seconds(blog: Blog, ada: User, clock: Clock) -> None:
    post = published(blog, ada, "one")
    gatherer = Gatherer(blog, clock=clock)
    viewed(blog, gatherer, post)
    gatherer.gather()
    viewed(blog, gatherer, post, 5)
    requests = recorded(blog)
    for second in range(1, 10):
        clock.seconds = second
        assert gatherer.gather() == 0
    assert "TransactWriteItems" not in requests.operations
    assert gatherer.waiting == 1
    clock.seconds = 10
    assert gatherer.gather() == 1
    assert views(blog, post) == [6]


def test_rankings_just_refreshed_by_another_process_are_refreshed_later(blog: Blog, ada: User, clock: Clock) -> None:
    post = published(blog, ada, "one")
    first, second = Gatherer(blog, clock=clock), Gatherer(blog, clock=clock)
    viewed(blog, first, post)
    first.gather()
    viewed(blog, second, post)
    assert second.gather() == 0
    assert second.waiting == 1
    clock.seconds = 10
    assert second.gather() >= 1
    assert views(blog, post) == [2]


def test_rankings_of_the_most_viewed_posts_are_refreshed_first(blog: Blog, ada: User, clock: Clock) -> None:
    posts = [published(blog, ada, f"post-{number}") for number in range(4)]
    gatherer = Gatherer(blog, most=2, clock=clock)
    for number, post in enumerate(posts):
        viewed(blog, gatherer, post, 1 + number)
    gatherer.gather()
    assert views(blog, *posts) == [0, 0, 3, 4]
    gatherer.gather()
    assert views(blog, *posts) == [1, 2, 3, 4]


def test_each_background_write_is_followed_by_a_pause(blog: Blog, ada: User, clock: Clock) -> None:
    requests = recorded(blog)
    begun: list[int] = []
    gatherer = Gatherer(blog, clock=clock, rest=lambda: begun.append(len(requests.operations)))
    for number in range(3):
        viewed(blog, gatherer, published(blog, ada, f"post-{number}", ("a", "b")))
    before = len(requests.operations)
    clock.seconds = 20
    gatherer.gather()
    steps = pairwise([before, *begun, len(requests.operations)])
    assert max(sum(name in WRITING for name in requests.operations[start:end]) for start, end in steps) == 1
    copies = [blog.front_page(replica) for replica in range(FRONT_PAGE_REPLICAS)]
    assert {None if copy is None else copy.refreshed_at for copy in copies} == {front_page(blog).refreshed_at}


class Busy(threading.Event):
    """An idle event that is set at the first wait, or never. ``sent`` has the number of requests before each wait."""

    def __init__(self, requests: Recorder, *, ends: bool) -> None:
        super().__init__()
        self.requests = requests
        self.ends = ends
        self.sent: list[int] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.sent.append(len(self.requests.operations))
        if self.ends:
            self.set()
        return super().wait(None if timeout is None else min(timeout, 0.05))


@pytest.mark.parametrize("ends", [True, False])
def test_background_writes_wait_for_requests_for_a_limited_time(
    blog: Blog, ada: User, monkeypatch: pytest.MonkeyPatch, ends: bool
) -> None:
    post = published(blog, ada, "one", ("a", "b"))
    monkeypatch.setattr(site_views, "FLUSH_SECONDS", 0.001)
    monkeypatch.setattr(site_views, "SPARE_SECONDS", 60 if ends else 0.01)
    requests = recorded(blog)
    busy = Busy(requests, ends=ends)
    background = Views(blog)
    background.saw(post, None, seen=False)
    background.start(busy)
    while not requests.operations:
        time.sleep(0.001)
    background.stop()
    assert busy.sent[0] == 0
    assert requests.operations[0] == "UpdateItem"


def test_requests_for_pages_run_before_background_refreshes_of_rankings(blog: Blog, ada: User) -> None:
    post = published(blog, ada, "one", ("a", "b"))
    blog.count_view(post.post_id)
    requests = recorded(blog)
    busy = Busy(requests, ends=False)
    background = Views(blog)
    background._is_idle = busy
    background._spare_seconds = 1.0
    assert [background.stepwise().refresh_ranking(post.post_id)] == ["refreshed"]
    assert len(requests.operations) > 32
    waited = len(busy.sent)
    assert busy.sent == list(range(waited))  # before the first request and each following one, until the time limit
    assert waited > 1
    background._spare_seconds = 0.0
    background.stepwise().refresh_user(ada.user_id)
    assert len(busy.sent) == waited


def test_unchanged_copies_of_the_front_page_are_rewritten_less_often(blog: Blog, ada: User, clock: Clock) -> None:
    published(blog, ada, "one")
    gatherer = Gatherer(blog, clock=clock)
    gatherer.gather()
    requests = recorded(blog)

    def puts_at(seconds: float) -> int:
        clock.seconds = seconds
        before = len(requests.operations)
        gatherer.gather()
        return requests.operations[before:].count("PutItem")

    assert [puts_at(seconds) for seconds in (11, 22, 33, 44)] == [1, 1, FRONT_PAGE_REPLICAS, 1]
    published(blog, ada, "two")
    assert puts_at(55) == FRONT_PAGE_REPLICAS


def test_the_number_of_pending_refreshes_is_limited(blog: Blog, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "REMEMBERED_MAX", 3)
    gatherer = Gatherer(blog)
    for number in range(10):
        gatherer.saw_user(f"u{number}")
    gatherer.saw_user("u0")
    assert gatherer.waiting == 3


def test_rankings_of_viewed_profiles_are_refreshed(blog: Blog, ada: User, eve: User, clock: Clock) -> None:
    gatherer = Gatherer(blog, clock=clock)
    blog.view_user(eve.user_id, ada.user_id)
    gatherer.saw_user(ada.user_id)
    assert gatherer.gather() == 1
    assert blog.user(ada.user_id).views == 1  # type: ignore[union-attr]


def test_the_front_page_is_built_on_demand_without_background_jobs(
    blog: Blog, ada: User, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    published(blog, ada, "one")
    made = front_page(blog)
    assert [post.slug for post in made.latest] == ["one"]
    requests = recorded(blog)
    assert front_page(blog).latest == made.latest
    assert requests.operations == ["GetItem"]
    published(blog, ada, "two")
    clock.seconds = 3600
    monkeypatch.setattr("time.time", lambda: made.refreshed_at.timestamp() + 3600)
    assert {post.slug for post in front_page(blog).latest} == {"one", "two"}


def test_the_old_front_page_is_served_during_a_rebuild(blog: Blog, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    old = front_page(blog)
    monkeypatch.setattr("time.time", lambda: old.refreshed_at.timestamp() + 3600)
    ranking._lock.acquire()
    try:
        thread = threading.Thread(target=lambda: pages.append(front_page(blog)))
        pages: list[object] = []
        thread.start()
        thread.join(5)
    finally:
        ranking._lock.release()
    assert [getattr(page, "refreshed_at", None) for page in pages] == [old.refreshed_at]
