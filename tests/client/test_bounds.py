# mypy: disable-error-code="empty-body"
"""Ranges and prefixes on every kind of sort key give what a filter over all items gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from keyplan import Design, Entity, Index, Key, Number, Prefix, Range, Table, read
from keyplan.client.conversations import converse
from keyplan.client.key_conditions import order_of, text_of
from keyplan.client.merged_partitions import PartedReader
from keyplan.client.results import Answer
from keyplan.client.target import Target
from keyplan.errors import ArgumentError
from keyplan.model.compiled.compiler import compile_read
from keyplan.model.stored.stored_entity import CompiledEntity
from tests.client.support import Recorder
from tests.contract.apart import Apart

A, B, C, D, E, F, G, H = (Index(f"GSI{number}", f"pk{number}", f"sk{number}") for number in range(8))
N, M = (Index(f"NUM{number}", f"npk{number}", Number(f"nsk{number}")) for number in range(2))


class Thing(Entity):
    """One field of each kind, each ordering an index of its own: last in its key, and with another field behind it."""

    thing_id: str
    text: str
    number: int
    at: datetime
    day: date
    path: tuple[str, ...]

    primary = Key("THING#{thing_id}", "THING")
    a = Key("A", "{text}", index=A)
    b = Key("B", "T#{text}#{thing_id}", index=B)
    c = Key("C", "{number:03d}", index=C)
    d = Key("D", "N#{number:03d:desc}#{thing_id}", index=D)
    e = Key("E", "{at}", index=E)
    f = Key("F", "{at:%Y%m%d%H%M%S%f:desc}#{thing_id}", index=F)
    g = Key("G", "{day:desc}", index=G)
    h = Key("H", "P#{path}", index=H)
    n = Key("N", "{number}", index=N)
    m = Key("M", "{at:ms}", index=M)


class Things(Design):
    """Ranges and prefixes of each; ``where`` says by which key, since several would serve."""

    table = Table("things", indexes=[A, B, C, D, E, F, G, H, N, M])

    @read("1", order_by="text")
    def by_text(self, text: Range[str]) -> list[Thing]: ...

    @read("2", order_by="text")
    def by_start(self, text: Prefix) -> list[Thing]: ...

    @read("3", order_by="number")
    def by_number(self, number: Range[int]) -> list[Thing]: ...

    @read("4", order_by="at")
    def by_time(self, at: Range[datetime]) -> list[Thing]: ...

    @read("5", order_by="day")
    def by_day(self, day: Range[date]) -> list[Thing]: ...

    @read("6", order_by="path")
    def by_path(self, path: Range[tuple[str, ...]]) -> list[Thing]: ...


TEXTS = ["#", "$", "$c", "a", "a#", "a#b", "a$", "aa", "ab", "b", "a\x00", "a ", "\U0001f600", "\uffff", "é"]
NUMBERS = [0, 1, 2, 9, 10, 11, 99, 100, 101, 999]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MOMENTS = [NOON + timedelta(microseconds=number) for number in (-(10**9), -1000, -1, 0, 1, 999, 1000, 10**6, 10**11)]
DAYS = [date(2025, 12, 31) + timedelta(days=number) for number in range(4)]
PATHS = [("a",), ("a", "a"), ("a", "b"), ("a#",), ("a\x00",), ("b",), ("#",), ("a", "$")]


def things() -> Iterator[Thing]:
    for number, text in enumerate(TEXTS):
        yield Thing(
            thing_id=f"{number:02d}",
            text=text,
            number=NUMBERS[number % len(NUMBERS)],
            at=MOMENTS[number % len(MOMENTS)],
            day=DAYS[number % len(DAYS)],
            path=PATHS[number % len(PATHS)],
        )


@pytest.fixture(scope="module")
def stored() -> Iterator[Things]:
    with Things.open(":memory:") as design:
        for element in things():
            design.create(element)
        yield design


BOUNDS = [("ge", "le"), ("gt", "lt"), ("ge", "lt"), ("gt", "le"), ("ge",), ("gt",), ("le",), ("lt",)]
CASES = [
    ("by_text", "text", [*TEXTS, "", "a!", "zz"], "ab"),
    ("by_number", "number", [*NUMBERS, -5, 50, 1000, 10**6], "cdn"),
    ("by_time", "at", [*MOMENTS, NOON + timedelta(microseconds=500)], "efm"),
    ("by_day", "day", [*DAYS, date(2026, 6, 1)], "g"),
    ("by_path", "path", [*PATHS, (), ("a", ""), ("a", "a", "a")], "h"),
]


def served_by(design: Things, pattern: str, keys: str) -> Iterator[tuple[str, Any]]:
    """The pattern's answers by each of the keys that could serve it, by leaving only that one."""
    entity = design.compiled.by_name["Thing"]
    read_ = design.compiled.reads[pattern]
    for name in keys:
        (key,) = (compiled_key for compiled_key in entity.index_keys if compiled_key.name == name)
        only = CompiledEntity(Thing, entity.primary, (key,), ())
        options = replace(getattr(Things, pattern).options, newest_first=False)
        compiled = compile_read(read_.signature, options, {Thing: only})
        answer = Answer(compiled, next(iter(design._answers.values())).target, b"")
        yield (
            name,
            lambda arguments, answer=answer: converse(
                answer.converse(answer.pattern.signature.bind((), arguments)), design.store.transport
            ),
        )


@pytest.mark.parametrize(("pattern", "field", "values", "keys"), CASES, ids=[case[0] for case in CASES])
def test_a_range_gives_what_lies_in_it(stored: Things, pattern: str, field: str, values: list[Any], keys: str) -> None:
    everything = list(things())
    for name, ask in served_by(stored, pattern, keys):
        for bounds in BOUNDS:
            for pair in product(values, repeat=len(bounds)):
                within: Range[Any] = Range(**dict(zip(bounds, pair, strict=True)))
                expected = sorted(
                    (element for element in everything if within.holds(getattr(element, field))),
                    key=lambda element: element.thing_id,
                )
                result = ask({field: within})
                assert sorted(result, key=lambda value: str(value.thing_id)) == expected, (name, within)
                order = [getattr(value, field) for value in result]
                if name != "m":  # whole milliseconds order what lies within one by its primary key
                    assert order == sorted(order), (name, within)


@pytest.mark.parametrize("start", ["", "a", "a#", "a$", "#", "$", "é", "\U0001f600", "zz", "a\x00"])
def test_a_prefix_gives_what_begins_with_it(stored: Things, start: str) -> None:
    expected = sorted(element.text for element in things() if element.text.startswith(start))
    for name, ask in served_by(stored, "by_start", "ab"):
        assert [value.text for value in ask({"text": start})] == expected, name


@pytest.mark.parametrize("bounds", [{}, {"ge": 1, "gt": 2}, {"le": 1, "lt": 2}])
def test_a_range_needs_one_bound_a_side(bounds: dict[str, int]) -> None:
    with pytest.raises(ArgumentError):
        Range(**bounds)


def test_nothing_is_asked_where_nothing_can_lie(stored: Things) -> None:
    recorder = Recorder(stored)
    for _, ask in served_by(stored, "by_number", "cdn"):
        stored.store.transport, before = recorder, stored.store.transport
        assert ask({"number": Range(ge=9, le=2)}) == []
        stored.store.transport = before
    assert recorder.requests == []


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("S", ["", "a", "b", "é"]),
        ("N", ["-12.5", "0", "3", "21"]),
        ("B", ["", "AA==", "AAE=", "/w=="]),
    ],
)
def test_what_a_key_is_ordered_by_leads_back_to_its_text(kind: str, texts: list[str]) -> None:
    places = [order_of(text, kind) for text in texts]
    assert places == sorted(places)
    assert [text_of(place, kind) for place in places] == texts


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("pair", [0, 0, 0, 0, 1, 1]), ("both_backwards", [0, 0, 1, 1, 0, 0]), ("ends", [0, 0, 0, 1, 1, 1])],
)
def test_which_narrower_query_a_position_lies_in(name: str, wanted: list[int]) -> None:
    """The last one that begins before it; before all of them it is the first."""
    plan: Any = Apart.compiled.reads[name].plan
    reader = PartedReader(plan, Target("apart", Apart.table))
    asked = {"owner": "x"}
    assert [reader._part_of(asked, [text]) for text in ("", "A", "A#", "B#", "C#", "D")] == wanted
