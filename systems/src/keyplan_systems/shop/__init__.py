"""A shop: orders, payments and stock in transactions, sharded events, readings, related products. README.md tells how
it follows its document.
"""

from keyplan_systems.shop.design import (
    Order,
    OrderDetails,
    OrderEvent,
    OrderLine,
    OrderToken,
    Payment,
    Product,
    Reading,
    Related,
    Shop,
    User,
)

__all__ = [
    "Order",
    "OrderDetails",
    "OrderEvent",
    "OrderLine",
    "OrderToken",
    "Payment",
    "Product",
    "Reading",
    "Related",
    "Shop",
    "User",
]
