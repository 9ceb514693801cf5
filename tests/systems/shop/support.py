"""Invariants of stored items, for tests of the shop."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import UTC, datetime
from typing import Any

from keyplan_systems.shop import Shop
from keyplan_systems.shop.entities import OrderEvent, Product, ProductDetails

TODAY = datetime(2026, 11, 21, tzinfo=UTC)

PAYMENT_OF = {
    "pending": {"due"},
    "paid": {"paid"},
    "shipped": {"paid"},
    "cancelled": {"void", "refund_due", "refunded"},
}
STEPS = {
    "placed": "pending",
    "placed paid": "paid",
    "placed paid shipped": "shipped",
    "placed cancelled": "cancelled",
    "placed paid cancelled": "cancelled",
}
"""The events that an order may have, and the status that they lead to."""


def edit(shop: Shop, product_id: str, **changes: Any) -> Product:
    product = shop.product(product_id)
    assert product is not None
    names = ("name", "description", "category", "price_cents", "picture")
    given: dict[str, Any] = {
        **{name: getattr(product, name) for name in names},
        "listed": product.listed_at is not None,
        **changes,
    }
    return shop.edit_product(product_id, ProductDetails(**given))


def all_items(shop: Shop, index: str | None = None) -> list[dict[str, Any]]:
    """Return every item of the table or of an index, with plain Python values."""
    items: list[dict[str, Any]] = []
    request: dict[str, Any] = {"TableName": shop.store.table_name, **({"IndexName": index} if index else {})}
    while True:
        response = shop.store.transport.call("Scan", request)
        for item in response["Items"]:
            plain = {name: next(iter(value.values())) for name, value in item.items()}
            items.append({name: int(value) if name in NUMBERS else value for name, value in plain.items()})
        if "LastEvaluatedKey" not in response:
            return items
        request["ExclusiveStartKey"] = response["LastEvaluatedKey"]


NUMBERS = {"stock", "quantity", "price_cents", "total_cents", "amount_cents", "line"}


def all_events(shop: Shop) -> list[OrderEvent]:
    """Return the order events of all days, sorted by time."""
    events = [
        OrderEvent.model_validate({name: item[name] for name in ("event_id", "order_id", "merchant_id", "kind", "at")})
        for item in all_items(shop)
        if item["PK"].startswith("ORDER_EVENTS#")
    ]
    return sorted(events, key=lambda event: (event.at, event.event_id))


def placed_stock(shop: Shop) -> Counter[str]:
    """Return the number of units of each product, in stock or in orders that aren't cancelled."""
    items = all_items(shop)
    orders = {item["order_id"]: item["status"] for item in items if item["SK"].startswith("ORDER#")}
    result = Counter({item["product_id"]: item["stock"] for item in items if "stock" in item})
    for item in items:
        if item["SK"].startswith("ITEM#") and orders[item["order_id"]] != "cancelled":
            result[item["product_id"]] += item["quantity"]
    return result


def assert_lists(shop: Shop, items: list[dict[str, Any]]) -> None:
    """Check that GSI2 contains exactly the orders by status, due payments and refunds, and listings."""
    wanted: Counter[tuple[str, str]] = Counter()
    for item in items:
        kind = item["SK"].partition("#")[0]
        if kind == "ORDER":
            wanted["MERCHANT", f"{item['merchant_id']}#STATUS#{item['status']}"] += 1
        elif kind == "PAYMENT" and item["status"] in {"due", "refund_due"}:
            wanted["PAYMENTS", item["status"]] += 1
        elif item["PK"].startswith("PRODUCT#") and isinstance(item.get("listed_at"), str):
            wanted["LISTINGS", ""] += 1
    result: Counter[tuple[str, str]] = Counter()
    for item in all_items(shop, "GSI2"):
        name, _, rest = item["GSI2PK"].partition("#")
        result[name, rest if name == "MERCHANT" else rest.partition("#")[0] if name == "PAYMENTS" else ""] += 1
    assert result == wanted, (result - wanted, wanted - result)


def assert_consistent(shop: Shop) -> None:
    """Check that orders have lines, payments, events and index entries, and that stock is never negative."""
    items = all_items(shop)
    orders = {item["order_id"]: item for item in items if item["SK"].startswith("ORDER#")}
    parts: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for item in items:
        if item["PK"].startswith("ORDER#"):
            parts[item["order_id"]].append(item)
    assert parts.keys() == orders.keys()
    events: dict[str, list[OrderEvent]] = defaultdict(list)
    for event in all_events(shop):
        events[event.order_id].append(event)
    for order_id, order in orders.items():
        lines = [item for item in parts[order_id] if item["SK"].startswith("ITEM#")]
        (payment,) = [item for item in parts[order_id] if item["SK"].startswith("PAYMENT#")]
        assert order["total_cents"] == sum(line["quantity"] * line["price_cents"] for line in lines)
        assert payment["amount_cents"] == order["total_cents"]
        assert payment["status"] in PAYMENT_OF[order["status"]]
        kinds = [str(order_event.kind) for order_event in sorted(events[order_id], key=lambda event: event.at)]
        assert STEPS[" ".join(kinds)] == order["status"]
    assert_lists(shop, items)
    assert all(item["stock"] >= 0 for item in items if "stock" in item)
    tokens = [item["order_id"] for item in items if item["SK"].startswith("TOKEN#")]
    assert len(tokens) == len(set(tokens))
