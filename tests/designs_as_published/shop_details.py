# mypy: disable-error-code="empty-body"
"""The shop's third access pattern with the published keys: one request must return an order and its lines, but the
order is in the user's partition and the lines are in the order's partition. The compiler rejects this design.
"""

from __future__ import annotations

from typing import NamedTuple

from keyplan import Design, Entity, Index, Key, Table, read

GSI1 = Index("GSI1", "GSI1PK", "GSI1SK")


class Order(Entity):
    """The header of an order."""

    user_id: str
    order_id: str

    primary = Key("USER#{user_id}", "ORDER#{order_id}")
    by_order = Key("ORDER#{order_id}", "ORDER#{order_id}", index=GSI1)


class OrderItem(Entity):
    """A line of an order."""

    order_id: str
    item_id: str

    primary = Key("ORDER#{order_id}", "ITEM#{item_id}")


class OrderDetails(NamedTuple):
    """An order and its lines."""

    order: Order
    lines: list[OrderItem]


class ShopDetails(Design):
    """Orders."""

    table = Table("shop", partition="PK", sort="SK", indexes=[GSI1])

    @read("E3")
    def order_details(self, order_id: str) -> OrderDetails | None: ...
