# mypy: disable-error-code="empty-body"
"""What ``verify`` asks, and what it lets pass: its questions are those of every run with that number, and each wrong
answer of each shape is found, in words that say what is wrong. ``test_verify.py`` breaks designs; here the judge itself
is given wrong answers.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from enum import Enum
from typing import Any, NamedTuple

import pytest
from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning
from pydantic import computed_field

from keyplan import Cursor, Design, Each, Entity, Index, Key, KeyStyle, Page, Range, Table, read
from keyplan.client.conversations import Request
from keyplan.testing import Clock, Maker, verify
from keyplan.testing.arranging import Missed, key_fields_of
from keyplan.testing.checking import Checker
from keyplan.testing.model import Model
from keyplan.testing.oracle import Oracle
from keyplan.testing.questions import Asker
from keyplan.testing.report import RunningCounts
from keyplan.testing.smaller import smallest
from keyplan.testing.steps import Change, Copy, Erase, Family, Write
from keyplan.testing.world import Row, World
from tests.agreed import assert_agreed
from tests.contract.buckets import Timed
from tests.contract.design import Everything

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Person(Entity):
    team: str
    number: int
    email: str = ""
    points: int | None = None

    primary = Key("TEAM#{team}", "PERSON#{number:04d}")


class Head(Entity):
    team: str

    primary = Key("TEAM#{team}", "HEAD")


class Whole(NamedTuple):
    head: Head
    people: list[Person]


class Loose(NamedTuple):
    head: Head | None
    people: list[Person]


class Team(Design):
    table = Table("team", entities=[Person, Head])

    @read("R1")
    def one(self, team: str, number: int) -> Person: ...

    @read("R2")
    def all_of(self, team: str) -> list[Person]: ...

    @read("R3")
    def few(self, team: str, limit: int = 2) -> list[Person]: ...

    @read("R4")
    def page(self, team: str, limit: int = 2) -> Page[Person]: ...

    @read("R5")
    def pages(self, team: str, limit: int = 2, cursor: Cursor | None = None) -> Page[Person]: ...

    @read("R6")
    def each(self, team: str) -> Iterator[Person]: ...

    @read("R7", of=Person)
    def how_many(self, team: str) -> int: ...

    @read("R8", of=Person)
    def any_there(self, team: str) -> bool: ...

    @read("R9", of=Person, total="points")
    def points(self, team: str) -> int: ...

    @read("R10")
    def whole(self, team: str) -> Whole: ...

    @read("R11")
    def whole_or_none(self, team: str) -> Whole | None: ...

    @read("R12")
    def loose(self, team: str) -> Loose | None: ...


A, B, C, D = (Person(team="t", number=number, points=number) for number in range(4))
HEAD, OTHER = Head(team="t"), Head(team="u")
HEADS: tuple[Any, ...] = (HEAD, OTHER, None)
GROUPS: dict[str, list[list[Any]]] = {
    "nothing": [], "one": [[A]], "one or none": [[A, None]], "two, in any order": [[A, B]], "in order": [[A], [B, C]],
    "a head": [[HEAD]], "a head and people": [[HEAD], [A], [B]],
}  # fmt: skip
ANSWERS: dict[str, list[Any]] = {
    "one": [None, A, B, C],
    "list": [[], [A], [B], [A, B], [B, A], [A, B, C], [A, C, B], [B, A, C], [A, B, C, D], [A, A]],
    "int": [0, 1, 2, 3, 6, True, None], "bool": [False, True, 0, 1, None],
    "whole": [None, *(Whole(head, people) for head in HEADS for people in ([], [A], [A, B], [B, A]))],
}  # fmt: skip
KINDS = {"one": "one", "how_many": "int", "any_there": "bool", "points": "int", "whole": "whole",
         "whole_or_none": "whole", "loose": "whole"}  # fmt: skip


@pytest.mark.parametrize("name", Team.compiled.reads)
def test_each_answer_of_each_shape_is_judged(name: str) -> None:
    pattern = Team.compiled.reads[name]
    nothing: Any = None
    checker = Checker(nothing, pattern, nothing, nothing, nothing)
    lines: list[str] = []
    for told, groups in GROUPS.items():
        for given in [{}, {"limit": 1}, {"limit": 9}] if "limit" in pattern.signature.by_name else [{}]:
            if (pattern.shape.kind.name == "PAGE" and not given) or ("none" in told and name != "one"):
                continue
            judged: dict[str, list[str]] = {}
            for got in ANSWERS[KINDS.get(name, "list")]:
                try:
                    checker._judge([[each for each in group if each or name == "one"] for group in groups], got, given)
                    judged.setdefault("right", []).append(_shown(got))
                except Exception as error:  # noqa: BLE001 - what it says is what is looked at
                    judged.setdefault(f"{type(error).__name__}: {error}", []).append(_shown(got))
            lines.append(f"{told} {given or ''}")
            lines += [f"    {what}: {'  '.join(answers)}" for what, answers in judged.items()]
    assert_agreed("\n".join(lines))


def _shown(got: Any) -> str:
    match got:
        case Person():
            return "ABCD"[got.number]
        case Head():
            return f"head of {got.team}"
        case Whole():
            return f"({_shown(got.head)}, {_shown(got.people)})"
        case list():
            return "".join(map(_shown, got)) or "[]"
        case _:
            return repr(got)


class Color(Enum):
    RED = "b"
    GREEN = "a"


class Dot(Entity):
    group: str
    at: datetime
    color: Color = Color.RED
    size: int = 0
    note: str | None = None

    primary = Key("DOTS#{group}", "{at}")


class Dots(Design):
    table = Table("dots", entities=[Dot])

    @read("R1", where="color = :shade AND :least <= size")
    def shaded(self, group: str, shade: Color, least: int = 0) -> list[Dot]: ...

    @read("R2", where="size BETWEEN :least AND :most OR note IN (:notes)")
    def sized(self, group: str, least: int, most: int, notes: Each[str], newest_first: bool = False) -> list[Dot]: ...

    @read("R3")
    def within(self, group: str, at: Range[datetime]) -> list[Dot]: ...


@pytest.mark.parametrize("design", [Everything, Timed, Dots])
def test_what_is_asked(design: type[Design]) -> None:
    clock = Clock(datetime(2026, 3, 1, 10, 20, 30, tzinfo=UTC))
    make = Maker(3)
    entities = design.compiled.entities
    with clock:
        rows = [Row(entity, make(cls), {}) for cls, entity in entities.items() for _ in range(3)]
    world = World(tuple(rows), (), ())
    lines: list[str] = []
    for name, pattern in design.compiled.reads.items():
        asker = Asker(pattern)
        for number in (1, 2):
            lines += [f"{name} {number}: {asked}" for asked in asker.questions(world, number)]
    assert_agreed("\n".join(lines))


def test_a_failure_is_made_smaller() -> None:
    """Halves of the steps are left out, then less, the last ones first; a smaller store is asked three sets of
    questions."""
    tried: list[tuple[list[int], int]] = []

    def fails(steps: list[Any], number: int) -> AssertionError | None:
        tried.append((list(steps), number))
        return AssertionError(str(steps)) if {2, 5} <= set(steps) and number >= (6 if len(steps) < 6 else 5) else None

    eight: list[Any] = [*range(8)]
    assert str(smallest(eight, 5, fails)) == "[2, 5]"
    assert_agreed("\n".join(f"{number}: {steps}" for steps, number in tried))
    assert smallest(eight[:1], 5, fails) is None


def test_parts_of_steps_are_left_out() -> None:
    entity, changes = Team.compiled.entities[Person], [{"email": "a"}, {"email": "b"}]
    two = {"email": "c", "points": 3}
    steps: list[Any] = [Family(entity, A, changes), Copy(entity, 1, two, create=True),
                        Change(entity, 2, two, stale=False),
                        Change(entity, 2, {"points": 3}, stale=True), Erase(entity, 1, stale=False),
                        Write(B, create=True)]  # fmt: skip
    tried: list[str] = []

    def fails(steps: list[Any], number: int) -> AssertionError | None:
        tried.append(f"{number}: {' '.join(map(_step, steps))}")
        return AssertionError("") if len(steps) == 6 and len(tried) % 4 == 1 else None

    smallest(steps, 0, fails)
    assert_agreed("\n".join(tried))


def _step(step: Any) -> str:
    names = [name for name in ("instance", "changes", "create", "stale") if hasattr(step, name)]
    shown = (_shown(getattr(step, name)) if name == "instance" else getattr(step, name) for name in names)
    return f"{type(step).__name__}({', '.join(map(str, shown))})"


KEY = {"pk": {"S": "TEAM#t"}, "sk": {"S": "PERSON#0001"}}


def test_what_a_write_misses() -> None:
    """What a read didn't find, and each key of a write that failed; of these, whose key it is."""
    other = {"pk": {"S": "TEAM#u"}, "sk": {"S": "HEAD"}}
    missed = Missed()
    get = Request("GetItem", {"Key": KEY})
    missed.answered(get, {})
    missed.answered(get, {"Item": {}})
    missed.answered([get, Request("Query", {}), Request("GetItem", {"Key": other})], [{"Item": {}}, {}, {}])
    missed.answered(Request("DeleteItem", {"Key": KEY}), {})
    assert missed.keys == [KEY, other]
    missed = Missed()
    kinds = [
        {"Put": {"Item": {}}},
        {"Update": {"Key": other}},
        {"Delete": {"Key": KEY}},
        {"ConditionCheck": {"Key": other}},
    ]
    missed.failed([Request("UpdateItem", {"Key": KEY}), Request("DeleteItem", {"Key": other}), get])
    missed.failed(Request("PutItem", {"Item": {}}))
    missed.failed(Request("TransactWriteItems", {"TransactItems": kinds}))
    assert missed.keys == [KEY, other, other, KEY, other]
    compiled = Team.compiled
    assert key_fields_of(compiled, KEY) == (compiled.entities[Person], {"team": "t", "number": 1})
    assert key_fields_of(compiled, other) == (compiled.entities[Head], {"team": "u"})
    for sort in ("PERSON#1", "EMAIL", "PERSON#"):
        assert key_fields_of(compiled, {**KEY, "sk": {"S": sort}}) is None


def test_letters_that_a_key_folds_name_nobody() -> None:
    """Of such a key, the item's field isn't known, so nothing can be put there."""

    class Named(Entity):
        name: str

        primary = Key("NAMED#{name}", "HEAD")

    class Folded(Design):
        table = Table("folded", entities=[Named], key_style=KeyStyle(case="lower"))

    assert key_fields_of(Folded.compiled, {"pk": {"S": "named#ann"}, "sk": {"S": "head"}}) is None


def test_warnings_of_hypothesis_are_not_the_users() -> None:
    def warned(text: str) -> str:
        warnings.warn("drawn in an odd way", HypothesisWarning, stacklevel=1)
        return text

    class Noted(Design):
        table = Table("noted", entities=[Dot])

        @read("R1")
        def dots(self, group: str) -> list[Dot]: ...

    assert verify(Noted, stores=2, seed=1, strategies={"note": st.sampled_from(["a", "b"]).map(warned)}).stores


def test_what_is_missed_is_made_of_any_spare_instance() -> None:
    with Team.open(":memory:") as design:
        model = Model(design, RunningCounts(), {Person: [A, B], Head: []})
        for steps in range(7):
            model.log[:] = ["a step"] * steps
            missed = Missed()
            missed.keys = [{**KEY, "sk": {"S": f"PERSON#{steps:04d}"}}, {**KEY, "sk": {"S": "HEAD"}}]
            assert model._arrange(missed)
            assert design.get(Person, team="t", number=steps) == Person(team="t", number=steps, points=steps % 2)
            assert not model._arrange(missed), "it is there now"


class Late(Entity):
    name: str
    at: datetime
    color: Color

    primary = Key("LATE#{at:%Y-%m-%d}", "{color:rank}#{at}#{name}")
    by_rank = Key("DAY#{day}", "{color:rank}#{name}", index=GSI1)

    @computed_field
    def day(self) -> date:
        return self.at.astimezone(UTC).date()


class Lates(Design):
    table = Table("lates", indexes=[GSI1])

    @read("R1")
    def ranked(self, day: date, color: Range[Color]) -> list[Late]: ...

    @read("R2")
    def of_days(self, at: Range[datetime]) -> list[Late]: ...


def test_the_oracle_knows_ranks_and_days_in_utc() -> None:
    """By rank red comes before green, by its value behind it; at home in the east, a day begins earlier."""
    day, east = datetime(2026, 3, 2, tzinfo=UTC), timezone(timedelta(hours=5))
    red, green = (Late(name="a", at=day, color=color) for color in Color)
    early = Late(name="b", at=datetime(2026, 3, 2, 2, tzinfo=east), color=Color.GREEN)
    late = Late(name="c", at=day + timedelta(hours=1), color=Color.RED)
    compiled = Lates.compiled
    rows = tuple(Row(compiled.entities[Late], each, {}) for each in (late, green, red, early))
    world = World(rows, (), ())
    ranked, of_days = (Oracle(compiled.reads[name], compiled.reads[name].options) for name in ("ranked", "of_days"))

    def answer(oracle: Oracle, **asked: Any) -> list[Any]:
        return [each for group in oracle.groups(world, asked) for each in group]

    assert answer(ranked, day=day.date(), color=Range(ge=Color.RED)) == [red, late, green]
    assert answer(ranked, day=day.date(), color=Range(gt=Color.RED)) == [green]
    assert answer(ranked, day=day.date(), color=Range(lt=Color.GREEN)) == [red, late]
    assert answer(of_days, at=Range(ge=early.at, le=late.at)) == [early, red, late, green]
