# mypy: disable-error-code="empty-body"
"""The read patterns of the shop: E1 to E8 of the document (a letter marks a variant), C1 to C5 of the catalogue, and R1
to R11 for the site and the writes.
"""

from __future__ import annotations

from datetime import date, datetime

from keyplan import Cursor, Each, Page, Range, Through, read
from keyplan_systems.shop.entities import (
    LINES_MAX,
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
    Related,
    User,
)


class Reads:
    """Every read pattern."""

    @read("E1")
    def user(self, user_id: str) -> User | None: ...

    @read("E2", newest_first=True)
    def orders_of_user(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Order]: ...

    @read("E3", items=LINES_MAX + 2)
    def order_details(self, order_id: str) -> OrderDetails | None:
        """An order's header, lines and payment, in one request."""
        ...

    @read("E4a", where={"status": "pending"})
    def pending_orders(self, merchant_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Order]:
        """The unpaid orders of a merchant, oldest first."""
        ...

    @read("E4b", where={"status": "paid"})
    def orders_to_ship(self, merchant_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Order]:
        """The paid orders of a merchant, oldest first."""
        ...

    @read("E4c", newest_first=True)
    def orders_of_merchant(
        self, merchant_id: str, status: Each[OrderStatus], limit: int = 20, cursor: Cursor | None = None
    ) -> Page[Order]:
        """The orders of a merchant with one of several statuses, newest first."""
        ...

    @read("E5a", consistent=True)
    def user_by_email(self, email: Email) -> User | None:
        """A user by email address, in any case."""
        ...

    @read("E5b", through=Payment)
    def order_by_payment(self, external_id: str) -> Order | None:
        """An order by the payment provider's id."""
        ...

    @read("E6")
    def events_of_day(
        self, day: date, at: Range[datetime] | None = None, limit: int = 100, cursor: Cursor | None = None
    ) -> Page[OrderEvent]:
        """The order events of a day, or of a range of its hours, oldest first."""
        ...

    @read("E7")
    def readings(
        self, device_id: str, at: Range[datetime] | None = None, limit: int = 100, cursor: Cursor | None = None
    ) -> Page[Reading]:
        """A device's readings in a range of time, oldest first."""
        ...

    @read("E8a", through=Through(Related, product_id="related_id"))
    def related_products(self, product_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Product]: ...

    @read("E8b", through=Through(Related, product_id="product_id"))
    def products_leading_to(self, related_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Product]:
        """The products that lead to a product."""
        ...

    @read("R1")
    def product(self, product_id: str) -> Product | None: ...

    @read("R2")
    def products(self, product_id: Each[str]) -> list[Product]: ...

    @read("R3", items=LINES_MAX + 1)
    def order_parts(self, order_id: str) -> list[OrderLine | Payment]:
        """The parts of an order except its header, from the table: strongly consistent in writes."""
        ...

    @read("R4")
    def order(self, user_id: str, created_at: datetime, order_id: str) -> Order | None: ...

    @read("R5")
    def order_token(self, user_id: str, token: str) -> OrderToken | None: ...

    @read("C1", through=Listing, newest_first=True)
    def products_of_merchant(
        self, merchant_id: str, limit: int = 24, cursor: Cursor | None = None
    ) -> Page[Product]: ...

    @read("C2", through=Listing, newest_first=True)
    def products_in_category(self, category: str, limit: int = 24, cursor: Cursor | None = None) -> Page[Product]: ...

    @read("C3", through=Listing, newest_first=True)
    def new_products(self, limit: int = 24, cursor: Cursor | None = None) -> Page[Product]: ...

    @read("C4")
    def merchants(self, limit: int = 50, cursor: Cursor | None = None) -> Page[Merchant]: ...

    @read("C5")
    def merchant(self, merchant_id: str) -> Merchant | None: ...

    @read("R7")
    def cart(self, user_id: str, merchant_id: str) -> Cart | None: ...

    @read("R8", items=20)
    def carts(self, user_id: str) -> list[Cart]: ...

    @read("R10", where={"status": "due"})
    def unpaid_orders(
        self, ordered_at: Range[datetime] | None = None, limit: int = 100, cursor: Cursor | None = None
    ) -> Page[Payment]:
        """The due payments, all or those of a time range, oldest first."""
        ...

    @read("R11", where={"status": "refund_due"})
    def unpaid_refunds(self, limit: int = 100, cursor: Cursor | None = None) -> Page[Payment]:
        """The payments of cancelled orders that are to be refunded, oldest first."""
        ...

    @read("R9")
    def credential(self, user_id: str) -> Credential | None: ...
