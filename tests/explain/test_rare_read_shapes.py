# mypy: disable-error-code="empty-body"
"""Explanations of uncommon reads: time buckets, a claim as a junction, single items with a sort key from another
field, sharded keys, constant partition keys. The explained requests equal those of a call with typical arguments.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from keyplan import Design, Entity, Index, Key, Page, Range, Table, Through, Unique, read
from keyplan.analysis.explain.explanation import explain
from tests.contract.buckets import Timed
from tests.explain.test_explain import Listening

BY_ID = Index("BY_ID", "id_pk", "id_sk")


class Member(Entity):
    """A member, read by ID, by a claim on the email, and by an index whose key contains the ID, too."""

    member_id: str
    email: str
    town: str = "Bern"

    primary = Key("MEMBER#{member_id}", "HEAD")
    again = Key("MEMBER_AGAIN#{member_id}", "HEAD", index=BY_ID)
    one_email = Unique("EMAIL#{email}")


class Badge(Entity):
    """A badge of one member, read by the member's ID."""

    member_id: str
    number: int = 0

    primary = Key("BADGE#{member_id}", "HEAD")


class Locker(Entity):
    """A locker of one member, read by the member's ID in an index."""

    locker_id: str
    member_id: str

    primary = Key("LOCKER#{locker_id}", "HEAD")
    of_member = Key("LOCKER_OF#{member_id}", "HEAD", index=BY_ID)


class Visits(Entity):
    """A sharded counter whose shard is computed from the item's key."""

    page: str
    day: date
    count: int = 0

    primary = Key("VISITS#{page}", "{day}", shards=12)


class Notice(Entity):
    """A notice of a day. All notices are in one partition of the table, and in an index by month."""

    day: date
    text: str = ""

    primary = Key("NOTICES", "{day}")
    by_month = Key("NOTICES#{day:%Y%m}", "{day}", index=BY_ID)


class LockerKey(Entity):
    """A key of a locker, in a sharded index whose partition key and sort key end with a number."""

    key_id: str
    room: str
    hook: int

    primary = Key("KEY#{key_id}", "HEAD")
    on_hook = Key("ROOM#{room}", "HOOK#{hook:02d}", index=BY_ID, shards=12)


class Club(Design):
    table = Table("club", indexes=[BY_ID])

    @read("C1")
    def member(self, member_id: str) -> Member | None: ...

    @read("C2")
    def member_by_email(self, email: str) -> Member: ...

    @read("C3", through=Through(Member, member_id="member_id"))
    def badge_by_email(self, email: str) -> Badge | None: ...

    @read("C4", through=Through(Member, member_id="member_id"))
    def locker_by_email(self, email: str) -> Locker | None: ...

    @read("C9", through=Through(Member, member_id="member_id"))
    def badges(self, member_id: str) -> list[Badge]: ...

    @read("C5")
    def visits(self, page: str, day: date) -> Visits | None: ...

    @read("C6")
    def all_visits(self, page: str) -> list[Visits]: ...

    @read("C7", newest_first=True)
    def notices(self, limit: int = 5) -> Page[Notice]: ...

    @read("C10")
    def keys_on(self, room: str, hook: int) -> list[LockerKey]: ...

    @read("C8", where={"page": "home"})
    def home(self, day: Range[date]) -> list[Visits]: ...


CALLS: list[tuple[type[Design], str, dict[str, Any]]] = [
    (Club, "member", {"member_id": "m#1"}),
    (Club, "visits", {"page": "home", "day": "2026-03-01"}),
    (Club, "visits", {"page": "other", "day": "2026-03-02"}),
    (Club, "all_visits", {"page": "home"}),
    (Club, "notices", {}),
    (Club, "keys_on", {"room": "r", "hook": 7}),
    (Club, "home", {"day": {"ge": "2026-01-01", "lt": "2026-02-01"}}),
    (Timed, "readings", {"sensor": "s", "at": {"ge": "2026-01-05T00:00:00Z", "lt": "2026-04-01T00:00:00Z"}}),
    (Timed, "readings", {"sensor": "s", "at": {"ge": "2026-01-05T00:00:00Z", "le": "2026-01-06T00:00:00Z"}}),
    (Timed, "last_reading", {"sensor": "s", "at": {"ge": "2026-01-05T00:00:00Z", "lt": "2026-03-01T00:00:00Z"}}),
]


@pytest.mark.parametrize(("cls", "pattern", "arguments"), CALLS)
def test_explain_lists_the_requests_of_a_call(cls: type[Design], pattern: str, arguments: dict[str, Any]) -> None:
    with cls.open(":memory:") as design:
        listening = design.store.transport = Listening(design.store.transport)
        design.call(pattern, arguments)
    assert list(explain(cls, pattern, arguments).requests) == listening.asked
