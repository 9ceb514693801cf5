# mypy: disable-error-code="empty-body"
"""Plans for a design one of whose keys is deployed already, under traffic that is too much for it: what stays, what is
spread over shards, and which key answers a question that two could.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from keyplan import Create, Cursor, Design, Entity, Id, Index, Key, Page, Table, Writes, read, write
from keyplan.analysis.traffic.traffic_file import traffic_from
from keyplan.model.deferral import deferred
from keyplan.planner import plan
from keyplan.planner.planning import provisional_design
from keyplan.planner.unplanned import Unplanned

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Call(Entity):
    """A call for help; the key by its desk is deployed."""

    call_id: Id[str]
    desk: str
    caller: str
    number: str
    at: datetime

    primary = Key("CALL#{call_id}", "CALL")
    by_desk = Key("DESK#{desk}", "{at}", index=GSI1)


class Word(Entity):
    """One of the words of a call, in their order."""

    call_id: Id[str]
    at: Id[datetime]
    speaker: str


with deferred():

    class Desks(Design):
        """Help desks."""

        table = Table("desks", indexes=[GSI1])

        @read("D1", order_by="-at")
        def of_desk(self, desk: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Call]: ...

        @read("D2", order_by="at")
        def of_caller(self, caller: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Call]: ...

        @read("D3", newest_first=True)
        def last_of_caller(self, caller: str) -> Call | None: ...

        @read("D4")
        def by_number(self, number: str) -> Call | None: ...

        @read("D5")
        def words(self, call_id: str) -> list[Word]: ...

        @read("D6", newest_first=True)
        def last_words(self, call_id: str, limit: int = 3) -> list[Word]: ...

        @write("D7")
        def take(self, call: Call, word: Word) -> Writes:
            yield Create(call)
            yield Create(word)


def test_what_is_deployed_stays_and_what_is_new_is_spread() -> None:
    for rate, hottest in ((0.01, 0.01), (1500.0, 0.9)):
        patterns: dict[str, Any] = {"take": {"per_second": rate, "hottest": hottest}}
        plan(Desks, traffic_from({"patterns": patterns}, provisional_design(Desks), source="traffic.toml"))


def test_what_is_asked_for_singly_has_no_order() -> None:
    assert Unplanned(Desks, globals()).asked_singly(Call) == [frozenset({"number"})]
