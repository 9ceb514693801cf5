"""A shop: products, carts, orders, payments, refunds and stock in transactions, sharded events, readings. README.md
says how it follows its document.
"""

from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import (
    Address,
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
    Reading,
    Refund,
    Related,
    Return,
    User,
)

__all__ = [
    "Address",
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
    "Reading",
    "Refund",
    "Related",
    "Return",
    "Shop",
    "User",
]
