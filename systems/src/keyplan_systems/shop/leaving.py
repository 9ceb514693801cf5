"""A customer leaves: what they may take along, what goes with them, and what has to stay."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from keyplan.errors import ItemNotFound, Refused
from keyplan_systems.paging import as_json, items_of
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import Order

__all__ = ["ShopLeaving"]


class ShopLeaving:
    """What the shop knows of somebody who leaves."""

    stays = (
        "Your name, your email address, your password, your addresses and your carts go for good. Your orders stay, "
        "with the address that each was sent to: merchants must keep their books for years. An order that isn't "
        "shipped or cancelled yet comes first."
    )

    def __init__(self, shop: Shop) -> None:
        self._shop = shop

    def export(self, user_id: str) -> dict[str, Any]:
        """Profile, addresses, carts, orders with lines, payments, refunds and returns. Raises ItemNotFound."""
        user = self._shop.user(user_id)
        if user is None:
            raise ItemNotFound(f"there is no user {user_id!r}", place="account")
        details = (self._shop.order_details(order.order_id) for order in self._orders(user_id))
        return {
            "profile": as_json(user),
            "addresses": [as_json(address) for address in self._shop.addresses(user_id)],
            "carts": [as_json(cart) for cart in self._shop.carts(user_id)],
            "orders": [
                as_json(each.order)
                | {
                    "lines": [as_json(line) for line in each.lines],
                    "payments": [as_json(payment) for payment in each.payments],
                    "refunds": [as_json(refund) for refund in each.refunds],
                    "returns": [as_json(back) for back in each.returns],
                }
                for each in details
                if each is not None
            ],
        }

    def leave(self, user_id: str) -> list[str]:
        """Delete a customer; gives what stays. Raises Refused while an order is open, and for who sells."""
        orders = list(self._orders(user_id))
        if any(order.status in {"pending", "paid"} for order in orders):
            raise Refused("an order isn't shipped yet: cancel it, or wait for it", place="Shop.leave")
        self._shop.leave(user_id)
        count = len(orders)
        named = "1 order" if count == 1 else f"{count} orders"
        return [f"{named}, in the books of those who sold: by an id that is nobody's."] if orders else []

    def _orders(self, user_id: str) -> Iterator[Order]:
        return items_of(partial(self._shop.orders_of_user, user_id, limit=100))
