"""The entities of the shop, and their keys: users, products, orders with their parts, events, readings.

The questions are in ``reads.py``, the writes in ``customers.py``, ``catalogue.py``, ``orders.py`` and ``returns.py``.
Money is in minor units (cents), so that no sum is ever rounded.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BaseModel, StringConstraints, computed_field

from keyplan import Entity, Field, Index, Key, Ttl, Unique, now, ulid

__all__ = [
    "ADDRESSES_MAX",
    "ALLOWED",
    "CARTS_MAX",
    "CART_KEPT",
    "DUE_SHARDS",
    "EVENT_SHARDS",
    "GSI1",
    "GSI2",
    "HELD",
    "LINES_MAX",
    "READING_KEPT",
    "REFUNDS_MAX",
    "RETURNS_MAX",
    "RETURN_WITHIN",
    "TOKEN_KEPT",
    "Address",
    "Cart",
    "Cents",
    "Credential",
    "Email",
    "Id",
    "Items",
    "Line",
    "Listing",
    "Merchant",
    "Name",
    "Order",
    "OrderDetails",
    "OrderEvent",
    "OrderLine",
    "OrderStatus",
    "OrderToken",
    "PartId",
    "Payment",
    "PaymentStatus",
    "PostalAddress",
    "Product",
    "Quantity",
    "Reading",
    "Refund",
    "RefundStatus",
    "Related",
    "Return",
    "ReturnId",
    "ReturnStatus",
    "Text",
    "Total",
    "User",
]

GSI1 = Index("GSI1", "GSI1PK", "GSI1SK")
GSI2 = Index("GSI2", "GSI2PK", "GSI2SK")

OrderStatus = Literal["pending", "paid", "shipped", "cancelled"]
PaymentStatus = Literal["due", "paid", "void", "refunded"]
"""A payment of which a part was refunded is still paid; ``refunded_cents`` says how much went back."""
RefundStatus = Literal["due", "paid"]
ReturnStatus = Literal["requested", "received", "refused"]

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
CART_KEPT = timedelta(days=90)
"""How long a cart that nobody touches stays."""
HELD = timedelta(minutes=30)
"""How long an order that nobody pays holds its stock."""
RETURN_WITHIN = timedelta(days=30)
"""How long after it was shipped an order can be returned."""
ADDRESSES_MAX = 20
CARTS_MAX = 20
REFUNDS_MAX = 20
RETURNS_MAX = 10
DUE_SHARDS = 4
"""Partitions of what is due, payments and refunds: each order is written there once, and removed once."""

Id = Annotated[str, StringConstraints(min_length=1, max_length=200)]
PartId = Annotated[str, StringConstraints(min_length=1, max_length=40)]
"""The id of a refund within its order."""
ReturnId = Annotated[str, StringConstraints(min_length=1, max_length=30)]
"""The id of a return within its order; its refund's begins with ``return-``."""
Name = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Email = Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True, min_length=3, max_length=254)]
Quantity = Annotated[int, Field(ge=1, le=10_000)]
Cents = Annotated[int, Field(ge=0, le=1_000_000_000)]
"""A price in minor units: with 40 lines of 10,000 pieces a total stays below 2⁵³, which JSON's readers can hold."""
Total = Annotated[int, Field(ge=0, le=LINES_MAX * 10_000 * 1_000_000_000)]
Text = Annotated[str, StringConstraints(max_length=5000)]
Line = Annotated[str, StringConstraints(max_length=200)]
Items = Annotated[dict[Id, Quantity], Field(min_length=1, max_length=LINES_MAX)]
"""What is ordered: how many of each product."""


class User(Entity):
    """A user's profile; no two users have one email address, in whatever case it is written."""

    user_id: Id = Field(default_factory=ulid)
    email: Email
    name: Name
    merchant_id: Id | None = None
    """Whom they sell for, if anybody."""
    created_at: datetime = Field(default_factory=now)

    primary = Key("USER#{user_id}", "PROFILE#{user_id}")
    by_email = Unique("USER_EMAIL#{email}")


class Credential(Entity):
    """What a user signs in with: the hash of a password, apart from the profile, which is shown."""

    user_id: Id
    password_hash: Annotated[str, StringConstraints(max_length=500)] = Field(repr=False)
    changed_at: datetime = Field(default_factory=now)

    primary = Key("USER#{user_id}", "CREDENTIAL")


class PostalAddress(BaseModel):
    """Where something is sent."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    street: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    postcode: Annotated[str, StringConstraints(max_length=20)] = ""
    city: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    country: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
    """Two letters, as ISO 3166 has them."""


class Address(Entity):
    """An address in a user's address book; an order keeps a copy."""

    user_id: Id
    address_id: Id = Field(default_factory=ulid)
    postal: PostalAddress

    primary = Key("USER#{user_id}", "ADDRESS#{address_id}")


class Cart(Entity):
    """What a user means to buy of one merchant: an item, since an order of all of it is placed at once."""

    user_id: Id
    merchant_id: Id
    items: Items
    changed_at: datetime = Field(default_factory=now)
    expires_at: Ttl

    primary = Key("USER#{user_id}", "CART#{merchant_id}")


class Merchant(Entity):
    """Who sells."""

    merchant_id: Id
    name: Name
    about: Text = ""

    primary = Key("MERCHANT#{merchant_id}", "PROFILE")
    every = Key("MERCHANTS", "MERCHANT#{merchant_id}", index=GSI1)


class Product(Entity):
    """A product of a merchant, its price, and how many can still be sold.

    ``listed_at`` is when it came into the lists; without it, it is in none and can't be ordered.
    """

    product_id: Id
    merchant_id: Id
    name: Name
    description: Text = ""
    category: Id = "other"
    price_cents: Cents
    stock: int = Field(ge=0, default=0)
    picture: str | None = Field(default=None, max_length=1000)
    """The address of a picture."""
    listed_at: datetime | None = Field(default_factory=now)

    primary = Key("PRODUCT#{product_id}", "PRODUCT#{product_id}")


class Listing(Entity):
    """A product stands in the lists. Apart from the product, so that selling a piece rewrites no list."""

    product_id: Id
    merchant_id: Id
    category: Id
    listed_at: datetime

    primary = Key("CATALOGUE#{merchant_id}", "{listed_at}#{product_id}")
    by_category = Key("CATEGORY#{category}", "{listed_at}#{product_id}", index=GSI1)
    newest = Key("LISTINGS", "{listed_at}#{product_id}", index=GSI2, shards=DUE_SHARDS)


class Related(Entity):
    """One product leads to another; the index turns the edge around."""

    product_id: Id
    related_id: Id

    primary = Key("PRODUCT#{product_id}", "RELATED#{related_id}")
    inverse = Key("PRODUCT#{related_id}", "RELATED#{product_id}", index=GSI1)


class Order(Entity):
    """An order's header, in its user's partition; on GSI1 in its own, together with its lines and payment.

    In GSI2 it stands under its merchant and its status. ``returns`` counts what was asked to be returned.
    """

    order_id: Id = Field(default_factory=ulid)
    user_id: Id
    merchant_id: Id
    status: OrderStatus = "pending"
    total_cents: Total
    created_at: datetime = Field(default_factory=now)
    ship_to: PostalAddress | None = None
    tracking: Line | None = None
    shipped_at: datetime | None = None
    returns: int = Field(default=0, ge=0, le=RETURNS_MAX)

    primary = Key("USER#{user_id}", "ORDER#{created_at}#{order_id}")
    by_order = Key("ORDER#{order_id}", "ORDER#{order_id}", index=GSI1)
    by_status = Key("MERCHANT#{merchant_id}#STATUS#{status}", "{created_at}#{order_id}", index=GSI2)


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
    consistent. One external payment pays one order. While it is due it stands in GSI2, so that orders that nobody pays
    are found. ``refunded_cents`` is the sum of its refunds, due or paid.
    """

    order_id: Id
    payment: int = Field(ge=1, le=9999, default=1)
    user_id: Id
    ordered_at: datetime
    amount_cents: Total
    status: PaymentStatus = "due"
    external_id: Id | None = None
    refunded_cents: Total = 0

    primary = Key("ORDER#{order_id}", "PAYMENT#{payment:04d}")
    by_order = Key("ORDER#{order_id}", "PAYMENT#{payment:04d}", index=GSI1)
    unpaid = Key("PAYMENTS#DUE", "{ordered_at}#{order_id}", index=GSI2, when={"status": "due"}, shards=DUE_SHARDS)
    by_external_id = Unique("PAYMENT#{external_id}")


class Refund(Entity):
    """Money that goes back. It is due until the payment provider has paid it, and stands in GSI2 so long: whoever
    pays refunds finds those that a process before has left.
    """

    order_id: Id
    refund_id: PartId
    payment_id: Id
    """The payment provider's id of the payment that it goes back of."""
    amount_cents: Annotated[int, Field(ge=1, le=LINES_MAX * 10_000 * 1_000_000_000)]
    reason: Line = ""
    status: RefundStatus = "due"
    external_id: Id | None = None
    requested_at: datetime = Field(default_factory=now)

    primary = Key("ORDER#{order_id}", "REFUND#{refund_id}")
    by_order = Key("ORDER#{order_id}", "REFUND#{refund_id}", index=GSI1)
    unpaid = Key(
        "REFUNDS#DUE", "{requested_at}#{order_id}#{refund_id}", index=GSI2, when={"status": "due"}, shards=DUE_SHARDS
    )


class Return(Entity):
    """What a customer sends back of a shipped order; in GSI2 under the merchant while they wait for it."""

    order_id: Id
    return_id: ReturnId
    merchant_id: Id
    items: Items
    reason: Line = ""
    status: ReturnStatus = "requested"
    requested_at: datetime = Field(default_factory=now)

    primary = Key("ORDER#{order_id}", "RETURN#{return_id}")
    by_order = Key("ORDER#{order_id}", "RETURN#{return_id}", index=GSI1)
    awaited = Key(
        "MERCHANT#{merchant_id}#RETURNS",
        "{requested_at}#{order_id}#{return_id}",
        index=GSI2,
        when={"status": "requested"},
    )


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

    @classmethod
    def of(cls, user_id: str, token: str, body: str) -> Self:
        """A token that is used now, for a new order."""
        moment = now()
        return cls(
            user_id=user_id,
            token=token,
            order_id=ulid(),
            ordered_at=moment,
            body=body,
            expires_at=moment + TOKEN_KEPT,
        )


class OrderDetails(NamedTuple):
    """An order with its lines, payments, refunds and returns."""

    order: Order
    lines: list[OrderLine]
    payments: list[Payment]
    refunds: list[Refund]
    returns: list[Return]


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
