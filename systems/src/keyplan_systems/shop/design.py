# mypy: disable-error-code="empty-body"
"""The design of the shop: orders with their lines and payments, stock, sharded events, readings, related products.

Key shapes and index names follow the document; where the system departs from it, README.md says why. Money is in minor
units (cents), so that no sum is ever rounded.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Annotated, Literal, NamedTuple

from pydantic import StringConstraints, computed_field

from keyplan import (
    Add,
    Batch,
    Check,
    Create,
    Cursor,
    Delete,
    Design,
    Each,
    Entity,
    Field,
    Index,
    Key,
    Page,
    Put,
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
from keyplan.errors import Fault, ItemNotFound, Refused

__all__ = [
    "ALLOWED",
    "EVENT_SHARDS",
    "LINES_MAX",
    "READING_KEPT",
    "Order",
    "OrderDetails",
    "OrderEvent",
    "OrderLine",
    "OrderStatus",
    "OrderToken",
    "Payment",
    "Product",
    "Reading",
    "Related",
    "Shop",
    "User",
    "placed",
]

GSI1 = Index("GSI1", "GSI1PK", "GSI1SK")
GSI2 = Index("GSI2", "GSI2PK", "GSI2SK")

OrderStatus = Literal["pending", "paid", "shipped", "cancelled"]
PaymentStatus = Literal["due", "paid", "void", "refunded"]

ALLOWED: dict[OrderStatus, frozenset[OrderStatus]] = {
    "pending": frozenset({"paid", "cancelled"}),
    "paid": frozenset({"shipped", "cancelled"}),
    "shipped": frozenset(),
    "cancelled": frozenset(),
}
"""Where an order's status may go from each."""
EVENT_SHARDS = 16
"""Partitions that a day's events are spread over: 16,000 write units a second, where one would take 1,000."""
LINES_MAX = 40
"""Lines of an order: two actions each, and four more, within the 100 of one transaction."""
TOKEN_KEPT = timedelta(days=30)
"""How long an order's token is remembered: far longer than any client tries again."""
READING_KEPT = timedelta(days=90)

Id = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Email = Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True, min_length=3, max_length=254)]
Quantity = Annotated[int, Field(ge=1, le=10_000)]
Cents = Annotated[int, Field(ge=0, le=1_000_000_000)]
"""A price in minor units: with 40 lines of 10,000 pieces a total stays below 2⁵³, which JSON's readers can hold."""
Total = Annotated[int, Field(ge=0, le=LINES_MAX * 10_000 * 1_000_000_000)]
Items = Annotated[dict[Id, Quantity], Field(min_length=1, max_length=LINES_MAX)]
"""What is ordered: how many of each product."""


class User(Entity):
    """A user's profile; no two users have one email address, in whatever case it is written."""

    user_id: Id = Field(default_factory=ulid)
    email: Email
    name: Name
    created_at: datetime = Field(default_factory=now)

    primary = Key("USER#{user_id}", "PROFILE#{user_id}")
    by_email = Unique("USER_EMAIL#{email}")


class Product(Entity):
    """A product of a merchant, its price, and how many can still be sold."""

    product_id: Id
    merchant_id: Id
    name: Name
    price_cents: Cents
    stock: int = Field(ge=0, default=0)

    primary = Key("PRODUCT#{product_id}", "PRODUCT#{product_id}")


class Related(Entity):
    """One product leads to another; the index turns the edge around."""

    product_id: Id
    related_id: Id

    primary = Key("PRODUCT#{product_id}", "RELATED#{related_id}")
    inverse = Key("PRODUCT#{related_id}", "RELATED#{product_id}", index=GSI1)


class Order(Entity):
    """An order's header, in its user's partition; on GSI1 in its own, together with its lines and payment.

    While it is pending it stands in GSI2 too, under its merchant.
    """

    order_id: Id = Field(default_factory=ulid)
    user_id: Id
    merchant_id: Id
    status: OrderStatus = "pending"
    total_cents: Total
    created_at: datetime = Field(default_factory=now)

    primary = Key("USER#{user_id}", "ORDER#{created_at}#{order_id}")
    by_order = Key("ORDER#{order_id}", "ORDER#{order_id}", index=GSI1)
    pending = Key(
        "MERCHANT#{merchant_id}#STATUS#PENDING", "{created_at}#{order_id}", index=GSI2, when={"status": "pending"}
    )


class OrderLine(Entity):
    """One line of an order: a product, at the price of that moment."""

    order_id: Id
    line: int = Field(ge=1, le=9999)
    product_id: Id
    quantity: Quantity
    price_cents: Cents

    primary = Key("ORDER#{order_id}", "ITEM#{line:04d}")
    by_order = Key("ORDER#{order_id}", "ITEM#{line:04d}", index=GSI1)


class Payment(Entity):
    """An order's payment: due when the order is placed, found by the payment provider's id when it is made.

    It carries where the order's header stands, so that whoever knows an order's id reads the header strongly
    consistent. One external payment pays one order.
    """

    order_id: Id
    payment: int = Field(ge=1, le=9999, default=1)
    user_id: Id
    ordered_at: datetime
    amount_cents: Total
    status: PaymentStatus = "due"
    external_id: Id | None = None

    primary = Key("ORDER#{order_id}", "PAYMENT#{payment:04d}")
    by_order = Key("ORDER#{order_id}", "PAYMENT#{payment:04d}", index=GSI1)
    by_external_id = Unique("PAYMENT#{external_id}")


class OrderToken(Entity):
    """A client's token, and the order that was placed with it: placing it again gives that order."""

    user_id: Id
    token: Id
    order_id: Id
    ordered_at: datetime
    body: Annotated[str, StringConstraints(max_length=64)]
    """A digest of what was ordered."""
    expires_at: Ttl

    primary = Key("USER#{user_id}", "TOKEN#{token}")


class OrderDetails(NamedTuple):
    """An order with its lines and payments."""

    order: Order
    lines: list[OrderLine]
    payments: list[Payment]


class OrderEvent(Entity):
    """Something happened to an order: written at a high rate, so a day's events are spread over shards."""

    event_id: Id = Field(default_factory=ulid)
    order_id: Id
    kind: Id
    at: datetime = Field(default_factory=now)

    @computed_field  # type: ignore[prop-decorator] # pydantic's documented form
    @property
    def day(self) -> date:
        """The day of the event, in UTC."""
        return self.at.date()

    primary = Key("ORDER_EVENTS#{day}", "{at}#{event_id}", shards=EVENT_SHARDS)


class Reading(Entity):
    """A device's reading; it expires, by default 90 days after it was made."""

    device_id: Id
    at: datetime
    value: float = Field(allow_inf_nan=False)
    expires_at: Ttl | None = None

    primary = Key("DEVICE#{device_id}", "READING#{at}")


SILENCE = {
    "KP314 restock": "a delivery is counted by people, who look at the stock when the answer was lost",
    "KP315 place_order": "a token that is there counts, expired or not: the same order isn't placed twice",
    "KP602 OrderToken.expires_at": "a token that is remembered longer refuses other items longer, as it should",
    "KP602 Reading.expires_at": "a reading is as true as before: it expires so that a partition doesn't grow for ever",
}


class Shop(Design, silence=SILENCE):
    """A shop: users, orders, stock, events, readings, related products; one table, two indexes."""

    table = Table("shop", partition="PK", sort="SK", indexes=[GSI1, GSI2])

    @read("E1")
    def user(self, user_id: str) -> User | None:
        """A user's profile."""
        ...

    @read("E2", newest_first=True)
    def orders_of_user(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Order]:
        """A user's orders, newest first."""
        ...

    @read("E3", items=LINES_MAX + 2)
    def order_details(self, order_id: str) -> OrderDetails | None:
        """An order's header, lines and payments, in one request."""
        ...

    @read("E4", where={"status": "pending"})
    def pending_orders(self, merchant_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Order]:
        """The pending orders of a merchant, oldest first."""
        ...

    @read("E5a", consistent=True)
    def user_by_email(self, email: Email) -> User | None:
        """A user by email address, in whatever case it is written."""
        ...

    @read("E5b", through=Payment)
    def order_by_payment(self, external_id: str) -> Order | None:
        """An order by the payment provider's id."""
        ...

    @read("E6")
    def events_of_day(
        self, day: date, at: Range[datetime] | None = None, limit: int = 100, cursor: Cursor | None = None
    ) -> Page[OrderEvent]:
        """The order events of a day, or of some of its hours, in the order in which they happened."""
        ...

    @read("E7")
    def readings(
        self, device_id: str, at: Range[datetime] | None = None, limit: int = 100, cursor: Cursor | None = None
    ) -> Page[Reading]:
        """A device's readings in a range of time, oldest first."""
        ...

    @read("E8a", through=Through(Related, product_id="related_id"))
    def related_products(self, product_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Product]:
        """The products that a product leads to."""
        ...

    @read("E8b", through=Through(Related, product_id="product_id"))
    def products_leading_to(self, related_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Product]:
        """The products that lead to a product."""
        ...

    @read("R1")
    def product(self, product_id: str) -> Product | None:
        """A product with its price and its stock."""
        ...

    @read("R2")
    def products(self, product_id: Each[str]) -> list[Product]:
        """Many products by their ids."""
        ...

    @read("R3", items=LINES_MAX + 1)
    def order_parts(self, order_id: str) -> list[OrderLine | Payment]:
        """An order's lines and payments, from the table itself: strongly consistent when a write asks it."""
        ...

    @read("R4")
    def order(self, user_id: str, created_at: datetime, order_id: str) -> Order | None:
        """An order's header, by its place in the user's partition."""
        ...

    @read("R5")
    def order_token(self, user_id: str, token: str) -> OrderToken | None:
        """The order that a token was used for."""
        ...

    @read("R6", consistent=True)
    def payment(self, external_id: str) -> Payment | None:
        """A payment by the payment provider's id."""
        ...

    @write("W1")
    def register(self, user: User) -> Writes[User]:
        """Register a user. Raises ItemExists for a taken id, ValueTaken for a taken email address."""
        yield Create(user)
        return user

    @write("W2")
    def add_product(self, product: Product) -> Writes[Product]:
        """Add a product. Raises ItemExists."""
        yield Create(product)
        return product

    @write("W3")
    def restock(self, product_id: Id, quantity: Quantity) -> Writes:
        """More pieces of a product have arrived. Raises ConditionFailed for an unknown product."""
        yield Update(Product, product_id=product_id).set(stock=Add(quantity))

    @write("W4")
    def reprice(self, product_id: Id, price_cents: Cents) -> Writes:
        """A product has another price from now on; orders keep theirs. Raises ConditionFailed for an unknown one."""
        yield Update(Product, product_id=product_id).set(price_cents=price_cents)

    @write("W5")
    def relate(self, product_id: Id, related_id: Id) -> Writes:
        """Let a product lead to another. Raises Refused for itself, ConditionFailed for unknown ones."""
        if product_id == related_id:
            raise Refused(f"product {product_id!r} can't lead to itself", place="Shop.relate", hint="name another one")
        yield Check(Product, product_id=product_id)
        yield Check(Product, product_id=related_id)
        yield Put(Related(product_id=product_id, related_id=related_id))

    @write("W6")
    def unrelate(self, product_id: Id, related_id: Id) -> Writes:
        """A product doesn't lead to another any more; no error where it didn't."""
        yield Delete(Related, product_id=product_id, related_id=related_id)

    @write("W7", attempts=30)
    def place_order(self, user_id: Id, token: Id, items: Items) -> Writes[Order]:
        """Place an order at the prices of now: header, lines, payment due and stock, all or nothing.

        ``token`` is the client's, a new one for each order: with the same token and the same items the call gives the
        order that was placed, however often it is made. Raises Refused for a token that was used for other items, for
        products of several merchants and for more than is in stock; ItemNotFound for an unknown user or product.
        """
        body = _digest(items)
        used = yield from self.order_token.ask(user_id, token)
        if used is not None:
            return (yield from self._placed_before(used, body))
        if (yield from self.user.ask(user_id)) is None:
            raise ItemNotFound(f"there is no user {user_id!r}", place="Shop.place_order", hint="register first")
        products = yield from self.products.ask(sorted(items))
        _check_wanted(items, {product.product_id: product for product in products})
        wanted = [(product, items[product.product_id]) for product in products]
        order, lines, payment = placed(user_id, wanted, ulid(), now())
        yield Create(
            OrderToken(
                user_id=user_id,
                token=token,
                order_id=order.order_id,
                ordered_at=order.created_at,
                body=body,
                expires_at=order.created_at + TOKEN_KEPT,
            )
        )
        yield Create(order)
        for line in lines:
            yield Create(line)
            # Stock has the type's bound of 0: the update expects that enough is there.
            yield (
                Update(Product, product_id=line.product_id)
                .set(stock=Add(-line.quantity))
                .only_if(price_cents=line.price_cents)
            )
        yield Create(payment)
        yield Create(OrderEvent(order_id=order.order_id, kind="placed", at=order.created_at))
        return order

    @write("W8", attempts=30)
    def pay(self, order_id: Id, external_id: Id, amount_cents: Total) -> Writes[Order]:
        """Take an order's payment. Taking the same one again gives the paid order, as payment providers may tell twice.

        Raises Refused for another amount, for an order that isn't pending, and for an external payment that paid
        another order; ItemNotFound.
        """
        order, _, payment = yield from self._whole(order_id, "Shop.pay")
        if amount_cents != order.total_cents:
            raise Refused(
                f"the payment is {amount_cents} and the order's total {order.total_cents}, in minor units",
                place="Shop.pay",
                hint="pay the total",
            )
        if payment.external_id == external_id and order.status in {"paid", "shipped"}:
            return order
        other = yield from self.payment.ask(external_id)
        if other is not None and other.order_id != order_id:
            raise Refused(
                f"payment {external_id!r} paid order {other.order_id}",
                place="Shop.pay",
                hint="one external payment pays one order",
            )
        paid = yield from _moved(order, "paid", "Shop.pay")
        yield Update(payment, status="paid", external_id=external_id).only_if(status=payment.status)
        return paid

    @write("W9", attempts=30)
    def ship(self, order_id: Id) -> Writes[Order]:
        """Ship a paid order. Raises Refused for any other, ItemNotFound."""
        order, _, _ = yield from self._whole(order_id, "Shop.ship")
        return (yield from _moved(order, "shipped", "Shop.ship"))

    @write("W10", attempts=30)
    def cancel(self, order_id: Id) -> Writes[Order]:
        """Cancel an order that isn't shipped: its stock comes back, its payment is void, or to be refunded.

        Raises Refused for a shipped or cancelled one, ItemNotFound.
        """
        order, lines, payment = yield from self._whole(order_id, "Shop.cancel")
        cancelled = yield from _moved(order, "cancelled", "Shop.cancel")
        back = Counter[str]()
        for line in lines:
            back[line.product_id] += line.quantity
        for product_id, quantity in back.items():
            yield Update(Product, product_id=product_id).set(stock=Add(quantity))
        yield Update(payment, status="refunded" if payment.status == "paid" else "void").only_if(status=payment.status)
        return cancelled

    @write("W11")
    def record_events(self, events: list[OrderEvent]) -> Writes:
        """Record events of orders that happened elsewhere; the same event again changes nothing."""
        yield Batch(Put(event) for event in events)

    @write("W12")
    def record_readings(self, readings: list[Reading]) -> Writes:
        """Record devices' readings; one of the same device and moment takes the place of the one before."""
        yield Batch(Put(_expiring(reading)) for reading in readings)

    def _placed_before(self, used: OrderToken, body: str) -> Writes[Order]:
        if used.body != body:
            raise Refused(
                f"token {used.token!r} was used for other items, in order {used.order_id}",
                place="Shop.place_order",
                hint="make a new token for each order, and send it again only with the same items",
            )
        order = yield from self.order.ask(used.user_id, used.ordered_at, used.order_id)
        if order is None:
            raise ItemNotFound(f"order {used.order_id!r} isn't there any more", place="Shop.place_order")
        return order

    def _whole(self, order_id: str, place: str) -> Writes[tuple[Order, list[OrderLine], Payment]]:
        """An order as it is at this moment: not by the index of E3, which may lag behind."""
        parts = yield from self.order_parts.ask(order_id)
        payment = next((part for part in parts if isinstance(part, Payment)), None)
        order = None
        if payment is not None:
            order = yield from self.order.ask(payment.user_id, payment.ordered_at, order_id)
        if payment is None or order is None:
            raise ItemNotFound(f"there is no order {order_id!r}", place=place, hint="place it first: place_order")
        return order, [part for part in parts if isinstance(part, OrderLine)], payment


def _moved(order: Order, status: OrderStatus, place: str) -> Writes[Order]:
    """Move an order along, with the event of it; only if it still has the status that was read."""
    if status not in ALLOWED[order.status]:
        allowed = " or ".join(sorted(ALLOWED[order.status]))
        raise Refused(
            f"order {order.order_id} is {order.status} and can't become {status}",
            place=place,
            hint=f"it can become {allowed}" if allowed else f"a {order.status} order stays as it is",
        )
    yield Update(order, status=status).only_if(status=order.status)
    yield Create(OrderEvent(order_id=order.order_id, kind=status))
    return order.model_copy(update={"status": status})


def placed(
    user_id: str, wanted: Sequence[tuple[Product, int]], order_id: str, at: datetime
) -> tuple[Order, list[OrderLine], Payment]:
    """An order of so many of these products, all of one merchant, at their prices; its lines; its payment, due."""
    lines = [
        OrderLine(
            order_id=order_id,
            line=number,
            product_id=product.product_id,
            quantity=quantity,
            price_cents=product.price_cents,
        )
        for number, (product, quantity) in enumerate(wanted, 1)
    ]
    order = Order(
        order_id=order_id,
        user_id=user_id,
        merchant_id=wanted[0][0].merchant_id,
        total_cents=sum(line.quantity * line.price_cents for line in lines),
        created_at=at,
    )
    payment = Payment(order_id=order_id, user_id=user_id, ordered_at=at, amount_cents=order.total_cents)
    return order, lines, payment


def _check_wanted(items: Mapping[str, int], products: Mapping[str, Product]) -> None:
    """Raises ItemNotFound for unknown products, Refused for several merchants and for too little stock."""
    place = "Shop.place_order"
    unknown = [name for name in sorted(items) if name not in products]
    if unknown:
        raise ItemNotFound(
            f"there is no product {', '.join(map(repr, unknown))}", place=place, hint="order what the shop has"
        )
    merchants = sorted({product.merchant_id for product in products.values()})
    if len(merchants) > 1:
        raise Refused(
            f"the products belong to {len(merchants)} merchants ({', '.join(merchants)})",
            place=place,
            hint="place an order for each merchant",
        )
    short = [
        Fault(f"items[{name}]", f"{wanted} wanted, {products[name].stock} in stock")
        for name, wanted in sorted(items.items())
        if products[name].stock < wanted
    ]
    if short:
        raise Refused("there isn't enough in stock", place=place, hint="order fewer, or later", faults=short)


def _digest(items: Mapping[str, int]) -> str:
    """The same for the same items in whatever order, and for no others."""
    return hashlib.sha256(json.dumps(items, sort_keys=True).encode()).hexdigest()


def _expiring(reading: Reading) -> Reading:
    if reading.expires_at is not None:
        return reading
    return reading.model_copy(update={"expires_at": reading.at + READING_KEPT})
