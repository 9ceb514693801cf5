# mypy: disable-error-code="empty-body"
"""Conditions in DynamoDB's grammar are compiled for the stored types of fields.

For every field, operator and parameter type, either the design is rejected or the condition has the same result as
comparing the values in Python.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel

from keyplan import Design, Each, Entity, Field, Index, Key, Range, Table, Ttl, Update, Writes, read, write
from keyplan.errors import ArgumentError, ConditionFailed, DesignError
from tests.design.refused import told

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Level(enum.Enum):
    """An enum of strings."""

    LOW = "low"
    HIGH = "high"


class Place(BaseModel):
    city: str
    since: datetime


class Thing(Entity):
    thing_id: str
    text: str = "b"
    number: int = 2
    price: Decimal = Decimal("2.5")
    ratio: float = 0.5
    at: datetime = NOON
    day: date = NOON.date()
    expires_at: Ttl = NOON
    uuid: UUID = UUID(int=2)
    level: Level = Level.LOW
    state: Literal["new", "open"] = "new"
    flag: bool = True
    blob: bytes = b"b"
    tags: set[str] = Field(default_factory=lambda: {"a"})
    words: list[str] = Field(default_factory=lambda: ["a"])
    place: Place = Place(city="Bern", since=NOON)
    counts: dict[str, int] = Field(default_factory=dict[str, int])
    closed_at: datetime | None = None

    primary = Key("THING#{thing_id}", "HEAD")


TABLE = Table("things", entities=[Thing])

VALUES: dict[str, list[Any]] = {
    "text": ["a", "b", "c"],
    "number": [1, 2, 10],
    "price": [Decimal("1.5"), Decimal(2), Decimal("2.5")],
    "ratio": [0.25, 2.0, 2.5],
    "at": [NOON - timedelta(microseconds=1), NOON, NOON + timedelta(hours=1)],
    "day": [date(2026, 11, 20), date(2026, 11, 21), date(987, 6, 5)],
    "expires_at": [NOON - timedelta(seconds=1), NOON, NOON + timedelta(hours=1)],
    "uuid": [UUID(int=1), UUID(int=2), UUID(int=10)],
    "level": [Level.LOW, Level.HIGH],
    "state": ["new", "open"],
    "flag": [True, False],
    "blob": [b"a", b"b", b"\xff"],
}
"""Values of each field that are stored; and what parameters of the field's type are given."""
TYPES: dict[str, Any] = {
    "text": str, "number": int, "price": Decimal, "ratio": float, "at": datetime, "day": date, "expires_at": datetime,
    "uuid": UUID, "level": Level, "state": Literal["new", "open"], "flag": bool, "blob": bytes,
}  # fmt: skip
GIVEN: dict[str, list[Any]] = {**VALUES, "at": [*VALUES["at"], NOON + timedelta(milliseconds=500)]}
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def asking(where: str, annotation: Any) -> type[Design]:
    """Return a design with one access pattern, which has a parameter of the given type."""

    def asked(self: Any, value: Any) -> list[Thing]: ...

    asked.__annotations__ = {"value": annotation, "return": list[Thing]}
    method = read("R1", scan=True, where=where)(asked)
    return type("Asking", (Design,), {"table": TABLE, "asked": method})


@pytest.mark.parametrize("field", VALUES)
@pytest.mark.parametrize("sign", OPERATORS)
def test_comparisons_have_the_same_result_as_in_python_or_are_rejected(field: str, sign: str) -> None:
    compare = OPERATORS[sign]
    stored = [Thing(thing_id=str(at), **{field: value}) for at, value in enumerate(VALUES[field])]
    served = 0
    for other, annotation in TYPES.items():
        try:
            design = asking(f"{field} {sign} :value", annotation)
        except DesignError:
            continue
        served += 1
        with design.open(":memory:") as store:
            for element in stored:
                store.put(element)
            for value in GIVEN[other]:
                wanted = {
                    element.thing_id for element in stored if compare(plain(getattr(element, field)), plain(value))
                }
                things: list[Thing] = store.asked(value)  # type: ignore[attr-defined]
                assert {element.thing_id for element in things} == wanted, (field, sign, annotation, value)
    assert served or field == "flag"


def plain(value: Any) -> Any:
    """Return the value of an enum member, since conditions compare enum members by value."""
    return value.value if isinstance(value, enum.Enum) else value


@pytest.mark.parametrize(
    ("where", "annotation", "why"),
    [
        ("expires_at > :value", int, "is of type datetime, stored as seconds since 1970; the value is of type int"),
        ("expires_at > :value", str, "the value is of type str"),
        ("number > :value", str, "Thing.number is of type int; the value is of type str"),
        ("text = :value", int, "Thing.text is of type str; the value is of type int"),
        ("at > :value", str, "Thing.at is of type datetime; the value is of type str"),
        ("at > :value", date, "the value is of type date"),
        ("flag < :value", bool, "doesn't order values of type"),
        ("tags < :value", set[str], "doesn't order values of type"),
        ("contains(number, :value)", int, r"contains\(\) supports strings, lists and sets"),
        ("contains(tags, :value)", int, "an element of Thing.tags is of type str; the value is of type int"),
        ("contains(words, :value)", int, "an element of Thing.words is of type str; the value is of type int"),
        ("begins_with(expires_at, :value)", str, "stored as a number of seconds"),
        ("begins_with(number, :value)", str, r"begins_with\(\) supports strings"),
        ("size(number) > :value", int, "has no size"),
        ("size(text) > :value", str, r"the result of size\(\) is of type int; the value is of type str"),
        ("number BETWEEN :value AND :value", str, "the value is of type str"),
        ("number IN (:value)", str, "the value is of type str"),
        ("place.city = :value", int, "Thing.place.city is of type str; the value is of type int"),
        ("place.town = :value", str, "Thing.place has no field 'town'"),
        ("text.part = :value", str, "has no nested fields"),
        ("number[0] = :value", int, r"isn't a list, so \[0\] is invalid"),
        ("place.since > :value", str, "Thing.place.since is of type datetime; the value is of type str"),
        ("at = expires_at AND number = :value", int, "stored in different formats"),
        ("text = number AND number = :value", int, "stored in different formats"),
        ("closed_at > :value", datetime | None, "the parameter can be None"),
        ("text = :value", Range[str], "a Range isn't a single value"),
        ("text IN (:value, :value)", Each[str], "an Each parameter contains several values"),
        ("text = :value", Each[str], "an Each parameter contains several values"),
        ("NOT (number = :value)", str, "the value is of type str"),
        ("text = :value OR number = :value", str, "the value is of type str"),
    ],
)
def test_the_error_for_a_condition_that_is_never_true_names_its_pattern(where: str, annotation: Any, why: str) -> None:
    with pytest.raises(DesignError) as error:
        asking(where, annotation)
    told(error, "^Asking.asked: ", why)


def test_one_parameter_can_be_compared_with_a_ttl_and_a_timestamp() -> None:
    """The request contains the argument in the stored formats of both fields."""
    design = asking("at <= :value AND expires_at > :value", datetime)
    with design.open(":memory:") as store:
        store.put(Thing(thing_id="1", at=NOON, expires_at=NOON + timedelta(hours=1)))
        store.put(Thing(thing_id="2", at=NOON, expires_at=NOON))
        store.put(Thing(thing_id="3", at=NOON + timedelta(hours=2), expires_at=NOON + timedelta(hours=3)))
        things: list[Thing] = store.asked(NOON + timedelta(milliseconds=1))  # type: ignore[attr-defined]
        assert [element.thing_id for element in things] == ["1"]


def test_nested_fields_can_be_compared_only_with_values_of_their_type() -> None:
    design = asking("place.since >= :value", datetime)
    with design.open(":memory:") as store:
        store.put(Thing(thing_id="1"))
        store.put(Thing(thing_id="2", place=Place(city="Bern", since=NOON - timedelta(days=1))))
        things: list[Thing] = store.asked(NOON)  # type: ignore[attr-defined]
        assert [element.thing_id for element in things] == ["1"]


def test_map_values_can_be_compared_only_with_values_of_their_type() -> None:
    design = asking("counts.red >= :value", int)
    with design.open(":memory:") as store:
        store.put(Thing(thing_id="1", counts={"red": 2}))
        store.put(Thing(thing_id="2", counts={"blue": 2}))
        things: list[Thing] = store.asked(2)  # type: ignore[attr-defined]
        assert [element.thing_id for element in things] == ["1"]
    with pytest.raises(DesignError, match=r"counts\.red"):
        asking("counts.red >= :value", str)


@pytest.mark.parametrize(
    ("where", "annotation", "value", "others"),
    [
        ("contains(text, :value)", str, "b", "x"),
        ("contains(blob, :value)", bytes, b"b", b"x"),
        ("contains(tags, :value)", str, "a", "x"),
        ("contains(words, :value)", str, "a", "x"),
        ("begins_with(text, :value)", str, "b", "x"),
        ("begins_with(blob, :value)", bytes, b"b", b"x"),
    ],
)
def test_contains_conditions_match_strings_and_lists(where: str, annotation: Any, value: Any, others: Any) -> None:
    with asking(where, annotation).open(":memory:") as store:
        store.put(Thing(thing_id="1"))
        assert len(store.asked(value)) == 1  # type: ignore[attr-defined]
        assert store.asked(others) == []  # type: ignore[attr-defined]


def test_an_each_parameter_is_compiled_to_the_in_operator() -> None:
    design = asking("expires_at IN (:value)", Each[datetime])
    with design.open(":memory:") as store:
        for number in range(3):
            store.put(Thing(thing_id=str(number), expires_at=NOON + timedelta(days=number)))
        things: list[Thing] = store.asked([NOON, NOON + timedelta(days=2)])  # type: ignore[attr-defined]
        assert {element.thing_id for element in things} == {"0", "2"}
        assert store.asked([]) == []  # type: ignore[attr-defined]
        many = [NOON + timedelta(days=number) for number in range(250)]
        assert len(store.asked(many)) == 3  # type: ignore[attr-defined]
        with pytest.raises(ArgumentError, match="can't be sent"):
            store.asked([NOON + timedelta(days=number) for number in range(900)])  # type: ignore[attr-defined]


GSI = Index("GSI", "p0", "s0")


class Named(Entity):
    """An entity whose attribute names resemble expression placeholders or differ only in punctuation."""

    w0: str
    dashed: str = Field(alias="s0-at")
    lined: str = Field(alias="s0_at")
    p1: int = 0

    primary = Key("W#{w0}", "{dashed}")


class Names(Design):
    table = Table("names", partition="p0", sort="s0")

    @read("R1", where="p1 = :s0 AND dashed = :p0 AND lined = :s0_")
    def named(self, w0: str, p0: str, s0: int, s0_: str) -> list[Named]: ...


def test_placeholders_of_similar_attribute_names_are_unique() -> None:
    with Names.open(":memory:") as names:
        names.put(Named.model_validate({"w0": "a", "s0-at": "b", "s0_at": "c", "p1": 7}))
        names.put(Named.model_validate({"w0": "a", "s0-at": "c", "s0_at": "b", "p1": 7}))
        assert [named.dashed for named in names.named("a", "b", 7, "c")] == ["b"]


class Changing(Design):
    table = TABLE

    @write("W1")
    def renew(self, thing_id: str, now: datetime) -> Writes:
        yield Update(Thing, thing_id=thing_id).set(number=1).only_if("expires_at > :now AND at <= :now", now=now)

    @write("W2")
    def wrong(self, thing_id: str) -> Writes:
        yield Update(Thing, thing_id=thing_id).set(text="x").only_if("number > :least", least="2")

    @write("W3")
    def nothing(self, thing_id: str) -> Writes:
        yield Update(Thing, thing_id=thing_id).set(text="x").only_if("closed_at = :at", at=None)

    @write("W4")
    def by_value(self, thing_id: str) -> Writes:
        yield Update(Thing, thing_id=thing_id).set(text="x").only_if("level = :level", level="low")


def test_values_in_conditions_are_sent_in_their_stored_format() -> None:
    with Changing.open(":memory:") as changing:
        changing.put(Thing(thing_id="1", expires_at=NOON + timedelta(seconds=1)))
        changing.renew("1", NOON)
        with pytest.raises(ConditionFailed):
            changing.renew("1", NOON + timedelta(seconds=1))
        changing.by_value("1")
        with pytest.raises(ArgumentError, match=r"Thing.number is a number \(int\), but the value is '2'"):
            changing.wrong("1")
        with pytest.raises(ArgumentError, match="attribute_not_exists"):
            changing.nothing("1")
