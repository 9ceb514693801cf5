# mypy: disable-error-code="empty-body"
"""Reads and writes of tables of other programs: stored forms, plain key attributes, discriminators and updates."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel

from keyplan import (
    Add,
    Design,
    Discriminator,
    Entity,
    Field,
    IfNotExists,
    Index,
    Key,
    KeyStyle,
    Number,
    Range,
    StoredAs,
    Table,
    Update,
    View,
    Writes,
    read,
    write,
)
from keyplan.errors import ConditionFailed
from tests.contract.forms import MOMENT, WHOLE, Reading, Readings
from tests.contract.stores import OPENERS, Caller, caller_of

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
GSI2 = Index("GSI2", "gsi2pk", Number("sentAt"))
NOON = datetime(2026, 11, 21, 12, 0, 0, 7_000, tzinfo=UTC)


class Place(BaseModel):
    city: str
    visits: int = 0


class Task(Entity, extra="allow"):
    task_id: str = Field(alias="taskId")
    project: str
    points: int = 0
    sent_at: Annotated[datetime, StoredAs("ms")] = Field(alias="sentAt")
    due: Annotated[datetime, StoredAs("iso ms")] | None = None
    price: Annotated[Decimal, StoredAs("text")] = Decimal(0)
    tags: Annotated[set[str], StoredAs("list")] = Field(default_factory=set)
    note: Annotated[str, StoredAs("zlib")] = ""
    place: Place = Place(city="Porto")
    counts: dict[str, int] = Field(default_factory=dict)
    lines: list[Place] = Field(default_factory=list)

    kind = Discriminator("__edb_e__", "task")
    primary = Key("$app#id_{task_id}", "$task_1")
    by_project = Key("$app#project_{project}", "$task_1#points_{points:d}", index=GSI1)
    by_time = Key("sent:{project}", "{sent_at}", index=GSI2)


class Count(Entity):
    name: str
    site: str
    hits: int = 0
    since: Annotated[datetime, StoredAs("s")]

    kind = Discriminator("__edb_e__", "count")
    primary = Key("$app#count_{name}", "$count_1")
    by_site = Key("$app#site_{site}", "$count_1#{name}", index=GSI1)


class App(Design):
    table = Table("app", indexes=[GSI1, GSI2], key_style=KeyStyle(raw=True, case="lower"))

    @read("A1")
    def worth(self, project: str, points: int) -> list[Task]: ...

    @read("A2", where="due <= :due AND contains(tags, :tag) AND price = :price")
    def sent(self, project: str, sent_at: Range[datetime], due: datetime, tag: str, price: Decimal) -> list[Task]: ...

    @read("A3")
    def counts_of(self, site: str) -> list[Count]: ...

    @write("A4")
    def hit(self, name: str, at: datetime) -> Writes[Count]:
        return (yield from Update(Count, name=name).set(hits=Add(1), since=IfNotExists(at), site="main").or_create())

    @write("A5")
    def move(self, task: Task, city: str) -> Writes:
        yield Update(task).at(lambda task: task.place.city).set(city).at(lambda task: task.counts["moves"]).add(1)

    @write("A6")
    def move_and_hit(self, task: Task, city: str, at: datetime) -> Writes[Count | None]:
        yield from self.move.in_transaction(task, city)
        count = yield Update(Count, name="moves").set(hits=Add(1), since=IfNotExists(at), site="main").or_create()
        return count if isinstance(count, Count) else None


every = caller_of(App)


def task(**more: object) -> Task:
    known = {"task_id": "A#1", "project": "Web", "points": 10, "sent_at": NOON, "due": NOON, "tags": {"a"}, **more}
    return Task.model_validate(known, by_name=True)


def test_items_are_written_in_stored_forms_with_unescaped_keys(every: Caller) -> None:
    given = every.put(task(price=Decimal("2.5"), note="x" * 99, hosts={"h"}))
    assert every.get(Task, task_id="a#1") == given
    assert every.read("worth", project="WEB", points=10) == [given]
    arguments = {"project": "web", "due": NOON, "tag": "a", "price": Decimal("2.5")}
    half = timedelta(microseconds=500)
    assert every.read("sent", sent_at=Range(gt=NOON - half), **arguments) == [given]
    assert every.read("sent", sent_at=Range(gt=NOON + half), **arguments) == []
    changed = every.update(given, price=Decimal(3), sent_at=NOON + timedelta(days=1), points=9)
    assert every.read("worth", project="web", points=9) == [changed]
    assert changed.model_extra == {"hosts": {"h"}}
    with pytest.raises(ConditionFailed):
        every.transact([Update(changed, note="y").only_if(sent_at=NOON)])


def test_updates_change_nested_parts_and_missing_attributes(every: Caller) -> None:
    given = every.put(task(lines=[Place(city="a"), Place(city="b")]))
    every.write("move", task=given, city="Faro")
    moved = every.get(Task, task_id="A#1")
    assert (moved.place.city, moved.counts) == ("Faro", {"moves": 1})
    every.transact([Update(moved).at(lambda value: value.lines[0]).remove()])
    assert [line.city for line in every.get(Task, task_id="A#1").lines] == ["b"]
    with pytest.raises(ConditionFailed):
        every.transact([Update(moved).at(lambda value: value.lines[1].visits).add(1)])
    every.write("hit", name="x", at=NOON)
    assert every.write("hit", name="x", at=NOON + timedelta(days=1)).since == NOON.replace(microsecond=0)
    assert [value.hits for value in every.read("counts_of", site="MAIN")] == [2]
    every.write("move_and_hit", task=moved, city="Lagos", at=NOON)
    assert {value.name for value in every.read("counts_of", site="main")} == {"x", "moves"}


@pytest.mark.parametrize("store", OPENERS)
def test_every_stored_form_is_supported_in_reads_filters_and_conditions(store: str, tmp_path: Path) -> None:
    with OPENERS[store](Readings, tmp_path) as readings:
        given = readings.put(Reading(name="a", at=MOMENT, iso=MOMENT, **WHOLE))
        assert readings.get(Reading, name="a", iso=given.iso) == given
        assert readings.filtered("a", MOMENT, "b", "abc") == readings.priced("a", given.at, Decimal("2.50")) == [given]
        known = {
            name: getattr(given, name) for name in WHOLE if name != "tags"
        }  # a set stored as a list has no fixed order
        changed = readings.update(Update(given, at=MOMENT + timedelta(days=1), tags={"c"}).only_if(**known))
        assert readings.by_time("a", Range(gt=MOMENT)) == [changed] == readings.since("a", Range(ge=given.iso))
        assert {name: getattr(changed, name) for name in known} == known
        assert readings.update(Update(changed, **known).only_if(**known)) == changed


class Late(Entity):
    name: str
    late_for: str | None = None
    text: str = ""

    kind = Discriminator("type", "late")
    primary = Key("$late#{name}", "$late_1")
    late = Key("{late_for}", "{name}", index=Index("LATE", "late_for", "name", projection="KEYS_ONLY"))


class LateRow(View[Late]):
    name: str


class Lateness(Design):
    table = Table("lateness", indexes=[Late.late.index or GSI1], key_style=KeyStyle(raw=True))

    @read("B1", scan_index=Late.late.index, complete=True)
    def all_late(self) -> list[Late]: ...

    @read("B2", scan_index=Late.late.index)
    def rows(self) -> list[LateRow]: ...

    @read("B3", scan_index=Late.late.index, entity=Late)
    def how_many(self) -> int: ...

    @read("B4", complete=True)
    def late_for(self, late_for: str) -> list[Late]: ...


def test_entities_in_an_index_without_discriminators_are_identified_by_keys() -> None:
    with Lateness.open(":memory:") as lateness:
        made = lateness.put(Late(name="a", late_for="x", text="t"))
        lateness.put(Late(name="b"))
        assert lateness.all_late() == lateness.late_for("x") == [made]
        assert ([row.name for row in lateness.rows()], lateness.how_many()) == (["a"], 1)
