"""Tests of each kind of access pattern, on every store."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from keyplan import Page, Range
from keyplan.errors import CursorError, ItemNotFound
from tests.contract.design import (
    Blob,
    Call,
    Color,
    Comment,
    Event,
    Follow,
    Line,
    Mail,
    Mark,
    Order,
    Payment,
    Post,
    Ticket,
    Total,
    User,
)
from tests.contract.stores import Caller

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def minutes(count: int) -> datetime:
    return NOON + timedelta(minutes=count)


def user(number: int | str, **more: Any) -> User:
    return User(user_id=f"u{number}", email=f"{number}@example.org", **more)


def post(number: int, by: str = "u1", **more: Any) -> Post:
    return Post(user_id=by, post_id=f"p{number}", created_at=minutes(number), **more)


def pages(read_page: Callable[..., Page[Any]], limit: int, **arguments: Any) -> list[Any]:
    """Return the items of all pages. Check that no page is too long, and only the last page has no cursor."""
    result: list[Any] = []
    cursor = None
    while True:
        page = read_page(limit=limit, cursor=cursor, **arguments)
        assert len(page.items) <= limit
        result += page.items
        cursor = page.cursor
        if cursor is None:
            return result
        assert len(page.items) == limit


def paged(every: Caller, pattern: str, limit: int, **arguments: Any) -> list[Any]:
    return pages(lambda **more: every.read(pattern, **more), limit, **arguments)


def test_item_is_read_by_primary_key(every: Caller) -> None:
    written = every.create(user(1, name="Ada", rating=Decimal("4.50"), color=Color.GREEN))
    assert every.read("user", user_id="u1") == written
    assert every.read("user", user_id="u2") is None


def test_read_of_a_missing_required_item_raises_an_error(every: Caller) -> None:
    with pytest.raises(ItemNotFound, match=r"no User with email='nobody@example\.org'"):
        every.read("user_by_email", email="nobody@example.org")


def test_item_is_read_by_unique_value(every: Caller) -> None:
    written = every.create(user(1, nickname="ada"))
    assert every.read("user_by_email", email="1@example.org") == written
    assert every.read("user_by_nickname", nickname="ada") == written
    assert every.read("user_by_nickname", nickname="eve") is None


def test_item_is_read_by_index_key(every: Caller) -> None:
    written = every.create(post(1))
    assert every.read("post_by_id", post_id="p1") == written
    assert every.read("post_by_id", post_id="p") is None


def test_latest_item_of_a_partition_or_range_is_read(every: Caller) -> None:
    assert every.read("latest_post", user_id="u1") is None
    posts = [every.create(post(number)) for number in (9, 10, 11)]
    assert every.read("latest_post", user_id="u1") == posts[2]
    assert every.read("latest_post_within", user_id="u1", created_at=Range(lt=minutes(11))) == posts[1]
    assert every.read("latest_post_within", user_id="u1", created_at=Range(lt=minutes(9))) is None


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
def test_pages_of_a_partition_are_read_newest_first(every: Caller, limit: int) -> None:
    posts = [every.create(post(number)) for number in range(7)]
    every.create(post(3, by="u1#"))
    assert paged(every, "posts", limit, user_id="u1") == posts[::-1]


def test_empty_page_has_no_cursor(every: Caller) -> None:
    assert every.read("posts", user_id="nobody") == Page([], None)


def test_last_page_has_no_cursor_even_if_it_is_full(every: Caller) -> None:
    posts = [every.create(post(number)) for number in range(3)]
    assert every.read("posts", user_id="u1", limit=3) == Page(posts[::-1], None)


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_items_within_a_range_of_timestamps_are_read(every: Caller, limit: int) -> None:
    posts = [every.create(post(number)) for number in range(8)]
    within = Range(gt=minutes(1), le=minutes(6))
    assert paged(every, "posts_within", limit, user_id="u1", created_at=within) == posts[2:7]


@pytest.mark.parametrize("limit", [1, 2, 9])
def test_shards_are_merged_in_sort_order(every: Caller, limit: int) -> None:
    events = [
        every.create(Event(day=date(2026, 3, 1), at=minutes(number), event_id=f"e{number}")) for number in range(9)
    ]
    assert paged(every, "events", limit, day=date(2026, 3, 1)) == events


def test_sparse_index_contains_only_matching_items(every: Caller) -> None:
    posts = [every.create(post(number, status="published" if number % 2 else "draft")) for number in range(6)]
    assert paged(every, "published", 2) == posts[5::-2]
    archived = every.update(posts[5], status="archived")
    assert archived.status == "archived"
    assert paged(every, "published", 2) == posts[3::-2]


def test_item_without_an_optional_key_field_is_not_in_the_index(every: Caller) -> None:
    inside = every.create(post(1, category="news", score=5))
    outside = every.create(post(2))
    assert every.read("category", category="news").items == [inside]
    moved = every.update(outside, category="news", score=7)
    assert every.read("category", category="news").items == [inside, moved]
    every.update(moved, category=None)
    assert every.read("category", category="news").items == [inside]


def test_filtered_pages_contain_the_requested_number_of_items(every: Caller) -> None:
    posts = [every.create(post(number, status="published" if number % 5 == 0 else "draft")) for number in range(23)]
    assert paged(every, "posts_published", 2, user_id="u1") == posts[::5]


def test_filter_expression_excludes_items_that_do_not_match(every: Caller) -> None:
    posts = [every.create(post(number, score=number, tags={"old"} if number < 6 else set())) for number in range(9)]
    assert paged(every, "posts_scored", 2, user_id="u1", least=4, tag="old") == posts[6:]
    assert paged(every, "posts_scored", 2, user_id="u1", least=4, tag="new") == posts[4:]


@pytest.mark.parametrize("limit", [1, 3, 20])
def test_items_of_several_partitions_are_merged_in_sort_order(every: Caller, limit: int) -> None:
    posts = [every.create(post(number, by=f"u{number % 3}")) for number in range(9)]
    assert paged(every, "posts_of_users", limit, user_id=["u0", "u2", "u0", "nobody"]) == [
        value for value in posts if value.user_id != "u1"
    ]


def test_items_of_several_keys_are_returned_in_the_given_order(every: Caller) -> None:
    tickets = {
        name: every.create(Ticket(ticket_id=name, tenant="t", queue="q", priority=1, opened="o")) for name in "abc"
    }
    result = every.read("tickets_by_id", ticket_id=["c", "x", "a", "c"])
    assert result == [tickets["c"], tickets["a"]]
    assert every.read("tickets_by_id", ticket_id=[]) == []


def test_iterator_returns_all_items(every: Caller) -> None:
    posts = [every.create(post(number)) for number in range(12)]
    assert every.read("all_posts", user_id="u1") == posts


def test_key_attributes_without_templates_are_read_in_order(every: Caller) -> None:
    tickets = [
        every.create(Ticket(ticket_id=f"{number}", tenant="t", queue="q", priority=priority, opened=opened))
        for number, (priority, opened) in enumerate([(-1, "b"), (2, "a"), (2, "b"), (10, "a"), (100, "a")])
    ]
    every.create(Ticket(ticket_id="9", tenant="t", queue="other", priority=1, opened="a"))
    assert paged(every, "tickets", 2, tenant="t", queue="q") == tickets
    assert every.read("tickets_within", tenant="t", queue="q", priority=Range(gt=-1, lt=100)) == tickets[3:0:-1]
    assert every.read("tickets_opened", tenant="t", queue="q", priority=2, opened="b") == [tickets[2]]
    assert len(paged(every, "tickets_of_queues", 1, tenant="t", queue=["q", "other"])) == 6


def test_binary_sort_keys_are_read_in_order(every: Caller) -> None:
    digests = [b"\x00", b"\x00\xff", b"a", b"\xfe", b"\xff"]
    blobs = [every.create(Blob(name=repr(digest), checksum=digest)) for digest in digests]
    assert paged(every, "blobs", 2) == blobs
    assert paged(every, "blobs", 2, checksum=Range(gt=b"\x00", le=b"\xfe")) == blobs[1:4]


def test_keys_with_paths_are_sorted_part_by_part(every: Caller) -> None:
    paths = [("a",), ("a", "#"), ("a", "b"), ("a", "b", "c"), ("a#",), ("ab",)]
    comments = [every.create(Comment(post_id="p", path=path)) for path in reversed(paths)][::-1]
    assert paged(every, "comments", 4, post_id="p") == comments
    result = every.read("comments_within", post_id="p", path=Range(gt=("a",), lt=("a#",)))
    assert result == comments[1:4]


def test_item_collection_with_several_entities_is_read(every: Caller) -> None:
    order = every.create(Order(order_id="o", user_id="u", placed_at=NOON))
    lines = [every.create(Line(order_id="o", number=number, sku="s")) for number in (2, 10, 1)]
    result = every.read("order_details", order_id="o")
    assert (result.order, result.lines, result.payment) == (order, [lines[1], lines[0], lines[2]], None)
    payment = every.create(Payment(order_id="o", paid_on=date(2026, 3, 1), reference="r"))
    assert every.read("order_details", order_id="o").payment == payment
    assert every.read("order_newest", order_id="o").line == lines[1]
    assert every.read("order_items", order_id="o").items == [order, payment]


def test_read_of_an_incomplete_item_collection_returns_none_or_raises_an_error(every: Caller) -> None:
    every.create(Line(order_id="o", number=1, sku="s"))
    assert every.read("order_details", order_id="o") is None
    with pytest.raises(ItemNotFound):
        every.read("order_newest", order_id="o")


def test_single_items_of_a_sharded_partition_are_read(every: Caller) -> None:
    total = every.create(Total(group="g", amount=3))
    assert every.read("marked", group="g").mark is None
    mark = every.create(Mark(group="g"))
    assert every.read("marked", group="g") == (total, mark)


def test_each_of_several_entities_is_read_within_its_range(every: Caller) -> None:
    mails = [every.create(Mail(user_id="u", day=date(2026, 3, day), contact_id="m")) for day in (1, 2, 3)]
    calls = [every.create(Call(user_id="u", day=date(2026, 3, day), contact_id="c")) for day in (1, 2, 3)]
    assert every.read("contacts_of_day", user_id="u", day=date(2026, 3, 2)) == [calls[1], mails[1]]
    result = paged(every, "contacts_within", 1, user_id="u", day=Range(gt=date(2026, 3, 1)))
    assert result == [*calls[1:], *mails[1:]]


@pytest.mark.parametrize("limit", [1, 2, 3, 9])
def test_items_are_read_through_a_junction(every: Caller, limit: int) -> None:
    users = {number: every.create(user(number)) for number in (1, 2, 4, 5)}
    for number in (1, 2, 3, 4, 5, 6):  # the third and the sixth don't exist
        every.create(Follow(user_id="u0", followed_id=f"u{number}", since=minutes(number)))
    assert paged(every, "followed", limit, user_id="u0") == list(users.values())


@pytest.mark.parametrize("limit", [1, 2, 5, 20])
def test_feed_merges_the_partitions_that_a_junction_links_to(every: Caller, limit: int) -> None:
    posts = [every.create(post(number, by=f"u{number % 4}")) for number in range(12)]
    for number in (1, 2, 3):
        every.create(Follow(user_id="me", followed_id=f"u{number}"))
    assert paged(every, "feed", limit, user_id="me") == [value for value in posts[::-1] if value.user_id != "u0"]


def test_scan_returns_only_items_of_its_entity(every: Caller) -> None:
    orders = [every.create(Order(order_id=f"o{number}", user_id="u", placed_at=NOON)) for number in range(5)]
    every.create(user(1))
    result = paged(every, "every_order", 2)
    assert sorted(result, key=lambda value: str(value.order_id)) == orders


def test_cursor_is_valid_only_for_its_access_pattern_and_arguments(every: Caller) -> None:
    for number in range(4):
        every.create(post(number))
    cursor = every.read("posts", user_id="u1", limit=2).cursor
    with pytest.raises(CursorError):
        every.read("posts", user_id="u2", limit=2, cursor=cursor)
    with pytest.raises(CursorError):
        every.read("published", limit=2, cursor=cursor)
    with pytest.raises(CursorError):
        every.read("posts", user_id="u1", limit=2, cursor=cursor[:-1])
