"""The entities of the shop and their keys: users, products, orders with their parts, events, readings.

Amounts of money are integers in minor units (cents).
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, StringConstraints, computed_field

from keyplan import Entity, Field, Index, Key, Ttl, Unique, now, ulid

GSI1 = Index("GSI1", "GSI1PK", "GSI1SK")
GSI2 = Index("GSI2", "GSI2PK", "GSI2SK")

OrderStatus = Literal["pending", "paid", "shipped", "cancelled"]
PaymentStatus = Literal["due", "paid", "void", "refund_due", "refunded"]

ALLOWED: dict[OrderStatus, frozenset[OrderStatus]] = {
    "pending": frozenset({"paid", "cancelled"}),
    "paid": frozenset({"shipped", "cancelled"}),
    "shipped": frozenset(),
    "cancelled": frozenset(),
}
"""The allowed transitions of an order's status."""
STATUSES: dict[str, OrderStatus] = {status: status for status in ALLOWED}
EVENT_SHARDS = 16
"""Number of partitions for a day's events: 16,000 write units per second, 1,000 for each."""
LINES_MAX = 40
"""Maximum number of lines of an order: two actions for each and five more, within a transaction's 100."""
TOKEN_KEPT = timedelta(days=30)
"""How long an order's token is stored: longer than a client retries."""
READING_KEPT = timedelta(days=90)
CART_KEPT = timedelta(days=90)
"""How long an unchanged cart is stored."""
HELD = timedelta(days=1)
"""How long an unpaid order reserves its stock."""
DEVICES_MAX = 50
DUE_SHARDS = 4
"""Number of partitions for due payments and refunds: each order is added once, and removed once."""

Id = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Email = Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True, min_length=3, max_length=254)]
Quantity = Annotated[int, Field(ge=1, le=10_000)]
Cents = Annotated[int, Field(ge=0, le=1_000_000_000)]
"""A price in minor units: the total of 40 lines of 10,000 pieces stays below 2⁵³, which JSON parsers support."""
Total = Annotated[int, Field(ge=0, le=LINES_MAX * 10_000 * 1_000_000_000)]
Text = Annotated[str, StringConstraints(max_length=5000)]
Line = Annotated[str, StringConstraints(max_length=200)]
Picture = Annotated[str, StringConstraints(max_length=1000, pattern=r"^(https://|/)[^\s]+$")]
"""The address of a picture: a path of the site, or an https address."""
Items = Annotated[dict[Id, Quantity], Field(min_length=1, max_length=LINES_MAX)]
"""Quantities by product id."""


def cents_of(text: str) -> int | None:
    """An amount such as 12.50 in minor units; None if it is invalid."""
    if not re.fullmatch(r"[0-9]{1,8}(\.[0-9]{1,2})?", text.strip()):
        return None
    whole, _, part = text.strip().partition(".")
    return int(whole) * 100 + int(part.ljust(2, "0"))


class PostalAddress(BaseModel):
    """A postal address."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    street: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    postcode: Annotated[str, StringConstraints(max_length=20)] = ""
    city: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    country: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
    """The two letters of ISO 3166."""


class User(Entity):
    """A user's profile. Email addresses are unique, in lower case."""

    user_id: Id = Field(default_factory=ulid)
    email: Email
    name: Name
    merchant_id: Id | None = None
    """The merchant that they sell for, if any."""
    address: PostalAddress | None = None
    """Where orders are shipped to. An order has a copy."""
    created_at: datetime = Field(default_factory=now)

    primary = Key("USER#{user_id}", "PROFILE#{user_id}")
    by_email = Unique("USER_EMAIL#{email}")


class Credential(Entity):
    """The hash of a user's password, separate from the profile, which the API shows."""

    user_id: Id
    password_hash: Annotated[str, StringConstraints(max_length=500)] = Field(repr=False)
    changed_at: datetime = Field(default_factory=now)

    primary = Key("USER#{user_id}", "CREDENTIAL")


class Cart(Entity):
    """A user's cart at one merchant. It is one item, because it is ordered as a whole."""

    user_id: Id
    merchant_id: Id
    items: Items
    changed_at: datetime = Field(default_factory=now)
    expires_at: Ttl

    primary = Key("USER#{user_id}", "CART#{merchant_id}")


class Merchant(Entity):
    """A merchant, and the devices whose readings they see."""

    merchant_id: Id
    name: Name
    about: Text = ""
    devices: Annotated[list[Id], Field(max_length=DEVICES_MAX)] = Field(default_factory=list[str])

    primary = Key("MERCHANT#{merchant_id}", "PROFILE")
    every = Key("MERCHANTS", "MERCHANT#{merchant_id}", index=GSI1)


class Product(Entity):
    """A product of a merchant, its price and its stock.

    ``listed_at`` is its time in the lists. Without it, the product is in no list and can't be ordered.
    """

    product_id: Id
    merchant_id: Id
    name: Name
    description: Text = ""
    category: Id = "other"
    price_cents: Cents
    stock: int = Field(ge=0, default=0)
    picture: Picture | None = None
    listed_at: datetime | None = Field(default_factory=now)

    primary = Key("PRODUCT#{product_id}", "PRODUCT#{product_id}")


class ProductDetails(BaseModel):
    """The editable fields of a product. A product that isn't ``listed`` can't be ordered."""

    name: Name
    description: Text = ""
    category: Id = "other"
    price_cents: Cents
    picture: Picture | None = None
    listed: bool = True


class Listing(Entity):
    """A product's entry in the lists. It is separate from the product, so that a sale doesn't write to an index."""

    product_id: Id
    merchant_id: Id
    category: Id
    listed_at: datetime

    primary = Key("CATALOGUE#{merchant_id}", "{listed_at}#{product_id}")
    by_category = Key("CATEGORY#{category}", "{listed_at}#{product_id}", index=GSI1)
    newest = Key("LISTINGS", "{listed_at}#{product_id}", index=GSI2, shards=DUE_SHARDS)


class Related(Entity):
    """One product leads to another; the index has the opposite direction."""

    product_id: Id
    related_id: Id

    primary = Key("PRODUCT#{product_id}", "RELATED#{related_id}")
    inverse = Key("PRODUCT#{related_id}", "RELATED#{product_id}", index=GSI1)


class Order(Entity):
    """An order's header, in its user's partition; in GSI1 with its parts, in GSI2 by merchant and status."""

    order_id: Id = Field(default_factory=ulid)
    user_id: Id
    merchant_id: Id
    status: OrderStatus = "pending"
    total_cents: Total
    created_at: datetime = Field(default_factory=now)
    ship_to: PostalAddress | None = None
    tracking: Line | None = None
    shipped_at: datetime | None = None

    primary = Key("USER#{user_id}", "ORDER#{created_at}#{order_id}")
    by_order = Key("ORDER#{order_id}", "ORDER#{order_id}", index=GSI1)
    by_status = Key("MERCHANT#{merchant_id}#STATUS#{status}", "{created_at}#{order_id}", index=GSI2)


class OrderLine(Entity):
    """One line of an order: a product at its price at that time."""

    order_id: Id
    line: int = Field(ge=1, le=9999)
    product_id: Id
    quantity: Quantity
    price_cents: Cents

    primary = Key("ORDER#{order_id}", "ITEM#{line:04d}")
    by_order = Key("ORDER#{order_id}", "ITEM#{line:04d}", index=GSI1)


class Payment(Entity):
    """An order's payment. It has the key of the order's header, so that a strongly consistent read finds the header by
    the order's id. One external payment pays one order. GSI2 lists the due payments and the due refunds.
    """

    order_id: Id
    payment: int = Field(ge=1, le=9999, default=1)
    user_id: Id
    ordered_at: datetime
    amount_cents: Total
    status: PaymentStatus = "due"
    external_id: Id | None = None
    """The payment provider's id of the payment."""
    refund_id: Id | None = None
    """The payment provider's id of the refund."""

    primary = Key("ORDER#{order_id}", "PAYMENT#{payment:04d}")
    by_order = Key("ORDER#{order_id}", "PAYMENT#{payment:04d}", index=GSI1)
    open = Key(
        "PAYMENTS#{status}",
        "{ordered_at}#{order_id}",
        index=GSI2,
        when={"status": ["due", "refund_due"]},
        shards=DUE_SHARDS,
    )
    by_external_id = Unique("PAYMENT#{external_id}")


class OrderToken(Entity):
    """A client's token and the order placed with it: the same token returns the same order."""

    user_id: Id
    token: Id
    order_id: Id
    ordered_at: datetime
    body: Annotated[str, StringConstraints(max_length=64)]
    """A digest of the ordered items."""
    expires_at: Ttl

    primary = Key("USER#{user_id}", "TOKEN#{token}")


class OrderDetails(NamedTuple):
    """An order with its lines and its payment."""

    order: Order
    lines: list[OrderLine]
    payments: list[Payment]


class OrderEvent(Entity):
    """An event of an order. Events are written at a high rate, so those of a day are sharded."""

    event_id: Id = Field(default_factory=ulid)
    order_id: Id
    merchant_id: Id
    kind: Id
    at: datetime = Field(default_factory=now)

    @computed_field  # type: ignore[prop-decorator] # as pydantic documents
    @property
    def day(self) -> date:
        return self.at.date()

    primary = Key("ORDER_EVENTS#{day}", "{at}#{event_id}", shards=EVENT_SHARDS)


class Reading(Entity):
    """A device's reading. By default it expires after 90 days."""

    device_id: Id
    at: datetime
    value: float = Field(allow_inf_nan=False)
    expires_at: Ttl | None = None

    primary = Key("DEVICE#{device_id}", "READING#{at}")
