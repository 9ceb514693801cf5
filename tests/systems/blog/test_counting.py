"""Views, likes and ratings are counted once per user, and their sums are exact."""

from __future__ import annotations

from datetime import timedelta

import pytest

from keyplan import now
from keyplan.errors import ArgumentError
from keyplan_systems.blog import counting
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import COUNTER_SLOTS, Counter, FrontPage, User
from keyplan_systems.blog.scoring import heated
from tests.systems.blog.support import check_books, counted, items_of, new_user, published


@pytest.fixture
def gone(monkeypatch: pytest.MonkeyPatch) -> list[timedelta]:
    """Return a list with the time by which tests advance the clock."""
    added = [timedelta()]
    monkeypatch.setattr(counting, "now", lambda: now() + added[0])
    return added


def test_views_by_a_user_are_counted_once_and_anonymous_views_each_time(blog: Blog, ada: User, eve: User) -> None:
    post = published(blog, ada, "one")
    assert blog.post_seen(post.post_id, eve.user_id) is None
    assert [blog.view_post(post.post_id, eve.user_id) for _ in range(3)] == [True, False, False]
    assert blog.view_post(post.post_id, ada.user_id)
    for _ in range(3):
        blog.count_view(post.post_id)
    assert counted(blog, post.post_id).views == 5
    assert {impression.user_id for impression in blog.who_saw_post(post.post_id)} == {ada.user_id, eve.user_id}
    check_books(blog, anonymous_views=3)


def test_anonymous_and_user_views_use_separate_counters(blog: Blog, ada: User, eve: User) -> None:
    post = published(blog, ada, "one")
    for _ in range(20):
        blog.count_view(post.post_id)
    assert {value.slot for value in items_of(blog, Counter)} == {COUNTER_SLOTS}
    for number in range(20):
        blog.view_post(post.post_id, f"u{number}")
    parts = [value for value in items_of(blog, Counter) if value.slot < COUNTER_SLOTS]
    assert sum(part.views for part in parts) == 20
    assert len({part.shard for part in parts}) > 5


def test_likes_and_ratings_can_be_changed_and_removed(blog: Blog, ada: User, eve: User) -> None:
    post = published(blog, ada, "one").post_id
    assert not blog.unlike_post(post, eve.user_id)
    assert [blog.like_post(post, eve.user_id) for _ in range(2)] == [True, False]
    assert [blog.rate_post(post, eve.user_id, stars) for stars in (4, 4, 2)] == [True, False, True]
    assert blog.rate_post(post, ada.user_id, 5)
    seen = blog.post_seen(post, eve.user_id)
    assert seen is not None
    assert (seen.liked, seen.stars) == (True, 2)
    check_books(blog)
    totals = counted(blog, post)
    assert (totals.views, totals.likes, totals.ratings, totals.stars) == (2, 1, 2, 7)
    assert [blog.unlike_post(post, eve.user_id) for _ in range(2)] == [True, False]
    assert [blog.rate_post(post, eve.user_id, None) for _ in range(2)] == [True, False]
    totals = counted(blog, post)
    assert (totals.views, totals.likes, totals.ratings, totals.stars) == (2, 0, 1, 5)
    check_books(blog)


@pytest.mark.parametrize("stars", [0, 6, -1])
def test_a_rating_has_one_to_five_stars(blog: Blog, eve: User, stars: int) -> None:
    with pytest.raises(ArgumentError):
        blog.rate_post("p", eve.user_id, stars)


def test_profile_views_are_counted_once_per_user_and_not_for_the_owner(
    blog: Blog, ada: User, eve: User, gone: list[timedelta]
) -> None:
    assert [blog.view_user(eve.user_id, ada.user_id) for _ in range(2)] == [True, False]
    assert not blog.view_user(ada.user_id, ada.user_id)
    assert blog.user_viewed(eve.user_id, ada.user_id) is not None
    assert blog.user_viewed(ada.user_id, eve.user_id) is None
    assert blog.refresh_user(ada.user_id) == "refreshed"
    assert blog.user(ada.user_id).views == 1  # type: ignore[union-attr]
    check_books(blog)


def test_post_rankings_are_refreshed_at_a_limited_rate(blog: Blog, ada: User, eve: User, gone: list[timedelta]) -> None:
    post = published(blog, ada, "one", ("a", "b"))
    assert blog.refresh_ranking(post.post_id) == "unchanged"
    blog.like_post(post.post_id, eve.user_id)
    blog.rate_post(post.post_id, eve.user_id, 5)
    assert blog.refresh_ranking(post.post_id) == "refreshed"
    result = blog.post(post.post_id)
    assert result is not None
    assert (result.views, result.likes, result.ratings, result.stars, result.rating) == (1, 1, 1, 5, 21)
    assert [counted(blog, tag).points for tag in post.tags] == [21, 21]
    check_books(blog)
    blog.count_view(post.post_id)
    assert blog.refresh_ranking(post.post_id) == "too early"
    gone[0] += timedelta(seconds=counting.RANKING_SECONDS)
    assert blog.refresh_ranking(post.post_id) == "refreshed"
    assert next(iter(blog.popular_posts())).rating == 22
    check_books(blog, anonymous_views=1)
    blog.unpublish(post.post_id)
    assert blog.refresh_ranking(post.post_id) == "missing"
    assert blog.refresh_ranking("nowhere") == "missing"


def test_lowering_a_rating_reduces_every_counter(blog: Blog, ada: User, eve: User, gone: list[timedelta]) -> None:
    post = published(blog, ada, "one", ("a",))
    blog.rate_post(post.post_id, eve.user_id, 5)
    blog.refresh_ranking(post.post_id)
    blog.refresh_user(ada.user_id)
    assert blog.user(ada.user_id).rating == 11  # type: ignore[union-attr]
    blog.rate_post(post.post_id, eve.user_id, 1)
    gone[0] += timedelta(seconds=counting.USER_SECONDS)
    assert blog.refresh_ranking(post.post_id) == "refreshed"
    assert blog.refresh_user(ada.user_id) == "refreshed"
    assert blog.user(ada.user_id).rating == 0  # type: ignore[union-attr]
    assert blog.refresh_user(ada.user_id) == "too early"
    assert blog.refresh_user("nobody") == "missing"
    check_books(blog)


def test_popular_posts_and_authors_are_sorted_by_points(
    blog: Blog, ada: User, eve: User, gone: list[timedelta]
) -> None:
    posts = [published(blog, author, f"post-{author.username}") for author in (ada, eve)]
    for post, likes in zip(posts, (1, 3), strict=True):
        for number in range(likes):
            blog.like_post(post.post_id, f"u{number}")
        blog.refresh_ranking(post.post_id)
        blog.refresh_user(post.user_id)
    assert [element.slug for element in blog.popular_posts()] == ["post-eve", "post-ada"]
    assert [user.username for user in blog.users_by_rating("active")] == ["eve", "ada"]


def test_scores_of_trending_tags_decrease_over_time(blog: Blog, ada: User, gone: list[timedelta]) -> None:
    old, new = published(blog, ada, "old", ("old",)), published(blog, ada, "new", ("new",))
    for number in range(100):
        blog.view_post(old.post_id, f"u{number}")
    blog.refresh_ranking(old.post_id)
    assert blog.refresh_tag("old") == "refreshed"
    assert blog.refresh_tag("old") == "too early"
    assert [tag.tag for tag in blog.trending_tags()] == ["old", "new"]
    gone[0] += timedelta(days=10)
    for number in range(60):
        blog.view_post(new.post_id, f"u{number}")
    blog.refresh_ranking(new.post_id)
    assert blog.refresh_tag("new") == "refreshed"
    assert [tag.tag for tag in blog.trending_tags()] == ["new", "old"]
    assert blog.refresh_tag("nowhere") == "missing"
    assert blog.refresh_tag("old") == "unchanged"
    check_books(blog)


def test_the_heat_score_of_a_post_weights_recent_points_more(gone: list[timedelta]) -> None:
    moment = now()
    once = heated(0, 8, moment)
    assert heated(once, 8, moment) - once == pytest.approx(1000, abs=1)  # twice as much: one half-life
    assert heated(0, 8, moment + timedelta(days=3)) - once == pytest.approx(1000, abs=1)
    assert heated(once, 0, moment) == heated(once, -5, moment) == once
    step = 0
    for _ in range(1000):
        step = heated(step, 1, moment)
    assert step == pytest.approx(heated(0, 1000, moment), abs=300)


def test_the_front_page_is_rebuilt_periodically(blog: Blog, ada: User, gone: list[timedelta]) -> None:
    assert blog.front_page(0) is None
    first = blog.refresh_front_page()
    assert first.latest == ()
    post = published(blog, ada, "one", ("a",))
    assert blog.refresh_front_page() == first
    second = blog.refresh_front_page(force=True)
    assert second.latest == second.popular == (post,)
    assert second.bylines[ada.user_id].username == "ada"
    assert [(tag.tag, tag.posts) for tag in second.tags] == [("a", 1)]
    gone[0] += timedelta(seconds=counting.FRONT_PAGE_SECONDS)
    third = blog.refresh_front_page()
    assert third.refreshed_at > second.refreshed_at
    copies = items_of(blog, FrontPage)
    assert {copy.replica for copy in copies} == set(range(8))
    assert all(copy.model_copy(update={"replica": 0}) == third for copy in copies)


def test_the_front_page_can_be_built_after_an_author_is_deleted(blog: Blog, ada: User) -> None:
    published(blog, ada, "one")
    blog.delete(new_user(blog, "bob"))
    page = blog.refresh_front_page(force=True)
    assert set(page.bylines) == {ada.user_id}
