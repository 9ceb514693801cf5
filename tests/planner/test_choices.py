# mypy: disable-error-code="empty-body"
"""Which keys are chosen for questions, and how they are spelt: in words, in no more text than questions need, in a
letter or two, and in attributes of their own types.
"""

from __future__ import annotations

import enum
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from keyplan import Cursor, Design, Entity, Id, Index, Key, Page, Range, Table, Unique, read
from keyplan.model.deferral import deferred
from keyplan.planner import plan
from keyplan.planner.facts import facts_of
from keyplan.planner.fixed import Fixed, fixed_of
from keyplan.planner.needs import NeedReader
from keyplan.planner.search import Choice, Search, choices
from keyplan.planner.unplanned import Unplanned

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Grade(enum.IntEnum):
    LOW = 1
    HIGH = 10


class Mood(enum.Enum):
    GOOD = 1.5
    BAD = -2.0


class Run(Entity):
    """Ordered by numbers of every sort."""

    run_id: Id[str]
    runner: str
    seconds: Decimal = Decimal(0)
    steps: int = 0
    heart: Annotated[int, Field(ge=0, le=250)] = 0
    grade: Grade = Grade.LOW
    mood: Mood = Mood.GOOD


class Lap(Entity):
    run_id: Id[str]
    number: Id[int]
    at: datetime


class RunAndLaps(NamedTuple):
    run: Run
    laps: list[Lap]


with deferred():

    class Fastest(Design):
        """One number: an index that it has for itself."""

        table = Table("fastest")

        @read("R1", order_by="-seconds")
        def fastest(self, runner: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Run]: ...

    class Runs(Design):
        """Orders that need an index each, and what can stand beside them."""

        table = Table("runs")

        @read("R1", order_by="-steps")
        def by_steps(self, runner: str) -> list[Run]: ...

        @read("R2")
        def by_heart(self, runner: str, heart: Range[int]) -> list[Run]: ...

        @read("R3", order_by="grade")
        def by_grade(self, runner: str) -> list[Run]: ...

        @read("R4", order_by="-mood")
        def by_mood(self, runner: str) -> list[Run]: ...

        @read("R5")
        def whole(self, run_id: str) -> RunAndLaps: ...

        @read("R6")
        def laps_at(self, at: datetime) -> list[Lap]: ...

    class Wine(Entity):
        """Has keys already, and an index with room."""

        wine_id: str
        maker: str
        year: int
        label: str

        primary = Key("WINE#{wine_id}", "HEAD")
        by_maker = Key("MAKER#{maker}", "{year:04d}", index=GSI1)
        by_label = Unique("LABEL#{label}")

    class Note(Entity):
        note_id: Id[str]
        wine_id: str
        stars: Annotated[int, Field(lt=6)]

    class Cellar(Design):
        table = Table("cellar", indexes=[GSI1])

        @read("C1", newest_first=True)
        def by_maker(self, maker: str) -> list[Wine]: ...

        @read("C2")
        def labelled(self, label: str) -> Wine | None: ...

        @read("C3", order_by="-stars")
        def notes(self, wine_id: str) -> list[Note]: ...

        @read("C4")
        def of_year(self, year: int) -> list[Wine]: ...


def chosen(design: type[Any], search: Search) -> tuple[list[Choice], Fixed]:
    read_ = Unplanned(design, getattr(design, "uncompiled", {}))
    facts = {cls: facts_of(cls) for cls in read_.entities}
    fixed = fixed_of(design, list(facts), read_.whole)
    reader = NeedReader(facts)
    needs = reader.needs(read_.patterns, read_.signatures)
    found, unserved = choices(list(facts.values()), needs, fixed, None, search)
    assert [*reader.faults, *unserved] == []
    return found, fixed


class Step(Entity):
    """Stands in one order twice."""

    job_id: str
    number: Annotated[int, Field(ge=0, le=99)]

    primary = Key("STEPS#{job_id}", "{number:02d}")
    once_more = Key("STEPS#{job_id}", "{number:02d}", index=GSI1)


class Steps(Design):
    table = Table("steps", indexes=[GSI1])

    @read("S1", key=Step.once_more)
    def by_the_index(self, job_id: str) -> list[Step]: ...

    @read("S2", order_by="number")
    def by_the_table(self, job_id: str) -> list[Step]: ...


def test_a_question_keeps_the_key_that_it_names() -> None:
    questions = plan(Steps)[0].as_json()["questions"]
    assert [(question["name"], question["key"]) for question in questions] == [
        ("by_the_index", "Step.once_more"),
        ("by_the_table", "Step.primary"),
    ]
