"""What goes back, and what a shop does by itself: refunds, returns, orders that nobody pays."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from keyplan import now
from keyplan.errors import ItemNotFound, KeyplanError, Refused
from keyplan_systems.shop import Order, Payment, Product, Shop
from keyplan_systems.shop.entities import HELD, RETURN_WITHIN
from keyplan_systems.shop.keeping import pay_refunds, release_unpaid
from keyplan_systems.shop.payments import Declined, OfflineProvider, Paid
from keyplan_systems.shop.sample import sample
from tests.systems.measuring import measured
from tests.systems.shop.support import assert_consistent, placed_stock
from tests.systems.support import all_pages, recorded, silent


def bought(shop: Shop, token: str = "t", *, ship: bool = True) -> Order:
    order = shop.place_order("ada", token, {"tea": 4, "cup": 1})
    order = shop.pay(order.order_id, f"pi_{token}", order.total_cents)
    return shop.ship(order.order_id, "KP1") if ship else order


def payment_of(shop: Shop, order: Order) -> Payment:
    details = shop.order_details(order.order_id)
    assert details is not None
    (payment,) = details.payments
    return payment


def stock(shop: Shop) -> tuple[int, int]:
    tea, cup = shop.product("tea"), shop.product("cup")
    assert tea is not None
    assert cup is not None
    return tea.stock, cup.stock


# Lists of a merchant


def test_a_merchant_s_orders_stand_under_their_status(shop: Shop) -> None:
    pending, paid, shipped, cancelled = (shop.place_order("ada", f"t{n}", {"tea": 1}) for n in range(4))
    for order in (paid, shipped):
        shop.pay(order.order_id, f"pi_{order.order_id}", 450)
    shop.ship(shipped.order_id)
    shop.cancel(cancelled.order_id)
    assert [element.order_id for element in shop.pending_orders("leafhouse")] == [pending.order_id]
    assert [element.order_id for element in shop.orders_to_ship("leafhouse")] == [paid.order_id]
    every = all_pages(shop.orders_of_merchant, "leafhouse", ["pending", "paid", "shipped", "cancelled"], limit=2)
    assert [value.order_id for value in every] == [
        element.order_id for element in sorted((pending, paid, shipped, cancelled), key=lambda order: order.created_at)
    ][::-1]
    assert shop.call("orders_of_merchant", {"merchant_id": "lumen", "status": ["paid"]}).items == []


@pytest.mark.parametrize("count", [10, 1500])
def test_what_lists_of_a_merchant_cost_does_not_grow_with_the_shop(count: int) -> None:
    """A page of 5 orders is one request and 1.5 read units at the most, however many there are."""
    with Shop.open(":memory:") as shop:
        sample(shop, count, silent)
        for call in (
            lambda: shop.orders_to_ship("leafhouse", limit=5),
            lambda: shop.orders_of_merchant("leafhouse", ["shipped"], limit=5),
        ):
            asked, units = measured(shop, call)
            assert asked == "Query GSI2"
            assert units in {"0.5 read", "1 read"}


# Stock that is held


def test_orders_that_nobody_pays_are_released(shop: Shop) -> None:
    old, paid, new = (shop.place_order("ada", f"t{n}", {"tea": 2}) for n in range(3))
    shop.pay(paid.order_id, "pi", 900)
    later = new.created_at + HELD
    assert [payment.order_id for payment in shop.unpaid_orders()] == [old.order_id, new.order_id]
    assert release_unpaid(shop, moment=later) == 1
    assert release_unpaid(shop, moment=later) == 0
    assert stock(shop) == (6, 3)
    with pytest.raises(Refused, match="is cancelled and can't become paid"):
        shop.pay(old.order_id, "pi_late", 900)
    for order in (paid, new):
        with pytest.raises(Refused, match="was placed at"):
            shop.release(order.order_id, new.created_at)
    assert release_unpaid(shop, moment=later + timedelta(seconds=1)) == 1
    assert_consistent(shop)


def test_a_payment_that_comes_first_keeps_its_order(shop: Shop) -> None:
    order = shop.place_order("ada", "t", {"tea": 2})
    recorder = recorded(shop)
    done: list[str] = []

    def meanwhile(operation: str, parameters: object) -> None:
        if operation == "TransactWriteItems" and not done:
            done.append(operation)
            shop.pay(order.order_id, "pi", 900)

    recorder.before = meanwhile
    assert release_unpaid(shop, moment=now() + 2 * HELD) == 0
    assert done
    assert [element.status for element in shop.orders_of_user("ada")] == ["paid"]
    assert_consistent(shop)


# Refunds


def test_parts_are_refunded_until_nothing_is_left(shop: Shop) -> None:
    order = bought(shop)
    refund = shop.refund(order.order_id, "chipped", 300, "The cup was chipped.")
    assert shop.refund(order.order_id, "chipped", 300) == refund
    with pytest.raises(Refused, match="was of 300"):
        shop.refund(order.order_id, "chipped", 301)
    with pytest.raises(Refused, match="is more than the 2400 that is left"):
        shop.refund(order.order_id, "too much", 2401)
    with pytest.raises(Refused, match="the shop's own"):
        shop.refund(order.order_id, "return-x", 1)
    assert (payment_of(shop, order).status, payment_of(shop, order).refunded_cents) == ("paid", 300)
    shop.refund(order.order_id, "rest", 2400)
    assert payment_of(shop, order).status == "refunded"
    with pytest.raises(Refused, match="is refunded"):
        shop.refund(order.order_id, "more", 1)
    assert_consistent(shop)


class Counting(OfflineProvider):
    """A provider that fails at first, and says what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, int]] = []

    def give_back(self, key: str, payment_id: str, amount_cents: int) -> Paid:
        self.asked.append((key, payment_id, amount_cents))
        if len(self.asked) == 1:
            raise Declined("not today")
        return super().give_back(key, payment_id, amount_cents)


def test_refunds_are_due_until_the_provider_has_paid_them(shop: Shop) -> None:
    order = bought(shop, ship=False)
    shop.refund(order.order_id, "part", 700)
    shop.cancel(order.order_id)
    provider = Counting()
    assert pay_refunds(shop, provider) == 1
    assert pay_refunds(shop, provider) == 1
    assert pay_refunds(shop, provider) == 0
    assert {(key.partition("/")[2], payment, amount) for key, payment, amount in provider.asked} == {
        ("part", "pi_t", 700),
        ("cancelled", "pi_t", 2000),
    }
    details = shop.order_details(order.order_id)
    assert details is not None
    assert {(refund.refund_id, refund.status) for refund in details.refunds} == {
        ("part", "paid"),
        ("cancelled", "paid"),
    }
    settled = shop.settle_refund(order.order_id, "part", "again")
    assert settled.external_id != "again"
    with pytest.raises(ItemNotFound, match="has no refund"):
        shop.settle_refund(order.order_id, "none", "x")
    assert_consistent(shop)


# Returns


def test_what_was_shipped_comes_back(shop: Shop) -> None:
    order = bought(shop)
    asked = shop.request_return(order.order_id, "r1", {"tea": 3}, "Not my tea.")
    assert shop.request_return(order.order_id, "r1", {"tea": 3}) == asked
    assert list(shop.awaited_returns("leafhouse")) == [asked]
    with pytest.raises(Refused, match="more than was bought") as caught:
        shop.request_return(order.order_id, "r2", {"tea": 2, "lamp": 1})
    assert [str(fault) for fault in caught.value.errors] == [
        "items[lamp]: 1 to go back, 0 are left",
        "items[tea]: 2 to go back, 1 are left",
    ]
    shop.receive_return(order.order_id, "r1")
    assert (stock(shop), payment_of(shop, order).refunded_cents) == ((9, 2), 1350)
    with pytest.raises(Refused, match="was received"):
        shop.receive_return(order.order_id, "r1")
    shop.request_return(order.order_id, "r2", {"tea": 1, "cup": 1})
    shop.refuse_return(order.order_id, "r2")
    shop.request_return(order.order_id, "r3", {"cup": 1})  # what was refused can be asked for again
    shop.receive_return(order.order_id, "r3", 100, restock=False)
    assert (stock(shop), payment_of(shop, order).refunded_cents) == ((9, 2), 1450)
    assert not shop.awaited_returns("leafhouse")
    assert_consistent(shop)


def test_returns_that_are_refused(shop: Shop) -> None:
    unshipped, late = bought(shop, "a", ship=False), bought(shop, "b")
    with pytest.raises(Refused, match="is paid"):
        shop.request_return(unshipped.order_id, "r", {"tea": 1})
    assert late.shipped_at is not None
    shop.update(late, shipped_at=late.shipped_at - RETURN_WITHIN - timedelta(seconds=1))
    with pytest.raises(Refused, match="more than 30 days ago"):
        shop.request_return(late.order_id, "r", {"tea": 1})
    with pytest.raises(ItemNotFound, match="has no return"):
        shop.receive_return(late.order_id, "none")


@pytest.mark.parametrize("seed", range(3))
def test_whatever_goes_back_it_stays_consistent(shop: Shop, seed: int) -> None:
    """Calls at random, right and wrong: never is more refunded than was paid, and no piece comes back twice."""
    chance = random.Random(seed)
    shop.add_product(Product(product_id="jar", merchant_id="leafhouse", name="Jar", price_cents=0, stock=9))
    orders = [bought(shop, f"t{number}", ship=number > 0) for number in range(2)]
    before = placed_stock(shop)
    back = 0
    for number in range(50):
        order = chance.choice(orders)
        try:
            match chance.randrange(5):
                case 0:
                    shop.refund(order.order_id, f"r{chance.randrange(8)}", chance.randrange(1, 900))
                case 1:
                    wanted = {chance.choice(("tea", "cup", "jar")): chance.randrange(1, 4)}
                    shop.request_return(order.order_id, f"r{number}", wanted)
                case 2:
                    received = shop.receive_return(order.order_id, f"r{chance.randrange(max(1, number))}")
                    back += sum(received.items.values())
                case 3:
                    shop.refuse_return(order.order_id, f"r{chance.randrange(max(1, number))}")
                case _:
                    pay_refunds(shop, OfflineProvider())
        except KeyplanError:
            continue
    after = placed_stock(shop)
    assert sum(after.values()) - sum(before.values()) == back
    assert back <= 5
    assert_consistent(shop)
