"""What typical values are made of: a type, a name, a number; and that their types take them."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import starmap
from typing import Annotated, Any, Literal, NewType, Optional
from uuid import UUID

import pytest
from annotated_types import Gt, Interval, Len, Lt
from pydantic import AfterValidator, BaseModel, Field, HttpUrl, RootModel, TypeAdapter, model_validator
from typing_extensions import TypeAliasType

from keyplan import Ttl, Version
from keyplan.model.declared import example_values as examples
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.example_values import (
    ASSUMED,
    CHOICE,
    TYPE,
    accepted_value,
    limits,
    of_one_length,
    text_of,
    typical,
    typical_value,
    varied,
)

MANY = 999_999_937 * 9_973
"""After so many seconds, and so many days, the calendar begins again."""
Cents = NewType("Cents", int)
Named = TypeAliasType("Named", Annotated[str, Field(max_length=3)])


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Operator(enum.Enum):
    """Its values are no limits."""

    ge = "ge"
    max_length = "max_length"


class Part(BaseModel):
    title: Annotated[str, Field(max_length=5)]
    kind: str = Field(examples=["a", "b"])
    count: Annotated[int, Field(le=3)] = 1


def only_even(number: int) -> int:
    assert number % 2 == 0
    return number


class Wishes(BaseModel):
    """A model whose fields refuse what is assumed for them."""

    even: Annotated[int, AfterValidator(only_even)] = Field(alias="e")
    url: Annotated[str, Field(pattern="^https://")]
    kept: Annotated[str, Field(pattern="^z$")] = "z"
    made: Annotated[str, Field(pattern="^y$")] = Field(default_factory=lambda: "y")
    title: Annotated[str, Field(max_length=3)]


class Upper(BaseModel):
    """A model that makes another value of what it is given, under another name."""

    name: Annotated[str, Field(max_length=3), AfterValidator(str.upper)] = Field(alias="n")
    made: Annotated[int, Field(multiple_of=1000)] = Field(default_factory=lambda: 3000)


class Never(BaseModel):
    title: Annotated[str, Field(max_length=3)]

    @model_validator(mode="after")
    def _refuse(self) -> Never:
        raise ValueError


@pytest.mark.parametrize(
    ("annotation", "name", "serial", "expected"),
    [
        (str, "", 0, "x" * 24),
        (str, "Name_2", 0, "name" + "x" * 20),
        (str, "name", 12, "name" + "x" * 18 + "12"),
        (str, "az", 3, "az" + "x" * 21 + "3"),
        (str, "slug", 0, "slug" + "x" * 36),
        (str, "body", 1, "body" + "x" * 3995 + "1"),
        (Annotated[str, Field(min_length=30)], "", 0, "x" * 30),
        (Annotated[str, Field(max_length=2)], "name", 345, "45"),
        (Annotated[str, Len(1, 3)], "name", 45, "n45"),
        (Named, "name", 0, "nam"),
        (Optional[Named], "name", 0, "nam"),  # noqa: UP045 - aliases have no |
        (bytes, "key", 7, b"key" + b"x" * 20 + b"7"),
        (Annotated[bytes, Field(max_length=4)], "key", 0, b"keyx"),
        (Annotated[str, Gt("en"), Field(max_length=12)], "", 0, "x" * 12),
        (int, "count", 0, 1234),
        (int, "", 1, 3),
        (Cents, "price", 5, 1239),
        (float, "price", 1, 1235.0),
        (Decimal, "price", 1, Decimal(1235)),
        (Annotated[int, Field(le=10)], "n", 3, 7),
        (Annotated[int, Field(lt=10)], "n", 3, 6),
        (Annotated[int, Field(le=1237)], "n", 3, 1237),
        (Annotated[int, Field(ge=8, le=10)], "n", 2, 8),
        (Annotated[int, Field(ge=8, le=10)], "n", 3, 10),
        (Annotated[int, Field(gt=8, le=10)], "n", 0, 10),
        (Annotated[int, Field(ge=5000)], "n", 2, 5002),
        (Annotated[int, Field(gt=5000)], "n", 2, 5003),
        (Annotated[int, Field(ge=1234)], "n", 0, 1234),
        (Annotated[int, Interval(ge=3, lt=7)], "n", 1, 5),
        (Annotated[int, Gt(5000), Lt(5003)], "n", 0, 5001),
        (Annotated[Annotated[int, Field(ge=5000)], Field(ge=6000)], "n", 0, 6000),
        (Annotated[Decimal, Field(ge=Decimal("0.1"), le=Decimal("0.5"))], "n", 0, Decimal("0.5")),
        (bool, "on", 1, True),
        (type(None), "", 0, None),
        (datetime, "at", 0, datetime(2026, 1, 2, 9, 42, 0, 123_456, tzinfo=UTC)),
        (datetime, "at", 61, datetime(2026, 1, 2, 9, 43, 1, 123_456, tzinfo=UTC)),
        (datetime, "at", MANY + 1, datetime(2026, 1, 2, 9, 42, 1, 123_456, tzinfo=UTC)),
        (date, "on", 0, date(2026, 1, 2)),
        (date, "on", MANY + 31, date(2026, 2, 2)),
        (time, "at", 0, time(9, 42, 0, 123_456)),
        (time, "at", MANY + 1, time(9, 42, 1, 123_456)),
        (UUID, "id", 0, UUID("0a11ce00-0000-0000-0000-000000000000").__class__(int=0xA11CE << 100)),
        (UUID, "id", 9, UUID(int=(0xA11CE << 100) + 9)),
        (Literal["draft", "published"], "state", 1, "draft"),
        (Colour, "colour", 0, Colour.RED),
        (Colour | None, "colour", 0, Colour.RED),
        (None | Literal["a", "b"], "choice", 0, "a"),
        (Operator, "operator", 0, Operator.ge),
        (TypeAliasType("Colours", list[Colour]), "", 0, [Colour.RED] * 3),
        (TypeAliasType("Count", int | None), "count", 0, 1234),
        (Version, "version", 0, 2),
        (list[int], "numbers", 0, [2, 3, 4]),
        (list[str], "texts", 1, ["x" * 23 + "1", "x" * 23 + "2", "x" * 23 + "3"]),
        (list, "texts", 0, ["x" * 24, "x" * 23 + "1", "x" * 23 + "2"]),
        (Annotated[list[int], Field(max_length=1)], "numbers", 0, [2]),
        (Annotated[list[int], Field(min_length=4)], "numbers", 0, [2, 3, 4, 5]),
        (set[int], "numbers", 1, {3, 4, 5}),
        (frozenset[int], "numbers", 0, frozenset({2, 3, 4})),
        (Sequence[int], "numbers", 0, [2, 3, 4]),
        (Iterable[int], "numbers", 0, [2, 3, 4]),
        (tuple[int, ...], "numbers", 0, (2, 3, 4)),
        (tuple[int, bool], "pair", 4, (1238, True)),
        (dict[int, bool], "flags", 0, {2: True, 3: True, 4: True}),
        (Mapping[int, int], "counts", 1, {3: 3, 4: 4, 5: 5}),
        (dict, "any", 0, {f"{'x' * (24 - len(n))}{n}": f"{'x' * (24 - len(n))}{n}" for n in ("", "1", "2")}),
        (int | None, "count", 0, 1234),
        (int | str | None, "either", 0, 1234),
        (None | str | int, "title", 0, "title" + "x" * 55),
        (Any, "any", 2, "x" * 23 + "2"),
        (Part, "part", 0, Part(title="title", kind="a", count=3)),
        (Part, "part", 3, Part(title="titl3", kind="b", count=0)),
        (list[Part], "", 0, [Part(title=t, kind=k, count=c) for t, k, c in zip(
            ("title", "titl1", "titl2"), "aba", (3, 2, 1), strict=True)]),
        (Wishes, "wishes", 1, Wishes.model_construct(
            even=0, url="https://example.com/some/page", kept="z", made="y", title="ti1")),
        (Upper, "upper", 0, Upper(n="nam")),
        (Never, "never", 0, Never.model_construct(title="en")),
    ],
)  # fmt: skip
def test_a_typical_value(annotation: Any, name: str, serial: int, expected: Any) -> None:
    value = typical_value(annotation, name, serial)
    assert (value, type(value)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("annotation", "source", "exact"),
    [
        (str, ASSUMED, False),
        (int, ASSUMED, False),
        (bytes, ASSUMED, False),
        (list[bool], ASSUMED, False),
        (Version, ASSUMED, False),
        (datetime, TYPE, True),
        (UUID, TYPE, True),
        (bool, TYPE, True),
        (Ttl, TYPE, True),
        (Literal["a", "b"], TYPE, True),
        (Literal["a", "bc"], CHOICE, False),
        (Colour, CHOICE, False),
    ],
)
def test_what_a_value_was_made_of(annotation: Any, source: str, exact: bool) -> None:
    assert typical(annotation, "name", 0)[1:] == (source, exact)
    assert typical(TypeAliasType("Alias", annotation), "name", 0)[1:] == (source, exact)


def test_what_expires_does_so_in_a_month(monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    monkeypatch.setattr(examples, "now", lambda: now.replace(minute=59, second=58, microsecond=57))
    moments = [typical_value(Ttl, "until", serial) for serial in range(6)]
    assert moments == [now + timedelta(days=30, hours=serial, seconds=1) for serial in range(6)]


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (Annotated[int, Field(multiple_of=7, ge=14)], 14),
        (Annotated[int, Field(multiple_of=7, le=20, ge=-3)], 0),
        (Annotated[int, Field(multiple_of=7, le=-7)], -7),
        (Annotated[Decimal, Field(gt=0, lt=1)], Decimal("0.5")),
        (Annotated[float, Field(gt=5.5, lt=6)], 5.75),
        (Annotated[float, Field(gt=0, le=0.5)], 0.5),
        (Annotated[Decimal, Field(gt=0, le=Decimal("0.5"), decimal_places=2)], Decimal("0.5")),
        (Annotated[Decimal, Field(ge=Decimal("0.5"), lt=1, decimal_places=2)], Decimal("0.5")),
        (Annotated[Decimal, Field(gt=Decimal("0.3"), le=Decimal("0.5"), decimal_places=1), AfterValidator(
            lambda number: number if number < Decimal("0.5") else only_even(1))], Decimal("0.4")),
        (Annotated[Decimal, Field(ge=Decimal("0.3"), lt=Decimal("0.5"), decimal_places=1), AfterValidator(
            lambda number: number if number > Decimal("0.3") else only_even(1))], Decimal("0.4")),
        (Annotated[Decimal, Field(gt=0, lt=10), AfterValidator(lambda number: number if number in {4.5, 5.5}
            else only_even(1))], Decimal("4.5")),
        *((Annotated[int, AfterValidator(lambda number, only=only: number if number == only else only_even(1))], only)
            for only in (1, 0, 10, 100, -1)),
        *((Annotated[kind, AfterValidator(lambda given, only=only: given if given == only else only_even(1))], only)
            for kind, only in ((dict[str, Any], {"a": "a"}), (dict[str, Any], {"a": 1}), (list[str], ["a"]),
                               (set[str], {"a"}), (tuple[str, ...], ("a",)), (set[str], set()), (list[str], []))),
        (Annotated[date, Field(lt=date(2020, 1, 1))], date(2019, 12, 31)),
        (Annotated[date, Field(gt=date(2030, 1, 1))], date(2030, 1, 2)),
        (Annotated[datetime, Field(lt=datetime(2020, 1, 1, tzinfo=UTC))],
            datetime(2019, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
        (Annotated[timedelta, Field(gt=timedelta(days=1))], timedelta(days=1, microseconds=1)),
        (Annotated[time, Field(lt=time(1))], time(0, 0, 1, tzinfo=UTC)),
        (Annotated[str, Gt("en"), Field(max_length=12)], "some-slug"),
        (HttpUrl, HttpUrl("https://example.com/some/page")),
        (Annotated[str, Field(pattern="^[A-Z]{3}$")], "EUR"),
        (RootModel[list[str]], RootModel[list[str]]([])),
        (Annotated[dict[str, int], Field(min_length=1)], {"a": 1}),
        (Annotated[str, Field(pattern="^never$")], None),
    ],
)  # fmt: skip
def test_a_value_that_its_validators_accept(annotation: Any, expected: Any) -> None:
    """The nearest one within bounds that aren't included, of numbers, days and moments; or a usual text."""
    if expected is None:
        with pytest.raises(Problem):
            accepted_value(annotation)
    else:
        assert accepted_value(annotation) == expected


@pytest.mark.parametrize(
    "annotation",
    [
        str, int, float, Decimal, bytes, bool, datetime, date, time, UUID, Colour, Part, Cents, Named, list[Part],
        Annotated[str, Field(min_length=2, max_length=7)], Annotated[int, Field(ge=3, le=9)], dict[str, Part],
        Annotated[int, Field(gt=3, lt=9)], tuple[int, str], set[str], Literal[1, 2], Part | None, list[Colour],
    ],
)  # fmt: skip
def test_values_are_what_their_types_take(annotation: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)
    made = [typical_value(annotation, "name", serial) for serial in (*range(12), 10**6, 10**12)]
    for value in made:
        assert adapter.validate_python(value) == value


@pytest.mark.parametrize(
    ("annotation", "what", "expected"),
    [
        (int, "value", (None, None)),
        (Annotated[int, Field(ge=0, lt=16)], "value", (0, 15)),
        (Annotated[int, Field(gt=0, le=16)], "value", (1, 16)),
        (Annotated[Annotated[int, Field(ge=1, le=9)], Field(ge=2)], "value", (2, 9)),
        (Annotated[str, Field(min_length=1)], "length", (1, None)),
        (Annotated[str, Field(max_length=9)], "length", (None, 9)),
        (Annotated[str, Field(max_length=9)], "value", (None, None)),
        (list[Operator], "length", (None, None)),
        (Operator, "value", (None, None)),
        (Annotated[Operator, Field(min_length=2)], "length", (2, None)),
        (Annotated[list[int], Len(2, 3)] | None, "length", (2, 3)),
    ],
)
def test_limits(annotation: Any, what: Any, expected: tuple[Any, Any]) -> None:
    assert limits(annotation, what) == expected


def test_texts_are_as_long_as_they_should_be_and_differ() -> None:
    names = ("body", "text", "bio", "description", "abstract", "excerpt", "title", "url", "slug", "other")
    further = ("content", "markdown", "html", "message", "summary")
    lengths = [4000, 600, 200, 300, 1200, 200, 60, 60, 40, 24, 4000, 4000, 4000, 600, 300]
    assert [len(typical_value(str, name)) for name in (*names, *further)] == lengths
    texts = list(starmap(text_of, [(3, 0, "ab"), (3, 7, "ab"), (3, 77, "Ab"), (3, 777, "ab"), (3, 7777, "ab")]))
    assert texts == ["abx", "ab7", "a77", "777", "777"]
    assert (text_of(0, 0), text_of(2, 0, "é-z")) == ("", "zx")
    assert [varied("v1.0", 0), varied("v1.0", 1), varied("v1", 9), varied("v", 2)] == ["v1.0", "v1.1", "v10", "v2"]
    assert varied("v", 0) == "v"
    assert of_one_length(Literal["ab", "cd"])
    assert not of_one_length(Literal["ab", "c"])
    assert of_one_length(enum.Enum("Sides", {"left": "l", "right": "r"}))
    assert not of_one_length(str)
