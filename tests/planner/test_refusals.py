# mypy: disable-error-code="empty-body"
"""Reads that can't be planned are reported together, each with the smallest change that makes it possible."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, NamedTuple

import pytest

from keyplan import Cursor, Design, Entity, Id, Page, Prefix, Range, Table, read
from keyplan.errors import DesignError
from keyplan.model.deferral import deferred
from keyplan.planner import plan
from tests.planner.support import design
from tests.planner.support import refusal as refusal_of

State = Literal["open", "paid"]


class Order(Entity):
    order_id: Id[str]
    customer_id: str
    region: str
    state: State = "open"
    placed_at: datetime
    shipped_at: datetime | None = None
    total: Decimal
    tags: list[str]


class Line(Entity):
    order_id: Id[str]
    number: Id[int]
    product_id: str


class Product(Entity):
    product_id: Id[str]
    name: str
    price: int


class Basket(Entity):
    customer_id: Id[str]
    product_id: Id[str]


class Nameless(Entity):
    text: str


class Odd(NamedTuple):
    order: Order
    products: list[Product]


def filter_on_another(self: Any, product_id: str, state: State) -> list[Line]: ...
def ordered_together(self: Any, order_id: str, limit: int = 5, cursor: Cursor | None = None) -> Page[Order | Line]: ...
def strong(self: Any, customer_id: str) -> list[Order]: ...
def two_ranges(self: Any, customer_id: str, placed_at: Range[datetime], shipped_at: Range[datetime]) -> list[Order]: ...
def range_and_order(self: Any, customer_id: str, placed_at: Range[datetime]) -> list[Order]: ...
def by_list(self: Any, tags: list[str]) -> list[Order]: ...
def by_fraction(self: Any, total: Decimal) -> list[Order]: ...
def in_basket(self: Any, customer_id: str) -> list[Product]: ...
def misspelt(self: Any, custmer_id: str) -> list[Order]: ...
def wrong_type(self: Any, customer_id: int) -> list[Order]: ...
def of_customer(self: Any, customer_id: str) -> list[Order]: ...
def in_state(self: Any, state: State) -> list[Order]: ...
def odd_collection(self: Any, order_id: str) -> Odd | None: ...
def no_limit(self: Any, customer_id: str) -> Page[Order]: ...
def nameless(self: Any, text: str) -> list[Nameless]: ...
def prefix_of_number(self: Any, order_id: str, number: Prefix) -> list[Line]: ...
def maybe_none(self: Any, shipped_at: datetime | None) -> list[Order]: ...
def bad_return(self: Any, customer_id: str) -> dict[str, Order]: ...
def lines(self: Any, order_id: str) -> list[Line]: ...
def all_orders(self: Any) -> list[Order]: ...


CASES: dict[str, tuple[Any, str]] = {
    "filter_on_another": (
        read("Q")(filter_on_another),
        "Line has no field 'state' (copy Order.state to a field of Line: each Line refers to one Order",
    ),
    "ordered_together": (
        read("Q", order_by="placed_at")(ordered_together),
        "order_by= names 'placed_at', which isn't a field of Line (copy Order.placed_at to a field of Line",
    ),
    "strong": (
        read("Q", consistent=True)(strong),
        "only the table's key (order_id) supports strongly consistent reads (omit consistent=True, or in the same",
    ),
    "two_ranges": (read("Q")(two_ranges), "placed_at and shipped_at are ranges, and a key supports only one range"),
    "range_and_order": (
        read("Q", order_by="total")(range_and_order),
        "placed_at is a range, but the result is ordered by total (order by placed_at",
    ),
    "by_list": (read("Q")(by_list), "Order.tags is a list, which no key can contain (store one item per value"),
    "by_fraction": (read("Q")(by_fraction), "a partition key can't represent a float or Decimal exactly: total"),
    "filtered_end": (
        read("Q", through=Basket, where={"name": "tea"})(in_basket),
        "is read by its key, without a filter (copy Product.name to a field of Basket",
    ),
    "ordered_end": (read("Q", through=Basket, order_by="price")(in_basket), "(copy Product.price to a field of Basket"),
    "misspelt": (read("Q")(misspelt), "Order has no field 'custmer_id' (did you mean customer_id?)"),
    "wrong_type": (read("Q")(wrong_type), "is of type int, but the field Order.customer_id is of type str"),
    "where_misspelt": (read("Q", where={"stat": "open"})(of_customer), "where= names 'stat'"),
    "twice": (read("Q", where={"state": "open"})(in_state), "set by both where= and a parameter"),
    "order_unknown": (read("Q", order_by="nope")(of_customer), "order_by= names 'nope', which isn't a field of Order"),
    "order_by_list": (read("Q", order_by="tags")(of_customer), "Order.tags is a list, which no key can contain"),
    "odd_collection": (
        read("Q")(odd_collection),
        "Line has order_id, and refers to Product by product_id: read with through=Line",
    ),
    "no_limit": (read("Q")(no_limit), "a Page requires a limit"),
    "nameless": (read("Q")(nameless), "no field identifies an item"),
    "prefix_of_number": (read("Q")(prefix_of_number), "is of type str, but the field Line.number is of type int"),
    "maybe_none": (read("Q")(maybe_none), "shipped_at can be None, and no key contains items without a value"),
    "bad_return": (read("Q")(bad_return), "the return type dict isn't supported"),
    "order_of_another": (read("Q", order_by="name")(lines), "(copy Product.name to a field of Line"),
    "ordered_scan": (read("Q", scan=True, order_by="total")(all_orders), "a scan returns items in no particular order"),
}


def refusal(names: list[str]) -> str:
    entities: list[type[Entity]] = [Order, Line, Product, Basket]
    with deferred():
        members = {"table": Table("shop", entities=entities), **{name: CASES[name][0] for name in names}}
        design: Any = type("Shop", (Design,), members)
    design.uncompiled = globals()
    with pytest.raises(DesignError) as caught:
        plan(design)
    return str(caught.value)


@pytest.mark.parametrize("name", CASES)
def test_each_reason_to_reject_a_read_has_a_suggested_change(name: str) -> None:
    text = refusal([name])
    assert CASES[name][1] in text


def test_all_reads_that_cannot_be_planned_are_reported_together() -> None:
    text = refusal(list(CASES))
    lines_ = [line for line in text.splitlines() if line.startswith("  - Shop.")]
    places = [line.partition("Shop.")[2].partition(":")[0] for line in lines_]
    assert places == [name for name in CASES if name != "nameless"]
    assert all(words in text for _, words in CASES.values())


def test_a_design_with_the_suggested_copied_field_can_be_planned() -> None:
    class CopiedLine(Entity):
        order_id: Id[str]
        number: Id[int]
        product_id: str
        state: State = "open"

    def lines_in_state(self: Any, product_id: str, state: State) -> list[CopiedLine]: ...

    with deferred():
        design: Any = type("Copied", (Design,), {"table": Table("shop"), "lines": read("Q")(lines_in_state)})
    design.uncompiled = {**globals(), "CopiedLine": CopiedLine}
    assert len(plan(design)[0].indexes) == 1


def test_newest_first_with_two_possible_timestamps_is_rejected() -> None:
    made = design(
        """
class Meter(Entity):
    meter_id: Id[str]
    site: str
    read_at: datetime
    opened_at: datetime

class Zoo(Design):
    table = Table("meters")

    @read("M1", newest_first=True)
    def latest(self, site: str) -> list[Meter]: ...
""".replace("opened_at", "mended_at").replace("read_at", "seen_at")
    )
    assert "newest_first could mean seen_at or mended_at" in refusal_of(made)
