"""Every access pattern of the shop gives one answer: in Python, awaited, by name, over REST and on the command line; on
every store; and on the sample, what a look at all items gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from keyplan import Range
from keyplan.systems import system
from keyplan.web import app
from keyplan_systems.shop import Shop
from keyplan_systems.shop.sample import products, sample, users, whole_order
from tests.cli.support import json_of
from tests.systems.measuring import assert_same_answers, name_of
from tests.systems.shop.support import assert_consistent, placed_stock
from tests.systems.support import STORES, alike_in_every_way, all_pages, open_on, silent, stored
from tests.web.support import TestClient

SAMPLED = 60
HEADER = whole_order(8).order
CALLS: dict[str, dict[str, Any]] = {
    "E1": {"user_id": "u-001"},
    "E2": {"user_id": "u-000", "limit": 3},
    "E3": {"order_id": "o-000008"},
    "E4a": {"merchant_id": "leafhouse", "limit": 2},
    "E4b": {"merchant_id": "leafhouse", "limit": 2},
    "C1": {"merchant_id": "lumen", "limit": 3},
    "C2": {"category": "tools", "limit": 3},
    "C3": {"limit": 3},
    "C4": {"limit": 2},
    "C5": {"merchant_id": "lumen"},
    "R11": {"limit": 3},
    "E5a": {"email": "customer@example.com"},
    "E5b": {"external_id": "pi_000006"},
    "E6": {"day": HEADER.created_at.date(), "limit": 5},
    "E7": {"device_id": "cold-store", "limit": 5},
    "E8a": {"product_id": "green-tea", "limit": 2},
    "E8b": {"related_id": "green-tea", "limit": 2},
    "R1": {"product_id": "green-tea"},
    "R3": {"order_id": "o-000008"},
    "R4": {"user_id": HEADER.user_id, "created_at": HEADER.created_at, "order_id": "o-000008"},
    "R6": {"external_id": "pi_000006"},
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("shop") / "shop.db"
    with Shop.open(made) as shop:
        sample(shop, SAMPLED, silent)
    return made


@pytest.fixture
def opened(path: Path) -> Iterator[Shop]:
    with Shop.open(path) as shop:
        yield shop


@pytest.mark.parametrize("identity", CALLS)
def test_a_read_answers_alike_in_every_way(opened: Shop, path: Path, identity: str) -> None:
    assert alike_in_every_way(opened, path, name_of(Shop, identity), CALLS[identity])


@pytest.mark.parametrize("store", STORES)
def test_every_store_answers_alike(opened: Shop, store: str, tmp_path: Path) -> None:
    with open_on(Shop, store, tmp_path) as shop:
        sample(shop, SAMPLED, silent)
        assert_same_answers(shop, opened, CALLS)
        half = Range(ge=HEADER.created_at, lt=HEADER.created_at + timedelta(hours=12))
        assert shop.events_of_day(HEADER.created_at.date(), half) == opened.events_of_day(
            HEADER.created_at.date(), half
        )
        order = shop.place_order("u-001", "t", {"green-tea": 2, "white-tea": 1})
        assert shop.place_order("u-001", "t", {"green-tea": 2, "white-tea": 1}) == order
        shop.pay(order.order_id, "pi_new", order.total_cents)
        cancelled = shop.cancel(order.order_id)
        assert shop.order_by_payment("pi_new") == cancelled
        assert shop.order_token("u-001", "t") is not None
        assert_consistent(shop)


def test_writes_by_rest_and_command(opened: Shop, path: Path) -> None:
    items = {"black-tea": 1, "green-tea": 2}
    with TestClient(app(opened)) as client:
        sent = {"user_id": "u-001", "token": "rest", "items": items}
        made = client.post("/api/place_order", json=sent)
        assert made.status_code == 200
        assert client.post("/api/place_order", json=sent).json() == made.json()
        other = client.post("/api/place_order", json={**sent, "items": {"black-tea": 1}})
        assert (other.status_code, other.json()["error"]["code"]) == (409, "Refused")
        wrong = client.post("/api/place_order", json={**sent, "items": {"black-tea": -1}})
        assert (wrong.status_code, wrong.json()["error"]["code"]) == (400, "ArgumentError")
        assert client.post("/api/ship", json={"order_id": "nothing"}).status_code == 404
        assert client.post("/api/ship", json={"order_id": made.json()["order_id"]}).status_code == 409
    order_id = made.json()["order_id"]
    total = made.json()["total_cents"]
    paid = json_of(
        "call", "shop", "pay", f"order_id={order_id}", "external_id=pi_x", f"amount_cents={total}", "--db", str(path)
    )
    assert paid["status"] == "paid"
    assert json_of("call", "shop", "ship", f"order_id={order_id}", "--db", str(path))["status"] == "shipped"


# The sample


def test_the_sample_is_consistent(sampled: Shop) -> None:
    assert_consistent(sampled)
    assert len(stored(sampled)) > 1500


def test_the_sample_again_changes_nothing() -> None:
    with Shop.open(":memory:") as shop:
        assert sample(shop, 40, silent) == 40
        shop.place_order("u-000", "t", {"green-tea": 5})
        shop.cancel("o-000001")
        before, stock = stored(shop), placed_stock(shop)
        assert sample(shop, 40, silent) == 0
        assert stored(shop) == before
        assert sample(shop, 50, silent) == 10
        assert_consistent(shop)
        assert placed_stock(shop) >= stock


def test_the_sample_is_skewed(sampled: Shop) -> None:
    orders = [order.order for order in map(whole_order, range(200))]
    first = [sum(order.user_id == user.user_id for order in orders) for user in users()]
    assert first[0] > 20 > 5 * sorted(first)[len(first) // 2]
    merchants = [sum(order.merchant_id == name for order in orders) for name in ("leafhouse", "lumen")]
    assert merchants[0] > 3 * merchants[1] > 0
    assert {order.status for order in orders} == {"pending", "paid", "shipped", "cancelled"}
    assert {product.stock == 0 for product in products()} == {True, False}


def test_answers_are_those_of_all_orders(sampled: Shop) -> None:
    orders = [order.order for order in map(whole_order, range(200))]
    for user in users():
        mine = [order for order in orders if order.user_id == user.user_id]
        assert all_pages(sampled.orders_of_user, user.user_id, limit=7) == mine  # the newest has the lowest number
    pending = [order for order in reversed(orders) if (order.merchant_id, order.status) == ("leafhouse", "pending")]
    assert all_pages(sampled.pending_orders, "leafhouse", limit=3) == pending
    day = datetime(2026, 5, 3, tzinfo=UTC)
    events = [event for order in map(whole_order, range(200)) for event in order.events if event.day == day.date()]
    assert all_pages(sampled.events_of_day, day.date(), limit=11) == sorted(
        events, key=lambda event: (event.at, event.event_id)
    )
    for number in range(200):
        whole = whole_order(number)
        details = sampled.order_details(whole.order.order_id)
        assert details == (
            whole.order,
            whole.lines,
            [whole.payment],
            [] if whole.refund is None else [whole.refund],
            [],
        )


def test_it_is_a_system() -> None:
    result = system("shop")
    assert (result.design, result.takes) == (Shop, ("file", "folder"))
