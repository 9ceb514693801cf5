"""The design of the shop: one table, two indexes. Entities are in ``entities.py``, reads in ``reads.py``, writes in
``customers.py``, ``catalogue.py`` and ``orders.py``.
"""

from __future__ import annotations

from keyplan import Design, Table
from keyplan_systems.shop.catalogue import CatalogueWrites
from keyplan_systems.shop.customers import CustomerWrites
from keyplan_systems.shop.entities import GSI1, GSI2
from keyplan_systems.shop.orders import OrderWrites
from keyplan_systems.site.sessions import SessionPatterns

SILENCE = {
    "KP202 Listing.by_category": "only merchants write listings, so the write rate is low",
    "KP201 Merchant.every": "there are few merchants, and they rarely change",
    "KP602 Cart.expires_at": "an expired cart is still valid",
    "KP314 restock": "merchants check the stock before they repeat a call",
    "KP602 OrderToken.expires_at": "an expired token is still valid",
    "KP602 Session.expires_at": "Sessions.of compares expires_at with the current time",
    "KP602 Reading.expires_at": "an expired reading is still valid; the TTL only limits the partition's size",
}


class Shop(CatalogueWrites, CustomerWrites, OrderWrites, SessionPatterns, Design, ignore=SILENCE):
    """A shop: products, carts, orders, stock, payments, events, readings."""

    table = Table("shop", partition="PK", sort="SK", indexes=[GSI1, GSI2])
