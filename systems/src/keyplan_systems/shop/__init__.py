"""A shop: products, carts, orders, payments, stock, events and device readings. See README.md."""

from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import (
    Cart,
    Credential,
    Listing,
    Merchant,
    Order,
    OrderDetails,
    OrderEvent,
    OrderLine,
    OrderToken,
    Payment,
    PostalAddress,
    Product,
    ProductDetails,
    Reading,
    Related,
    User,
)

__all__ = [
    "Cart",
    "Credential",
    "Listing",
    "Merchant",
    "Order",
    "OrderDetails",
    "OrderEvent",
    "OrderLine",
    "OrderToken",
    "Payment",
    "PostalAddress",
    "Product",
    "ProductDetails",
    "Reading",
    "Related",
    "Shop",
    "User",
]
