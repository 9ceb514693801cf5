"""Generated values: edge cases from ``samples``, and typical values from ``typical`` and ``Factory``. Generated values
determine which differences ``verify`` finds, and which values users' tests expect.
"""

from __future__ import annotations

import enum
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar

import pytest
from pydantic import AfterValidator, BaseModel, Field

from keyplan import Design, Entity, Key, Put, Table, Ttl, Writes, now, ulid, write
from keyplan.analysis.cost.estimate import estimate
from keyplan.errors import ArgumentError
from keyplan.model.declared import example_values as examples
from keyplan.testing import Factory, verify

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


class Thing(Entity):
    """An entity with a field of each type that a factory supports."""

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


def test_a_factory_fills_a_store_with_items() -> None:
    with Things.open(":memory:") as design:
        things = Factory().fill(design, {Thing: 3})
        assert things == Factory().many(Thing, 3)
        assert [design.get(Thing, thing_id=thing.thing_id) for thing in things if isinstance(thing, Thing)] == things


class Reply(BaseModel):
    text: str
    replies: list[Reply]
    parent: Reply | None
    by_name: dict[str, Reply] = {}


class Thread(Entity):
    thread_id: str
    first: Reply

    primary = Key("THREAD#{thread_id}", "HEAD")


class Threads(Design):
    table = Table("threads")

    @write("T1")
    def start(self, thread: Thread) -> Writes:
        yield Put(thread)


def test_generated_values_of_recursive_models_are_finite() -> None:
    first = Factory()(Thread).first
    assert (first.replies, first.parent, first.by_name) == ([], None, {})
    verify(Threads, stores=5)
    assert estimate(Threads).patterns[0].failure is None


def test_types_that_a_factory_does_not_support_are_rejected() -> None:
    with pytest.raises(ArgumentError, match=r"Fussy: the type of word .*\n.*pass a valid value"):
        Factory()(Fussy)
    assert Factory()(Fussy, word="BB").word == "BB"
    with pytest.raises(ArgumentError, match=r"Thing.few: .*less than or equal to 9"):
        Factory()(Thing, few=10)
    nothing: Any = str
    with pytest.raises(ArgumentError, match="isn't an entity"):
        Factory()(nothing)
