"""What each kind of pattern answers, on every store."""

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


def pages(ask: Callable[..., Page[Any]], limit: int, **arguments: Any) -> list[Any]:
    """All items, page by page: no page is too long, and only the last has no cursor."""
    result: list[Any] = []
    cursor = None
    while True:
        page = ask(limit=limit, cursor=cursor, **arguments)
        assert len(page.items) <= limit
        result += page.items
        cursor = page.cursor
        if cursor is None:
            return result
        assert len(page.items) == limit


def paged(every: Caller, pattern: str, limit: int, **arguments: Any) -> list[Any]:
    return pages(lambda **more: every.read(pattern, **more), limit, **arguments)


def test_one_item_by_its_key(every: Caller) -> None:
    written = every.create(user(1, name="Ada", rating=Decimal("4.50"), color=Color.GREEN))
    assert every.read("user", user_id="u1") == written
    assert every.read("user", user_id="u2") is None


def test_an_item_that_is_promised_and_missing_is_an_error(every: Caller) -> None:
    with pytest.raises(ItemNotFound, match=r"no User with email='nobody@example\.org'"):
        every.read("user_by_email", email="nobody@example.org")


def test_one_item_by_a_unique_value(every: Caller) -> None:
    written = every.create(user(1, nickname="ada"))
    assert every.read("user_by_email", email="1@example.org") == written
    assert every.read("user_by_nickname", nickname="ada") == written
    assert every.read("user_by_nickname", nickname="eve") is None


def test_one_item_by_an_index(every: Caller) -> None:
    written = every.create(post(1))
    assert every.read("post_by_id", post_id="p1") == written
    assert every.read("post_by_id", post_id="p") is None


def test_the_first_of_an_order(every: Caller) -> None:
    assert every.read("latest_post", user_id="u1") is None
    posts = [every.create(post(number)) for number in (9, 10, 11)]
    assert every.read("latest_post", user_id="u1") == posts[2]
    assert every.read("latest_post_within", user_id="u1", created_at=Range(lt=minutes(11))) == posts[1]
    assert every.read("latest_post_within", user_id="u1", created_at=Range(lt=minutes(9))) is None


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
def test_pages_of_a_partition_newest_first(every: Caller, limit: int) -> None:
    posts = [every.create(post(number)) for number in range(7)]
    every.create(post(3, by="u1#"))
    assert paged(every, "posts", limit, user_id="u1") == posts[::-1]


def test_an_empty_page_has_no_cursor(every: Caller) -> None:
    assert every.read("posts", user_id="nobody") == Page([], None)


def test_a_page_that_just_holds_all_has_no_cursor(every: Caller) -> None:
    posts = [every.create(post(number)) for number in range(3)]
    assert every.read("posts", user_id="u1", limit=3) == Page(posts[::-1], None)


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_a_range_of_times(every: Caller, limit: int) -> None:
    posts = [every.create(post(number)) for number in range(8)]
    within = Range(gt=minutes(1), le=minutes(6))
    assert paged(every, "posts_within", limit, user_id="u1", created_at=within) == posts[2:7]


@pytest.mark.parametrize("limit", [1, 2, 9])
def test_shards_are_merged_in_order(every: Caller, limit: int) -> None:
    events = [
        every.create(Event(day=date(2026, 3, 1), at=minutes(number), event_id=f"e{number}")) for number in range(9)
    ]
    assert paged(every, "events", limit, day=date(2026, 3, 1)) == events


def test_a_sparse_index_holds_members_only(every: Caller) -> None:
    posts = [every.create(post(number, status="published" if number % 2 else "draft")) for number in range(6)]
    assert paged(every, "published", 2) == posts[5::-2]
    archived = every.update(posts[5], status="archived")
    assert archived.status == "archived"
    assert paged(every, "published", 2) == posts[3::-2]


def test_a_field_that_is_none_keeps_an_item_out_of_an_index(every: Caller) -> None:
    inside = every.create(post(1, category="news", score=5))
    outside = every.create(post(2))
    assert every.read("category", category="news").items == [inside]
    moved = every.update(outside, category="news", score=7)
    assert every.read("category", category="news").items == [inside, moved]
    every.update(moved, category=None)
    assert every.read("category", category="news").items == [inside]


def test_a_filter_fills_its_pages(every: Caller) -> None:
    posts = [every.create(post(number, status="published" if number % 5 == 0 else "draft")) for number in range(23)]
    assert paged(every, "posts_published", 2, user_id="u1") == posts[::5]


def test_a_filter_in_dynamodbs_grammar(every: Caller) -> None:
    posts = [every.create(post(number, score=number, tags={"old"} if number < 6 else set())) for number in range(9)]
    assert paged(every, "posts_scored", 2, user_id="u1", least=4, tag="old") == posts[6:]
    assert paged(every, "posts_scored", 2, user_id="u1", least=4, tag="new") == posts[4:]


@pytest.mark.parametrize("limit", [1, 3, 20])
def test_many_partitions_are_merged(every: Caller, limit: int) -> None:
    posts = [every.create(post(number, by=f"u{number % 3}")) for number in range(9)]
    assert paged(every, "posts_of_users", limit, user_id=["u0", "u2", "u0", "nobody"]) == [
        value for value in posts if value.user_id != "u1"
    ]


def test_many_keys_are_read_in_their_order(every: Caller) -> None:
    tickets = {
        name: every.create(Ticket(ticket_id=name, tenant="t", queue="q", priority=1, opened="o")) for name in "abc"
    }
    result = every.read("tickets_by_id", ticket_id=["c", "x", "a", "c"])
    assert result == [tickets["c"], tickets["a"]]
    assert every.read("tickets_by_id", ticket_id=[]) == []


def test_an_iterator_gives_everything(every: Caller) -> None:
    posts = [every.create(post(number)) for number in range(12)]
    assert every.read("all_posts", user_id="u1") == posts


def test_native_key_attributes(every: Caller) -> None:
    tickets = [
        every.create(Ticket(ticket_id=f"{number}", tenant="t", queue="q", priority=priority, opened=opened))
        for number, (priority, opened) in enumerate([(-1, "b"), (2, "a"), (2, "b"), (10, "a"), (100, "a")])
    ]
    every.create(Ticket(ticket_id="9", tenant="t", queue="other", priority=1, opened="a"))
    assert paged(every, "tickets", 2, tenant="t", queue="q") == tickets
    assert every.read("tickets_within", tenant="t", queue="q", priority=Range(gt=-1, lt=100)) == tickets[3:0:-1]
    assert every.read("tickets_opened", tenant="t", queue="q", priority=2, opened="b") == [tickets[2]]
    assert len(paged(every, "tickets_of_queues", 1, tenant="t", queue=["q", "other"])) == 6


def test_a_binary_sort_key(every: Caller) -> None:
    digests = [b"\x00", b"\x00\xff", b"a", b"\xfe", b"\xff"]
    blobs = [every.create(Blob(name=repr(digest), checksum=digest)) for digest in digests]
    assert paged(every, "blobs", 2) == blobs
    assert paged(every, "blobs", 2, checksum=Range(gt=b"\x00", le=b"\xfe")) == blobs[1:4]


def test_a_path_sorts_part_by_part(every: Caller) -> None:
    paths = [("a",), ("a", "#"), ("a", "b"), ("a", "b", "c"), ("a#",), ("ab",)]
    comments = [every.create(Comment(post_id="p", path=path)) for path in reversed(paths)][::-1]
    assert paged(every, "comments", 4, post_id="p") == comments
    result = every.read("comments_within", post_id="p", path=Range(gt=("a",), lt=("a#",)))
    assert result == comments[1:4]


def test_a_collection_in_one_query(every: Caller) -> None:
    order = every.create(Order(order_id="o", user_id="u", placed_at=NOON))
    lines = [every.create(Line(order_id="o", number=number, sku="s")) for number in (2, 10, 1)]
    result = every.read("order_details", order_id="o")
    assert (result.order, result.lines, result.payment) == (order, [lines[1], lines[0], lines[2]], None)
    payment = every.create(Payment(order_id="o", paid_on=date(2026, 3, 1), reference="r"))
    assert every.read("order_details", order_id="o").payment == payment
    assert every.read("order_newest", order_id="o").line == lines[1]
    assert every.read("order_items", order_id="o").items == [order, payment]


def test_a_collection_that_lacks_what_it_promises(every: Caller) -> None:
    every.create(Line(order_id="o", number=1, sku="s"))
    assert every.read("order_details", order_id="o") is None
    with pytest.raises(ItemNotFound):
        every.read("order_newest", order_id="o")


def test_single_items_of_a_sharded_partition(every: Caller) -> None:
    total = every.create(Total(group="g", amount=3))
    assert every.read("marked", group="g").mark is None
    mark = every.create(Mark(group="g"))
    assert every.read("marked", group="g") == (total, mark)


def test_several_kinds_each_in_its_own_interval(every: Caller) -> None:
    mails = [every.create(Mail(user_id="u", day=date(2026, 3, day), contact_id="m")) for day in (1, 2, 3)]
    calls = [every.create(Call(user_id="u", day=date(2026, 3, day), contact_id="c")) for day in (1, 2, 3)]
    assert every.read("contacts_of_day", user_id="u", day=date(2026, 3, 2)) == [calls[1], mails[1]]
    result = paged(every, "contacts_within", 1, user_id="u", day=Range(gt=date(2026, 3, 1)))
    assert result == [*calls[1:], *mails[1:]]


@pytest.mark.parametrize("limit", [1, 2, 3, 9])
def test_through_a_junction(every: Caller, limit: int) -> None:
    users = {number: every.create(user(number)) for number in (1, 2, 4, 5)}
    for number in (1, 2, 3, 4, 5, 6):  # the third and the sixth don't exist
        every.create(Follow(user_id="u0", followed_id=f"u{number}", since=minutes(number)))
    assert paged(every, "followed", limit, user_id="u0") == list(users.values())


@pytest.mark.parametrize("limit", [1, 2, 5, 20])
def test_a_feed_is_merged_from_all_that_are_followed(every: Caller, limit: int) -> None:
    posts = [every.create(post(number, by=f"u{number % 4}")) for number in range(12)]
    for number in (1, 2, 3):
        every.create(Follow(user_id="me", followed_id=f"u{number}"))
    assert paged(every, "feed", limit, user_id="me") == [value for value in posts[::-1] if value.user_id != "u0"]


def test_a_scan_gives_its_entity_only(every: Caller) -> None:
    orders = [every.create(Order(order_id=f"o{number}", user_id="u", placed_at=NOON)) for number in range(5)]
    every.create(user(1))
    result = paged(every, "every_order", 2)
    assert sorted(result, key=lambda value: str(value.order_id)) == orders


def test_a_cursor_is_good_for_its_own_question_only(every: Caller) -> None:
    for number in range(4):
        every.create(post(number))
    cursor = every.read("posts", user_id="u1", limit=2).cursor
    with pytest.raises(CursorError):
        every.read("posts", user_id="u2", limit=2, cursor=cursor)
    with pytest.raises(CursorError):
        every.read("published", limit=2, cursor=cursor)
    with pytest.raises(CursorError):
        every.read("posts", user_id="u1", limit=2, cursor=cursor[:-1])
