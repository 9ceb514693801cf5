# mypy: disable-error-code="empty-body"
"""The rules of the oracle, without a store: the sort order of results, and the items in an index."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from keyplan import Design, Entity, Index, Key, Table, read
from keyplan.testing.oracle import Oracle, UndecidableError
from keyplan.testing.stored_world import Row, World

BY_BED = Index("by-bed", "bpk", "bsk")


class Plant(Entity):
    name: str
    bed: str | None = None
    sown: date = date(2026, 3, 4)
    seen: datetime = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)

    primary = Key("PLANT#{name}", "HEAD")
    by_bed = Key("BED#{bed}", "{sown:%Y-%j}", index=BY_BED)


class Tool(Entity):
    name: str
    bed: str | None = None
    seen: datetime = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)

    primary = Key("TOOL#{name}", "HEAD")
    by_bed = Key("BED#{bed}", "TOOL#{seen:%Y%m%d%H}", index=BY_BED)


class Nail(Entity):
    box: str
    name: str
    size: str

    primary = Key("NAIL#{box}", "{name}#{size}")


class Beds(Design):
    table = Table("beds", indexes=[BY_BED])

    @read("B1", scan_index=BY_BED)
    def in_beds(self) -> list[Plant | Tool]: ...

    @read("B2")
    def of_bed(self, bed: str) -> list[Plant]: ...

    @read("B3", newest_first=True)
    def tools(self, bed: str) -> list[Tool]: ...

    @read("B4")
    def all_of_bed(self, bed: str) -> list[Plant | Tool]: ...

    @read("B6")
    def nails(self, box: str) -> list[Nail]: ...

    @read("B7")
    def nails_named(self, box: str, name: str) -> list[Nail]: ...

    @read("B5", scan=True)
    def plants(self) -> list[Plant]: ...


def world(*instances: Entity) -> World:
    return World(tuple(Row(Beds.compiled.entities[type(each)], each, {}) for each in instances), (), ())


def _groups(question: str, there: World, /, **asked: Any) -> list[list[Any]]:
    pattern = Beds.compiled.reads[question]
    return [*Oracle(pattern, pattern.options).groups(there, asked)]


def answer(question: str, there: World, /, **asked: Any) -> list[list[str]]:
    return [[each.name for each in group] for group in _groups(question, there, **asked)]


THERE = world(
    Plant(name="fern", bed="a"),
    Plant(name="moss", bed="a", sown=date(2026, 12, 31)),
    Plant(name="oak", bed="a", sown=date(2027, 1, 1)),
    Plant(name="elm", bed="a", sown=date(2026, 3, 4)),
    Plant(name="ivy"),
    Plant(name="rye", bed="b"),
    Tool(name="axe", bed="a"),
    Tool(name="hoe", bed="a", seen=datetime(2026, 3, 4, 5, 59, tzinfo=UTC)),
    Tool(name="saw", bed="a", seen=datetime(2026, 3, 4, 11, 30, tzinfo=timezone(timedelta(hours=5)))),
    Tool(name="rake"),
)


def test_the_oracle_for_an_index_scan_expects_only_items_in_the_index() -> None:
    assert answer("in_beds", THERE) == [["fern", "moss", "oak", "elm", "rye", "axe", "hoe", "saw"]]
    assert answer("plants", THERE) == [["fern", "moss", "oak", "elm", "ivy", "rye"]]


def test_the_oracle_sorts_by_the_day_of_the_year() -> None:
    assert answer("of_bed", THERE, bed="a") == [["fern", "elm"], ["moss"], ["oak"]]


def test_the_oracle_treats_timestamps_in_one_hour_bucket_as_equal() -> None:
    assert answer("tools", THERE, bed="a") == [["saw"], ["axe", "hoe"]]


def test_the_oracle_accepts_any_order_of_entities_without_common_sort_fields() -> None:
    pattern = Beds.compiled.reads["all_of_bed"]
    judge = Oracle(pattern, pattern.options)
    with pytest.raises(UndecidableError):
        judge.groups(THERE, {"bed": "a"})
    everything: list[Any] = [each for group in judge.unordered(THERE, {"bed": "a"}) for each in group]
    assert sorted(each.name for each in everything) == ["axe", "elm", "fern", "hoe", "moss", "oak", "saw"]


def test_the_oracle_sorts_strings_by_their_stored_form() -> None:
    nails = world(*(Nail(box="b", name=name, size=size) for name, size in (("a", "1"), ("a!", "2"), ("a", "0"))))
    assert [(each.name, each.size) for group in _groups("nails", nails, box="b") for each in group] == [
        ("a", "0"), ("a", "1"), ("a!", "2"),
    ]  # fmt: skip
    assert answer("nails_named", nails, box="B", name="a") == []
    assert answer("nails_named", nails, box="b", name="a") == [["a"], ["a"]]
