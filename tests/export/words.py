# mypy: disable-error-code="empty-body"
"""A design with rarely used features: stored formats, key styles, discriminators, views, counter shards, tokens,
constant keys, counts and index scans.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from typing import Annotated, Literal

from keyplan import (
    Add,
    CounterShards,
    Cursor,
    Design,
    Discriminator,
    Entity,
    Field,
    IdempotencyTokens,
    Index,
    InvalidItem,
    Key,
    KeyStyle,
    Number,
    Page,
    Range,
    StoredAs,
    Table,
    Ttl,
    Unique,
    Update,
    Version,
    View,
    Writes,
    read,
    ulid,
    write,
)

GSI1 = Index("gsi1", "gsi1pk", "gsi1sk")
GSI2 = Index("gsi2", "gsi2pk", Number("gsi2sk"), projection=["__edb_e__", "seenAt", "madeAt"])
BY_DAY = Index("by_day", "day", "level", projection=["title"])
MANY = Index("many", ["country", "city"], [Number("year")])
LOCAL = Index("local", "pk", "lsi", local=True)


class Task(Entity):
    """A task."""

    task_id: str
    project: str
    points: int = 0
    made_at: Annotated[datetime, StoredAs("ms")] = Field(alias="madeAt")
    seen_at: Annotated[datetime, StoredAs("iso ms")] | None = Field(default=None, alias="seenAt")
    done: Annotated[bool, StoredAs("number")] = False
    tags: Annotated[set[str], StoredAs("list")] = Field(default_factory=set)
    body: Annotated[dict[str, int], StoredAs("json")] = Field(default_factory=dict)
    day_: Annotated[date, StoredAs(layout="%d/%m/%Y")] = Field(alias="theDay")
    expires: Ttl | None = None
    kind = Discriminator("__edb_e__", "task")
    primary = Key("$app#id_{task_id}", "$task_1", style=KeyStyle(raw=True, case="lower"))
    by_project = Key(
        "$app#project_{project}", "$task_1#points_{points:d}", index=GSI1, style=KeyStyle(raw=True, case="lower")
    )
    by_moment = Key("MADE", "{made_at}", index=GSI2)


class Note(Entity):
    """A note that has the key of its task, and a discriminator."""

    task_id: str
    text: str
    kind = Discriminator("__edb_e__", "note")
    primary = Key("$app#id_{task_id}", "$task_1", style=KeyStyle(raw=True, case="lower"))


class Counter(Entity):
    """A sharded counter."""

    path: str
    slot: int = CounterShards(10)
    views: int = 0
    applied: IdempotencyTokens = Field(default_factory=set)
    primary = Key("VIEWS#{path}#{slot:d}", "COUNT")


class Root(Entity, extra="allow"):
    """A single item with a constant key."""

    name: str
    version: Version = 0
    primary = Key("ROOT", "ROOT")


class Event(Entity):
    """An event with ranks, a claim, and keys in native and local indexes."""

    event_id: str = Field(default_factory=ulid)
    day: date
    level: Literal["low", "high"]
    title: str
    email: str
    country: str
    city: str
    year: int
    priority: Literal["a", "b"] = "a"
    primary = Key("EVENT#{event_id}", "{priority:rank}")
    on_day = Key("{day}", "{level}", index=BY_DAY)
    claim = Unique("MAIL#{email}", style=KeyStyle(raw=True, case="lower"))
    many = Key(["{country}", "{city}"], ["{year}"], index=MANY)
    loc = Key("EVENT#{event_id}", "{day}", index=LOCAL)


class EventRow(View[Event]):
    """A view of an event with the columns of a list."""

    event_id: str
    title: str


class TaskKeys(View[Task]):
    """A view of a task with the attributes that an index projects."""

    task_id: str
    made_at: datetime


class Words(Design):
    table = Table("words", indexes=[GSI1, GSI2, BY_DAY, MANY, LOCAL], entities=[Note])

    @read("A1")
    def task(self, task_id: str) -> Task | None: ...
    @read("A2")
    def tasks_worth(self, project: str, points: int) -> list[Task]: ...
    @read("A3", entity=Counter, total="views")
    def views(self, path: str) -> int: ...
    @read("A4")
    def rows(self, day: date, limit: int = 5, cursor: Cursor | None = None) -> Page[EventRow | InvalidItem]: ...
    @read("A5", entity=Event)
    def how_many(self, day: date) -> int: ...
    @read("A6", entity=Root)
    def is_there(self) -> bool: ...
    @read("A7", scan_index=MANY, segments=4)
    def all_events(self) -> Iterator[Event]: ...
    @read("A8", complete=True, key=Event.on_day)
    def events(self, day: date) -> list[Event]: ...
    @read("A9")
    def event_by_mail(self, email: str) -> Event | None: ...
    @read("A10", where="seen_at < :before", newest_first=True)
    def recent(self, made_at: Range[datetime], before: datetime) -> list[TaskKeys]: ...
    @read("A11")
    def root(self) -> Root: ...
    @write("W1")
    def view(self, path: str) -> Writes:
        yield Update(Counter, path=path).set(views=Add(1)).or_create()
