"""Stored operands of conditions: values of a Counter have no stored type, and TTL bounds keep microseconds."""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, PlainSerializer, RootModel

from keyplan import Entity, Field, Index, Key, Number, StoredAs, Ttl, Version
from keyplan.model.compiled.operands import NUMBER, TEXT, UNKNOWN, part_of, stored_field
from keyplan.model.compiled.operands import StoredOperand as Operand
from tests.design.condition_cases import Level, Mixed, Place
from tests.design.items import compiled

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
    millis: Annotated[datetime, StoredAs("ms")] = NOON
    seconds: Annotated[datetime, StoredAs("s")] = NOON
    listed: Annotated[set[str], StoredAs("list")] = Field(default_factory=set)
    packed: Annotated[dict[str, int], StoredAs("json")] = Field(default_factory=dict)
    rank: Level | None = None
    score: Grade = Grade.ONE

    primary = Key("THING#{thing_id}", "HEAD")
    by_rank = Key("{rank:rank}", "{score}", index=BY_RANK)


def fields() -> dict[str, Operand]:
    entity = compiled(Thing, BY_RANK)
    return {name: stored_field(entity, name) for name in entity.fields}


OPERANDS = {**fields(), "TEXT": TEXT, "NUMBER": NUMBER, "UNKNOWN": UNKNOWN}


def test_an_element_of_a_counter_field_has_no_type_as_an_operand() -> None:
    counted = part_of(replace(TEXT, name="counted", annotation=Counter[str], tag="M"), "a")
    assert (counted.name, counted.kind, counted.tag) == ("counted.a", object, None)


def test_timestamps_stored_as_seconds_keep_microseconds() -> None:
    late = NOON.astimezone(UTC) + timedelta(microseconds=1)
    assert OPERANDS["expires"].encoded(late) == {"N": "1795262400.250001"}
