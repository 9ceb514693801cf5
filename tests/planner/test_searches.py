# mypy: disable-error-code="empty-body"
"""Which keys are chosen by each kind of search, as they were agreed upon: with filters, with claims, spread over more
keys, by all of a sparse index; of designs that others published.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from keyplan import Design, Entity, Id, Table, read
from keyplan.model.deferral import deferred
from keyplan.planner.fixed import Fixed
from keyplan.planner.search import choices


class Ticket(Entity):
    ticket_id: Id[str]
    owner: str
    state: Literal["new", "open", "done"]
    is_paid: bool = False
    rank: int = 0
    size: Decimal = Decimal(0)


with deferred():

    class Tickets(Design):
        """States that share indexes, and are read whole."""

        table = Table("tickets")

        @read("T1", where={"state": "new"})
        def new(self) -> list[Ticket]: ...

        @read("T2", where={"state": "open"}, order_by="rank")
        def by_rank(self, owner: str) -> list[Ticket]: ...

        @read("T3", where={"state": "done"}, order_by="-size")
        def by_size(self, owner: str) -> list[Ticket]: ...

        @read("T4", where={"state": ["new", "open"]})
        def to_do(self, owner: str) -> list[Ticket]: ...

        @read("T5", where={"is_paid": True})
        def paid(self) -> list[Ticket]: ...

        @read("T6", consistent=True)
        def ranked(self, owner: str, rank: int) -> Ticket | None: ...


def test_of_nothing_nothing_is_chosen() -> None:
    told: list[tuple[int, int]] = []
    found, unserved = choices([], [], Fixed(), lambda *done: told.append(done))
    assert [(choice.indexes, choice.entities, choice.names) for choice in found] == [(0, (), {})]
    assert (unserved, told) == ([], [(1, 1)])
