# mypy: disable-error-code="empty-body"
"""Assumed calls are realistic: they use values of the type, request all keys of a batch, and change the item."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from enum import Enum

import pytest

from keyplan import (
    CounterShards,
    Cursor,
    Design,
    Each,
    Entity,
    Index,
    Key,
    Page,
    Table,
    Ttl,
    Update,
    Writes,
    read,
    write,
)
from keyplan.analysis.cost.estimate import estimate
from keyplan.dynamodb.values.sizes import value_size
from keyplan.model.declared import example_values as examples
from keyplan.testing import assert_cost

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Kind(Enum):
    LETTER = "letter"
    PARCEL = "parcel"
    PALLET = "pallet"


class Sending(Entity):
    sending_id: str
    depot: str
    kind: Kind = Kind.PARCEL
    paid: bool = False

    primary = Key("SENDING#{sending_id}", "HEAD")
    by_kind = Key("DEPOT#{depot}#KIND#{kind}", "{sending_id}", index=GSI1)


class Delivered(Entity):
    depot: str
    day: date
    slot: int = CounterShards(8)
    sendings: int = 0

    primary = Key("DELIVERED#{depot}#{day}#{slot:d}", "COUNT")


class Depot(Design):
    table = Table("depot", indexes=[GSI1])

    @read("D1")
    def of_kinds(self, depot: str, kind: Each[Kind], limit: int = 5, cursor: Cursor | None = None) -> Page[Sending]: ...

    @read("D2")
    def delivered(self, depot: str, day: Each[date]) -> list[Delivered]: ...

    @write("D3")
    def pay(self, sending: Sending) -> Writes:
        yield Update(sending, paid=True).only_if(paid=False)

    @write("D4")
    def mark(self, sending_id: str) -> Writes:
        yield Update(Sending, sending_id=sending_id).set(paid=True)


def test_the_assumed_number_of_enum_values_is_at_most_the_number_of_members() -> None:
    (pattern,) = (element for element in estimate(Depot).patterns if element.name == "of_kinds")
    assert pattern.notes[-1] == "3 values of kind are passed"
    with Depot.open(":memory:") as depot:
        for number in range(40):
            depot.put(Sending(sending_id=f"{number:02d}", depot="1", kind=list(Kind)[number % 3]))
        assert_cost(depot.of_kinds, "1", list(Kind), read_units=pattern.read_units)


def test_the_estimate_of_a_batch_read_includes_every_key() -> None:
    days = [date(2026, 11, 1) + timedelta(days=number) for number in range(10)]
    assert_cost(Depot.delivered, read_units=40)
    with Depot.open(":memory:") as depot:
        for day in days:
            for slot in range(8):
                depot.put(Delivered(depot="1", day=day, slot=slot))
        assert_cost(depot.delivered, "1", days, read_units=40)


def test_the_estimate_of_setting_a_flag_includes_the_index_write() -> None:
    """If the flag of the assumed item were already true, the write would change nothing."""
    with Depot.open(":memory:") as depot:
        for name, sending in (("pay", "1"), ("mark", "2")):
            item = depot.put(Sending(sending_id=sending, depot="1"))
            assert_cost(getattr(Depot, name), write_units=2)
            assert_cost(getattr(depot, name), item if name == "pay" else item.sending_id, write_units=2)


@pytest.mark.parametrize("second", [0, 1, 37, 100, 999_999_900])
def test_the_size_of_a_typical_ttl_does_not_depend_on_the_time(second: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A TTL is a number, and numbers are stored without trailing zeros."""
    monkeypatch.setattr(examples, "now", lambda: datetime.fromtimestamp(1_790_000_000 + second, UTC))
    for serial in (0, 1, 99, 10**7):
        moment = examples.typical(Ttl, "ends", serial).value
        assert value_size({"N": str(int(moment.timestamp()))}) == 6
        assert moment.timestamp() > 1_790_000_000 + second
