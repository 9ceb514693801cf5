"""The metered costs equal those in README.md, and the capacity suffices for 10,000 requests per second. A partition
allows 1,000 write units and 3,000 read units per second ("Best practices for designing and using partition keys",
developer guide).
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable
from typing import Any

import pytest

from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import (
    COUNTER_SHARDS,
    COUNTER_SLOTS,
    FRONT_PAGE_REPLICAS,
    READER_SHARDS,
    STATUS_SHARDS,
    ContactMessage,
    Credential,
    Post,
    User,
)
from tests.systems.blog.support import Recorder, new_post, published, recorded

PARTITION_WRITE_UNITS = 1000
PARTITION_READ_UNITS = 3000
VIRAL_RATE = 10_000
"""Views, likes or ratings a second."""
USERS = {"USERS_BY_USERNAME": 1, "USERS_BY_STATUS_RATING": 1, "USERS_BY_STATUS_CREATED_AT": 1}
"""A write of a user's counters rewrites their copy in each index."""


@pytest.fixture
def requests(blog: Blog) -> Recorder:
    return recorded(blog)


@pytest.fixture
def post(blog: Blog, ada: User, requests: Recorder) -> Post:
    made = published(blog, ada, "one", ("a", "b", "c"))
    requests.made.clear()
    return made


def spent(requests: Recorder) -> tuple[dict[str, int], dict[str, float]]:
    """Return the number of requests by operation, and the units by table and index, since the last call."""
    operations = Tally(requests.operations)
    return dict(operations), {place: units for place, units in requests.units_by_place().items() if units}


# Costs of a view, a like, a rating


def test_an_anonymous_view_costs_one_unit(blog: Blog, post: Post, requests: Recorder) -> None:
    blog.count_view(post.post_id)
    assert spent(requests) == ({"UpdateItem": 1}, {"table": 1})


@pytest.mark.parametrize(
    "count",
    [
        lambda blog, post: blog.view_post(post, "reader"),
        lambda blog, post: blog.like_post(post, "reader"),
        lambda blog, post: blog.rate_post(post, "reader", 5),
        lambda blog, post: blog.view_user("reader", post),
    ],
)
def test_the_first_view_like_or_rating_by_a_user_takes_a_transaction_of_two_items(
    blog: Blog, post: Post, requests: Recorder, count: Callable[[Blog, str], bool]
) -> None:
    assert count(blog, post.post_id)
    assert spent(requests) == ({"GetItem": 1, "TransactWriteItems": 1}, {"table": 1 + 2 * 2})
    assert not count(blog, post.post_id)
    assert spent(requests) == ({"GetItem": 1}, {"table": 1})


def hot_keys(requests: Recorder) -> set[str]:
    """Return the partition keys in write requests."""
    result: set[str] = set()
    for operation, parameters, _ in requests.made:
        if operation == "UpdateItem":
            result.add(parameters["Key"]["pk"]["S"])
        for action in parameters.get("TransactItems", ()):
            ((kind, value),) = action.items()
            result.add(value["Item" if kind == "Put" else "Key"]["pk"]["S"])
    return result


def test_views_of_a_popular_post_write_only_sharded_keys(blog: Blog, post: Post, requests: Recorder) -> None:
    for number in range(400):
        blog.count_view(post.post_id)
        blog.view_post(post.post_id, f"reader-{number}")
        blog.like_post(post.post_id, f"reader-{number}")
    written = hot_keys(requests)
    counters = {key for key in written if key.startswith(f"COUNTER#post#{post.post_id}#")}
    readers = {key for key in written if key.startswith(f"POST#{post.post_id}#")}
    assert (len(counters), len(readers)) == (COUNTER_SHARDS["post"], READER_SHARDS)
    assert written == counters | readers
    assert set(requests.units_by_place()) == {"table"}  # no index changes


# Capacity


def test_ten_thousand_views_per_second_stay_within_the_partition_limits() -> None:
    shards = COUNTER_SHARDS["post"]
    alone = VIRAL_RATE * 1 / shards
    together = VIRAL_RATE * 2 / shards
    assert alone + together <= PARTITION_WRITE_UNITS
    assert VIRAL_RATE * 2 / READER_SHARDS <= 0.7 * PARTITION_WRITE_UNITS
    # Transactions on one item conflict: the rate must be low enough
    assert VIRAL_RATE / shards / COUNTER_SLOTS < 40


def test_1400_rankings_can_be_refreshed_per_second(blog: Blog, ada: User, post: Post, requests: Recorder) -> None:
    blog.view_post(post.post_id, "reader")
    requests.made.clear()
    assert blog.refresh_ranking(post.post_id) == "refreshed"
    operations, units = spent(requests)
    assert operations == {"GetItem": 1, "Query": COUNTER_SHARDS["post"], "TransactWriteItems": 1}
    read = 1 + COUNTER_SHARDS["post"]
    written = 2 * (1 + 1 + len(post.tags))  # the post, the counter of its author, those of its tags
    assert units == {
        "table": read + written,
        "POSTS_BY_STATUS_CREATED_AT": 1,
        "POSTS_BY_STATUS_RATING": 2,
        "POSTS_BY_USER_STATUS_CREATED_AT": 1,
    }
    refreshes = STATUS_SHARDS * PARTITION_WRITE_UNITS * 0.7 / units["POSTS_BY_STATUS_RATING"]
    assert refreshes == 1400  # per second: 14,000 continuously viewed posts


def test_a_ranking_refresh_that_is_early_or_unneeded_writes_nothing(blog: Blog, post: Post, requests: Recorder) -> None:
    blog.refresh_ranking(post.post_id)
    assert set(requests.operations) == {"GetItem", "Query"}
    blog.view_post(post.post_id, "reader")
    blog.refresh_ranking(post.post_id)
    requests.made.clear()
    assert blog.refresh_ranking(post.post_id) == "too early"
    assert spent(requests) == ({"GetItem": 1}, {"table": 1})


def test_rankings_of_tags_and_authors_are_refreshed_by_four_queries(blog: Blog, post: Post, requests: Recorder) -> None:
    blog.view_post(post.post_id, "reader")
    blog.refresh_ranking(post.post_id)
    requests.made.clear()
    assert blog.refresh_tag("a") == "refreshed"
    operations = {"GetItem": 1, "Query": 4, "UpdateItem": 1}
    assert spent(requests) == (operations, {"table": 6, "TAGS_BY_TYPE_RATING": 2, "TAGS_BY_TYPE_NAME": 1})
    assert blog.refresh_user(post.user_id) == "refreshed"
    assert spent(requests) == (operations, {"table": 6, **USERS, "USERS_BY_STATUS_RATING": 2})


def test_reading_the_front_page_takes_one_request(blog: Blog, ada: User, requests: Recorder) -> None:
    for number in range(12):
        published(blog, ada, f"post-{number}", ("a", "b", "c"))
    blog.refresh_front_page(force=True)
    requests.made.clear()
    assert blog.front_page(3) is not None
    operations, units = spent(requests)
    assert operations == {"GetItem": 1}
    assert units["table"] <= 1.5
    assert VIRAL_RATE * 1.5 / FRONT_PAGE_REPLICAS <= 0.7 * PARTITION_READ_UNITS


# Writes of authors


def test_creating_a_draft_costs_the_expected_units(blog: Blog, ada: User, requests: Recorder) -> None:
    new_post(blog, ada, "one", ("a", "b"))
    posts = {"POSTS_BY_STATUS_CREATED_AT": 1, "POSTS_BY_STATUS_RATING": 1, "POSTS_BY_USER_STATUS_CREATED_AT": 1}
    operations, units = spent(requests)
    assert operations == {"GetItem": 3, "TransactWriteItems": 1}
    assert units == {"table": 2 * 4 + 3, **posts, **USERS}  # missing items are read for a unit each


@pytest.mark.parametrize(("tags", "combos"), [(0, 0), (1, 1), (2, 3), (3, 7), (4, 15), (5, 31)])
def test_publishing_costs_two_units_per_tag_combination(
    blog: Blog, ada: User, requests: Recorder, tags: int, combos: int
) -> None:
    draft = new_post(blog, ada, "one", tuple("abcde"[:tags]))
    requests.made.clear()
    blog.publish(draft.post_id)
    operations, units = spent(requests)
    assert operations == {"GetItem": 2, "TransactWriteItems": 1} | ({"BatchGetItem": 1} if tags else {})
    moved = {"POSTS_BY_STATUS_CREATED_AT": 2, "POSTS_BY_STATUS_RATING": 2, "POSTS_BY_USER_STATUS_CREATED_AT": 2}
    tagged = {"TAGS_BY_TYPE_RATING": tags, "TAGS_BY_TYPE_NAME": tags} if tags else {}
    assert units == {"table": 2 + tags + 2 * (1 + 1 + tags + combos), **moved, **USERS, **tagged}


def test_the_largest_edit_fits_one_transaction(blog: Blog, ada: User, requests: Recorder) -> None:
    post = published(blog, ada, "one", tuple("abcde"))
    requests.made.clear()
    blog.edit_post(post.post_id, 1, "T", "x", "new", tuple("fghij"), ada.user_id)
    (actions,) = [
        len(parameters["TransactItems"])
        for operation, parameters, _ in requests.made
        if operation == "TransactWriteItems"
    ]
    assert actions == 1 + 1 + 2 + 10 + 62  # text, post, slug, old slug, tags, combinations: at most 100 are allowed


def test_a_registration_costs_the_expected_units(blog: Blog, requests: Recorder) -> None:
    user = User(username="uma", name="Uma")
    blog.register(user, Credential(user_id=user.user_id, email="uma@example.com"))
    assert spent(requests) == ({"TransactWriteItems": 1}, {"table": 2 * 4, **USERS})


def test_sending_a_message_costs_one_unit(blog: Blog, requests: Recorder) -> None:
    blog.send_message(ContactMessage(name="n", email="a@example.com", text="x" * 500))
    assert spent(requests) == ({"PutItem": 1}, {"table": 1})


# Pages


@pytest.fixture
def large(blog: Blog, ada: User, requests: Recorder) -> Blog:
    """Return a blog with twenty published posts that have long texts, and that three readers have viewed."""
    for number in range(20):
        made = new_post(blog, ada, f"post-{number}", ("a", "b"), content="word " * 20_000)
        blog.publish(made.post_id)
        for reader in range(3):
            blog.view_post(made.post_id, f"reader-{reader}")
    requests.made.clear()
    return blog


READS: dict[str, tuple[Callable[[Blog, Any], Any], dict[str, int], float]] = {
    "latest": (lambda blog, post: blog.latest_posts(), {"Query": STATUS_SHARDS}, 6),
    "popular": (lambda blog, post: blog.popular_posts(), {"Query": STATUS_SHARDS}, 6),
    "archive": (lambda blog, post: blog.published_between(limit=10), {"Query": STATUS_SHARDS}, 6),
    "author": (lambda blog, post: blog.posts_of_user(post.user_id, "published"), {"Query": 1}, 1.5),
    "two tags": (lambda blog, post: blog.posts_by_tags(("a", "b")), {"Query": 1, "BatchGetItem": 1}, 6.5),
    "trending": (lambda blog, post: blog.trending_tags(), {"Query": 1}, 0.5),
    "autocomplete": (lambda blog, post: blog.tags_starting("a"), {"Query": 1}, 0.5),
    "slug": (lambda blog, post: blog.slug_of(post.slug), {"GetItem": 1}, 0.5),
    "card": (lambda blog, post: blog.post_by_slug(post.slug), {"GetItem": 2}, 1),
    "seen": (lambda blog, post: blog.post_seen(post.post_id, "reader-1"), {"GetItem": 1}, 0.5),
    "who saw it": (lambda blog, post: blog.who_saw_post(post.post_id), {"Query": READER_SHARDS}, 16),
    "authors": (lambda blog, post: blog.users([post.user_id]), {"BatchGetItem": 1}, 0.5),
    "sign-in": (lambda blog, post: blog.user_by_email("ada@example.com"), {"GetItem": 3}, 3),
}


@pytest.mark.parametrize("name", READS)
def test_lists_do_not_read_post_texts(large: Blog, requests: Recorder, name: str) -> None:
    post = next(iter(large.latest_posts()))
    requests.made.clear()
    ask, operations, most = READS[name]
    assert ask(large, post)
    done, units = spent(requests)
    assert done.keys() == operations.keys()
    for operation, least in operations.items():  # a shard with more than its share of a page is queried again
        assert least <= done[operation] <= (least if least == 1 or operation != "Query" else 3 * least)
    assert sum(units.values()) <= most


def test_a_post_with_its_text_is_read_by_one_query_of_two_items(large: Blog, requests: Recorder) -> None:
    post = next(iter(large.latest_posts()))
    requests.made.clear()
    whole = large.whole_post(post.post_id)
    assert whole is not None
    ((operation, _, response),) = requests.made
    assert (operation, response["Count"], response["ScannedCount"]) == ("Query", 2, 2)
