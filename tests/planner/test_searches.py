# mypy: disable-error-code="empty-body"
"""Which keys are chosen by each kind of search, as they were agreed upon: with filters, with claims, spread over more
keys, by all of a sparse index; of designs that others published.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

import pytest

from keyplan import Design, Entity, Id, Table, read
from keyplan.design.deferral import deferred
from keyplan.planner.fixed import Fixed
from keyplan.planner.search import Choice, Search, choices
from keyplan.planner.templates import declared
from tests.agreed import assert_agreed
from tests.planner import published, published_by_others, published_examples
from tests.planner.test_alternatives import Jobs
from tests.planner.test_choices import Cellar, Fastest, Runs, chosen, lines_of
from tests.planner.test_needs import Cases


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


SEARCHES = {
    "filters": Search(filters=True),
    "claims": Search(claims=True),
    "spread": Search(spread=True),
    "sweeps": Search(sweeps=True),
    "all": Search(filters=True, claims=True, spread=True, sweeps=True, attributes=True),
}
DESIGNS: dict[str, Any] = {
    cls.__name__: cls
    for cls in (
        Cases,
        Tickets,
        Jobs,
        Fastest,
        Runs,
        Cellar,
        published.Complaints,
        published.Devices,
        published.Sessions,
        published.Network,
        published.OnlineShop,
        published.Scheduler,
        published_by_others.ExamRoom,
        published_by_others.Funds,
        published_by_others.Vehicles,
        published_by_others.MusicLibrary,
        published_examples.TaskManager,
        published_examples.Bookmarks,
        published_examples.Helpdesk,
    )
}


def shown(choice: Choice) -> str:
    """What it is ranked by, and which of its keys stand in which index."""
    keys = [
        f"{entity.entity.name} {entity.slots} {len(entity.claims)} claims, {[key.fields for key in entity.indexed]}"
        for entity in choice.entities
    ]
    return f"{choice.rank} {dict(sorted(choice.names.items()))}: {'; '.join(keys)}"


@pytest.mark.parametrize(
    ("name", "search"),
    [(name, search) for name in DESIGNS for search in SEARCHES if name != "Cases" or search in {"claims", "sweeps"}],
)
def test_what_is_chosen_is_as_it_was_agreed_upon(name: str, search: str) -> None:
    found, fixed = chosen(DESIGNS[name], SEARCHES[search])
    lines = [f"{len(found)} choices", *map(shown, found[:3])]
    if found:
        lines += lines_of(declared(found[0], fixed))
    assert_agreed("\n".join(lines))


def test_of_nothing_nothing_is_chosen() -> None:
    told: list[tuple[int, int]] = []
    found, unserved = choices([], [], Fixed(), lambda *done: told.append(done))
    assert [(choice.indexes, choice.entities, choice.names) for choice in found] == [(0, (), {})]
    assert (unserved, told) == ([], [(1, 1)])
