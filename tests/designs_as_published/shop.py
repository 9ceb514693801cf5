# mypy: disable-error-code="empty-body"
"""The shop of the design guide: users, orders, line items, payments, and a merchant's pending orders."""

from __future__ import annotations

from datetime import datetime

from keyplan import Cursor, Design, Entity, Index, Key, Page, Table, read

GSI1 = Index("GSI1", "GSI1PK", "GSI1SK")
GSI2 = Index("GSI2", "GSI2PK", "GSI2SK")


class User(Entity):
    user_id: str
    name: str

    primary = Key("USER#{user_id}", "PROFILE#{user_id}")


class Order(Entity):
    """The header of an order, without its lines."""

    user_id: str
    order_id: str
    merchant_id: str
    status: str = "PENDING"
    created_at: datetime

    primary = Key("USER#{user_id}", "ORDER#{created_at}#{order_id}")
    by_order = Key("ORDER#{order_id}", "ORDER#{order_id}", index=GSI1)
    pending = Key(
        "MERCHANT#{merchant_id}#STATUS#PENDING", "{created_at}#{order_id}", index=GSI2, when={"status": "PENDING"}
    )


class OrderItem(Entity):
    """A line of an order."""

    order_id: str
    item_id: str
    product: str

    primary = Key("ORDER#{order_id}", "ITEM#{item_id}")


class Payment(Entity):
    order_id: str
    payment_id: str
    amount: int

    primary = Key("ORDER#{order_id}", "PAYMENT#{payment_id}")


class Shop(Design):
    table = Table("shop", partition="PK", sort="SK", indexes=[GSI1, GSI2])

    @read("E1")
    def user(self, user_id: str) -> User | None: ...

    @read("E2", newest_first=True)
    def orders_of_user(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Order]: ...

    @read("E3")
    def order(self, order_id: str) -> Order | None: ...

    @read("E3b")
    def lines(self, order_id: str) -> list[OrderItem]: ...

    @read("E3c")
    def payments(self, order_id: str) -> list[Payment]: ...

    @read("E4", where={"status": "PENDING"})
    def pending_orders(self, merchant_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Order]: ...
