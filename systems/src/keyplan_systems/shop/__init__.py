"""A shop: products, carts, orders, payments, stock, events and device readings. See README.md."""

from keyplan_systems.shop.design import Shop

__all__ = ["Shop"]
