"""The values that tests are given: odd ones by ``samples``, an application's by ``typical`` and ``Factory``. Whatever
is tried of a type is part of what ``verify`` finds, and what a maker makes is what somebody's tests expect.
"""

from __future__ import annotations

import enum
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, TypeVar

import pytest
from annotated_types import Len
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field

from keyplan import Design, Entity, Key, Table, Ttl, now, ulid
from keyplan.errors import ArgumentError
from keyplan.model.declared import example_values as examples
from keyplan.model.declared.example_values import limits, varied
from keyplan.testing import Factory
from keyplan.testing.samples import FAVOURED, samples, strategy_for

T = TypeVar("T")
NOW = datetime(2026, 3, 1, 10, 20, 30, 456_789, tzinfo=UTC)


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"


class Place(BaseModel):
    city: str
    code: Annotated[str, Field(alias="zip", pattern=r"[A-Z]\d")] = "A1"
    kind: Literal["home", "work"] = "home"


def _is_loud(text: str) -> str:
    if not text.isupper() or len(text) < 2:
        raise ValueError("say it loud")
    return text


Loud = Annotated[str, AfterValidator(_is_loud)]


@pytest.fixture(autouse=True)
def _a_fixed_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "now", lambda: NOW)


def test_limits_that_are_given_twice_leave_the_narrower() -> None:
    wide = Annotated[int, Field(ge=1, le=100)]
    assert limits(Annotated[wide, Field(gt=4, lt=50)], "value") == (5, 49)
    assert limits(Annotated[Annotated[int, Field(ge=7, le=8)], Field(ge=1, le=100)], "value") == (7, 8)
    assert limits(Annotated[Annotated[str, Len(2, 9)], Len(1, 5)], "length") == (2, 5)
    assert limits(Annotated[date, Field(gt=date(2026, 1, 1), lt=date(2026, 2, 1))], "value") == (
        date(2026, 1, 2),
        date(2026, 1, 31),
    )
    second = timedelta(seconds=1)
    assert limits(Annotated[timedelta, Field(gt=second)], "value") == (second + timedelta.resolution, None)
    assert limits(Annotated[str, Len(3)], "value") == (None, None)


class Text(str):
    max_length = 5


class Box(Generic[T]):
    max_length = 5


@pytest.mark.parametrize("annotation", [Text, Box[int], Annotated[str, Text], Annotated[str, Box[int]]])
def test_attributes_of_a_type_are_no_limits(annotation: Any) -> None:
    assert limits(annotation, "length") == (None, None)


@pytest.mark.parametrize(
    ("text", "serial", "expected"), [("1.0", 0, "1.0"), ("1.0", 3, "1.3"), ("beta", 2, "beta2"), ("v9", 2, "v11")]
)
def test_another_text_of_the_same_kind(text: str, serial: int, expected: str) -> None:
    assert varied(text, serial) == expected


def test_the_first_samples_are_drawn_more_often() -> None:
    """So that fields of different items are often equal."""
    drawn: list[str] = []

    @given(strategy_for(str, {}), st.integers())
    @settings(max_examples=300, database=None)
    def draw(value: str, _: int) -> None:
        drawn.append(value)

    draw()
    assert set(drawn) <= set(samples(str))
    assert len(set(drawn)) > FAVOURED
    assert sum(value in samples(str)[:FAVOURED] for value in drawn) > len(drawn) / 3


@pytest.mark.parametrize(
    ("annotation", "own", "expected"),
    [
        (Annotated[str, Field(pattern=r"^x{3}y$")], {}, {"xxxy"}),
        (Annotated[str, Field(pattern=r"^x{3}y$")] | None, {}, {"xxxy", None}),
        (str, {str: st.just("own")}, {"own"}),
        (str | None, {str: st.just("own")}, {"own", None}),
        (Annotated[int, Field(multiple_of=2, ge=10**6, le=10**6 + 2)], {}, {10**6, 10**6 + 2}),
        (time, {}, None),
    ],
)
def test_what_is_drawn_is_taken_by_its_type(annotation: Any, own: dict[Any, Any], expected: set[Any] | None) -> None:
    drawn: set[Any] = set()

    @given(strategy_for(annotation, own))
    @settings(max_examples=50, database=None)
    def draw(value: Any) -> None:
        drawn.add(value)

    draw()
    assert drawn == expected or (expected is None and {type(value) for value in drawn} == {time})


class Thing(Entity):
    """A field of each kind that a maker fills."""

    thing_id: str = Field(default_factory=ulid)
    at: datetime = Field(default_factory=now)
    name: str
    title: str
    count: int
    few: Annotated[int, Field(ge=5, le=9)]
    negative: Annotated[int, Field(ge=-3)]
    price: Decimal
    day: date
    color: Color
    place: Place
    tags: set[str]
    status: str = Field(examples=["draft", "live", "gone"])
    expires: Ttl
    loud: Loud
    left: str = "as it was"
    note: str | None = None

    primary = Key("THING#{thing_id}", "HEAD")


class Fussy(Entity):
    fussy_id: str
    word: Annotated[str, Field(pattern="^BB$")]

    primary = Key("FUSSY#{fussy_id}", "HEAD")


class Things(Design):
    table = Table("things", entities=[Thing])


def test_a_maker_fills_a_store() -> None:
    with Things.open(":memory:") as design:
        things = Factory().fill(design, {Thing: 3})
        assert things == Factory().many(Thing, 3)
        assert [design.get(Thing, thing_id=thing.thing_id) for thing in things if isinstance(thing, Thing)] == things


def test_what_a_maker_can_not_make() -> None:
    with pytest.raises(ArgumentError, match=r"Fussy.word: .*should match pattern.*\n.*give a value"):
        Factory()(Fussy)
    assert Factory()(Fussy, word="BB").word == "BB"
    with pytest.raises(ArgumentError, match=r"Thing.few: .*less than or equal to 9"):
        Factory()(Thing, few=10)
    nothing: Any = str
    with pytest.raises(ArgumentError, match="made of an entity, not of"):
        Factory()(nothing)
