"""What rules ask of a read: the plans that it is made of, the entities in its answer, whether the answer has an end.

How a question is compiled to a plan is in ``keyplan.design``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from keyplan.model.compiled.plans import (
    BatchGetPlan,
    ClaimPlan,
    GetPlan,
    KeyMatch,
    Plan,
    QueryPlan,
    ReadPattern,
    ScanPlan,
    ThroughPlan,
)
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.compiled.signatures import ParameterKind
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey

__all__ = ["Query", "bounded", "entities_of", "junction_of", "plans_in", "ranged"]


@dataclass(frozen=True, slots=True)
class Query:
    """One Query of a read, by one entity's key."""

    pattern: ReadPattern
    plan: QueryPlan
    match: KeyMatch

    @property
    def key(self) -> CompiledKey:
        """The key that serves."""
        return self.match.key


def plans_in(plan: Plan) -> Iterator[Plan]:
    """The plans that a plan is made of, in the order of their requests."""
    if isinstance(plan, ThroughPlan):
        for way in plan.ways:
            yield from plans_in(way.junction)
            yield from plans_in(way.end)
    else:
        yield plan


def junction_of(plan: ThroughPlan) -> CompiledEntity:
    """The entity by whose items a plan goes."""
    return plan.junction.matches[0].entity if isinstance(plan.junction, QueryPlan) else plan.junction.entity


def entities_of(plan: Plan) -> Iterator[CompiledEntity]:
    """The entities whose items a plan reads."""
    for element in plans_in(plan):
        match element:
            case QueryPlan():
                yield from (match.entity for match in element.matches)
            case GetPlan() | ClaimPlan() | BatchGetPlan():
                yield element.entity
            case ScanPlan():
                yield from element.entities
            case ThroughPlan():  # its parts are given by plans_in
                pass


def bounded(pattern: ReadPattern) -> bool:
    """Whether an answer has an end: one item, a limit, or an iterator that is read as it is taken."""
    if pattern.limit is not None and (pattern.limit.required or isinstance(pattern.limit.default, int)):
        return True
    return pattern.shape.kind in {ShapeKind.ONE, ShapeKind.PAGE, ShapeKind.ITERATOR}


def ranged(query: Query) -> bool:
    """Whether a query's sort key is bounded from both ends, or by a prefix, whatever it is called with."""
    return any(part.condition_kind in {ParameterKind.RANGE, ParameterKind.PREFIX} for part in query.match.sort)
