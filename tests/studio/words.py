"""A design with the language's later words: a view, counts, all of an index, stored forms, labels, a joined write."""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from keyplan import (
    Design,
    Discriminator,
    Entity,
    Index,
    Key,
    KeyStyle,
    Put,
    StoredAs,
    Table,
    Update,
    View,
    Writes,
    read,
    write,
)

__all__ = ["Invoice", "Order", "OrderRow", "Words", "fill_words"]

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
OPEN = Index("OPEN", "openpk", "opensk")


class Order(Entity):
    """An order."""

    order_id: str
    user: str
    total: int
    open_at: str | None = None
    at: Annotated[datetime, StoredAs("ms")]
    tags: Annotated[list[str], StoredAs("json")] = []  # noqa: RUF012 - a field of pydantic's

    kind = Discriminator("_et", "Order")
    primary = Key("USER#{user}", "ORDER#{order_id}")
    by_total = Key("USER#{user}", "{total:d}", index=GSI1)
    opened = Key("OPEN#{open_at}", "{order_id}", index=OPEN)


class Invoice(Entity):
    """An order's invoice."""

    order_id: str
    user: str

    kind = Discriminator("_et", "Invoice")
    primary = Key("USER#{user}", "INVOICE#{order_id}")


class OrderRow(View[Order]):
    """An order in a list."""

    order_id: str
    total: int


class Words(Design):
    """Orders."""

    table = Table("words", indexes=[GSI1, OPEN], entities=[Order, Invoice], key_style=KeyStyle(raw=True, case="lower"))

    @read("Q1", order_by="order_id")
    def rows(self, user: str) -> list[OrderRow]:
        """A user's orders in a list."""
        ...

    @read("Q2", entity=Order)
    def how_many(self, user: str) -> int:
        """How many orders a user has."""
        ...

    @read("Q3", entity=Order)
    def any_there(self, user: str) -> bool:
        """Whether a user has orders."""
        ...

    @read("Q4", scan_index=OPEN)
    def open_orders(self) -> list[Order]:
        """What is open."""
        ...

    @read("Q5")
    def order(self, user: str, order_id: str) -> Order | None:
        """One order."""
        ...

    @write("W1")
    def shut(self, user: str, order_id: str) -> Writes:
        """Close an order."""
        order = yield from self.order.read(user, order_id)
        if order is not None:
            yield Update(order).set(open_at=None)

    @write("W2")
    def bill(self, user: str, order_id: str) -> Writes:
        """Bill an order, and close it."""
        yield Put(Invoice(user=user, order_id=order_id))
        yield from self.shut.in_transaction(user, order_id)


def fill_words(words: Words) -> None:
    """Three orders, two of them open."""
    for number in range(3):
        at = datetime(2026, 1, number + 1, tzinfo=UTC)
        words.put(Order(order_id=f"O{number}", user="U1", total=number * 10, open_at="x" if number else None, at=at))
