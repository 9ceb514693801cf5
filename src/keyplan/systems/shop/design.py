# mypy: disable-error-code="empty-body"
"""The design of the shop: orders with their lines and payments, stock, sharded events, readings, related products.

Money is in minor units (cents).
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal, NamedTuple

from pydantic import computed_field

from keyplan import (
    Add,
    Create,
    Cursor,
    Design,
    Entity,
    Field,
    Index,
    Key,
    Page,
    Range,
    Table,
    Through,
    Ttl,
    Unique,
    Update,
    Writes,
    now,
    read,
    ulid,
    write,
)
from keyplan.errors import ItemNotFound, Refused

__all__ = [
    "Order",
    "OrderDetails",
    "OrderEvent",
    "OrderLine",
    "Payment",
    "Product",
    "Reading",
    "Related",
    "Shop",
    "User",
]

GSI1 = Index("GSI1", "GSI1PK", "GSI1SK")
GSI2 = Index("GSI2", "GSI2PK", "GSI2SK")
GSI3 = Index("GSI3", "GSI3PK", "GSI3SK")

OrderStatus = Literal["pending", "paid", "shipped", "cancelled"]
EVENT_SHARDS = 16
ALLOWED: dict[OrderStatus, frozenset[OrderStatus]] = {
    "pending": frozenset({"paid", "cancelled"}),
    "paid": frozenset({"shipped", "cancelled"}),
    "shipped": frozenset(),
    "cancelled": frozenset(),
}


class User(Entity):
    """A user's profile."""

    user_id: str = Field(default_factory=ulid)
    email: str
    name: str

    primary = Key("USER#{user_id}", "PROFILE#{user_id}")
    by_email = Unique("USER_EMAIL#{email}")


class Order(Entity):
    """An order's header, in its user's partition; on GSI1 in its own, together with its lines and payment."""

    order_id: str = Field(default_factory=ulid)
    user_id: str
    merchant_id: str
    status: OrderStatus = "pending"
    total_cents: int = Field(ge=0)
    created_at: datetime = Field(default_factory=now)

    primary = Key("USER#{user_id}", "ORDER#{created_at}#{order_id}")
    by_order = Key("ORDER#{order_id}", "ORDER#{order_id}", index=GSI1)
    pending = Key(
        "MERCHANT#{merchant_id}#STATUS#PENDING", "{created_at}#{order_id}", index=GSI2, when={"status": "pending"}
    )


class OrderLine(Entity):
    """One line of an order."""

    order_id: str
    line: int = Field(ge=1)
    product_id: str
    quantity: int = Field(ge=1)
    price_cents: int = Field(ge=0)

    primary = Key("ORDER#{order_id}", "ITEM#{line:04d}")
    by_order = Key("ORDER#{order_id}", "ITEM#{line:04d}", index=GSI1)


class Payment(Entity):
    """A payment of an order, found by the payment provider's id too."""

    order_id: str
    payment: int = Field(ge=1, default=1)
    external_id: str
    amount_cents: int = Field(ge=0)

    primary = Key("ORDER#{order_id}", "PAYMENT#{payment:04d}")
    by_order = Key("ORDER#{order_id}", "PAYMENT#{payment:04d}", index=GSI1)
    by_external_id = Key("PAYMENT#{external_id}", "PAYMENT#{external_id}", index=GSI3)


class OrderDetails(NamedTuple):
    """An order with its lines and payments."""

    order: Order
    lines: list[OrderLine]
    payments: list[Payment]


class Product(Entity):
    """A product and how many of it are in stock."""

    product_id: str
    name: str
    price_cents: int = Field(ge=0)
    stock: int = Field(ge=0, default=0)

    primary = Key("PRODUCT#{product_id}", "PRODUCT#{product_id}")


class Related(Entity):
    """One product leads to another; the index turns the edge around."""

    product_id: str
    related_id: str

    primary = Key("PRODUCT#{product_id}", "RELATED#{related_id}")
    inverse = Key("PRODUCT#{related_id}", "RELATED#{product_id}", index=GSI1)


class OrderEvent(Entity):
    """Something happened to an order: written at a high rate, so a day's events are spread over shards."""

    event_id: str = Field(default_factory=ulid)
    order_id: str
    kind: str
    at: datetime = Field(default_factory=now)

    @computed_field  # type: ignore[prop-decorator] # pydantic's documented form
    @property
    def day(self) -> date:
        """The day of the event, in UTC."""
        return self.at.date()

    primary = Key("ORDER_EVENTS#{day}", "{at}#{event_id}", shards=EVENT_SHARDS)


class Reading(Entity):
    """A device's reading; it expires."""

    device_id: str
    at: datetime
    value: float
    expires_at: Ttl | None = None

    primary = Key("DEVICE#{device_id}", "READING#{at}")


class Shop(Design):
    """A shop: users, orders, stock, events, readings, related products."""

    table = Table("shop", partition="PK", sort="SK", indexes=[GSI1, GSI2, GSI3], entities=[OrderLine])

    @read("E1")
    def user(self, user_id: str) -> User | None:
        """A user's profile."""
        ...

    @read("E2", newest_first=True)
    def orders_of_user(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Order]:
        """A user's orders, newest first."""
        ...

    @read("E3")
    def order_details(self, order_id: str) -> OrderDetails | None:
        """An order's header, lines and payments, in one request."""
        ...

    @read("E3b")
    def order(self, order_id: str) -> Order | None:
        """An order's header."""
        ...

    @read("E4", where={"status": "pending"})
    def pending_orders(self, merchant_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Order]:
        """The pending orders of a merchant, oldest first."""
        ...

    @read("E5a", consistent=True)
    def user_by_email(self, email: str) -> User | None:
        """A user by email."""
        ...

    @read("E5b", through=Payment)
    def order_by_payment(self, external_id: str) -> Order | None:
        """An order by the payment provider's id."""
        ...

    @read("E6")
    def events_of_day(self, day: date, limit: int = 100, cursor: Cursor | None = None) -> Page[OrderEvent]:
        """The order events of a day, in order."""
        ...

    @read("E7")
    def readings(
        self, device_id: str, at: Range[datetime] | None = None, limit: int = 100, cursor: Cursor | None = None
    ) -> Page[Reading]:
        """A device's readings in a range of time."""
        ...

    @read("E8a", through=Through(Related, product_id="related_id"))
    def related_products(self, product_id: str) -> list[Product]:
        """The products that a product leads to."""
        ...

    @read("E8b", through=Through(Related, product_id="product_id"))
    def products_leading_to(self, related_id: str) -> list[Product]:
        """The products that lead to a product."""
        ...

    @read("E9")
    def product(self, product_id: str) -> Product | None:
        """A product with its stock."""
        ...

    @write("W1")
    def register(self, user: User) -> Writes[User]:
        """Register a user; the email must be free."""
        yield Create(user)
        return user

    @write("W2")
    def place_order(self, order: Order, lines: list[OrderLine]) -> Writes[Order]:
        """Place an order: header, lines and stock, all or nothing. The order's id makes it idempotent."""
        if not lines or any(line.order_id != order.order_id for line in lines):
            raise Refused("an order needs lines, each with its order's id", place="Shop.place_order")
        if order.total_cents != sum(line.quantity * line.price_cents for line in lines):
            raise Refused("the total isn't the sum of the lines", place="Shop.place_order")
        yield Create(order)
        for line in lines:
            yield Create(line)
            yield (
                Update(Product, product_id=line.product_id)
                .set(stock=Add(-line.quantity))
                .only_if("stock >= :wanted", wanted=line.quantity)
            )
        yield Create(OrderEvent(order_id=order.order_id, kind="placed"))
        return order

    @write("W3", attempts=5)
    def pay(self, order_id: str, external_id: str, amount_cents: int) -> Writes[Order]:
        """Take an order's payment."""
        order = yield from self._moving(order_id, "paid")
        if amount_cents != order.total_cents:
            raise Refused(f"the order's total is {order.total_cents}", place="Shop.pay")
        yield Create(Payment(order_id=order_id, external_id=external_id, amount_cents=amount_cents))
        return (yield from self._move(order, "paid"))

    @write("W4", attempts=5)
    def ship(self, order_id: str) -> Writes[Order]:
        """Ship a paid order."""
        order = yield from self._moving(order_id, "shipped")
        return (yield from self._move(order, "shipped"))

    @write("W5", attempts=5)
    def cancel(self, order_id: str) -> Writes[Order]:
        """Cancel an order that isn't shipped; its stock comes back."""
        order = yield from self._moving(order_id, "cancelled")
        details = yield from self.order_details.ask(order_id)
        for line in details.lines if details else []:
            yield Update(Product, product_id=line.product_id).set(stock=Add(line.quantity))
        return (yield from self._move(order, "cancelled"))

    def _moving(self, order_id: str, status: OrderStatus) -> Writes[Order]:
        order = yield from self.order.ask(order_id)
        if order is None:
            raise ItemNotFound(f"there is no order {order_id!r}", place="Shop.order")
        if status not in ALLOWED[order.status]:
            raise Refused(f"a {order.status} order can't become {status}", place="Shop.order")
        return order

    def _move(self, order: Order, status: OrderStatus) -> Writes[Order]:
        changed = yield Update(order, status=status).only_if(status=order.status)
        yield Create(OrderEvent(order_id=order.order_id, kind=status))
        return Order.model_validate(changed)
