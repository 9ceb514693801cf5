"""What is known of each kind of field as an operand: its stored type, what it can be compared with, what stands within
it, and what a value is sent as. Where operands stand in conditions is in ``test_condition_texts.py``.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, PlainSerializer, RootModel

from keyplan import Entity, Field, Index, Key, Number, Stored, Ttl, Version
from keyplan.design.compiled.operands import NUMBER, TEXT, UNKNOWN, part_of, stored_field
from keyplan.design.compiled.operands import Stored as Operand
from keyplan.design.declared.problems import Problem
from keyplan.errors import ArgumentError
from tests.agreed import assert_agreed
from tests.design.items import compiled
from tests.design.test_condition_texts import Level, Mixed, Place

NOON = datetime(2026, 11, 21, 12, 0, 0, 250_000, tzinfo=UTC)
BY_RANK = Index("BY_RANK", "rank", Number("score"))


class Grade(enum.IntEnum):
    ONE = 1
    TWO = 2


class Steps(enum.Enum):
    FEW = 3
    MANY = 30


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")

    city: str = "Bern"


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
    expires: Ttl = NOON
    version: Version = 1
    uuid: UUID = UUID(int=2)
    level: Level = Level.LOW
    grade: Grade = Grade.ONE
    mixed: Mixed = Mixed.ONE
    steps: Steps = Steps.FEW
    state: Literal["a", "b"] = "a"
    flag: bool = True
    blob: bytes = b"b"
    tags: set[str] = Field(default_factory=lambda: {"a"})
    scores: frozenset[int] = frozenset()
    words: list[str] = Field(default_factory=list[str])
    some: list[int] | None = None
    bare: list = Field(default_factory=list)  # type: ignore[type-arg]
    pair: tuple[int, str] = (1, "a")
    twins: tuple[str, str] = ("a", "b")
    run: tuple[str, ...] = ()
    counts: dict[str, int] = Field(default_factory=dict[str, int])
    anything: dict = Field(default_factory=dict)  # type: ignore[type-arg]
    place: Place = Field(default_factory=Place)
    perhaps: Place | None = None
    loose: Loose = Field(default_factory=Loose)
    names: Names = Names([])
    free: Any = None
    either: int | str = 1
    nested: list[dict[str, list[int]]] = Field(default_factory=list)
    own: Annotated[Place, PlainSerializer(lambda place: place.model_dump())] = Field(default_factory=Place)
    millis: Annotated[datetime, Stored("ms")] = NOON
    seconds: Annotated[datetime, Stored("s")] = NOON
    listed: Annotated[set[str], Stored("list")] = Field(default_factory=set)
    packed: Annotated[dict[str, int], Stored("json")] = Field(default_factory=dict)
    rank: Level | None = None
    score: Grade = Grade.ONE

    primary = Key("THING#{thing_id}", "HEAD")
    by_rank = Key("{rank:rank}", "{score}", index=BY_RANK)


STEPS: list[str | int] = [0, 1, 2, "city", "code", "zip", "mark", "sign", "shown", "a"]
VALUES: list[Any] = [
    None, "b", "low", 1, 1.5, Decimal("2.50"), True, b"x", NOON, NOON.replace(tzinfo=None), NOON.date(), UUID(int=2),
    Level.LOW, Grade.TWO, Mixed.TWO, Steps.MANY, {"a"}, ["a"], (1, "a"), {"a": 1}, Place(), "\ud800", Decimal("1e200"),
]  # fmt: skip


def fields() -> dict[str, Operand]:
    entity = compiled(Thing, BY_RANK)
    return {name: stored_field(entity, name) for name in entity.fields}


OPERANDS = {**fields(), "TEXT": TEXT, "NUMBER": NUMBER, "UNKNOWN": UNKNOWN}


def shown(make: Callable[[], Any]) -> str:
    """What it gives, or why it is refused."""
    try:
        result = make()
    except (Problem, ArgumentError) as fault:
        return f"refused: {str(fault)[:70]}"
    if isinstance(result, Operand):
        return f"{result.name} {getattr(result.kind, '__name__', result.kind)} {result.tag} {result.epoch}"
    return str(sorted(result, key=str) if isinstance(result, set) else result)


def _itself(each: Operand) -> Operand:
    return each


def _form(each: Operand) -> str:
    return " ".join(str(getattr(part, "__name__", part)) for part in each.form)


def test_what_is_known_of_each() -> None:
    lines: list[str] = []
    for name, each in (OPERANDS | fields()).items():
        lines.append(f"{name}: {shown(partial(_itself, each))}, NULL {each.keeps_null}, {_form(each)}")
        lines.append(f"  order: {each.why_unordered()}; size: {each.why_unsized()}")
        lines.append(f"  element: {shown(each.element)}; beginning: {shown(each.beginning)}")
    assert_agreed("\n".join(lines))


def test_what_stands_within() -> None:
    lines: list[str] = []
    several = {"place", "perhaps", "loose", "own", "pair", "free"}
    for name, each in OPERANDS.items():
        for step in STEPS if name in several else (0, "a"):
            what = f"{name}[{step}]" if isinstance(step, int) else f"{name}.{step}"
            lines.append(f"{what}: {shown(partial(part_of, each, step))}")
    for path in (("nested", 0, "a", 1), ("names", 1), ("some", 0), ("loose", "city"), ("loose", "more", "b")):
        each = OPERANDS[path[0]]
        for step in path[1:]:
            each = part_of(each, step)
        lines.append(f"{path}: {shown(partial(_itself, each))}")
    assert_agreed("\n".join(lines))


def test_a_mapping_whose_type_says_its_keys_alone() -> None:
    counted = part_of(replace(TEXT, name="counted", annotation=Counter[str], tag="M"), "a")
    assert (counted.name, counted.kind, counted.tag) == ("counted.a", object, None)


def test_what_can_be_compared() -> None:
    lines = [
        f"{name}: {', '.join(other for other, against in OPERANDS.items() if each.comparable(against))}"
        for name, each in OPERANDS.items()
    ]
    assert_agreed("\n".join(lines))


@pytest.mark.parametrize("name", OPERANDS)
def test_what_a_value_is_sent_as(name: str) -> None:
    each = OPERANDS[name]
    lines: list[str] = []
    for value in VALUES:
        if isinstance(value, set | Place) and name not in {"tags", "listed", "place", "free", "own"}:
            continue
        lines.append(f"{value!a}: {shown(partial(each.encoded, value))!a}")
    assert_agreed("\n".join(lines))


@pytest.mark.parametrize("annotation", [datetime, int, Decimal, Level, Grade, str, datetime | None])
def test_how_a_parameter_is_encoded(annotation: Any) -> None:
    value = {datetime: NOON, int: 3, Decimal: Decimal("1.50"), Level: Level.HIGH, Grade: Grade.TWO, str: "low"}.get(
        annotation, NOON
    )
    lines: list[str] = []
    for name, each in OPERANDS.items():
        why = each.why_not(annotation)
        if why is None:
            lines.append(f"{name}: {shown(partial(each.encoder(annotation), value))}")
        else:
            lines.append(f"{name}: {why}")
    assert_agreed("\n".join(lines))


def test_seconds_are_told_to_the_microsecond() -> None:
    late = NOON.astimezone(UTC) + timedelta(microseconds=1)
    assert OPERANDS["expires"].encoded(late) == {"N": "1795262400.250001"}
