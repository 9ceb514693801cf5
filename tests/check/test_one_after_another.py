# mypy: disable-error-code="empty-body"
"""What rules find behind what they pass over: in each write, read and key the first ones are right, and others follow
that aren't. All that is found is agreed upon.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from keyplan import (
    Add,
    Batch,
    Check,
    Create,
    Delete,
    Design,
    Entity,
    Index,
    Key,
    Put,
    Range,
    Table,
    Ttl,
    Unique,
    Update,
    Version,
    Writes,
    read,
    ulid,
    write,
)
from keyplan.check import check
from keyplan.check.rules.ranking_in_few_partitions import RULE as RANKING
from keyplan.check.subject import Subject
from keyplan.design.traffic import traffic_from
from keyplan.design.traffic.files import traffic_of
from tests.agreed import assert_agreed
from tests.contract.buckets import Timed

BY_MOOD = Index("by-mood", "mpk", "msk")
BY_OWNER = Index("by-owner", "opk", "osk")
Mood = Literal["sad", "glad", "angry"]


class Lock(Entity):
    name: str
    expires: Ttl

    primary = Key("LOCK#{name}", "HEAD")


class Visit(Entity):
    name: str
    expires: Ttl | None = None

    primary = Key("VISIT#{name}", "HEAD")


class Ticket(Entity):
    ticket_id: str = Field(default_factory=ulid)
    expires: Ttl

    primary = Key("TICKET#{ticket_id}", "HEAD")


class Stall(Entity):
    name: str
    sold: int = 0
    stamp: UUID
    mood: Mood = "sad"
    owner: str | None = None

    primary = Key("STALL#{name}", "HEAD")
    by_mood = Key("MOOD", "{mood}#{name}", index=BY_MOOD)
    by_owner = Key("OWNER#{owner}", "{stamp}", index=BY_OWNER)


class Counted(Entity):
    name: str
    version: Version = 0

    primary = Key("COUNTED#{name}", "HEAD")


class Claimed(Entity):
    name: str
    sign: str
    expires: Ttl | None = None

    primary = Key("CLAIMED#{name}", "HEAD")
    one_sign = Unique("SIGN#{sign}")


class Ware(Entity):
    stall: str
    shelf: str = "top"
    mood: Mood
    number: int
    fresh: bool = False
    rank: Mood = "sad"

    primary = Key("WARES#{stall}", "{mood}#{fresh}#{number:04d}")
    by_mood = Key("WARE#{shelf}", "{rank:rank}#{number:04d}", index=BY_MOOD)
    by_owner = Key("ALL", "HEAD", index=BY_OWNER)


class Market(Design):
    table = Table("market", entities=[Lock, Visit, Ticket, Stall, Counted, Claimed, Ware], indexes=[BY_MOOD, BY_OWNER])

    @read("R1", all_of=BY_OWNER)
    def owned(self) -> list[Stall]: ...

    @read("R2", all_of=BY_MOOD)
    def in_moods(self) -> list[Stall]: ...

    @read("R3", scan=True)
    def stalls(self) -> Iterator[Stall]: ...

    @read("R4", order_by="rank")
    def ranked(self, shelf: str) -> list[Ware]: ...

    @read("R5", order_by="mood")
    def by_mood(self, stall: str) -> list[Ware]: ...

    @read("R6", order_by="-mood")
    def backwards(self, stall: str) -> list[Ware]: ...

    @read("R7")
    def in_a_mood(self, stall: str, mood: Range[str]) -> list[Ware]: ...

    @read("R8", newest_first=True)
    def newest(self, stall: str) -> list[Ware]: ...

    @read("R9")
    def either_way(self, stall: str, newest_first: bool = False) -> list[Ware]: ...

    @read("R10", newest_first=True)
    def of_owner(self, owner: str) -> list[Stall]: ...

    @read("R11", newest_first=True)
    def numbered(self, stall: str, mood: Mood, fresh: bool) -> list[Ware]: ...

    @write("W1")
    def locked(self, stall: Stall, name: str, until: datetime) -> Writes:
        yield Update(stall, sold=1)
        yield Create(Visit(name=name))
        yield Create(Ticket(expires=until))
        yield Put(Lock(name=name, expires=until))
        yield Create(Lock(name=name, expires=until))

    @write("W2")
    def if_over(self, name: str, until: datetime) -> Writes:
        yield Put(Lock(name=name, expires=until)).only_if("attribute_not_exists(name) OR expires < :now", now=until)

    @write("W3")
    def only_new(self, name: str, until: datetime) -> Writes:
        yield Put(Visit(name=name, expires=until)).only_if("attribute_not_exists(name)")

    @write("W4")
    def sold(self, name: str, other: Counted, ware: Ware, until: datetime) -> Writes:
        yield Update(Stall, name=name).set(sold=Add(1))
        yield Put(other)
        yield Put(Ticket(expires=until))
        yield Delete(ware)

    @write("W5")
    def sold_and_put(self, name: str, ware: Ware) -> Writes:
        yield Update(Stall, name=name).set(sold=Add(1))
        yield Put(ware)

    @write("W6")
    def sold_where_there(self, name: str, ware: Ware) -> Writes:
        yield Update(Stall, name=name).set(sold=Add(1))
        yield Check(Visit, name=name)
        yield Delete(ware).if_missing(LookupError())  # type: ignore[arg-type]

    @write("W7")
    def unsigned(self, name: str, claimed: Claimed) -> Writes:
        yield Update(Stall, name=name).set(sold=Add(1))
        yield Delete(claimed)

    @write("W8")
    def moved(self, ware: Ware) -> Writes:
        yield Batch([Delete(ware), Put(Ware(stall="b", mood="sad", number=1))])

    @write("W9")
    def one_batched(self, ware: Ware) -> Writes:
        yield Batch([Put(ware)])

    @write("W10")
    def several_batched(self, ware: Ware, visit: Visit) -> Writes:
        yield Batch([Put(ware), Put(visit)])

    @write("W11")
    def one_and_batched(self, ware: Ware, stall: Stall) -> Writes:
        yield Put(stall)
        yield Batch([Put(ware)])

    @write("W12")
    def many(self, wares: list[Ware]) -> Writes:
        for ware in wares:
            yield Put(ware)

    @write("W13")
    def created(self, claimed: Claimed) -> Writes:
        yield Create(claimed)

    @write("W14")
    def only_one(self, ware: Ware) -> Writes:
        yield Put(ware)


TRAFFIC = {
    "table": {"replicas": ["eu-west-1"], "strong_across_regions": True},
    "entities": {"Stall": {"count": 5_000}, "Ware": {"count": 900_000, "per_partition": 300}},
    "patterns": {"stalls": {"peak_per_second": 2}, "by_mood": {"items": 300}, "newest": {"items": 300_000}},
}


def test_what_is_found_of_a_market() -> None:
    report = check(Market, traffic=traffic_from(TRAFFIC, Market.compiled))
    assert_agreed("\n".join(f"{each}; {each.hint}; {'; '.join(each.arithmetic)}" for each in report.findings))


def test_what_is_found_of_buckets() -> None:
    found = check(Timed, traffic=traffic_of(Timed.compiled)).findings
    assert_agreed("\n".join(f"{each}; {each.hint}; {'; '.join(each.arithmetic)}" for each in found))


class Score(Entity):
    player: str
    board: str
    season: str = "one"
    league: str | None = None
    points: int = 0

    primary = Key("PLAYER#{player}", "{board}")
    by_points = Key("SEASON#{season}", "{points:08d}", index=BY_MOOD)
    by_league = Key("LEAGUE#{league}", "{points:08d}", index=BY_OWNER)


class Scores(Design):
    table = Table("scores", entities=[Score], indexes=[BY_MOOD, BY_OWNER])

    @read("S1", newest_first=True)
    def top(self, season: str, limit: int = 10) -> list[Score]: ...

    @read("S2", newest_first=True)
    def of_league(self, league: str, limit: int = 10) -> list[Score]: ...

    @write("S3")
    def scored(self, player: str, board: str, points: int) -> Writes:
        yield Update(Score(player=player, board=board), points=points)


def test_rankings_in_few_partitions() -> None:
    subject = Subject(Scores.compiled, traffic_of(Scores.compiled), Scores)
    remarks = list(RANKING.find(subject))
    assert_agreed("\n".join(f"{remark.place}: {remark.message}; {remark.hint}" for remark in remarks))
