"""The values that tests are given: odd ones by ``samples``, an application's by ``typical`` and ``Maker``. Whatever is
tried of a type is part of what ``verify`` finds, and what a maker makes is what somebody's tests expect.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from textwrap import wrap
from typing import Annotated, Any, Generic, Literal, NewType, TypeVar
from uuid import UUID

import pytest
from annotated_types import Interval, Len
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field
from typing_extensions import TypeAliasType

from keyplan import Design, Entity, Key, Table, Ttl, Version, now, ulid
from keyplan.design.declared import examples
from keyplan.design.declared.examples import limits, typical, varied
from keyplan.errors import ArgumentError
from keyplan.testing import Maker
from keyplan.testing.samples import FAVOURED, samples, strategy_for
from tests.agreed import assert_agreed

T = TypeVar("T")
NOW = datetime(2026, 3, 1, 10, 20, 30, 456_789, tzinfo=UTC)


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"


class Size(enum.IntEnum):
    S = 1
    L = 10


class Place(BaseModel):
    city: str
    code: Annotated[str, Field(alias="zip", pattern=r"[A-Z]\d")] = "A1"
    kind: Literal["home", "work"] = "home"


class Odd(BaseModel):
    even: Annotated[int, Field(multiple_of=2)]
    word: Annotated[str, Field(pattern=r"^x+y$")] = "xxy"
    known: str = Field(default="a", examples=["first", "second"])


class Refusing(BaseModel):
    word: Annotated[str, Field(pattern="^BB$")]


def _is_loud(text: str) -> str:
    if not text.isupper() or len(text) < 2:
        raise ValueError("say it loud")
    return text


Loud = Annotated[str, AfterValidator(_is_loud)]
Handle = NewType("Handle", str)
Few = TypeAliasType("Few", Annotated[int, Field(ge=5, le=9)])

TYPES: dict[str, Any] = {
    "str": str,
    "text of one letter": Annotated[str, Len(1, 1)],
    "text of ten letters at least": Annotated[str, Len(10)],
    "text of 100 letters at least": Annotated[str, Len(100)],
    "text of two letters at most": Annotated[str, Len(0, 2)],
    "pattern": Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")],
    "validated": Loud,
    "new type": Handle,
    "int": int,
    "small": Annotated[int, Field(ge=0, le=20)],
    "above and below": Annotated[int, Field(gt=5000, lt=6000)],
    "below": Annotated[int, Field(lt=-2000)],
    "above": Annotated[float, Field(gt=1e6)],
    "interval": Annotated[int, Interval(ge=3333, lt=4444)],
    "steps": Annotated[int, Field(multiple_of=7777)],
    "alias": Few,
    "optional alias": Few | None,
    "bool": bool,
    "float": float,
    "decimal": Decimal,
    "low decimal": Annotated[Decimal, Field(gt=Decimal("7000.5"), le=Decimal("7009.25"))],
    "moment": datetime,
    "day": date,
    "time": time,
    "ttl": Ttl,
    "optional ttl": Ttl | None,
    "version": Version,
    "bytes": bytes,
    "two bytes at most": Annotated[bytes, Len(1, 2)],
    "uuid": UUID,
    "literal": Literal["a", "bc"],
    "literal of one length": Literal["a", "b"],
    "enum": Color,
    "numeric enum": Size,
    "str or int": str | int,
    "optional": int | None,
    "three": int | Color | None,
    "list": list,
    "list of texts": list[str],
    "list of one or two": Annotated[list[int], Len(1, 2)],
    "list of five": Annotated[list[int], Len(5, 5)],
    "set": set[int],
    "frozen set": frozenset[str],
    "sequence": Sequence[int],
    "tuple": tuple[int, ...],
    "pair": tuple[str, int],
    "triple": tuple[Color, bool, Literal["x", "y", "z"]],
    "dict": dict,
    "dict of numbers": dict[str, int],
    "mapping": Mapping[str, Decimal],
    "dict of two": Annotated[dict[str, int], Len(2, 2)],
    "model": Place,
    "odd model": Odd,
    "refusing model": Refusing,
    "models": list[Place],
    "any": Any,
    "object": object,
}


@pytest.fixture(autouse=True)
def _a_fixed_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "now", lambda: NOW)


def _shown(value: Any) -> str:
    """A value's text, the same in each process: a set's order isn't."""
    if isinstance(value, set | frozenset):
        return f"{type(value).__name__}({sorted(map(_shown, value))})"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(map(_shown, value))})"
    return ascii(value)


def test_what_is_tried_of_each_type() -> None:
    lines: list[str] = []
    for name, annotation in TYPES.items():
        lines += wrap(f"{name}: {', '.join(map(_shown, samples(annotation)))}", 110, subsequent_indent="    ")
    assert_agreed("\n".join(lines))


def test_what_is_typical_of_each_type() -> None:
    lines: list[str] = []
    for name, annotation in TYPES.items():
        for field, serial in (("name", 0), ("title", 7), ("", 0), ("body_of_it", 2_000_000)):
            value, source, exact = typical(annotation, field, serial)
            lines.append(f"{name}, {field or 'inside'} {serial}: {_shown(value)}, {source}{', exact' * exact}")
    assert_agreed("\n".join(lines))


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


def test_lengths_that_are_assumed_by_a_name() -> None:
    names = ["body", "content", "markdown", "html", "text", "message", "bio", "description", "summary", "abstract",
             "excerpt", "title", "url", "slug", "other"]  # fmt: skip
    assert_agreed("\n".join(f"{name}: {len(typical(str, name, 12).value)}" for name in names))


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


def test_what_a_maker_makes() -> None:
    lines: list[str] = []
    for seed in (0, 1):
        make = Maker(seed)
        for thing in [make(Thing), make(Thing, name="given", few=6), *make.many(Thing, 3, color=Color.GREEN)]:
            lines.append(f"seed {seed}:")
            lines += [f"  {name}: {_shown(getattr(thing, name))}" for name in Thing.model_fields]
    assert_agreed("\n".join(lines))


def test_a_maker_fills_a_store() -> None:
    with Things.open(":memory:") as design:
        things = Maker().fill(design, {Thing: 3})
        assert things == Maker().many(Thing, 3)
        assert [design.get(Thing, thing_id=thing.thing_id) for thing in things if isinstance(thing, Thing)] == things


def test_what_a_maker_can_not_make() -> None:
    with pytest.raises(ArgumentError, match=r"Fussy.word: .*should match pattern.*\n.*give a value"):
        Maker()(Fussy)
    assert Maker()(Fussy, word="BB").word == "BB"
    with pytest.raises(ArgumentError, match=r"Thing.few: .*less than or equal to 9"):
        Maker()(Thing, few=10)
    nothing: Any = str
    with pytest.raises(ArgumentError, match="made of an entity, not of"):
        Maker()(nothing)
