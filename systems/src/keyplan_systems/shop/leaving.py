"""Export and deletion of a customer's data."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from keyplan.errors import ItemNotFound, Refused
from keyplan_systems.paging import as_json, items_of
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import Order


class ShopLeaving:
    """Export and deletion of a user of the shop."""

    stays = (
        "Your name, email address, password, postal address and carts are deleted. Your orders stay, with their postal "
        "addresses: merchants must keep their books for years. Orders must be shipped or cancelled first."
    )

    def __init__(self, shop: Shop) -> None:
        self._shop = shop

    def export(self, user_id: str) -> dict[str, Any]:
        """Profile, carts, and orders with lines and payments. Raises ItemNotFound."""
        user = self._shop.user(user_id)
        if user is None:
            raise ItemNotFound(f"there is no user {user_id!r}", place="account")
        details = (self._shop.order_details(order.order_id) for order in self._orders(user_id))
        return {
            "profile": as_json(user),
            "carts": [as_json(cart) for cart in self._shop.carts(user_id)],
            "orders": [
                as_json(each.order)
                | {
                    "lines": [as_json(line) for line in each.lines],
                    "payments": [as_json(payment) for payment in each.payments],
                }
                for each in details
                if each is not None
            ],
        }

    def leave(self, user_id: str) -> list[str]:
        """Delete a customer; returns what stays. Raises Refused with an open order, and for a user who sells."""
        orders = list(self._orders(user_id))
        if any(order.status in {"pending", "paid"} for order in orders):
            raise Refused("an order isn't shipped yet: cancel it, or wait for it", place="Shop.leave")
        self._shop.leave(user_id)
        count = len(orders)
        named = "1 order" if count == 1 else f"{count} orders"
        return [f"{named}, in the books of the merchants."] if orders else []

    def _orders(self, user_id: str) -> Iterator[Order]:
        return items_of(partial(self._shop.orders_of_user, user_id, limit=100))
