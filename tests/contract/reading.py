# mypy: disable-error-code="empty-body"
"""A design with views, counts, scans of an index, and key attributes of every type without templates."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Literal, NamedTuple
from uuid import UUID

from pydantic import AwareDatetime
from typing_extensions import TypeAliasType

from keyplan import Cursor, Design, Each, Entity, Field, Index, Key, Number, Page, Range, Table, Unique, View, now, read

BY_PROJECT = Index("BY_PROJECT", "project_key", "project_sort")
BY_PERSON = Index("BY_PERSON", "person_key", "person_sort", projection="KEYS_ONLY")
ESCALATED = Index("ESCALATED", "escalated_to", "escalated_at")
LATE = Index("LATE", "late", "due", projection="KEYS_ONLY")
BY_DAY = Index("BY_DAY", "day", "token")
BY_LEVEL = Index("BY_LEVEL", "urgent", Number("level"))
BY_PRICE = Index("BY_PRICE", "color", Number("price"))
BY_TIME = Index("BY_TIME", "weekday", ["at", "took"])


Person = TypeAliasType("Person", str)
"""As ``type Person = str`` defines it in Python 3.12 and later."""


class Task(Entity):
    """A task. Escalated tasks are in one index, and late tasks in another one, which holds only keys."""

    task_id: str
    project: str
    person: Person
    title: str = Field(alias="name")
    status: Literal["open", "done"] = "open"
    text: str = ""
    tags: set[str] = Field(default_factory=set)
    opened_at: AwareDatetime = Field(default_factory=now)
    escalated_to: str | None = None
    escalated_at: datetime | None = None
    due: date | None = None

    primary = Key("TASK#{task_id}", "HEAD")
    by_project = Key("PROJECT#{project}", "{opened_at}#{task_id}", index=BY_PROJECT)
    by_person = Key("PERSON#{person}", "{status}#{opened_at}#{task_id}", index=BY_PERSON)
    escalated = Key("{escalated_to}", "{escalated_at}", index=ESCALATED)
    late = Key("LATE", "{due}", index=LATE, when={"status": "open"})
    number = Unique("TASK_OF#{project}#{title}")


class Note(Entity):
    """A note of a task, sorted after the task in the task's partition."""

    task_id: str
    number: int
    text: str

    primary = Key("TASK#{task_id}", "NOTE#{number:04d}")


class Color(enum.StrEnum):
    """An enum whose string values are used in keys."""

    RED = "red"
    GREEN = "green"


class Level(enum.IntEnum):
    """An enum whose numbers are used in keys."""

    LOW = 1
    HIGH = 10


class Weight(enum.Enum):
    """An enum whose ranks are used in keys."""

    LIGHT = "light"
    HEAVY = "heavy"
    MASSIVE = "an enormous one"


class Thing(Entity):
    """An entity with a field of every type that a key attribute can have."""

    thing_id: str
    day: date
    token: UUID
    urgent: bool
    level: Level
    color: Color
    price: Decimal
    weekday: Color
    at: time
    took: timedelta
    weight: Weight

    primary = Key("THING#{weight:rank}", "{thing_id}")
    by_day = Key("{day}", "{token}", index=BY_DAY)
    by_level = Key("{urgent}", "{level}", index=BY_LEVEL)
    by_price = Key("{color}", "{price}", index=BY_PRICE)
    by_time = Key("{weekday}", ["{at}", "{took}"], index=BY_TIME)
    by_weight = Key("THINGS", "{weight:rank:desc}#{took}#{thing_id}", index=BY_PROJECT)


class TaskRow(View[Task]):
    """A view of a task for lists."""

    task_id: str
    title: str
    status: Literal["open", "done"]


class TaskKeys(View[Task]):
    """A view of the fields of a task that are in the keys."""

    task_id: str
    opened_at: datetime


class NoteText(View[Note]):
    """A view of a note without its number."""

    text: str


class Sheet(NamedTuple):
    """A view of a task, with views of its notes."""

    task: TaskRow
    notes: list[NoteText]


class Reading(Design):
    table = Table(
        "reading",
        indexes=[BY_PROJECT.projected_for(TaskRow), BY_PERSON, ESCALATED, LATE, BY_DAY, BY_LEVEL, BY_PRICE, BY_TIME],
        entities=[Thing],
    )

    @read("V1")
    def row(self, task_id: str) -> TaskRow | None: ...

    @read("V2")
    def rows(
        self, project: str, opened_at: Range[datetime] | None = None, limit: int = 10, cursor: Cursor | None = None
    ) -> Page[TaskRow]: ...

    @read("V3")
    def rows_of(self, task_id: Each[str]) -> list[TaskRow]: ...

    @read("V4", newest_first=True)
    def keys(self, person: str, status: Literal["open", "done"]) -> list[TaskKeys]: ...

    @read("V5", complete=True)
    def tasks(
        self,
        person: str,
        status: Literal["open", "done"],
        opened_at: Range[datetime] | None = None,
        limit: int = 10,
        cursor: Cursor | None = None,
    ) -> Page[Task]: ...

    @read("V6", complete=True, newest_first=True)
    def last_row(self, person: str, status: Literal["open", "done"]) -> TaskRow | None: ...

    @read("V7", complete=True)
    def rows_of_people(self, person: Each[str], limit: int = 10, cursor: Cursor | None = None) -> Page[TaskRow]: ...

    @read("V8")
    def sheet(self, task_id: str) -> Sheet | None: ...

    @read("V9")
    def parts(self, task_id: str) -> Iterator[TaskRow | Note]: ...

    @read("V10")
    def row_by_number(self, project: str, title: str) -> TaskRow | None: ...

    @read("C1", entity=Task)
    def how_many(self, project: str) -> int: ...

    @read("C2", entity=Task)
    def how_many_since(self, project: str, opened_at: Range[datetime]) -> int: ...

    @read("C3", entity=Note)
    def how_many_notes(self, task_id: str) -> int: ...

    @read("C4", entity=Task)
    def how_many_there(self, task_id: Each[str]) -> int: ...

    @read("C5", entity=Task)
    def how_many_of_people(self, person: Each[str]) -> int: ...

    @read("C6", entity=Task, scan=True, where={"status": "open"})
    def how_many_open(self) -> int: ...

    @read("C7", entity=[Task, Note])
    def how_many_parts(self, task_id: str) -> int: ...

    @read("E1", entity=Task)
    def is_there(self, task_id: str) -> bool: ...

    @read("E2", entity=Task)
    def is_taken(self, project: str, title: str) -> bool: ...

    @read("E3", entity=Task)
    def has_any(self, person: str, status: Literal["open", "done"], opened_at: Range[datetime]) -> bool: ...

    @read("E4", entity=Task, where={"status": "done"})
    def has_done(self, project: str) -> bool: ...

    @read("A1", scan_index=ESCALATED)
    def all_escalated(self, limit: int = 10, cursor: Cursor | None = None) -> Page[Task]: ...

    @read("A2", scan_index=LATE, complete=True, where={"status": "open"})
    def all_late(self) -> list[TaskRow]: ...

    @read("A3", scan_index=LATE, entity=Task)
    def how_many_late(self) -> int: ...

    @read("A4", scan_index=ESCALATED, where="escalated_to = :person")
    def all_escalated_to(self, person: str) -> Iterator[Task]: ...

    @read("N1")
    def things_of(self, day: date, token: Range[UUID] | None = None) -> list[Thing]: ...

    @read("N2", newest_first=True)
    def things_by_level(self, urgent: bool, level: Range[Level] | None = None) -> list[Thing]: ...

    @read("N3")
    def things_by_price(self, color: Color, price: Range[Decimal] | None = None) -> list[Thing]: ...

    @read("N4")
    def things_at(self, weekday: Color, at: time, took: Range[timedelta] | None = None) -> list[Thing]: ...

    @read("N5")
    def things_of_weight(self, weight: Weight) -> list[Thing]: ...

    @read("N7", complete=True, newest_first=True)
    def heavier(self, weight: Range[Weight]) -> list[Thing]: ...

    @read("N8", complete=True)
    def of_one_weight(self, weight: Weight, took: Range[timedelta] | None = None) -> list[Thing]: ...

    @read("N6", scan=True, where="urgent = :urgent AND took < :took")
    def urgent_things(self, urgent: bool, took: timedelta) -> list[Thing]: ...
