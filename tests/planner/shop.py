# mypy: disable-error-code="empty-body"
"""A shop design without keys."""

from datetime import datetime
from typing import Literal, NamedTuple

from keyplan import Cursor, Design, Entity, Field, Id, Page, Range, Table, Update, Writes, now, read, ulid, write


class Customer(Entity):
    """A customer."""

    customer_id: Id[str] = Field(default_factory=ulid)
    email: str
    name: str  # as printed on the invoice


class Order(Entity):
    order_id: Id[str] = Field(default_factory=ulid)
    customer_id: str
    status: Literal["pending", "paid", "shipped"] = "pending"
    created_at: datetime = Field(default_factory=now)

    def label(self) -> str:
        return self.order_id


class Line(Entity):
    order_id: Id[str]
    number: Id[int]
    product_id: str
    quantity: int


class Whole(NamedTuple):
    order: Order
    lines: list[Line]


class Store(Design):
    table = Table("store")

    @read("S1")
    def customer(self, customer_id: str) -> Customer | None: ...

    @read("S2")
    def customer_by_email(self, email: str) -> Customer | None: ...

    @read("S3")
    def whole_order(self, order_id: str) -> Whole | None: ...

    @read("S4", newest_first=True)
    def orders_of(self, customer_id: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Order]: ...

    @read("S5", where={"status": "pending"})
    def pending(self, created_at: Range[datetime] | None = None) -> list[Order]: ...

    @read("S6")
    def lines_with(self, product_id: str) -> list[Line]: ...

    @write("W1")
    def pay(self, order: Order) -> Writes:
        yield Update(order, status="paid").only_if(status="pending")
