"""What a write costs: the reads that it asks, and the requests that its actions make, by what each changes.

What it does is rehearsed in ``keyplan.rehearsal``. Conditions cost nothing of their own. What calls take that
fail a condition is in ``calls.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from keyplan.analysis.cost.item_changes import lines_of
from keyplan.analysis.cost.read_facts import Facts
from keyplan.analysis.cost.unit_counts import Request
from keyplan.analysis.rehearsal.mutations import Mutation
from keyplan.analysis.rehearsal.running import Asked, Rehearsal
from keyplan.analysis.rehearsal.trials import Tried, try_write
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.dynamodb.limits import BATCH_WRITE_REQUESTS_MAX
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.table import Table

__all__ = ["WriteCost", "cost_of", "requests_of_write", "write_cost"]

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class WriteCost:
    """The requests of one typical call of a write. ``notes`` say what was assumed; ``failure`` why no call could be
    found that goes through: then there are no requests. ``arguments`` are the call's, and ``there`` are the items that
    it was supposed to find. ``items`` are written, of ``entities``; ``mutations`` and ``batched`` are these items.
    ``times``: the requests' write units are multiplied by that, since a call writes more items than were made up.
    ``fails``: the share of the calls that fails a condition. ``shares``: where items differ in the fields that they
    have, a call for each combination, with its weight; the requests are their average.
    """

    requests: list[Request]
    notes: tuple[str, ...] = ()
    failure: str | None = None
    arguments: Fields = field(default_factory=dict[str, Any])
    there: tuple[Entity, ...] = ()
    items: int = 0
    entities: tuple[str, ...] = ()
    mutations: tuple[Mutation, ...] = ()
    batched: tuple[Mutation, ...] = ()
    times: float = 1.0
    fails: float = 0.0
    shares: tuple[tuple[float, WriteCost], ...] = ()

    @property
    def calls(self) -> tuple[tuple[float, WriteCost], ...]:
        """The calls whose average it is, with their weights: mostly itself."""
        return self.shares or ((1.0, self),)


def write_cost(
    design: CompiledDesign, cls: type[Any], pattern: WritePattern, typical: Typical, facts: Facts
) -> WriteCost:
    """The cost of a typical call of a write."""
    return cost_of(design, try_write(design, cls, pattern, typical, facts.traffic), facts)


def cost_of(design: CompiledDesign, tried: Tried, facts: Facts) -> WriteCost:
    """The cost of the call that went through when a write was tried."""
    rehearsal = tried.rehearsal
    if rehearsal is None:
        return WriteCost([], (), tried.failure)
    notes = list(tried.notes)

    def read(asked: Asked) -> list[Request]:
        cost = facts.read(asked.pattern, arguments=asked.arguments, strongly=True, nothing=asked.nothing)
        notes.extend(f"{asked.pattern.name}: {note}" for note in cost.notes)
        return cost.requests

    try:
        requests = requests_of_write(design.table, rehearsal, read)
    except Problem as problem:
        return WriteCost([], (), str(problem) + (f" ({problem.hint})" if problem.hint else ""))
    changed = tuple(rehearsal.mutations), tuple(rehearsal.batched)
    result = tuple(dict.fromkeys(notes))
    return WriteCost(
        requests, result, None, tried.arguments, tried.there, rehearsal.items, tuple(rehearsal.entities), *changed
    )


def requests_of_write(table: Table, rehearsal: Rehearsal, read: Callable[[Asked], list[Request]]) -> list[Request]:
    """The requests of a rehearsed write in their order: what its reads take by ``read``; then one action alone, or
    several in a transaction; then batches, each by itself.
    """
    requests = [request for asked in rehearsal.asked for request in read(asked)]
    if rehearsal.mutations:
        alone = len(rehearsal.mutations) == 1 and bool(rehearsal.single)
        lines = [
            line for mutation in rehearsal.mutations for line in lines_of(mutation, table, transactional=not alone)
        ]
        requests.append(Request(rehearsal.single if alone else "TransactWriteItems", tuple(lines)))
    for batch in rehearsal.batches:
        for start in range(0, len(batch), BATCH_WRITE_REQUESTS_MAX):
            chunk = batch[start : start + BATCH_WRITE_REQUESTS_MAX]
            lines = [line for mutation in chunk for line in lines_of(mutation, table, transactional=False)]
            requests.append(Request("BatchWriteItem", tuple(lines)))
    return requests
