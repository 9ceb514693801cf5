# mypy: disable-error-code="empty-body"
"""Rules go on after correct code: in each write, read and key the first element is right and a later one is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import pytest
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
from keyplan.analysis.check import check
from keyplan.analysis.traffic import traffic_from
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

    @read("R1", scan_index=BY_OWNER)
    def owned(self) -> list[Stall]: ...

    @read("R2", scan_index=BY_MOOD)
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


FOUND: dict[str, dict[str, str]] = {
    "Market": {
        "KP106": "Market.many",
        "KP108": "Market.locked",
        "KP201": "Stall.by_mood Ware.by_owner",
        "KP210": "Market.either_way Market.newest Market.of_owner",
        "KP215": "Market.backwards Market.by_mood Market.in_a_mood",
        "KP301": "Market.in_moods Market.owned Market.stalls",
        "KP303": "Market.backwards Market.either_way Market.newest Market.numbered Market.of_owner Market.ranked",
        "KP306": (
            "Market.many Market.moved Market.one_and_batched "
            "Market.one_batched Market.only_one Market.several_batched Market.sold_and_put"
        ),
        "KP307": "Market.moved Market.one_and_batched Market.several_batched",
        "KP310": "Counted",
        "KP315": "Claimed.one_sign Market.locked Market.only_new",
        "KP320": "Market.sold Market.sold_and_put",
        "KP402": "Stall.by_mood Ware.by_owner",
        "KP505": "Market.table",
        "KP605": (
            "Claimed.expires Lock.expires Market.created Market.locked Market.many Market.sold "
            "Market.sold_and_put Market.sold_where_there Market.table Market.unsigned Ticket.expires Visit.expires"
        ),
    },
    "Timed": {
        "KP207": (
            "Timed.all_readings Timed.each_reading Timed.how_many_noted "
            "Timed.is_any Timed.last_reading Timed.readings Timed.readings_of"
        ),
        "KP302": "Timed.how_many_noted",
        "KP317": "Timed.in_room Timed.is_in_room Timed.of_kind Timed.totals",
    },
    "Scores": {
        "KP214": "Score.by_league Score.by_points",
    },
}


@pytest.mark.parametrize(("design", "traffic"), [(Market, TRAFFIC), (Timed, {}), (Scores, {})])
def test_design_has_these_findings(design: type[Design], traffic: dict[str, Any]) -> None:
    places: dict[str, set[str]] = {}
    for finding in check(design, traffic=traffic_from(traffic, design.compiled)).findings:
        places.setdefault(finding.code, set()).add(finding.place)
    assert places == {code: set(text.split()) for code, text in FOUND[design.__name__].items()}
