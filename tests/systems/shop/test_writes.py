"""Every write of the shop: its results and errors, and invariants of stored items."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from keyplan import Range, now
from keyplan.errors import ArgumentError, ItemExists, ItemNotFound, KeyplanError, Refused, UniqueValueTaken
from keyplan_systems.shop import Shop
from keyplan_systems.shop.entities import (
    ALLOWED,
    HELD,
    LINES_MAX,
    READING_KEPT,
    Order,
    OrderEvent,
    OrderStatus,
    OrderToken,
    Product,
    ProductDetails,
    Reading,
    User,
)
from keyplan_systems.shop.keeping import pay_refunds, release_unpaid
from keyplan_systems.shop.payments import OfflineProvider
from tests.systems.shop.support import TODAY, all_events, assert_consistent, edit, placed_stock
from tests.systems.support import recorded


def stock(shop: Shop, product_id: str) -> int:
    product = shop.product(product_id)
    assert product is not None
    return product.stock


# Placing orders


def test_placing_an_order_stores_its_items_and_reduces_the_stock(shop: Shop) -> None:
    order = shop.place_order("ada", "t1", {"tea": 2, "cup": 1})
    assert (order.status, order.total_cents, order.merchant_id) == ("pending", 1800, "leafhouse")
    details = shop.order_details(order.order_id)
    assert details is not None
    assert details.order == order
    assert {(line.product_id, line.quantity, line.price_cents) for line in details.lines} == {
        ("tea", 2, 450),
        ("cup", 1, 900),
    }
    assert [(payment.status, payment.amount_cents, payment.external_id) for payment in details.payments] == [
        ("due", 1800, None)
    ]
    assert (stock(shop, "tea"), stock(shop, "cup")) == (8, 2)
    assert [(event.kind, event.order_id) for event in all_events(shop)] == [("placed", order.order_id)]
    assert_consistent(shop)


def test_orders_placed_with_the_same_token_return_the_same_order(shop: Shop) -> None:
    order = shop.place_order("ada", "t1", {"tea": 2, "cup": 1})
    assert shop.place_order("ada", "t1", {"cup": 1, "tea": 2}) == order
    paid = shop.pay(order.order_id, "pi_1", 1800)
    edit(shop, "tea", price_cents=999)
    assert shop.place_order("ada", "t1", {"tea": 2, "cup": 1}) == paid  # the current state
    assert stock(shop, "tea") == 8
    assert len(shop.orders_of_user("ada")) == 1
    other = shop.place_order("bob", "t1", {"tea": 1})  # a token belongs to a user
    assert other.order_id != order.order_id


def test_reusing_an_idempotency_token_for_other_order_lines_is_rejected(shop: Shop) -> None:
    order = shop.place_order("ada", "t1", {"tea": 2})
    with pytest.raises(Refused, match=f"used for other items, in order {order.order_id}"):
        shop.place_order("ada", "t1", {"tea": 3})
    assert stock(shop, "tea") == 8
    assert_consistent(shop)


def test_the_idempotency_token_of_an_order_expires_after_30_days(shop: Shop) -> None:
    order = shop.place_order("ada", "t1", {"tea": 1})
    token = shop.get(OrderToken, user_id="ada", token="t1")
    assert token is not None
    assert token.expires_at == (order.created_at + timedelta(days=30)).replace(microsecond=0)
    assert Shop.compiled.ttl_attribute == "expires_at"


@pytest.mark.parametrize(
    ("items", "error", "message"),
    [
        ({"tea": 11}, Refused, "products are unavailable"),
        ({"tea": 1, "cup": 4}, Refused, "products are unavailable"),
        ({"tea": 0}, ArgumentError, "wrong argument"),
        ({"tea": -1}, ArgumentError, "wrong argument"),
        ({}, ArgumentError, "wrong argument"),
        ({"tea": 1, "nothing": 1}, ItemNotFound, "there is no product 'nothing'"),
        ({"tea": 1, "lamp": 1}, Refused, r"the products belong to 2 merchants \(leafhouse, lumen\)"),
        ({f"p{number}": 1 for number in range(LINES_MAX + 1)}, ArgumentError, "wrong argument"),
    ],
)
def test_invalid_orders_are_rejected(
    shop: Shop, items: dict[str, int], error: type[KeyplanError], message: str
) -> None:
    shop.add_product(Product(product_id="lamp", merchant_id="lumen", name="Lamp", price_cents=900, stock=1))
    with pytest.raises(error, match=message):
        shop.place_order("ada", "t1", items)
    assert (stock(shop, "tea"), stock(shop, "cup")) == (10, 3)
    assert not shop.orders_of_user("ada")
    assert not all_events(shop)


def test_an_order_of_an_unknown_user_is_rejected(shop: Shop) -> None:
    with pytest.raises(ItemNotFound, match="there is no user 'eve'"):
        shop.place_order("eve", "t1", {"tea": 1})


def test_an_order_reports_every_product_without_stock(shop: Shop) -> None:
    with pytest.raises(Refused) as caught:
        shop.place_order("ada", "t1", {"tea": 11, "cup": 4})
    assert [str(fault) for fault in caught.value.errors] == [
        "items[cup]: Cup: 4 ordered, 3 in stock",
        "items[tea]: Tea: 11 ordered, 10 in stock",
    ]


def test_an_order_with_the_maximum_number_of_lines_fits_one_transaction(shop: Shop) -> None:
    for number in range(LINES_MAX):
        product = Product(product_id=f"p{number}", merchant_id="m", name="P", price_cents=1_000_000_000, stock=10_000)
        shop.add_product(product)
    order = shop.place_order("ada", "t1", {f"p{number}": 10_000 for number in range(LINES_MAX)})
    assert order.total_cents == LINES_MAX * 10_000 * 1_000_000_000 < 2**53
    assert shop.pay(order.order_id, "pi_1", order.total_cents).status == "paid"
    shop.cancel(order.order_id)
    assert all(stock(shop, f"p{number}") == 10_000 for number in range(LINES_MAX))


# Transitions


def moves(shop: Shop, order: Order) -> dict[OrderStatus, Callable[[], Order]]:
    return {
        "paid": lambda: shop.pay(order.order_id, f"pi_{order.order_id}", order.total_cents),
        "shipped": lambda: shop.ship(order.order_id),
        "cancelled": lambda: shop.cancel(order.order_id),
    }


def order_in(shop: Shop, status: OrderStatus) -> Order:
    order = shop.place_order("ada", f"token {status}", {"tea": 1})
    path: dict[OrderStatus, list[OrderStatus]] = {
        "pending": [],
        "paid": ["paid"],
        "shipped": ["paid", "shipped"],
        "cancelled": ["cancelled"],
    }
    for step in path[status]:
        order = moves(shop, order)[step]()
    return order


@pytest.mark.parametrize("before", ALLOWED)
@pytest.mark.parametrize("after", ["paid", "shipped", "cancelled"])
def test_only_allowed_transitions_of_order_status_succeed(shop: Shop, before: OrderStatus, after: OrderStatus) -> None:
    order = order_in(shop, before)
    events = len(all_events(shop))
    if after in ALLOWED[before]:
        assert moves(shop, order)[after]().status == after
        assert len(all_events(shop)) == events + 1
    elif after == "paid" and before in {"paid", "shipped"}:
        assert moves(shop, order)["paid"]() == order  # the second report of one payment
        assert len(all_events(shop)) == events
    else:
        with pytest.raises(Refused, match=f"is {before} and can't become {after}"):
            moves(shop, order)[after]()
        assert len(all_events(shop)) == events
    assert_consistent(shop)


def test_orders_that_are_no_longer_pending_leave_the_sparse_index(shop: Shop) -> None:
    first = shop.place_order("ada", "t1", {"tea": 1})
    second = shop.place_order("bob", "t1", {"tea": 1})
    assert list(shop.pending_orders("leafhouse")) == [first, second]  # oldest first
    shop.pay(first.order_id, "pi_1", 450)
    assert list(shop.pending_orders("leafhouse")) == [second]
    shop.cancel(second.order_id)
    assert not shop.pending_orders("leafhouse")


def test_cancelling_an_order_restores_the_stock(shop: Shop) -> None:
    order = shop.place_order("ada", "t1", {"tea": 2, "cup": 3})
    shop.cancel(order.order_id)
    assert (stock(shop, "tea"), stock(shop, "cup")) == (10, 3)
    with pytest.raises(Refused):
        shop.cancel(order.order_id)
    assert (stock(shop, "tea"), stock(shop, "cup")) == (10, 3)


def test_a_payment_is_settled_according_to_the_order_status(shop: Shop) -> None:
    unpaid, paid = (shop.place_order("ada", name, {"tea": 1}) for name in ("a", "b"))
    shop.pay(paid.order_id, "pi_1", 450)
    for order, status in ((unpaid, "void"), (paid, "refund_due")):
        shop.cancel(order.order_id)
        details = shop.order_details(order.order_id)
        assert details is not None
        assert [payment.status for payment in details.payments] == [status]
    assert pay_refunds(shop, OfflineProvider()) == 1
    assert pay_refunds(shop, OfflineProvider()) == 0
    assert_consistent(shop)
    result = shop.order_by_payment("pi_1")  # it can still be found
    assert result is not None
    assert (result.order_id, result.status) == (paid.order_id, "cancelled")


def test_invalid_payments_are_rejected(shop: Shop) -> None:
    first = shop.place_order("ada", "t1", {"tea": 1})
    second = shop.place_order("ada", "t2", {"tea": 1})
    with pytest.raises(Refused, match=r"the payment is 449 \(minor units\), expected 450"):
        shop.pay(first.order_id, "pi_1", 449)
    with pytest.raises(ArgumentError):
        shop.pay(first.order_id, "pi_1", -450)
    shop.pay(first.order_id, "pi_1", 450)
    with pytest.raises(UniqueValueTaken, match="external_id 'pi_1' belongs to another Payment"):
        shop.pay(second.order_id, "pi_1", 450)
    with pytest.raises(Refused, match="is paid and can't become paid"):
        shop.pay(first.order_id, "pi_2", 450)
    assert_consistent(shop)


@pytest.mark.parametrize("call", ["pay", "ship", "cancel"])
def test_writes_to_unknown_orders_are_rejected(shop: Shop, call: str) -> None:
    arguments: tuple[Any, ...] = ("pi_1", 450) if call == "pay" else ()
    with pytest.raises(ItemNotFound, match="there is no order 'nothing'"):
        getattr(shop, call)("nothing", *arguments)


def test_overdue_unpaid_orders_are_released_except_in_a_new_sample(shop: Shop, sampled: Shop) -> None:
    order, paid = (shop.place_order("ada", name, {"tea": 1}) for name in ("a", "b"))
    shop.pay(paid.order_id, "pi_1", 450)
    assert release_unpaid(shop) == 0
    assert release_unpaid(shop, moment=order.created_at + 2 * HELD) == 1
    assert (stock(shop, "tea"), len(shop.pending_orders("leafhouse"))) == (9, 0)
    assert_consistent(shop)
    assert len(sampled.pending_orders("leafhouse"))
    assert not sampled.unpaid_orders(Range(lt=now() - HELD + timedelta(hours=6)))


# Users and products


def test_two_users_cannot_have_the_same_email_address(shop: Shop) -> None:
    with pytest.raises(UniqueValueTaken):
        shop.register(User(email="  ADA@Example.com", name="Another Ada"))
    with pytest.raises(ItemExists):
        shop.register(User(user_id="ada", email="new@example.com", name="Ada"))
    user = shop.user_by_email("Ada@EXAMPLE.com")
    assert user is not None
    assert (user.user_id, user.email) == ("ada", "ada@example.com")


def test_products_are_updated(shop: Shop) -> None:
    shop.restock("cup", 5)
    edit(shop, "cup", price_cents=1000)
    cup = shop.product("cup")
    assert cup is not None
    assert (cup.stock, cup.price_cents) == (8, 1000)
    with pytest.raises(ItemNotFound, match="there is no product"):
        shop.restock("nothing", 1)
    with pytest.raises(ItemNotFound, match="there is no product"):
        shop.edit_product("nothing", ProductDetails(name="N", price_cents=1))
    with pytest.raises(ArgumentError):
        shop.restock("cup", -1)
    with pytest.raises(ItemExists):
        shop.add_product(cup)


def test_relations_between_products_are_symmetric(shop: Shop) -> None:
    shop.relate("tea", "cup")
    shop.relate("tea", "cup")
    assert [product.product_id for product in shop.related_products("tea")] == ["cup"]
    assert [product.product_id for product in shop.products_leading_to("cup")] == ["tea"]
    assert not shop.related_products("cup")
    with pytest.raises(Refused, match="can't be related to itself"):
        shop.relate("tea", "tea")
    with pytest.raises(ItemNotFound, match="there is no product 'nothing'"):
        shop.relate("tea", "nothing")


# Events and readings


def test_order_events_are_sharded_and_read_in_order(shop: Shop) -> None:
    chance = random.Random(5)
    start = datetime(2026, 4, 21, tzinfo=UTC)
    events = [
        OrderEvent(
            event_id=f"e{number}",
            order_id=f"o{number % 7}",
            merchant_id="m",
            kind="scanned",
            at=start + timedelta(milliseconds=chance.randrange(86_400_000)),
        )
        for number in range(1600)
    ]
    shop.record_events(events)
    shop.record_events(events[:100])  # reported twice
    response = shop.store.transport.call("Scan", {"TableName": "shop"})
    shards = Counter(item["PK"]["S"] for item in response["Items"] if item["PK"]["S"].startswith("ORDER_EVENTS#"))
    assert len(shards) == 16
    assert max(shards.values()) < 1.5 * 1600 / 16
    order_events: list[OrderEvent] = []
    cursor = None
    while True:
        page = shop.events_of_day(start.date(), limit=97, cursor=cursor)
        order_events += page.items
        cursor = page.cursor
        if cursor is None:
            break
    assert order_events == sorted(events, key=lambda event: (event.at, event.event_id))
    noon = start + timedelta(hours=12)
    hour = shop.call("events_of_day", {"day": "2026-04-21", "at": {"ge": noon.isoformat()}, "limit": 1000})
    assert list(hour) == [event for event in order_events if event.at >= noon][:1000]


def test_device_readings_are_listed_by_time_and_expire(shop: Shop) -> None:
    start = datetime(2026, 11, 1, tzinfo=UTC)
    readings = [Reading(device_id="d", at=start + timedelta(hours=hour), value=hour / 10) for hour in range(48)]
    shop.record_readings([*readings, Reading(device_id="e", at=start, value=1.0)])
    shop.record_readings([readings[0].model_copy(update={"value": 7.5})])
    page = shop.readings("d", Range(ge=start, lt=start + timedelta(hours=24)))
    assert [reading.at for reading in page] == [reading.at for reading in readings[:24]]
    assert page.items[0].value == 7.5
    assert {reading.expires_at and reading.expires_at - reading.at for reading in page} == {READING_KEPT}
    item = shop.store.transport.call(
        "GetItem",
        {"TableName": "shop", "Key": {"PK": {"S": "DEVICE#d"}, "SK": {"S": "READING#2026-11-01T00:00:00.000000Z"}}},
    )["Item"]
    assert item["expires_at"] == {"N": str(int((start + READING_KEPT).timestamp()))}
    result = shop.store.transport.call("DescribeTimeToLive", {"TableName": "shop"})["TimeToLiveDescription"]
    assert result == {"AttributeName": "expires_at", "TimeToLiveStatus": "ENABLED"}


def test_a_device_reading_that_is_not_a_finite_number_is_rejected() -> None:
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="finite"):
            Reading(device_id="d", at=TODAY, value=value)


# Combinations


@pytest.mark.parametrize("seed", range(4))
def test_stored_items_stay_consistent_after_random_calls(shop: Shop, seed: int) -> None:
    """After each valid or invalid call, money, stock, indexes and events are consistent."""
    chance = random.Random(seed)
    orders: list[Order] = []
    start = placed_stock(shop)
    for number in range(60):
        target = chance.choice(orders) if orders else None
        try:
            match chance.randrange(6):
                case 0 | 1:
                    wanted = {name: chance.randrange(-1, 5) for name in ("tea", "cup") if chance.random() < 0.7}
                    orders.append(shop.place_order("ada", f"t{chance.randrange(40)}", wanted))
                case 2 if target is not None:
                    shop.pay(target.order_id, f"pi_{chance.randrange(20)}", target.total_cents - chance.randrange(2))
                case 3 if target is not None:
                    shop.ship(target.order_id)
                case 4 if target is not None:
                    shop.cancel(target.order_id)
                case _:
                    edit(shop, "tea", price_cents=400 + number)
        except KeyplanError:
            continue
    assert orders
    assert placed_stock(shop) == start
    assert_consistent(shop)


@pytest.mark.parametrize("call", ["pay", "ship", "cancel"])
def test_an_order_changed_between_read_and_write_is_detected(shop: Shop, call: str) -> None:
    """Another client cancels the order after the write has read it."""
    order = order_in(shop, "paid" if call == "ship" else "pending")
    recorder = recorded(shop)
    result: list[str] = []

    def meanwhile(operation: str, parameters: object) -> None:
        if operation == "TransactWriteItems" and not result:
            result.append(operation)
            shop.cancel(order.order_id)

    recorder.before = meanwhile
    with pytest.raises(Refused, match="is cancelled and can't become"):
        moves(shop, order)[{"pay": "paid", "ship": "shipped", "cancel": "cancelled"}[call]]()  # type: ignore[index]
    assert result
    assert stock(shop, "tea") == 10
    assert_consistent(shop)


def test_an_order_placed_during_a_price_change_has_the_new_price(shop: Shop) -> None:
    recorder = recorded(shop)
    result: list[str] = []

    def meanwhile(operation: str, parameters: object) -> None:
        if operation == "TransactWriteItems" and not result:
            result.append(operation)
            edit(shop, "tea", price_cents=999)

    recorder.before = meanwhile
    order = shop.place_order("ada", "t1", {"tea": 2})
    assert (order.total_cents, recorder.operations.count("TransactWriteItems")) == (1998, 1)  # the first attempt failed
    assert_consistent(shop)


def test_placing_an_order_is_one_transaction(shop: Shop) -> None:
    recorder = recorded(shop)
    shop.place_order("ada", "t1", {"tea": 2, "cup": 1})
    assert recorder.operations == ["GetItem", "GetItem", "BatchGetItem", "GetItem", "TransactWriteItems"]
    written = [next(iter(item)) for item in recorder.made[-1][1]["TransactItems"]]
    assert sorted(written) == ["Put"] * 6 + ["Update"] * 2  # token, header, two lines, payment, event; the stock of two
    recorder.clear()
    shop.place_order("ada", "t1", {"tea": 2, "cup": 1})
    assert recorder.operations == ["GetItem", "GetItem"]  # the token and its order
