"""The columns of Shopify's exports of products and orders as the columns of an import.

A variant is a product of its own, named as Shopify names it in orders: ``Mug - Blue / Large``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from keyplan_systems.html_tags import html_text
from keyplan_systems.lines import Tell
from keyplan_systems.shop.tables import Row
from keyplan_systems.words import slug_from

__all__ = ["ORDER_COLUMNS", "PRODUCT_COLUMNS", "orders_of", "products_of"]

PRODUCT_COLUMNS = frozenset({"handle", "title", "variant_price"})
ORDER_COLUMNS = frozenset({"name", "lineitem_name", "lineitem_quantity", "lineitem_price"})
_OF_PRODUCT = ("title", "body_(html)", "vendor", "type", "image_src")
"""Columns that only the first row of a product fills."""
_OF_ORDER = ("email", "financial_status", "fulfillment_status", "created_at", "billing_name", "payment_reference")
_SINGLE = "Default Title"
"""The option of a product without variants."""


def products_of(rows: Iterable[Row], tell: Tell) -> Iterator[Row]:
    """Products, one for each variant. Further pictures are reported: a product has one."""
    first: Mapping[str, str] = {}
    for row in rows:
        if row.values["handle"] != first.get("handle"):
            first = row.values
        given = {**row.values, **{name: row.values.get(name) or first.get(name, "") for name in _OF_PRODUCT}}
        if not row.values["variant_price"]:
            tell(row.line, f"a further picture isn't imported: {row.values.get('image_src', '')[:200]}", None)
            continue
        options = [given.get(f"option{number}_value", "") for number in (1, 2, 3)]
        variant = " / ".join(text for text in options if text and text != _SINGLE)
        name = f"{given['title']} - {variant}" if variant else given["title"]
        values = {
            "product_id": given.get("variant_sku") or slug_from(name),
            "merchant_id": slug_from(given["vendor"] or "shop"),
            "name": name,
            "description": _plain(given["body_(html)"]),
            "category": slug_from(given["type"], "other"),
            "price": given["variant_price"],
            "stock": given.get("variant_inventory_qty") or "0",
            "picture": given.get("variant_image") or given["image_src"],
        }
        yield Row(row.line, values)


def orders_of(rows: Iterable[Row]) -> Iterator[Row]:
    """The lines of orders."""
    first: Mapping[str, str] = {}
    for row in rows:
        is_first = row.values["name"] != first.get("name")
        first = row.values if is_first else first
        given = {**row.values, **{name: first.get(name, "") for name in _OF_ORDER}}
        values = {
            "order_id": given["name"].lstrip("#"),
            "user_id": slug_from(given["email"], "guest"),
            "email": given["email"],
            "name": given["billing_name"],
            "created_at": given["created_at"].replace(" +", "+").replace(" -", "-"),
            "status": _status(given["financial_status"].lower(), given["fulfillment_status"].lower()),
            "product_id": given.get("lineitem_sku") or slug_from(given["lineitem_name"]),
            "quantity": given["lineitem_quantity"],
            "price": given["lineitem_price"],
            "payment_id": given["payment_reference"] if is_first else "",
        }
        yield Row(row.line, values)


def _status(financial: str, fulfillment: str) -> str:
    if financial in {"voided", "refunded"}:
        return "cancelled"
    if fulfillment == "fulfilled":
        return "shipped"
    return {"paid": "paid", "partially_refunded": "paid", "pending": "pending", "authorized": "pending"}.get(
        financial, financial
    )


def _plain(html: str) -> str:
    """The words of a description in HTML."""
    return " ".join(" ".join(html_text(html[:20_000])).split())
