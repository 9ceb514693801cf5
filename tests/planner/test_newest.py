# mypy: disable-error-code="empty-body"
"""Questions for the newest, of which two keys would each have an order of its own; and what is told on the way to a
plan.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal

import pytest

from keyplan import Cursor, Design, Entity, Id, Page, Range, Table, View, Writes, read, write
from keyplan import Update as Change
from keyplan.errors import DesignError
from keyplan.model.deferral import deferred
from keyplan.planner import planning


class Photo(Entity):
    owner: Id[str]
    photo_id: Id[str]
    taken_at: datetime
    album: str
    state: Literal["draft", "shown", "hidden"] = "draft"
    price: Decimal = Decimal(0)
    text: str = ""


class Fan(Entity):
    owner: Id[str]
    fan_id: Id[str]
    since: datetime


class Person(Entity):
    fan_id: Id[str]
    name: str
    since: datetime


class Caption(View[Photo]):
    owner: str
    photo_id: str
    taken_at: datetime


with deferred():

    class Photos(Design):
        table = Table("photos")

        @read("P1")
        def of_owner(self, owner: str) -> list[Photo]: ...

        @read("P2", newest_first=True)
        def newest(self, owner: str, limit: int = 10) -> list[Photo]: ...

        @read("P3", newest_first=True)
        def captions(self, owner: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Caption]: ...

        @read("P4", where={"state": "shown"}, newest_first=True)
        def shown(self, album: str, limit: int = 10) -> list[Photo]: ...

        @write("P5")
        def say(self, photo: Photo, text: str) -> Writes:
            yield Change(photo, text=text)

    class Albums(Design):
        """The table's key has the partition of the newest, too."""

        table = Table("albums")

        @read("A1", consistent=True)
        def of_owner(self, owner: str) -> list[Photo]: ...

        @read("A2", newest_first=True)
        def newest(self, owner: str, limit: int = 10) -> list[Photo]: ...

    class Fans(Design):
        """A constant that is a field of the junction and of what it leads to is the junction's."""

        table = Table("fans", entities=[Person])

        @read("F1", through=Fan, where={"fan_id": "f1"})
        def one_fan(self, owner: str) -> list[Person]: ...

        @read("F2", through=Fan, order_by="-since")
        def fans(self, owner: str) -> list[Person]: ...

    class Prices(Design):
        """The table's key serves each of them, and what they are ordered by needs an index."""

        table = Table("prices")

        @read("P1")
        def of_owner(self, owner: str) -> list[Photo]: ...

        @read("P2", order_by="-price")
        def dearest(self, owner: str, limit: int = 10) -> list[Photo]: ...

        @read("P3")
        def taken(self, owner: str, taken_at: Range[datetime]) -> list[Photo]: ...

        @read("P4", where={"state": "hidden"})
        def hidden(self) -> list[Photo]: ...

        @write("P5")
        def rate(self, photo: Photo, price: Decimal) -> Writes:
            yield Change(photo, price=price)


def test_what_the_compiler_refuses_of_every_plan_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_given: object) -> None:
        raise DesignError("the design can't work")

    monkeypatch.setattr("keyplan.planner.planning.compiled_plan", refused)
    with pytest.raises(DesignError, match="the design can't work"):
        planning.plan(Fans)
