"""How a shop is paid: a payment provider behind an interface, and one that stands in for it while a shop is developed.

A provider takes a payment of an order, and pays refunds; each call carries a key, and the same key again is the same
payment, as real providers have it. Nothing here knows the store: ``keeping.py`` and the site bring both together.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple, Protocol

__all__ = ["Declined", "OfflineProvider", "Paid", "Provider"]


class Paid(NamedTuple):
    """What a provider says of money that has moved: its own id of it, and how much, in minor units."""

    external_id: str
    amount_cents: int


class Declined(Exception):
    """The provider doesn't move the money. The message is for the customer."""


class Provider(Protocol):
    """Moves money."""

    @property
    def name(self) -> str:
        """What customers know it by."""
        ...

    def take(self, order_id: str, amount_cents: int, card: str) -> Paid:
        """Take a payment for an order; for the same order and card again, the same payment. Raises Declined."""
        ...

    def give_back(self, key: str, payment_id: str, amount_cents: int) -> Paid:
        """Pay back of a payment; with the same key again, the same refund. Raises Declined."""
        ...


class OfflineProvider:
    """Moves no money, and says that it did; but for the card numbers that it declines.

    It keeps nothing: its ids are made of what they are for, so the same call gives the same id.
    """

    name = "test payments"
    CARD = "4242 4242 4242 4242"
    DECLINED = "4000 0000 0000 0002"

    def take(self, order_id: str, amount_cents: int, card: str) -> Paid:
        """A payment, unless the card is the one that is declined, or no card's number."""
        digits = card.replace(" ", "").replace("-", "")
        if not digits.isdecimal() or not digits.isascii() or not 12 <= len(digits) <= 19:
            raise Declined("That isn't the number of a card.")
        if digits == self.DECLINED.replace(" ", ""):
            raise Declined("The card was declined. No money was taken.")
        return Paid(f"test_{_id(order_id, str(amount_cents))}", amount_cents)

    def give_back(self, key: str, payment_id: str, amount_cents: int) -> Paid:
        """A refund."""
        return Paid(f"test_re_{_id(key, payment_id, str(amount_cents))}", amount_cents)


def _id(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:20]
