# mypy: disable-error-code="empty-body"
"""What conditions become, word by word: the text over attributes, what each value is compared with and sent as, or why
it is refused. Whether the answers are right is shown in ``test_conditions.py``; here is every kind of field, at every
place of a condition.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, PlainSerializer, RootModel, computed_field

from keyplan import Cursor, Design, Each, Entity, Field, Index, Key, Range, Stored, Table, Ttl
from keyplan.design.compiled.conditions import Operand, translate
from keyplan.design.compiled.constants import AnyOf
from keyplan.design.compiled.filters import filter_of, translate_mapping
from keyplan.design.compiled.model import CompiledDesign
from keyplan.design.compiled.plans import FilterValue
from keyplan.design.compiled.questions import signature_of
from keyplan.design.declared.problems import Problem
from keyplan.errors import ArgumentError
from tests.agreed import assert_agreed

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Mixed(enum.Enum):
    ONE = 1
    TWO = "two"


class Place(BaseModel):
    city: str = "Bern"
    code: int = Field(default=1, alias="zip")
    mark: str = Field(default="", serialization_alias="sign")

    @computed_field
    def shown(self) -> str:
        return self.city.upper()


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")


class Names(RootModel[list[str]]):
    pass


class Thing(Entity):
    """A field of each kind."""

    thing_id: str
    text: str = "b"
    number: int = 2
    price: Decimal = Decimal("2.5")
    at: datetime = NOON
    day: date = NOON.date()
    expires_at: Ttl = NOON
    uuid: UUID = UUID(int=2)
    level: Level = Level.LOW
    mixed: Mixed = Mixed.ONE
    flag: bool = True
    blob: bytes = b"b"
    tags: set[str] = Field(default_factory=lambda: {"a"})
    words: list[str] = Field(default_factory=list[str])
    pair: tuple[str, int] = ("a", 1)
    run: tuple[int, ...] = ()
    anything: Any = None
    place: Place = Place()
    loose: Loose = Loose()
    names: Names = Names([])
    counts: dict[str, int] = Field(default_factory=dict[str, int])
    bare: dict = Field(default_factory=dict)  # type: ignore[type-arg]
    closed_at: datetime | None = None
    wait: timedelta = timedelta(0)
    odd: Annotated[int, PlainSerializer(str)] = 1
    millis: Annotated[datetime, Stored("ms")] = NOON
    again: Annotated[datetime, Stored("ms")] = NOON
    shut: Annotated[bool, Stored("text")] = False
    packed: Annotated[Place, Stored("json")] = Place()
    listed: Annotated[set[str], Stored("list")] = Field(default_factory=set[str])
    ours: Annotated[list[str], Stored(write=list, read=list)] = Field(default_factory=list[str])
    renamed: str = Field(default="", alias="its name")

    primary = Key("THING#{thing_id}", "HEAD")


class Other(Entity):
    """Has fields of the same names, stored otherwise."""

    thing_id: str
    text: str = "b"
    number: str = ""
    expires_at: datetime = NOON
    renamed: str = ""
    flag: bool = True

    primary = Key("THING#{thing_id}", "OTHER")


class Things(Design):
    table = Table("things", entities=[Thing, Other])


COMPILED: CompiledDesign = Things.compiled
THING, OTHER = (COMPILED.entities[cls] for cls in (Thing, Other))
FIELDS = [name for name in THING.fields if name != "thing_id"]
FORMS = [
    "{} = :a", "{} < :a", ":a BETWEEN {} AND :b", "{} BETWEEN :a AND :b", "size({}) > :a", "contains({}, :a)",
    "begins_with({}, :a)", "attribute_type({}, :a)", "attribute_exists({})", "{}.city = :a", "{}[1] = :a",
]  # fmt: skip
TEXTS = [
    "text = :a AND (number = :b OR NOT number > :a)", "NOT NOT text = :a", "NOT NOT NOT text = :a",
    "text = :a OR text = :b", "text = :a OR :b = text", "text = :a OR number = :b", "text IN (:a)",
    "text IN (:a, :b, :a)", "text IN (:a, uuid) AND number = :a", "number IN (text)", ":a IN (text, number)",
    "at <= :a AND expires_at > :a AND millis > :a", "expires_at = :a AND expires_at < :a", "at = expires_at",
    "millis = again", "millis = at", "anything = at", "at = anything", "anything = millis", "mixed = number",
    "price = number", "level = text", "at = day", "flag = shut", "names[0] = :a", "names[0].x = :a", "names.x = :a",
    "place.zip = :a", "place.code = :a", "place.sign = :a", "place.mark = :a", "place.shown = :a", "place.no = :a",
    "place[0] = :a", "loose.city = :a", "loose.city[3].x = :a", "pair[0] = :a", "pair[1] = :a", "pair[2] = :a",
    "run[7] = :a", "words[0] = :a", "words.x = :a", "bare.x = :a", "bare[0] = :a", "text[0] = :a", "flag.x = :a",
    "odd.x = :a", "odd[1] = :a", "anything.x[1] = :a", "tags[0] = :a", "counts.s1 = :a",
    "size(size(text)) = :a", "size(text) = number", "size(text) = text", "size(words) = size(tags)",
    "begins_with(text, level)", "begins_with(text, number)", "begins_with(:a, text)", "contains(:a, text)",
    "contains(words, text)", "contains(words, number)", "contains(pair, :a)", "contains(run, :a)",
    "contains(anything, :a)", "contains(text, size(text))", "attribute_type(text, number)",
    "attribute_not_exists(place.city)", "attribute_exists(place.zip)",
    "attribute_not_exists(number.x)", "attribute_exists(anything.x)", "no = :a",
    "renamed = :p1 AND text = :owner AND number = :ok", "text ==",
    "text = :a AND", "text <> :a AND text = :a AND text = :b", "size(text) = :a AND :a = number",
]  # fmt: skip


def test_each_kind_of_field_at_each_place() -> None:
    assert_agreed("\n".join(_told(form.format(name)) for name in FIELDS for form in FORMS))


def test_conditions_of_each_form() -> None:
    assert_agreed("\n".join(map(_told, TEXTS)))


def test_conditions_on_two_entities() -> None:
    texts = [
        "text = :a",
        "number = :a",
        "expires_at = :a",
        "renamed = :a",
        "flag = :a",
        "price = :a",
        "attribute_exists(number)",
    ]
    assert_agreed("\n".join(_told(text, [THING, OTHER]) for text in [*texts, "text = :a AND flag = :p1"]))


def _told(text: str, entities: Sequence[Any] = (THING,), prefix: str = "") -> str:
    try:
        made = translate(text, entities, prefix)
    except Problem as problem:
        return f"{text} is refused: {problem}; {problem.hint}"
    fixed = {name: sorted(values) for name, values in made.fixed.items()}
    operands = "".join(f"; {name} is {_shown(operand)}" for name, operand in made.operands.items())
    return f"{text} is {made.text}, {made.names}{operands}{f'; fixed: {fixed}' if fixed else ''}"


def _shown(operand: Operand) -> str:
    targets = ", ".join(f"{each.name} ({each.tag}{' of seconds' if each.epoch else ''})" for each in operand.targets)
    return f"{operand.name} for {targets}{', alone' if operand.alone else ''}"


def test_placeholders_of_writes_have_a_prefix() -> None:
    assert_agreed("\n".join(_told(text, prefix="c0_") for text in ("at <= :a AND expires_at > :a", "text = :p1")))


VALUES: Mapping[str, Any] = {
    "a text": "low", "a number": 2, "a fraction": Decimal("2.5"), "truth": True, "a member": Level.HIGH,
    "a mixed member": Mixed.TWO, "bytes": b"b", "a moment": NOON + timedelta(microseconds=1), "a day": NOON.date(),
    "half a character": "\ud800", "too large": 10**40, "nothing": None, "a set": {"a"}, "a list": ["a"],
    "a model": Place(), "an object": object(), "a uuid": UUID(int=1),
}  # fmt: skip


@pytest.mark.parametrize("field", FIELDS)
def test_what_a_value_is_sent_as(field: str) -> None:
    (operand,) = translate(f"{field} = :a", [THING]).operands.values()
    assert_agreed("\n".join(f"{name}: {_sent(operand, value)}" for name, value in VALUES.items()))


def _sent(operand: Operand, value: Any) -> str:
    try:
        return str(operand.encoded(value))
    except ArgumentError as error:
        return str(error).partition(" at 0x")[0]


@pytest.mark.parametrize(
    "annotation",
    [str, int, bool, Decimal, datetime, datetime | None, date, Level, Mixed, Any, bytes, Range[str], Each[str],
     Cursor, Literal["a"]],
)  # fmt: skip
def test_parameters_of_each_type(annotation: Any) -> None:
    """What a question's parameter can be compared with, as its filter says it."""
    names = ("text", "number", "expires_at", "mixed", "millis", "closed_at", "flag")
    texts = [*(f"{name} = :a" for name in names), "level IN (:a)", "text IN (:a, :a)"]
    assert_agreed("\n".join(f"{text}: {_asked(text, annotation)}" for text in texts))


def _asked(
    text: str | None, annotation: Any, name: str = "a", constants: Mapping[str, Any] = MappingProxyType({})
) -> str:
    parameter = inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation)

    def asked() -> list[Thing]: ...

    asked.__signature__ = inspect.Signature([_SELF, parameter])  # type: ignore[attr-defined]
    asked.__annotations__ = {name: annotation, "return": list[Thing]}
    try:
        made = filter_of([THING], constants, [], signature_of(asked, "asked", {}), text)
    except Problem as problem:
        return f"refused: {problem}; {problem.hint}"
    values = {name: (value.parameter, value.tag, value.many) for name, value in made.parameters.items()}
    return f"{made.text} {made.names} {values}{made.constants or ''}"


_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)


def test_filters_of_constants() -> None:
    """A mapping: one value, several, one of them None; and a text beside it."""
    wanted: list[dict[str, Any]] = [
        {"text": "a"}, {"text": AnyOf(("a", "b"))}, {"closed_at": None}, {"closed_at": AnyOf((None, NOON))},
        {"closed_at": AnyOf((None,))},
        {"expires_at": NOON}, {"millis": NOON}, {"number": AnyOf(range(100))}, {"number": AnyOf(range(101))},
        {"text": "a", "flag": True},
    ]  # fmt: skip
    lines = [f"{where}: {_asked(None, str, constants=where)}" for where in wanted]
    lines += [f"{where} and text: {_asked('text = :a OR text = level', str, constants=where)}" for where in wanted[:2]]
    assert_agreed("\n".join(lines))


def test_what_else_a_text_may_not_name() -> None:
    lines = [
        _asked("flag = :newest_first", bool, "newest_first"),
        _asked("number = :limit", int, "limit"),
        _asked("text = :cursor", str, "cursor"),
        _asked("text = :b AND text = :a AND text = :c", str),
    ]
    assert_agreed("\n".join(lines))


def test_equalities_of_writes() -> None:
    wanted = {"text": "a", "closed_at": None, "expires_at": NOON, "millis": NOON, "renamed": "x", "anything": None}
    clauses, names, values = translate_mapping(THING, wanted, "x")
    assert_agreed("\n".join([*clauses, str(names), str(values)]))


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (str, "low"), (int, 3), (bool, True), (Decimal, Decimal("2.50")), (datetime, NOON + timedelta(microseconds=1)),
        (datetime | None, NOON), (date, NOON.date()), (Level, Level.HIGH), (bytes, b"b"),
        (UUID, UUID(int=1)), (timedelta, timedelta(seconds=90)), (set[str], {"a"}), (Place, Place(city="Genf")),
    ],
)  # fmt: skip
def test_what_a_filter_sends(annotation: Any, value: Any) -> None:
    """A question's parameter, in the form in which the field stores it that it is compared with."""
    parameter = inspect.Parameter("a", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation)

    def asked() -> list[Thing]: ...

    asked.__signature__ = inspect.Signature([_SELF, parameter])  # type: ignore[attr-defined]
    asked.__annotations__ = {"a": annotation, "return": list[Thing]}
    signature = signature_of(asked, "asked", {})
    lines: list[str] = []
    for field in FIELDS:
        with suppress(Problem):
            made = filter_of([THING], {}, [], signature, f"{field} = :a")
            lines += [f"{field}: {_encoded(each, value)} as {each.tag}" for each in made.parameters.values()]
    assert_agreed("\n".join(lines))


def _encoded(parameter: FilterValue, value: Any) -> str:
    try:
        return str(parameter.encode(value))
    except (TypeError, AttributeError, ValueError) as error:  # the client says which parameter it is
        return type(error).__name__


class Grade(enum.Enum):
    ONE = 1
    TWO = 2


class Held(Entity):
    """Fields that a key holds under their own names, of several types at once, and of numbers with names."""

    thing_id: str
    at: datetime
    done: bool
    mark: str | int
    grade: Grade = Grade.ONE
    until: Ttl = NOON

    primary = Key("HELD#{thing_id}", "HEAD")
    by_at = Key("{done}", "{at}", index=Index("BY_AT", "done", "at"))


def test_fields_that_keys_hold_and_types_of_several() -> None:
    table = Table("held", indexes=[Index("BY_AT", "done", "at")], entities=[Held])
    held = type("Holds", (Design,), {"table": table, "__module__": __name__}).compiled.entities[Held]  # type: ignore[attr-defined]
    lines: list[str] = []
    values = {**VALUES, "a grade": Grade.TWO, "a moment without a zone": NOON.replace(tzinfo=None)}
    for field in ("at", "done", "mark", "grade", "until"):
        lines += [_told(form.format(field), [held]) for form in FORMS[:7]]
        (operand,) = translate(f"{field} = :a", [held]).operands.values()
        lines += [f"    {name}: {_sent(operand, value)}" for name, value in values.items()]
    assert_agreed("\n".join(lines))
