# mypy: disable-error-code="empty-body"
"""Keys that exclude each other, since each is of another state, share one index, however many they are."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from keyplan import Design, Entity, Id, Table, read
from keyplan.model.deferral import deferred
from keyplan.planner import plan


class Parcel(Entity):
    """A parcel on its way."""

    parcel_id: Id[str]
    shelf: str
    carrier: str
    finder: str
    receiver: str
    state: Literal["packed", "sent", "lost", "brought"] = "packed"
    at: datetime
    grams: int = 0


with deferred():

    class Parcels(Design):
        """Parcels by who has to do with them now."""

        table = Table("parcels")

        @read("P1", where={"state": "packed"}, order_by="at")
        def packed(self, shelf: str) -> list[Parcel]: ...

        @read("P2", where={"state": "sent"}, order_by="at")
        def sent(self, carrier: str) -> list[Parcel]: ...

        @read("P3", where={"state": "lost"}, order_by="at")
        def lost(self, finder: str) -> list[Parcel]: ...

        @read("P4", where={"state": "brought"}, order_by="at")
        def brought(self, receiver: str) -> list[Parcel]: ...


def test_states_share_an_index() -> None:
    assert len(plan(Parcels)[0].indexes) == 1


with deferred():

    class Weighed(Design):
        """Parcels by who has them, some in the order of a number, some of a moment."""

        table = Table("weighed")

        @read("W1", where={"state": "packed"}, order_by="at")
        def packed(self, shelf: str) -> list[Parcel]: ...

        @read("W2", where={"state": "sent"}, order_by="grams")
        def sent(self, carrier: str) -> list[Parcel]: ...

        @read("W3", where={"state": "lost"}, order_by="grams")
        def lost(self, finder: str) -> list[Parcel]: ...


def test_attributes_of_other_types_need_another_index() -> None:
    """As texts all three share an index; of attributes, a number's key and a moment's can't."""
    assert len(plan(Weighed)[0].indexes) == 1
    assert len(plan(Weighed, attributes=True)[0].indexes) == 2
