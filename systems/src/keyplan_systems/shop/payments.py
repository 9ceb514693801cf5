"""The interface of payment providers, and a provider for development that moves no money.

Each call has an idempotency key: a repeated key is the same payment.
"""

from __future__ import annotations

import hashlib
from typing import Protocol


class Declined(Exception):
    """The provider declined. The message is for the customer."""


class Provider(Protocol):
    """A payment provider."""

    @property
    def name(self) -> str:
        """The name for customers."""
        ...

    def take(self, order_id: str, amount_cents: int, card: str) -> str:
        """Take a payment for an order; returns its id. Idempotent for an order and card. Raises Declined."""
        ...

    def give_back(self, key: str, payment_id: str, amount_cents: int) -> str:
        """Refund a payment; returns the refund's id. Idempotent by ``key``. Raises Declined."""
        ...


class OfflineProvider:
    """A provider for development: it accepts every card but one. Its ids are digests of the arguments."""

    name = "test payments"
    CARD = "4242 4242 4242 4242"
    DECLINED = "4000 0000 0000 0002"

    def take(self, order_id: str, amount_cents: int, card: str) -> str:
        """Accept a card number, except DECLINED."""
        digits = card.replace(" ", "").replace("-", "")
        if not digits.isdecimal() or not digits.isascii() or not 12 <= len(digits) <= 19:
            raise Declined("Invalid card number.")
        if digits == self.DECLINED.replace(" ", ""):
            raise Declined("The card was declined. You were not charged.")
        return f"test_{_id(order_id, str(amount_cents))}"

    def give_back(self, key: str, payment_id: str, amount_cents: int) -> str:
        return f"test_re_{_id(key, payment_id, str(amount_cents))}"


def _id(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:20]
