# mypy: disable-error-code="empty-body"
"""A design whose reads have call options: a direction, a key, and several sets of values."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from typing import Literal

from keyplan import Cursor, Design, Each, Entity, Index, InvalidItem, Key, Page, Range, Table, read

BY_START = Index("BY_START", "start_key", "start_sort")
BY_RANK = Index("BY_RANK", "rank_key", "rank_sort")
BY_STATE = Index("BY_STATE", "state_key", "state_sort")

State = Literal["waiting", "running", "done"]


class Job(Entity):
    """A job of a team, sorted by start time in the table and by rank in an index."""

    job_id: str
    team: str
    state: State = "waiting"
    rank: int = 0
    started_at: datetime

    primary = Key("JOB#{job_id}", "HEAD")
    by_start = Key("TEAM#{team}", "{started_at}#{job_id}", index=BY_START)
    by_rank = Key("TEAM#{team}", "{rank:04d}#{job_id}", index=BY_RANK, shards=3)


class Step(Entity):
    """A step of a job. The steps of a job are in descending order."""

    job_id: str
    number: int
    text: str

    primary = Key("STEPS#{job_id}", "STEP#{number:04d:desc}")


class Ticket(Entity):
    """A ticket, whose index key depends on whether the ticket is urgent, calm or closed."""

    ticket_id: str
    team: str
    state: Literal["urgent", "calm", "closed", "lost"] = "calm"
    rank: int = 0
    due: date
    closed_on: date | None = None

    primary = Key("TICKET#{ticket_id}", "HEAD")
    urgent = Key("TEAM#{team}", "NOW#{due}#{ticket_id}", index=BY_STATE, when={"state": "urgent"})
    calm = Key("TEAM#{team}", "{rank:04d}#{ticket_id}", index=BY_STATE, when={"state": "calm"})
    closed = Key("CLOSED#{team}", "{closed_on}#{ticket_id}", index=BY_STATE, when={"state": "closed"}, shards=2)


class Parcel(Entity):
    """A part of a shipment, stored in a depot."""

    parcel_id: str
    part: int
    depot: str
    state: Literal["in", "out", "lost"] = "in"
    weight: int = 0

    primary = Key("PARCEL#{parcel_id}", "PART#{part:03d}")
    by_depot = Key("DEPOT#{depot}#{state}", "{weight:06d}#{parcel_id}#{part:03d}", index=BY_START)


class Watch(Entity):
    """A junction from a person to a job."""

    person: str
    job_id: str
    since: datetime

    primary = Key("WATCHES#{person}", "{since}#{job_id}")


class Asking(Design):
    table = Table("asking", indexes=[BY_START, BY_RANK, BY_STATE])

    @read("D1", key=Job.by_start)
    def jobs(
        self, team: str, newest_first: bool = True, limit: int = 10, cursor: Cursor | None = None
    ) -> Page[Job]: ...

    @read("D2", order_by="rank")
    def ranking(self, team: str, newest_first: bool, limit: int = 10, cursor: Cursor | None = None) -> Page[Job]: ...

    @read("D3", key=Job.by_start)
    def first(self, team: str, newest_first: bool = False) -> Job | None: ...

    @read("D4")
    def steps(self, job_id: str, number: Range[int] | None = None, newest_first: bool = False) -> Iterator[Step]: ...

    @read("D5", through=Watch)
    def watched(
        self, person: str, newest_first: bool = True, limit: int = 10, cursor: Cursor | None = None
    ) -> Page[Job]: ...

    @read("D6", through=Watch)
    def steps_watched(
        self, person: str, newest_first: bool = True, limit: int = 10, cursor: Cursor | None = None
    ) -> Page[Step]: ...

    @read("D7", key=Job.by_start)
    def of_teams(
        self, team: Each[str], newest_first: bool = False, limit: int = 10, cursor: Cursor | None = None
    ) -> Page[Job]: ...

    @read("S1", where={"state": "urgent"})
    def urgent(self, team: str, due: Range[date] | None = None) -> list[Ticket]: ...

    @read("S2", where={"state": "calm"})
    def calm(
        self, team: str, newest_first: bool = False, limit: int = 10, cursor: Cursor | None = None
    ) -> Page[Ticket]: ...

    @read("S3", where={"state": "closed"})
    def closed(self, team: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Ticket]: ...

    @read("S4", where={"state": "calm"}, entity=Ticket)
    def how_many_calm(self, team: str) -> int: ...

    @read("S5", scan_index=BY_STATE, entity=Ticket)
    def how_many_somewhere(self) -> int: ...

    @read("S6")
    def closed_in(self, team: str, state: Literal["closed"], closed_on: Range[date]) -> list[Ticket]: ...

    @read("E1")
    def parcels(
        self,
        depot: Each[str],
        state: Each[Literal["in", "out", "lost"]],
        newest_first: bool = False,
        limit: int = 10,
        cursor: Cursor | None = None,
    ) -> Page[Parcel]: ...

    @read("E2")
    def parts(self, parcel_id: Each[str], part: Each[int]) -> list[Parcel]: ...

    @read("E3", where={"state": ("in", "out")}, entity=Parcel)
    def how_many_parcels(self, depot: Each[str]) -> int: ...

    @read("E4", entity=Parcel)
    def are_there(self, parcel_id: Each[str], part: Each[int]) -> int: ...

    @read("U1", key=Job.by_start)
    def readable(
        self, team: str, newest_first: bool = False, limit: int = 10, cursor: Cursor | None = None
    ) -> Page[Job | InvalidItem]: ...

    @read("U2")
    def readable_job(self, job_id: str) -> Job | InvalidItem | None: ...

    @read("U3")
    def readable_jobs(self, job_id: Each[str]) -> list[Job | InvalidItem]: ...

    @read("U4", scan=True)
    def all_readable(self) -> Iterator[Job | Step | InvalidItem]: ...

    @read("U5", key=Job.by_rank)
    def readable_ranking(self, team: str) -> list[Job | InvalidItem]: ...

    @read("J1", scan=True, segments=3)
    def all_jobs(self) -> Iterator[Job]: ...

    @read("J4", scan=True, segments=3)
    def jobs_and_steps(self, limit: int = 10, cursor: Cursor | None = None) -> Page[Job | Step]: ...

    @read("J5", scan_index=BY_STATE, segments=2)
    def tickets_by_page(self, limit: int = 10, cursor: Cursor | None = None) -> Page[Ticket]: ...

    @read("J2", scan_index=BY_STATE, segments=2)
    def all_tickets(self) -> list[Ticket]: ...

    @read("J3", scan=True, segments=4, entity=[Job, Step])
    def how_many_in_all(self) -> int: ...

    @read("K1", key=Job.by_rank)
    def by_rank(self, team: str) -> list[Job]: ...

    @read("K2", key=Watch.primary)
    def watches(self, person: str) -> list[Watch]: ...
