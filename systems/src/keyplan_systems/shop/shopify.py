"""The columns of Shopify's exports of products and orders as the columns of an import.

A variant is a separate product, named as Shopify names it in orders: ``Mug - Blue / Large``. Columns with values that
the shop has no field for are reported, once for each file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from keyplan_systems.html_tags import html_text
from keyplan_systems.lines import Tell
from keyplan_systems.shop.tables import Row
from keyplan_systems.words import slug_from

PRODUCT_COLUMNS = frozenset({"handle", "title", "variant_price"})
ORDER_COLUMNS = frozenset({"name", "lineitem_name", "lineitem_quantity", "lineitem_price"})
_OF_PRODUCT = ("title", "body_(html)", "vendor", "type", "image_src", "status", "published")
"""Columns that only the first row of a product has."""
_OF_VARIANT = (
    *("handle", "variant_price", "variant_sku", "variant_inventory_qty", "variant_image", "image_position"),
    *(f"option{number}_{part}" for number in (1, 2, 3) for part in ("name", "value", "linked_to")),
)
_SHIP_TO = ("shipping_name", "shipping_street", "shipping_zip", "shipping_city", "shipping_country")
_OF_ORDER = (
    *("email", "financial_status", "fulfillment_status", "created_at", "billing_name", "payment_reference"),
    *("cancelled_at", *_SHIP_TO),
)
_OF_LINE = ("name", "lineitem_name", "lineitem_quantity", "lineitem_price", "lineitem_sku", "id")
_SINGLE = "Default Title"
"""The option of a product without variants."""
_NO_VALUES = frozenset({"", "0", "0.0", "0.00", "false", "no"})
"""Values that aren't reported as unused."""


def _reporting_unused(rows: Iterable[Row], used: Collection[str], tell: Tell) -> Iterator[Row]:
    """The rows; then reports the columns with values that aren't imported, as an error of the first line."""
    counts = Counter[str]()
    for row in rows:
        counts.update(name for name, text in row.values.items() if name not in used and text.lower() not in _NO_VALUES)
        yield row
    if counts:
        shown = ", ".join(f"{name} ({count})" for name, count in sorted(counts.items()))
        tell(1, f"columns that aren't imported (number of rows): {shown}", "the shop has no fields for these columns")


def products_of(rows: Iterable[Row], tell: Tell) -> Iterator[Row]:
    """Products, one for each variant. A product has one picture: further ones are reported."""
    first: Mapping[str, str] = {}
    for row in _reporting_unused(rows, (*_OF_PRODUCT, *_OF_VARIANT), tell):
        if row.values["handle"] != first.get("handle"):
            first = row.values
        given = {**row.values, **{name: row.values.get(name) or first.get(name, "") for name in _OF_PRODUCT}}
        if not row.values["variant_price"]:
            tell(row.line, f"an additional picture isn't imported: {row.values.get('image_src', '')[:200]}", None)
            continue
        options = [given.get(f"option{number}_value", "") for number in (1, 2, 3)]
        variant = " / ".join(text for text in options if text and text != _SINGLE)
        name = f"{given['title']} - {variant}" if variant else given["title"]
        stock = given.get("variant_inventory_qty") or "0"
        if stock.startswith("-"):
            tell(row.line, f"the negative stock {stock} is imported as 0", None)
            stock = "0"
        listed = given["status"] in {"", "active"} and given["published"].lower() != "false"
        values = {
            "product_id": given.get("variant_sku") or slug_from(name),
            "merchant_id": slug_from(given["vendor"] or "shop"),
            "name": name,
            "description": _plain(given["body_(html)"]),
            "category": slug_from(given["type"], "other"),
            "price": given["variant_price"],
            "stock": stock,
            "picture": given.get("variant_image") or given["image_src"],
            "listed": "yes" if listed else "no",
        }
        yield Row(row.line, values)


def orders_of(rows: Iterable[Row], tell: Tell) -> Iterator[Row]:
    first: Mapping[str, str] = {}
    for row in _reporting_unused(rows, (*_OF_ORDER, *_OF_LINE), tell):
        is_first = row.values["name"] != first.get("name")
        first = row.values if is_first else first
        given = {**row.values, **{name: first.get(name, "") for name in _OF_ORDER}}
        financial = "voided" if given["cancelled_at"] else given["financial_status"].lower()
        values = {
            "order_id": given["name"].lstrip("#"),
            "user_id": slug_from(given["email"], "guest"),
            "email": given["email"],
            "name": given["billing_name"],
            "created_at": given["created_at"].replace(" +", "+").replace(" -", "-"),
            "status": _status(financial, given["fulfillment_status"].lower()),
            "product_id": given.get("lineitem_sku") or slug_from(given["lineitem_name"]),
            "quantity": given["lineitem_quantity"],
            "price": given["lineitem_price"],
            "payment_id": given["payment_reference"] if is_first else "",
            **{name: given[name] for name in _SHIP_TO},
        }
        yield Row(row.line, values)


def _status(financial: str, fulfillment: str) -> str:
    if financial in {"voided", "refunded"}:
        return "cancelled"
    if fulfillment == "fulfilled":
        return "shipped"
    return {"partially_refunded": "paid", "authorized": "pending"}.get(financial, financial)


def _plain(html: str) -> str:
    return " ".join(" ".join(html_text(html[:20_000])).split()).replace(" .", ".").replace(" ,", ",")
