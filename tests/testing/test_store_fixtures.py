# mypy: disable-error-code="empty-body"
"""Features of test stores: a settable clock, index lag, throttling, and generated instances."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, StringConstraints, field_validator

from keyplan import Design, Entity, Field, Index, Key, Table, Ttl, Unique, now, read, ulid
from keyplan.errors import ArgumentError, DynamoDBError, RequestError
from keyplan.testing import Clock, Factory, expire_items, open_test_store, throttled

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Size(BaseModel):
    width: int


class Note(Entity):
    note_id: str = Field(default_factory=ulid)
    owner: str
    number: int
    size: Size
    status: Literal["new", "read"] = "new"
    slug: Annotated[str, StringConstraints(pattern=r"^[a-z-]+$")]
    written_at: datetime = Field(default_factory=now)
    until: Ttl | None = None

    primary = Key("NOTE#{note_id}", "HEAD")
    by_owner = Key("OWNER#{owner}", "{number:03d}", index=GSI1)
    one_slug = Unique("SLUG#{owner}#{number}")


class Odd(Entity):
    name: str

    primary = Key("ODD#{name}", "HEAD")

    @field_validator("name")
    @classmethod
    def _is_odd(cls, name: str) -> str:
        if not name.startswith("odd: "):
            raise ValueError("it isn't odd")
        return name


class Notes(Design):
    table = Table("notes", indexes=[GSI1], entities=[Odd])

    @read("R1")
    def note(self, note_id: str) -> Note | None: ...

    @read("R2")
    def notes(self, owner: str) -> list[Note]: ...


def test_items_expire_by_the_clock_of_the_test_store() -> None:
    make, clock = Factory(), Clock(NOON)
    with open_test_store(Notes, clock=clock) as notes:
        notes.create(make(Note, note_id="1", until=NOON + timedelta(days=1)))
        notes.create(make(Note, note_id="2", until=NOON + timedelta(days=9)))
        assert expire_items(notes) == 0
        clock.advance(days=2)
        assert notes.note("1") is not None  # expired, but not removed yet
        assert expire_items(notes) == 1
        assert (notes.note("1"), notes.note("2") is None) == (None, False)


def test_now_and_ulids_use_the_clock_of_the_test_store() -> None:
    with Clock(NOON) as clock:
        assert now() == NOON
        first = ulid()
        clock.advance(hours=1)
        assert now() == clock.at == NOON + timedelta(hours=1)
        assert ulid() > first
        assert first[:10] == ulid(NOON)[:10]
        with Clock(NOON - timedelta(days=1)):
            assert now() < NOON
        assert now() > NOON
    assert abs(now() - datetime.now(UTC)) < timedelta(minutes=5)
    with pytest.raises(RequestError, match="no time zone"):
        clock.set(datetime(2026, 1, 1))  # noqa: DTZ001 - on purpose
    with pytest.raises(RequestError, match="a time must be a datetime"):
        Clock("2026")  # type: ignore[arg-type]


def test_indexes_are_updated_after_the_index_lag() -> None:
    clock = Clock(NOON)
    with open_test_store(Notes, clock=clock, index_lag_ms=100) as notes:
        made = notes.create(Factory()(Note, owner="a"))
        assert (notes.notes("a"), notes.note(made.note_id)) == ([], made)
        clock.advance(seconds=1)
        assert notes.notes("a") == [made]


def test_requests_of_the_selected_operations_are_throttled() -> None:
    make = Factory()
    with open_test_store(Notes) as notes:
        with throttled(notes, 2, operations=["GetItem"]) as refused:
            notes.create(make(Note))
            for _ in range(2):
                with pytest.raises(DynamoDBError, match="throughput") as caught:
                    notes.note("1")
                assert caught.value.type == "ProvisionedThroughputExceededException"
            assert notes.note("1") is None
            assert refused() == 2
        with throttled(notes), pytest.raises(DynamoDBError):
            asyncio.run(notes.note.aio("1"))
        assert notes.note("1") is None
        with pytest.raises(RequestError, match="no operation GetItm"), throttled(notes, operations=["GetItm"]):
            pass
    with Notes.open(":memory:") as plain, pytest.raises(RequestError, match="isn't open on a test store"):
        expire_items(plain)


def test_generated_instances_are_reproducible_for_a_seed() -> None:
    first, second = Factory(seed=1), Factory(seed=1)
    made = first.many(Note, 3)
    assert made == second.many(Note, 3)
    assert len({note.note_id for note in made}) == 3
    assert made != Factory(seed=2).many(Note, 3)
    assert [note.number for note in made] == [1, 2, 3]
    assert first(Note, owner="ada", status="read").status == "read"
    with pytest.raises(ArgumentError, match=r"Note\.number"):
        first(Note, number="many")
    with pytest.raises(ArgumentError, match="isn't an entity"):
        first(int)  # type: ignore[type-var]
    with pytest.raises(ArgumentError, match="it isn't odd"):
        first(Odd)
    assert first(Odd, name="odd: one").name == "odd: one"


def test_a_test_store_is_filled_with_generated_items() -> None:
    with open_test_store(Notes) as notes:
        made = Factory().fill(notes, {Note: 12})
        assert len(made) == 12
        assert all(notes.note(entity.note_id) == entity for entity in made if isinstance(entity, Note))


class Shift(Entity):
    name: str
    day: date

    primary = Key("SHIFT#{name}", "{day}")


def test_every_seed_generates_valid_dates() -> None:
    days = [Factory(seed=seed)(Shift, name="early").day for seed in (0, 3, 9, 1_000_000)]
    assert all(2026 <= day.year < 2060 for day in days)
    assert len({*days}) > 1
