"""The design of the shop: one table, two indexes, and every question and write.

Its parts: entities in ``entities.py``, questions in ``reads.py``, writes in ``customers.py``, ``catalogue.py``,
``orders.py`` and ``returns.py``. Key shapes and index names follow the document; where the system departs from it,
README.md says why.
"""

from __future__ import annotations

from keyplan import Design, Table
from keyplan_systems.shop.catalogue import CatalogueWrites
from keyplan_systems.shop.customers import CustomerWrites
from keyplan_systems.shop.entities import GSI1, GSI2
from keyplan_systems.shop.returns import ReturnWrites
from keyplan_systems.site.sessions import SessionPatterns

__all__ = ["Shop"]

SILENCE = {
    "KP313 save_address": "the bound keeps an address book short: two at once may make it 21",
    "KP202 Listing.by_category": "listings are written when a merchant changes them, not when a customer looks",
    "KP201 Merchant.every": "merchants are few, and written when one begins to sell",
    "KP315 put_in_cart": "a cart that is there is read first, expired or not, and changed; nothing else creates it",
    "KP602 Cart.expires_at": "a cart that somebody comes back to is as good as before, and kept again",
    "KP314 restock": "a delivery is counted by people, who look at the stock when the answer was lost",
    "KP602 OrderToken.expires_at": "a token that is remembered longer refuses other items longer, as it should",
    "KP602 Session.expires_at": "Sessions.of compares it with the time",
    "KP602 Reading.expires_at": "a reading is as true as before: it expires so that a partition doesn't grow for ever",
}


class Shop(CatalogueWrites, CustomerWrites, ReturnWrites, SessionPatterns, Design, ignore=SILENCE):
    """A shop: products, carts, orders, refunds, stock, events, readings; one table, two indexes."""

    table = Table("shop", partition="PK", sort="SK", indexes=[GSI1, GSI2])
