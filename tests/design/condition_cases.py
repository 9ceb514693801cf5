# mypy: disable-error-code="empty-body"
"""Entities with a field of each kind, and cases for the tests of conditions."""

from __future__ import annotations

import enum
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, PlainSerializer, RootModel, computed_field

from keyplan import Design, Entity, Field, Key, StoredAs, Table, Ttl
from keyplan.model.compiled.compiled_design import CompiledDesign

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
    mark: str = Field(default="", alias="sign")

    @computed_field
    def shown(self) -> str:
        return self.city.upper()


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")


class Names(RootModel[list[str]]):
    pass


class Thing(Entity):
    """An entity with a field of each type."""

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
    millis: Annotated[datetime, StoredAs("ms")] = NOON
    again: Annotated[datetime, StoredAs("ms")] = NOON
    shut: Annotated[bool, StoredAs("text")] = False
    packed: Annotated[Place, StoredAs("json")] = Place()
    listed: Annotated[set[str], StoredAs("list")] = Field(default_factory=set[str])
    ours: Annotated[list[str], StoredAs(write=list, read=list)] = Field(default_factory=list[str])
    renamed: str = Field(default="", alias="its name")

    primary = Key("THING#{thing_id}", "HEAD")


class Other(Entity):
    """An entity whose fields have the same names as those of Thing, but other stored types."""

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
