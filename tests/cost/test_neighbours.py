# mypy: disable-error-code="empty-body"
"""Reads of several entities use one query if it reads few other items, and separate queries if it would read many."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from keyplan import Design, Entity, Key, Table, read
from keyplan.analysis.check import check
from keyplan.analysis.cost.estimate import estimate
from keyplan.analysis.explain.explanation import explain
from keyplan.analysis.traffic.traffic_file import traffic_from
from keyplan.testing.costs import metering
from tests.contract.apart import BY_DAY, KEYS, Apart, Between, First, Last, Letter, Many, Parcel
from tests.cost.test_prediction import metered

BIG = "x" * 3950


class Middle(Entity):
    owner: str
    text: str
    day: date | None = None
    primary = Key("OWNER#{owner}", "B#HEAD")
    by_day = Key("DAY#{day}", "B#HEAD", index=BY_DAY, shards=3)


class Through(Design):
    table = Table("through", indexes=[BY_DAY, KEYS], entities=[Middle])

    @read("T1")
    def letters_and_parcels(self, owner: str) -> list[Letter | Parcel]: ...

    @read("T2")
    def of_day(self, day: date) -> list[Letter | Parcel]: ...


def test_one_item_sorted_between_two_entities_is_read_and_reported() -> None:
    assert len(explain(Through, "letters_and_parcels").requests) == 1
    result = {finding.place: finding.message for finding in check(Through).findings if finding.code == "KP207"}
    assert "the table also reads, and then omits, Middle items" in result["Through.letters_and_parcels"]
    with Through.open(":memory:") as design:
        design.put(Letter(owner="o", number=1))
        design.put(Parcel(owner="o", number=1))
        design.put(Middle(owner="o", text=BIG * 10))
        with metering(design) as meter:
            design.letters_and_parcels("o")
    traffic = {
        "patterns": {"letters_and_parcels": {"items": 2}},
        "entities": {"Middle": {"per_partition": 1, "item_bytes": 39_500}},
    }
    assert predicted_units(Through, "letters_and_parcels", traffic) == units(meter) == 5


def test_items_sorted_between_two_entities_in_one_shard_are_charged_once() -> None:
    day = date(2026, 11, 22)
    with Through.open(":memory:") as design:
        for number in range(3):
            design.put(Letter(owner=f"o{number}", number=1, day=day))
            design.put(Parcel(owner=f"o{number}", number=1, day=day))
        design.put(Middle(owner="o", text=BIG * 10, day=day))
        with metering(design) as meter:
            design.of_day(day)
    traffic = {"patterns": {"of_day": {"items": 6}}, "entities": {"Middle": {"per_partition": 1, "item_bytes": 39_500}}}
    assert len(meter) == 3
    assert predicted_units(Through, "of_day", traffic) == units(meter) == 6


def test_many_items_sorted_between_two_entities_are_skipped_and_not_reported() -> None:
    assert not [finding for finding in check(Apart).findings if finding.code == "KP207"]


def predicted_units(design: Any, name: str, traffic: dict[str, Any]) -> float:
    result = estimate(design, traffic_from(traffic, design.compiled))
    pattern = next(element for element in result.patterns if element.name == name)
    return pattern.read_units


def units(meter: Any) -> float:
    return sum(number for _, targets in metered(meter) for _, number in targets)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pair", (2, 1)),
        ("both", (2, 1)),
        ("both_backwards", (2, 2)),  # strongly consistent
        ("page", (2, 1)),
        ("how_many", (2, 1)),
        ("any", (1, 0.5)),
        ("ends", (2, 1)),
    ],
)
def test_skipped_items_sorted_between_two_entities_are_not_charged(name: str, expected: tuple[int, float]) -> None:
    usual = {"per_partition": 1}
    traffic: dict[str, Any] = {
        "patterns": {
            "both": {"items": 2},
            "both_backwards": {"items": 2},
            "page": {"items": 2},
            "how_many": {"items": 2},
        },
        "entities": {"Letter": usual, "Parcel": usual, "Between": {"per_partition": 100, "item_bytes": 4000}},
    }
    with Apart.open(":memory:") as design:
        design.put(Letter(owner="o", number=1))
        design.put(Parcel(owner="o", number=1))
        for number in range(100):
            design.put(Between(owner="o", number=number, text=BIG))
            design.put(Many(owner="o", number=number))
        for end in (First(owner="o"), Last(owner="o")):
            design.put(end)
        with metering(design) as meter:
            design.call(name, {"owner": "o"})
    assert (len(meter), units(meter)) == expected
    assert predicted_units(Apart, name, traffic) == units(meter)
