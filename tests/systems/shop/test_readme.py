"""The shop's README is correct: stored items, and metered requests and units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest

import keyplan_systems.shop
from keyplan import Entity, Range
from keyplan_systems.shop import Shop
from keyplan_systems.shop.entities import (
    EVENT_SHARDS,
    LINES_MAX,
    READING_KEPT,
    TOKEN_KEPT,
    Listing,
    Merchant,
    OrderEvent,
    OrderLine,
    PostalAddress,
    Product,
    ProductDetails,
    Reading,
    Related,
    User,
)
from keyplan_systems.shop.sample import sample
from tests.systems.measuring import AMONG, add_others, check_rows, measured, rows_of, session_calls, text_of
from tests.systems.support import silent, stored

README = text_of(keyplan_systems.shop)
HOME = PostalAddress(name="Ann", street="1 Mill Lane", postcode="BS1 4DJ", city="Bristol", country="GB")
DAY = datetime(2126, 5, 3, tzinfo=UTC)
NEWEST = DAY + timedelta(days=1, hours=9, minutes=30)
"""The time of the sample's newest order. It is fixed, as shards and days depend on it, and late, so nothing expires."""


@pytest.fixture(params=AMONG)
def sold(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """Return a store with the sample and unrelated items, for calls of writes."""
    monkeypatch.setattr("keyplan_systems.shop.sample.now", lambda: NEWEST)
    with Shop.open(":memory:") as opened:
        sample(opened, 200, silent)
        add_others(opened, request.param, of_others)
        yield opened


def of_others(number: int) -> Sequence[Entity]:
    """Return items of another shop, which are in no list of the sample's merchants, products, devices and days."""
    name, at = f"else-{number}", datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=number)
    return (
        Product(product_id=name, merchant_id="elsewhere", name="Cup", price_cents=900, listed_at=at),
        Listing(product_id=name, merchant_id="elsewhere", category="elsewhere", listed_at=at),
        Related(product_id=name, related_id=f"else-{number // 2}"),
        OrderLine(order_id=name, line=1, product_id=name, quantity=1, price_cents=900),
        OrderEvent(event_id=name, order_id=name, merchant_id="else", kind="placed", at=at),
        Reading(device_id="else", at=at, value=1.5),
    )


def calls(shop: Shop) -> dict[str, Callable[[], object]]:
    """Return a call of each pattern, by id, in the order in which they run: an order is placed before it is paid."""
    reading = Reading(device_id="cold-store", at=DAY, value=4.2)
    event = OrderEvent(order_id="o-000001", merchant_id="m", kind="scanned", at=DAY)
    placed: list[str] = []
    header = shop.order_details("o-000008")
    assert header is not None
    order = header.order

    def place() -> None:
        placed.append(shop.place_order("u-001", "token", {"green-tea": 2, "green-tea-tin": 1}).order_id)

    return {
        "E1": lambda: shop.user("u-001"),
        "E2": lambda: shop.orders_of_user("u-000", limit=20),
        "E3": lambda: shop.order_details("o-000008"),
        "E4a": lambda: shop.pending_orders("leafhouse", limit=20),
        "E4b": lambda: shop.orders_to_ship("leafhouse", limit=20),
        "E4c": lambda: shop.orders_of_merchant("leafhouse", ["shipped"], limit=20),
        "E5a": lambda: shop.user_by_email("customer@example.com"),
        "E5b": lambda: shop.order_by_payment("pi_000100"),
        "E6": lambda: shop.events_of_day(DAY.date(), limit=100),
        "E7": lambda: shop.readings("cold-store", Range(ge=DAY, lt=DAY + timedelta(days=1)), limit=200),
        "E8a": lambda: shop.related_products("green-tea"),
        "E8b": lambda: shop.products_leading_to("green-tea"),
        "R1": lambda: shop.product("green-tea"),
        "R2": lambda: shop.products(["green-tea", "black-tea", "white-tea"]),
        "R3": lambda: shop.order_parts("o-000008"),
        "R4": lambda: shop.order(order.user_id, order.created_at, order.order_id),
        "R5": lambda: shop.order_token("u-001", "none"),
        "C1": lambda: shop.products_of_merchant("leafhouse"),
        "C2": lambda: shop.products_in_category("tea"),
        "C3": shop.new_products,
        "C4": shop.merchants,
        "C5": lambda: shop.merchant("lumen"),
        "R7": lambda: shop.cart("u-001", "leafhouse"),
        "R8": lambda: shop.carts("u-001"),
        "R9": lambda: shop.credential("u-001"),
        "R10": shop.unpaid_orders,
        "R11": shop.unpaid_refunds,
        "W1": lambda: shop.register(User(user_id="newer", email="newer@example.com", name="New"), "hash"),
        "W2": lambda: shop.add_product(Product(product_id="new", merchant_id="m", name="New", price_cents=1)),
        "W3": lambda: shop.restock("green-tea", 5),
        "W4": lambda: shop.edit_product("green-tea-tin", ProductDetails(name="Tin", category="tea", price_cents=500)),
        "W5": lambda: shop.relate("green-tea", "new"),
        "W7": place,
        "W8": lambda: shop.pay(placed[0], "pi_new", total(shop, placed[0])),
        "W9": lambda: shop.ship(shop.orders_to_ship("paper-mill").items[0].order_id),
        "W10": lambda: shop.cancel(placed[0]),
        "W11": lambda: shop.record_events([event.model_copy(update={"event_id": f"e{n}"}) for n in range(25)]),
        "W12": lambda: shop.record_readings([reading.model_copy(update={"device_id": f"d{n}"}) for n in range(25)]),
    }


def calls_around_orders(shop: Shop) -> dict[str, Callable[[], object]]:
    """Return calls of writes for customers, sessions, merchants, carts and refunds, by id."""
    pending = next(each for each in shop.unpaid_orders() if each.user_id != "newer")
    cancelled = shop.cancel(shop.orders_to_ship("leafhouse").items[0].order_id)
    return {
        "W14": lambda: shop.set_password("newer", "hash", "new hash"),
        **session_calls(shop),
        "W16": lambda: shop.add_merchant(Merchant(merchant_id="m", name="M")),
        "W17": lambda: shop.set_address("newer", HOME),
        "W18": lambda: shop.put_in_cart("newer", "green-tea", 2),
        "W20": lambda: shop.release(pending.order_id, DAY + timedelta(days=9)),
        "W21": lambda: shop.settle_refund(cancelled.order_id, "re_1"),
    }


def total(shop: Shop, order_id: str) -> int:
    for item in stored(shop):
        if item["PK"]["S"] == f"ORDER#{order_id}" and "amount_cents" in item:
            return int(item["amount_cents"]["N"])
    raise AssertionError(order_id)


def test_patterns_cost_the_requests_and_units_listed_in_the_readme(sold: Shop) -> None:
    check_rows(sold, README, "Access patterns", {**calls(sold), **calls_around_orders(sold)})


def test_keys_in_the_readme_equal_those_of_the_design() -> None:
    shown = {tuple(row[:7]) for row in rows_of(README, "Key table")[1:]}
    wanted: set[tuple[str, ...]] = set()
    for entity in Shop.compiled.entities.values():
        indexes = {
            key.index.name: [str(template) for _, template in key.attributes] for key in entity.index_keys if key.index
        }
        texts = [str(template) for _, template in entity.primary.attributes]
        wanted.add((entity.name, *texts, *indexes.get("GSI1", ["–", "–"]), *indexes.get("GSI2", ["–", "–"])))
    assert shown == wanted


def test_limits_in_the_readme_equal_those_of_the_design() -> None:
    for said in (
        f"{EVENT_SHARDS} shards",
        f"{LINES_MAX} lines",
        f"kept for {TOKEN_KEPT.days} days",
        f"expire after {READING_KEPT.days} days",
        f"{1000 * EVENT_SHARDS:,} per second",
        f"{5 + 2 * LINES_MAX} of the 100 actions",
    ):
        assert said in README, said


@pytest.mark.parametrize("lines", [1, 2, 5, 10])
def test_an_order_costs_the_documented_units(lines: int) -> None:
    """An order of n lines takes 12 + 5n write units, in one transaction."""
    with Shop.open(":memory:") as shop:
        shop.register(User(user_id="u", email="u@example.com", name="U"))
        for number in range(lines):
            product = Product(product_id=f"p{number}", merchant_id="m", name="P", price_cents=1, stock=1)
            shop.add_product(product)
        asked, units = measured(shop, lambda: shop.place_order("u", "t", {f"p{n}": 1 for n in range(lines)}))
        assert asked == "2 × GetItem, BatchGetItem, GetItem, TransactWriteItems"
        assert units == f"{3 + lines} read, {12 + 5 * lines} write"
    assert "12 + 5n write units" in README
