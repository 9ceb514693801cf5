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

from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning
from pydantic import computed_field

from keyplan import Cursor, Design, Entity, Index, Key, KeyStyle, Page, Range, Table, read
from keyplan.client.conversations import Request
from keyplan.testing import verify
from keyplan.testing.model import Missed, Model, key_fields_of
from keyplan.testing.oracle import Oracle
from keyplan.testing.report import RunningCounts
from keyplan.testing.steps import smallest
from keyplan.testing.stored_world import Row, World

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
    def scan_index(self, team: str) -> list[Person]: ...

    @read("R3")
    def few(self, team: str, limit: int = 2) -> list[Person]: ...

    @read("R4")
    def page(self, team: str, limit: int = 2) -> Page[Person]: ...

    @read("R5")
    def pages(self, team: str, limit: int = 2, cursor: Cursor | None = None) -> Page[Person]: ...

    @read("R6")
    def each(self, team: str) -> Iterator[Person]: ...

    @read("R7", entity=Person)
    def how_many(self, team: str) -> int: ...

    @read("R8", entity=Person)
    def any_there(self, team: str) -> bool: ...

    @read("R9", entity=Person, total="points")
    def points(self, team: str) -> int: ...

    @read("R10")
    def whole(self, team: str) -> Whole: ...

    @read("R11")
    def whole_or_none(self, team: str) -> Whole | None: ...

    @read("R12")
    def loose(self, team: str) -> Loose | None: ...


A, B, C, D = (Person(team="t", number=number, points=number) for number in range(4))
HEAD, OTHER = Head(team="t"), Head(team="u")


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


def test_a_failure_is_made_smaller() -> None:
    """Halves of the steps are left out, then less, the last ones first; a smaller store is asked three sets of
    questions."""
    tried: list[tuple[list[int], int]] = []

    def fails(steps: list[Any], number: int) -> AssertionError | None:
        tried.append((list(steps), number))
        return AssertionError(str(steps)) if {2, 5} <= set(steps) and number >= (6 if len(steps) < 6 else 5) else None

    eight: list[Any] = [*range(8)]
    assert str(smallest(eight, 5, fails)) == "[2, 5]"
    assert smallest(eight[:1], 5, fails) is None


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
