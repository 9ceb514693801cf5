"""Instances are converted to items and back, for each type of field. See test_foreign_items.py for items of other
programs.
"""

from __future__ import annotations

import enum
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Literal, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, RootModel, computed_field
from pydantic.alias_generators import to_camel

from keyplan import Entity, Field, Key, Ttl, Version
from keyplan.errors import ArgumentError
from tests.design.items import GSI1, compiled, left_to_python, round_trip, slowly

# Types of fields


class Color(enum.Enum):
    RED = "b-red"
    GREEN = "a-green"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 20


class Point(NamedTuple):
    x: int
    name: str


class Address(BaseModel):
    """A nested model that can contain another address."""

    street: str
    since: datetime | None = None
    floors: list[int] = Field(default_factory=list)
    color: Color = Color.RED
    next: Address | None = None


class Everything(Entity):
    thing_id: str
    text: str
    whole: int
    real: float
    exact: Decimal
    yes: bool
    data: bytes
    moment: datetime
    day: date
    uuid: UUID
    color: Color
    level: Level
    word: Literal["one", "two"]
    step: Literal[1, 2]
    texts: list[str]
    numbers: list[int]
    moments: list[datetime]
    holes: list[int | None]
    levels: list[Level]
    path: tuple[str, ...]
    pair: tuple[int, str]
    point: Point
    tags: set[str]
    sizes: set[int]
    blobs: frozenset[bytes]
    colors: set[Color]
    counts: dict[str, int]
    by_day: dict[date, list[str]]
    deep: dict[str, dict[str, set[str]]]
    address: Address
    addresses: list[Address]
    either: int | str
    maybe_text: str | None
    maybe_number: Decimal | None
    maybe_address: Address | None
    maybe_tags: set[str] | None

    primary = Key("THING#{thing_id}", "HEAD")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
WHOLE = st.integers(-(10**38) + 1, 10**38 - 1)
EXACT = st.decimals(-(10**18), 10**18, allow_nan=False, places=6)
REAL = st.floats(-1e100, 1e100, allow_nan=False).filter(lambda value: value == 0 or abs(value) > 1e-100)
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=ZONES)  # noqa: DTZ001 - given zones
ADDRESSES = st.recursive(
    st.builds(Address, street=TEXTS, since=st.none() | MOMENTS, floors=st.lists(WHOLE, max_size=2)),
    lambda inner: st.builds(Address, street=TEXTS, next=inner),
    max_leaves=3,
)
EVERYTHING = st.builds(
    Everything,
    thing_id=TEXTS.filter(bool),
    text=TEXTS,
    whole=WHOLE,
    real=REAL,
    exact=EXACT,
    data=st.binary(max_size=5),
    moment=MOMENTS,
    texts=st.lists(TEXTS, max_size=3),
    numbers=st.lists(WHOLE, max_size=3),
    moments=st.lists(MOMENTS, max_size=2),
    holes=st.lists(st.none() | WHOLE, max_size=3),
    path=st.lists(TEXTS, max_size=3).map(tuple),
    pair=st.tuples(WHOLE, TEXTS),
    point=st.builds(Point, WHOLE, TEXTS),
    tags=st.sets(TEXTS, max_size=3),
    sizes=st.sets(WHOLE, max_size=3),
    blobs=st.frozensets(st.binary(min_size=1, max_size=3), max_size=3),
    counts=st.dictionaries(TEXTS, WHOLE, max_size=3),
    by_day=st.dictionaries(st.dates(), st.lists(TEXTS, max_size=2), max_size=2),
    deep=st.dictionaries(TEXTS, st.dictionaries(TEXTS, st.sets(TEXTS, max_size=2), max_size=2), max_size=2),
    address=ADDRESSES,
    addresses=st.lists(ADDRESSES, max_size=2),
    either=WHOLE | TEXTS,
    maybe_text=st.none() | TEXTS,
    maybe_number=st.none() | EXACT,
    maybe_address=st.none() | ADDRESSES,
    maybe_tags=st.none() | st.sets(TEXTS, min_size=1, max_size=2),
)


@given(EVERYTHING)
def test_stored_values_of_every_type_round_trip(instance: Everything) -> None:
    round_trip(instance)


def test_each_python_type_is_stored_as_its_dynamodb_type() -> None:
    item = round_trip(
        Everything(
            thing_id="1",
            text="",
            whole=5,
            real=0.5,
            exact=Decimal("1.50"),
            yes=True,
            data=b"",
            moment=datetime(2026, 1, 2, 3, 4, 5, 6, timezone(timedelta(hours=2))),
            day=date(2026, 1, 2),
            uuid=UUID(int=1),
            color=Color.RED,
            level=Level.HIGH,
            word="one",
            step=2,
            texts=["a"],
            numbers=[],
            moments=[],
            holes=[None],
            levels=[Level.LOW],
            path=("a", "b"),
            pair=(1, "a"),
            point=Point(1, "a"),
            tags={"a"},
            sizes={1},
            blobs=frozenset(),
            colors={Color.GREEN},
            counts={"a": 1},
            by_day={date(2026, 1, 2): []},
            deep={"a": {"b": {"c"}}},
            address=Address(street="x"),
            addresses=[],
            either="5",
            maybe_text=None,
            maybe_number=None,
            maybe_address=None,
            maybe_tags=None,
        )
    )
    shown = {
        name: item.get(name) for name in ("text", "exact", "yes", "data", "moment", "day", "uuid", "color", "level")
    }
    assert shown == {
        "text": {"S": ""},
        "exact": {"N": "1.5"},
        "yes": {"BOOL": True},
        "data": {"B": ""},
        "moment": {"S": "2026-01-02T01:04:05.000006Z"},
        "day": {"S": "2026-01-02"},
        "uuid": {"S": "00000000-0000-0000-0000-000000000001"},
        "color": {"S": "b-red"},
        "level": {"N": "20"},
    }
    assert item["tags"] == {"SS": ["a"]}
    assert item["sizes"] == {"NS": ["1"]}
    assert item["holes"] == {"L": [{"NULL": True}]}
    assert item["pair"] == {"L": [{"N": "1"}, {"S": "a"}]}
    assert item["by_day"] == {"M": {"2026-01-02": {"L": []}}}
    assert item["address"]["M"]["street"] == {"S": "x"}
    assert "blobs" not in item
    assert not any(name.startswith("maybe") for name in item)


class Numbers(Entity):
    name: str
    whole: int = 0
    real: float = 0.0
    exact: Decimal = Decimal(0)

    primary = Key("N#{name}", "HEAD")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"real": float("nan")}, "nan"),
        ({"real": float("inf")}, "inf"),
        ({"real": 1e300}, "overflow"),
        ({"real": 1e-200}, "underflow"),
        ({"whole": 10**39 + 1}, "38 significant digits"),
        ({"exact": Decimal("1E+126")}, "overflow"),
    ],
)
def test_numbers_that_dynamodb_cannot_store_are_rejected(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentError, match=said) as caught:
        compiled(Numbers).to_item(Numbers(name="a", **changes))
    assert caught.value.place == f"Numbers.{next(iter(changes))}"


def test_a_string_with_an_unpaired_surrogate_is_rejected() -> None:
    class Named(Entity):
        name: str
        title: str
        primary = Key("N#{name}", "HEAD")

    half = Named.model_construct(name="a", title="\ud800")
    with pytest.raises(ArgumentError, match="isn't valid Unicode"):
        compiled(Named).to_item(half)


# None, empty sets, defaults


class Nothing(Entity):
    name: str
    required: str | None
    required_set: set[str]
    plain: str | None = None
    other: int | None = 5
    zero: int | None = 0
    no: bool | None = False
    empty: set[str] = Field(default_factory=set)
    full: set[str] = Field(default_factory=lambda: {"x"})
    listed: list[str] = Field(default_factory=lambda: ["x"])

    primary = Key("N#{name}", "HEAD")


@pytest.mark.parametrize("value", [None, 0, 1])
def test_fields_with_none_and_empty_sets_round_trip(value: int | None) -> None:
    text = None if value is None else str(value)
    item = round_trip(
        Nothing(
            name="a",
            required=text,
            required_set=set(),
            plain=text,
            other=value,
            zero=value,
            no=None if value is None else bool(value),
            full=set(),
            listed=[],
        )
    )
    assert not {"required_set", "empty"} & item.keys()
    assert item["full"] == {"L": []}
    assert item["other"] == ({"NULL": True} if value is None else {"N": str(value)})
    assert ("plain" in item, "required" in item) == (value is not None,) * 2


def test_missing_attributes_are_read_as_the_defaults_of_their_fields() -> None:
    entity = compiled(Nothing)
    bare = {"pk": {"S": "N#a"}, "sk": {"S": "HEAD"}, "name": {"S": "a"}}
    for result in (entity.from_item(bare), slowly(entity, bare)):
        assert result == Nothing(name="a", required=None, required_set=set())


def test_a_stored_null_is_read_as_none_if_the_field_allows_none_and_else_as_the_default() -> None:
    entity = compiled(Numbers)
    item = {**entity.to_item(Numbers(name="a", whole=3)), "whole": {"NULL": True}}
    result = entity.from_item(item)
    assert isinstance(result, Numbers)
    assert result.whole == 0

    nothing = compiled(Nothing)
    stored = nothing.to_item(Nothing(name="a", required="x", required_set={"x"}, plain="x"))
    read = nothing.from_item({**stored, "plain": {"NULL": True}, "other": {"NULL": True}})
    assert isinstance(read, Nothing)
    assert (read.plain, read.other) == (None, None)


class Inner(BaseModel):
    some_name: int | None
    other: int | None = 5
    gone: int | None = None


class Camel(Inner):
    model_config = ConfigDict(alias_generator=to_camel)


CAMEL = Camel.model_validate({"someName": 1, "other": None})


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Whole(RootModel[list[int]]):
    """A nested model whose value is a list."""


class Nested(Entity):
    name: str
    inner: Inner
    primary = Key("N#{name}", "HEAD")


class NestedByAlias(Entity):
    name: str
    inner: Camel
    primary = Key("N#{name}", "HEAD")


class ListedByAlias(Entity):
    name: str
    many: list[Camel]
    first: Camel | None = None
    primary = Key("L#{name}", "HEAD")


class NestedOpen(Entity):
    name: str
    inner: Open
    primary = Key("N#{name}", "HEAD")


class NestedRoot(Entity):
    name: str
    inner: Whole
    primary = Key("N#{name}", "HEAD")


@pytest.mark.parametrize(
    "instance",
    [
        Nested(name="a", inner=Inner(some_name=None, other=None)),
        Nested(name="a", inner=Inner(some_name=1, gone=2)),
        NestedByAlias(name="a", inner=CAMEL),
        ListedByAlias(name="a", many=[CAMEL, CAMEL], first=CAMEL),
        NestedOpen(name="a", inner=Open(more=[1, 2])),  # type: ignore[call-arg]
        NestedRoot(name="a", inner=Whole([1, 2])),
    ],
    ids=repr,
)
def test_nested_models_round_trip(instance: Entity) -> None:
    round_trip(instance)


# Aliases, expiry, versions, computed fields


class Aliased(Entity):
    model_config = ConfigDict(alias_generator=to_camel)

    thing_id: str
    long_name: str = "x"
    both: int = Field(default=1, validation_alias="theBoth", serialization_alias="both_")
    expires_at: Ttl | None = None
    counted: Version = 0

    primary = Key("A#{thing_id}", "HEAD")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def shout(self) -> str:
        return self.long_name.upper()

    by_shout = Key("SHOUT#{shout}", "{thing_id}", index=GSI1)


@pytest.mark.parametrize("until", [datetime(2030, 1, 1, tzinfo=UTC), None])
def test_items_with_a_ttl_use_the_fast_read_path(until: datetime | None) -> None:
    item = round_trip(Aliased(thing_id="1", expires_at=until))
    assert not left_to_python(compiled(Aliased, GSI1), item)


def test_fields_are_stored_under_their_aliases() -> None:
    item = round_trip(
        Aliased(thing_id="1", long_name="y", both=2, counted=3, expires_at=datetime(2030, 1, 1, tzinfo=UTC))
    )
    assert item == {
        "pk": {"S": "A#1"},
        "sk": {"S": "HEAD"},
        "gsi1pk": {"S": "SHOUT#Y"},
        "gsi1sk": {"S": "1"},
        "thingId": {"S": "1"},
        "longName": {"S": "y"},
        "both_": {"N": "2"},
        "expiresAt": {"N": "1893456000"},
        "counted": {"N": "3"},
        "shout": {"S": "Y"},
    }


def test_a_ttl_is_stored_in_whole_seconds() -> None:
    entity = compiled(Aliased, GSI1)
    late = datetime(2030, 1, 1, 2, 0, 0, 999_999, timezone(timedelta(hours=2)))
    result = entity.from_item(entity.to_item(Aliased(thing_id="1", expires_at=late)))
    assert isinstance(result, Aliased)
    assert result.expires_at == datetime(2030, 1, 1, tzinfo=UTC)


def test_an_item_with_a_ttl_in_milliseconds_keeps_its_other_fields() -> None:
    """Programs that write items directly often store milliseconds by mistake."""
    entity = compiled(Aliased, GSI1)
    item = entity.to_item(Aliased(thing_id="1", counted=7, expires_at=datetime(2030, 1, 1, tzinfo=UTC)))
    result = entity.from_item({**item, "expiresAt": {"N": "1893456000000"}})
    assert isinstance(result, Aliased)
    assert result.expires_at is not None
    assert result.counted == 7
