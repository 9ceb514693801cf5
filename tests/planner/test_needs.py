# mypy: disable-error-code="empty-body"
"""What each form of question needs of keys: known fields, constants, ranges, an order, whole collections, junctions."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal, NamedTuple

import pytest
from pydantic import Field, computed_field

from keyplan import Cursor, Design, Each, Entity, Id, Index, Page, Prefix, Range, Table, Through, read
from keyplan.model.declared.fields import ulid
from keyplan.model.deferral import deferred
from keyplan.planner.facts import facts_of
from keyplan.planner.needs import Need, NeedReader
from keyplan.planner.unplanned import Unplanned

State = Literal["new", "open", "done"]
ALL = Index("ALL", "all_pk", "all_sk")


class Case(Entity):
    case_id: Id[str] = Field(default_factory=ulid)
    owner: str
    state: State = "new"
    team: str = ""
    title: str = ""
    labels: tuple[str, ...] = ()
    opened_at: datetime
    closed_at: datetime | None = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def initial(self) -> str:
        """Of its title."""
        return self.title[:1]


class Entry(Entity):
    case_id: Id[str]
    number: Id[int]
    by: str
    rank: int = 0


class Watch(Entity):
    owner: Id[str]
    case_id: Id[str]
    since: date


class Help(Entity):
    """Leads to cases, as watches do."""

    owner: Id[str]
    case_id: Id[str]


class Meeting(Entity):
    """Has moments, one of which is likelier to be meant."""

    meeting_id: Id[str]
    team: str
    changed_at: datetime
    started_at: datetime
    sent_at: datetime | None = None


class Score(Entity):
    """Has one number, and no time."""

    game: Id[str]
    player: Id[str]
    points: int


class Log(Entity):
    """Is ordered by what makes its own identity."""

    machine: Id[str]
    log_id: Id[str] = Field(default_factory=ulid)
    text: str = ""


class File(NamedTuple):
    case: Case
    entries: list[Entry]


class Newest(NamedTuple):
    case: Case
    entry: Entry | None


with deferred():

    class Cases(Design):
        table = Table("cases")

        @read("N1")
        def case(self, case_id: str) -> Case: ...

        @read("N2")
        def of_owner(self, owner: str) -> list[Case]: ...

        @read("N3", newest_first=True)
        def newest_of(self, owner: str, limit: int = 5, cursor: Cursor | None = None) -> Page[Case]: ...

        @read("N4", newest_first=False)
        def oldest_of(self, team: str) -> list[Case]: ...

        @read("N5", order_by="title")
        def by_title(self, owner: str) -> list[Case]: ...

        @read("N6", order_by="-title")
        def by_title_turned(self, owner: str) -> list[Case]: ...

        @read("N7")
        def either_way(self, owner: str, newest_first: bool = True) -> list[Case]: ...

        @read("N8", where={"state": "open"})
        def that_are_open(self, owner: str) -> list[Case]: ...

        @read("N9", where={"state": ["open", "new"]})
        def not_done(self, owner: str) -> list[Case]: ...

        @read("N10", where={"state": ["open"], "team": {"b", "a"}, "labels": ("x", "y")})
        def listed(self) -> list[Case]: ...

        @read("N11")
        def of_states(self, owner: Each[str], state: Literal["new", "open"]) -> list[Case]: ...

        @read("N12")
        def of_new(self, state: Literal["new"]) -> list[Case]: ...

        @read("N13")
        def of_any_state(self, state: State) -> list[Case]: ...

        @read("N14")
        def in_time(self, owner: str, opened_at: Range[datetime]) -> list[Case]: ...

        @read("N15", order_by="-opened_at")
        def in_time_turned(self, owner: str, opened_at: Range[datetime]) -> list[Case]: ...

        @read("N16")
        def titled(self, owner: str, title: Prefix) -> list[Case]: ...

        @read("N17", consistent=True)
        def titled_so(self, title: str) -> Case | None: ...

        @read("N18", newest_first=True, where={"initial": "A"})
        def last_of_owner(self, owner: str) -> Case | None: ...

        @read("N19")
        def file(self, case_id: str) -> File: ...

        @read("N20", newest_first=True)
        def with_newest(self, case_id: str) -> Newest: ...

        @read("N21")
        def mixed(self, case_id: str) -> list[Case | Entry]: ...

        @read("N22", entity=[Case])
        def is_any(self, title: str) -> bool: ...

        @read("N23", entity=[Case])
        def how_many(self, title: str) -> int: ...

        @read("N24", scan_index=ALL, where={"state": "open"}, order_by=None)
        def all_open(self) -> list[Case]: ...

        @read("N25", through=Watch)
        def watched(self, owner: str) -> list[Case]: ...

        @read("N26", through=Through(Watch, case_id="case_id"), newest_first=True)
        def entries_watched(self, owner: str) -> list[Entry]: ...

        @read("N27", newest_first=True)
        def best(self, game: str) -> list[Score]: ...

        @read("N28", newest_first=True)
        def last_logs(self, machine: str) -> list[Log]: ...

        @read("N29", newest_first=True)
        def last_entry(self, case_id: str) -> Entry | None: ...

        @read("N30", scan=True)
        def everything(self) -> list[Case]: ...

        @read("N31", order_by="rank", where="by = :by")
        def ranked(self, case_id: str, by: str) -> list[Entry]: ...

        @read("N32", through=[Watch, Help])
        def watched_or_helped(self, owner: str) -> list[Case]: ...

        @read("N33", newest_first=True)
        def meetings(self, team: str) -> list[Meeting]: ...

        @read("N34")
        def on_day(self, owner: str, since: date) -> Watch | None: ...


def needs_of(design: type[Any]) -> list[Need]:
    """The needs of a design's questions, none of which is at fault."""
    uncompiled = Unplanned(design, getattr(design, "uncompiled", {}))
    reader = NeedReader({cls: facts_of(cls) for cls in uncompiled.entities})
    needs = reader.needs(uncompiled.patterns, uncompiled.signatures)
    assert not reader.faults
    return needs


@pytest.mark.parametrize("name", ["case", "everything"])
def test_what_needs_no_key(name: str) -> None:
    """An item by what identifies it, and a scan."""
    assert not [need for need in needs_of(Cases) if need.place == f"Cases.{name}"]
