# mypy: disable-error-code="empty-body"
"""The shop's questions: E1 to E8 as the document has them (a letter marks a further form), C1 to C5 of the catalogue,
and R1 to R14, which the site and the writes need besides.

What the entities are is in ``entities.py``. The class ``Shop`` in ``design.py`` puts questions and writes together.
"""

from __future__ import annotations

from datetime import date, datetime

from keyplan import Cursor, Each, Page, Range, Through, read
from keyplan_systems.shop.entities import (
    ADDRESSES_MAX,
    CARTS_MAX,
    LINES_MAX,
    REFUNDS_MAX,
    RETURNS_MAX,
    Address,
    Cart,
    Credential,
    Email,
    Listing,
    Merchant,
    Order,
    OrderDetails,
    OrderEvent,
    OrderLine,
    OrderStatus,
    OrderToken,
    Payment,
    Product,
    Reading,
    Refund,
    Related,
    Return,
    User,
)

__all__ = ["Reads"]


class Reads:
    """Every question of the shop."""

    @read("E1")
    def user(self, user_id: str) -> User | None:
        """A user's profile."""
        ...

    @read("E2", newest_first=True)
    def orders_of_user(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Order]:
        """A user's orders, newest first."""
        ...

    @read("E3", items=LINES_MAX + 2 + REFUNDS_MAX + RETURNS_MAX)
    def order_details(self, order_id: str) -> OrderDetails | None:
        """An order's header, lines, payments, refunds and returns, in one request."""
        ...

    @read("E4a", where={"status": "pending"})
    def pending_orders(self, merchant_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Order]:
        """The orders of a merchant that nobody has paid yet, oldest first."""
        ...

    @read("E4b", where={"status": "paid"})
    def orders_to_ship(self, merchant_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Order]:
        """The paid orders of a merchant, oldest first: what is to be shipped."""
        ...

    @read("E4c", newest_first=True)
    def orders_of_merchant(
        self, merchant_id: str, status: Each[OrderStatus], limit: int = 20, cursor: Cursor | None = None
    ) -> Page[Order]:
        """The orders of a merchant that have one of these statuses, newest first."""
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

    @read("R3", items=LINES_MAX + 1 + REFUNDS_MAX + RETURNS_MAX)
    def order_parts(self, order_id: str) -> list[OrderLine | Payment | Refund | Return]:
        """All of an order but its header, from the table itself: strongly consistent when a write asks it."""
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

    @read("C1", through=Listing, newest_first=True)
    def products_of_merchant(self, merchant_id: str, limit: int = 24, cursor: Cursor | None = None) -> Page[Product]:
        """What a merchant sells, the newest first, with prices and stock."""
        ...

    @read("C2", through=Listing, newest_first=True)
    def products_in_category(self, category: str, limit: int = 24, cursor: Cursor | None = None) -> Page[Product]:
        """What is sold in a category, whoever sells it, the newest first."""
        ...

    @read("C3", through=Listing, newest_first=True)
    def new_products(self, limit: int = 24, cursor: Cursor | None = None) -> Page[Product]:
        """What is sold, the newest first."""
        ...

    @read("C4")
    def merchants(self, limit: int = 50, cursor: Cursor | None = None) -> Page[Merchant]:
        """Who sells here."""
        ...

    @read("C5")
    def merchant(self, merchant_id: str) -> Merchant | None:
        """A merchant by their id."""
        ...

    @read("R7")
    def cart(self, user_id: str, merchant_id: str) -> Cart | None:
        """What a user means to buy of a merchant."""
        ...

    @read("R8", items=CARTS_MAX)
    def carts(self, user_id: str) -> list[Cart]:
        """All that a user means to buy, a cart a merchant."""
        ...

    @read("R9", items=ADDRESSES_MAX)
    def addresses(self, user_id: str) -> list[Address]:
        """A user's addresses, the oldest first."""
        ...

    @read("R10")
    def address(self, user_id: str, address_id: str) -> Address | None:
        """An address of a user."""
        ...

    @read("R11", where={"status": "due"})
    def unpaid_orders(
        self, ordered_at: Range[datetime] | None = None, limit: int = 100, cursor: Cursor | None = None
    ) -> Page[Payment]:
        """The payments that are due, or those of orders of a time, the oldest first: whose stock is held."""
        ...

    @read("R12", where={"status": "due"})
    def unpaid_refunds(self, limit: int = 100, cursor: Cursor | None = None) -> Page[Refund]:
        """The refunds that the payment provider hasn't paid yet, the oldest first."""
        ...

    @read("R13", where={"status": "requested"})
    def awaited_returns(self, merchant_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Return]:
        """What is on its way back to a merchant, the oldest first."""
        ...

    @read("R14")
    def credential(self, user_id: str) -> Credential | None:
        """What a user signs in with."""
        ...
