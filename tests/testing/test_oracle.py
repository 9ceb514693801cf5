# mypy: disable-error-code="empty-body"
"""What the oracle holds to be right, apart from any store: what comes first, what counts as asked for, what stands
under a key.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from keyplan import Design, Entity, Index, Key, Range, Table, read
from keyplan.design.compiled.questions import ParameterKind
from keyplan.testing import oracle
from keyplan.testing.oracle import Oracle, UndecidableError
from keyplan.testing.world import Row, World

F, V = oracle._Fixed, oracle._Value


def same(value: Any, *, turned: bool = False) -> Any:
    return V(value, turned)


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        ([], [], 0),
        ([F("A#")], [F("A#")], 0),
        ([F("A#")], [F("B#")], -1),
        ([F("B#")], [F("A#")], 1),
        ([F("A#"), same(2)], [F("A#"), same(3)], -1),
        ([F("A#"), same(3)], [F("A#"), same(2)], 1),
        ([F("A#"), same(3, turned=True)], [F("A#"), same(2, turned=True)], -1),
        ([F("A#"), same(2, turned=True)], [F("A#"), same(3, turned=True)], 1),
        ([same(2), F("A")], [same(2), F("B")], -1),
        ([same(2), same(9)], [same(2), same(9)], 0),
        ([same(1), F("B")], [same(2), F("A")], -1),
        ([F("A#")], [F("A#B")], None),
        ([F("A#B")], [F("A#")], None),
        ([F("A#"), same(1)], [F("A#"), same(1, turned=True)], None),
        ([F("A#")], [same(1)], None),
        ([same(1)], [F("A#")], None),
        ([F("A#"), same(1)], [F("A#")], None),
        ([F("A#")], [F("A#"), same(1)], None),
    ],
)
def test_which_of_two_places_comes_first(left: list[Any], right: list[Any], wanted: int | None) -> None:
    if wanted is None:
        with pytest.raises(UndecidableError):
            oracle._compare(left, right)
    else:
        assert oracle._compare(left, right) == wanted


KINDS = (ParameterKind.VALUE, ParameterKind.RANGE, ParameterKind.PREFIX, ParameterKind.EACH)
HELD: list[tuple[Any, dict[ParameterKind, Any], bool]] = [
    ("ab", {ParameterKind.VALUE: "ab", ParameterKind.PREFIX: "a", ParameterKind.EACH: ["ab", "b"]}, True),
    ("ab", {ParameterKind.VALUE: "a", ParameterKind.PREFIX: "b", ParameterKind.EACH: ["a", "b"]}, False),
    ("ab", {ParameterKind.RANGE: Range(ge="ab")}, True),
    ("ab", {ParameterKind.RANGE: Range(gt="ab")}, False),
    (None, {ParameterKind.VALUE: "a", ParameterKind.PREFIX: "", ParameterKind.EACH: ["None"]}, False),
    (None, {ParameterKind.RANGE: Range(ge="a")}, False),
    (None, dict.fromkeys(KINDS), True),
    ("ab", dict.fromkeys((ParameterKind.RANGE, ParameterKind.PREFIX)), True),
    ("ab", dict.fromkeys((ParameterKind.VALUE, ParameterKind.EACH)), False),
]


@pytest.mark.parametrize(("value", "asked", "holds"), HELD)
def test_what_is_as_asked(value: Any, asked: dict[ParameterKind, Any], holds: bool) -> None:
    assert {kind: oracle._holds(kind, value, argument) for kind, argument in asked.items()} == dict.fromkeys(
        asked, holds
    )


def test_a_moment_is_cut_down_to_its_unit_in_utc() -> None:
    east = datetime(2026, 3, 2, 1, 30, 15, 9, tzinfo=timezone(timedelta(hours=5)))
    cut = {unit: oracle._truncated(east, unit) for unit in ("year", "month", "day", "hour")}
    assert cut == {
        "year": (2026,), "month": (2026, 3), "day": (2026, 3, 1), "hour": (2026, 3, 1, 20),
    }  # fmt: skip
    assert oracle._truncated(date(2026, 3, 2), "month") == (2026, 3)


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

    @read("B1", all_of=BY_BED)
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


def test_a_scan_of_an_index_finds_what_stands_in_it() -> None:
    assert answer("in_beds", THERE) == [["fern", "moss", "oak", "elm", "rye", "axe", "hoe", "saw"]]
    assert answer("plants", THERE) == [["fern", "moss", "oak", "elm", "ivy", "rye"]]


def test_days_of_the_year_are_in_their_order() -> None:
    assert answer("of_bed", THERE, bed="a") == [["fern", "elm"], ["moss"], ["oak"]]


def test_moments_of_one_hour_come_first_alike() -> None:
    assert answer("tools", THERE, bed="a") == [["saw"], ["axe", "hoe"]]


def test_what_two_entities_answer_has_an_order_where_their_fields_say_so() -> None:
    pattern = Beds.compiled.reads["all_of_bed"]
    judge = Oracle(pattern, pattern.options)
    with pytest.raises(UndecidableError):
        judge.groups(THERE, {"bed": "a"})
    everything: list[Any] = [each for group in judge.unordered(THERE, {"bed": "a"}) for each in group]
    assert sorted(each.name for each in everything) == ["axe", "elm", "fern", "hoe", "moss", "oak", "saw"]


def test_texts_are_in_order_with_what_ends_them() -> None:
    nails = world(*(Nail(box="b", name=name, size=size) for name, size in (("a", "1"), ("a!", "2"), ("a", "0"))))
    assert [(each.name, each.size) for group in _groups("nails", nails, box="b") for each in group] == [
        ("a", "0"), ("a", "1"), ("a!", "2"),
    ]  # fmt: skip
    assert answer("nails_named", nails, box="B", name="a") == []
    assert answer("nails_named", nails, box="b", name="a") == [["a"], ["a"]]
