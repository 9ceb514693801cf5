"""Plans cost no more than what experts published, at the same traffic, by the same cost model."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan import Create, Entity, Table, Writes, planner, write
from keyplan.analysis.traffic.traffic_file import Traffic, traffic_from
from keyplan.model.deferral import deferred
from keyplan.planner import Plan, applied
from keyplan.planner.compiling import compiled_plan
from keyplan.planner.planning import WORTH_OF_WORDS, provisional_design
from keyplan.planner.templates import Declared
from keyplan.planner.unplanned import Unplanned
from keyplan.planner.weighing import CENT
from keyplan.testing.verifying import looked_at
from tests.planner import experts, experts_in_books
from tests.planner.experts import Expert
from tests.seeds import NEW

EXPERTS = [*experts.EXPERTS, *experts_in_books.EXPERTS]

STORES = {"VersionControl": 8, "BlogSystem": 20}
"""Stores on which a design with rare answers is looked at."""
READS_PER_SECOND, WRITES_PER_SECOND, ITEMS = 10, 1, 1_000_000


def created(cls: type[Entity]) -> Any:
    """A write that creates an item, so that what an index costs to keep is in the price."""

    def create(self: Any, item: Any) -> Writes:
        yield Create(item)

    create.__annotations__["item"] = cls
    return write(f"create {cls.__name__}")(create)


def with_writes(expert: Expert) -> type[Any]:
    """The design, in which every entity is written too."""
    writes = {f"create_{cls.__name__.lower()}": created(cls) for cls in expert.keys}
    table = Table(expert.design.table.name, entities=expert.keys)
    with deferred():
        return type(expert.design.__name__, (expert.design,), {"table": table, **writes})


def same_traffic(design: type[Any]) -> Traffic:
    compiled = provisional_design(design)
    reads = {name: {"per_second": READS_PER_SECOND} for name in compiled.reads}
    writes = {name: {"per_second": WRITES_PER_SECOND} for name in compiled.writes}
    entities = {entity.name: {"count": ITEMS} for entity in compiled.entities.values()}
    return traffic_from({"patterns": {**reads, **writes}, "entities": entities}, compiled, source="traffic.toml")


def priced(expert: Expert) -> tuple[list[Plan], Plan]:
    """Our plans, and the expert's keys compiled, under the same traffic."""
    design = with_writes(expert)
    traffic = same_traffic(design)
    theirs = compiled_plan(Unplanned(design, {}), Declared(expert.indexes, expert.keys, {}, expert.scan_index), traffic)
    return planner.plan(design, traffic), theirs


ASKED = EXPERTS if NEW else EXPERTS[::2]
"""All of them in a nightly run."""


def usd(made: Plan) -> float:
    assert made.weight.usd_a_month is not None
    return made.weight.usd_a_month


@pytest.mark.parametrize("expert", ASKED, ids=[expert.design.__name__ for expert in ASKED])
def test_a_plan_costs_no_more_than_the_experts(expert: Expert) -> None:
    ours, theirs = priced(expert)
    assert usd(ours[0]) <= usd(theirs) * (1 + WORTH_OF_WORDS)
    as_few = [made for made in ours if len(made.indexes) <= len(theirs.indexes) and not made.mirrors]
    cheapest = min(as_few, key=usd)
    assert usd(cheapest) <= usd(theirs) + CENT
    assert ours[0] in as_few
    with applied(cheapest) as design:  # keys are written shorter where that is cheaper
        reads = looked_at(design, stores=STORES.get(expert.design.__name__, 2)).unanswered
    assert not cheapest.compiled.reads.keys() & reads
