# mypy: disable-error-code="empty-body"
"""A design of what a question may say besides its fields: the direction, the key, several sets of values."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from keyplan import Cursor, Design, Each, Entity, Index, Key, Page, Range, Table, read

BY_START = Index("BY_START", "start_key", "start_sort")
BY_RANK = Index("BY_RANK", "rank_key", "rank_sort")

State = Literal["waiting", "running", "done"]


class Job(Entity):
    """Work of a team, in the order of its start, and of its rank."""

    job_id: str
    team: str
    state: State = "waiting"
    rank: int = 0
    started_at: datetime

    primary = Key("JOB#{job_id}", "HEAD")
    by_start = Key("TEAM#{team}", "{started_at}#{job_id}", index=BY_START)
    by_rank = Key("TEAM#{team}", "{rank:04d}#{job_id}", index=BY_RANK, shards=3)


class Step(Entity):
    """One of a job's steps, the newest first in its key."""

    job_id: str
    number: int
    text: str

    primary = Key("STEPS#{job_id}", "STEP#{number:04d:desc}")


class Watch(Entity):
    """Somebody watches a job."""

    person: str
    job_id: str
    since: datetime

    primary = Key("WATCHES#{person}", "{since}#{job_id}")


class Asking(Design):
    """Direction, key, and sets of values as a call gives them."""

    table = Table("asking", indexes=[BY_START, BY_RANK])

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

    @read("K1", key=Job.by_rank)
    def by_rank(self, team: str) -> list[Job]: ...

    @read("K2", key=Watch.primary)
    def watches(self, person: str) -> list[Watch]: ...
