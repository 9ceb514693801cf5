"""Concurrent buyers, in several processes and on every store, never buy the same unit twice, and lose no item."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan_systems.shop import Shop
from keyplan_systems.shop.entities import Product, User
from tests.systems.shop.support import all_items, assert_consistent, placed_stock
from tests.systems.support import STORES, in_processes, open_on

SHARED = [text for text in STORES if text != "memory"]
"""The stores that several processes can use."""
PROCESSES = 4

PREAMBLE = """
import json, random, sys
from keyplan.errors import KeyplanError, Refused, UniqueValueTaken
from keyplan_systems.shop import Shop
url, number, given = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
chance = random.Random(number)
with Shop.open(url, create=False) as shop:
    print("ready", flush=True)
    sys.stdin.readline()
"""
BUY = """
    bought = refused = 0
    for turn in range(16):
        items = {"tea": chance.randrange(1, 4), "cup": 1} if chance.random() < 0.5 else {"tea": 1}
        try:
            shop.place_order("u%d" % number, "t%d" % turn, items)
            bought += 1
        except Refused as error:
            assert "unavailable" in error.message, error
            refused += 1
    print(json.dumps([bought, refused]))
"""
TOKENS = """
    same = [shop.place_order("u0", "t%d" % turn, {"tea": 2}).order_id for turn in range(4)]
    try:
        other = shop.place_order("u0", "t", {"tea": 1 + number}).order_id
    except Refused as error:
        assert "used for other items" in error.message, error
        other = None
    print(json.dumps([same, other]))
"""
MOVE = """
    done = []
    for turn in range(30):
        order_id, total = chance.choice(given)
        move = chance.choice(("pay", "ship", "cancel"))
        try:
            if move == "pay":
                shop.pay(order_id, "pi_%d" % chance.randrange(4), total)
            else:
                getattr(shop, move)(order_id)
            done.append([order_id, move])
        except (Refused, UniqueValueTaken):
            pass
    print(json.dumps(done))
"""


@pytest.fixture(params=SHARED)
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shop]:
    opened = open_on(Shop, request.param, tmp_path)
    for number in range(PROCESSES):
        opened.register(User(user_id=f"u{number}", email=f"u{number}@example.com", name="U"))
    opened.add_product(Product(product_id="tea", merchant_id="m", name="Tea", price_cents=450, stock=50))
    opened.add_product(Product(product_id="cup", merchant_id="m", name="Cup", price_cents=900, stock=8))
    with opened:
        yield opened


def run(shop: Shop, program: str, given: object = None) -> list[Any]:
    url = shop.store.url
    arguments = [[url, str(number), json.dumps(given)] for number in range(PROCESSES)]
    return [json.loads(text) for text in in_processes(PREAMBLE + program, arguments)]


def test_concurrent_orders_never_exceed_the_stock(shop: Shop) -> None:
    before = placed_stock(shop)
    said = run(shop, BUY)
    assert placed_stock(shop) == before
    products = {product.product_id: product.stock for product in shop.products(["tea", "cup"])}
    assert products["cup"] == 0 or products["tea"] == 0, "the test is to sell out"
    assert min(products.values()) >= 0
    orders = [item for item in all_items(shop) if item["SK"].startswith("ORDER#")]
    assert len(orders) == sum(value[0] for value in said)
    assert_consistent(shop)


def test_concurrent_calls_with_the_same_token_place_one_order(shop: Shop) -> None:
    """A call with the same token and other order lines is rejected."""
    said = run(shop, TOKENS)
    same, other = zip(*said, strict=True)
    assert len({tuple(value) for value in same}) == 1
    assert sum(value is not None for value in other) == 1
    assert len(shop.orders_of_user("u0")) == 4 + 1
    assert placed_stock(shop)["tea"] == 50
    assert_consistent(shop)


def test_concurrent_status_changes_follow_the_allowed_transitions(shop: Shop) -> None:
    """Orders are paid, shipped and cancelled concurrently. Each payment pays one order."""
    before = placed_stock(shop)
    orders = [shop.place_order("u0", f"t{number}", {"tea": 1}) for number in range(6)]
    said = run(shop, MOVE, [[order.order_id, order.total_cents] for order in orders])
    assert placed_stock(shop) == before
    assert_consistent(shop)
    moves = Counter(tuple(value) for done in said for value in done)
    for (_, move), times in moves.items():
        assert times == 1 or move == "pay"  # a repeated payment is reported as done
    paid = [item["external_id"] for item in all_items(shop) if item.get("external_id")]
    assert len(paid) == len(set(paid))
