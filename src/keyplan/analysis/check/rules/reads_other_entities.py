"""A query reads items of other entities, and throws them away.

A Query reads what its key condition names, whoever wrote it. Where the items of another entity lie in the same
stretch of the partition, they are read and paid for, count towards the 1 MB of a page, and are then left out of the
answer. It comes of a sort key without a word of its own, or of one word that begins with another (``ORDER`` and
``ORDERLINE``). And it comes of asking for two entities at once, between which single items of others stand: one query
reads them, too. Where many items may stand between, each entity is asked for by a query of its own, and nothing is
found.

Begin the sort key with the entity's word and ``#``, or ask for both entities at once; let those that are read together
stand together. A small item between is cheaper to read than another request; of a large one, read each in an access
pattern of its own.

Source: Query in the API reference.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.model.compiled.collisions import neighbours, start_of
from keyplan.model.compiled.plans import QueryPlan

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    plans = {id(query.plan): query for query in subject.queries}
    for query in plans.values():
        for part in query.plan.parts:
            yield from _found(subject, query.pattern.place, part)


def _found(subject: Subject, place: str, plan: QueryPlan) -> Iterator[Remark]:
    """What one query reads besides what is asked for."""
    first, *others = plan.matches
    if not others and first.full:
        return
    names = " and ".join(dict.fromkeys(entity.name for entity, _ in neighbours(plan, subject.design.entities.values())))
    if names and not others:
        start = start_of(first)
        what = f"what begins with {start!r}" if start else "all"
        yield Remark(
            place,
            f"it reads {what} of a partition in {plan.key.place}, {names} too, and leaves that out",
            f"begin the sort key of {first.entity.name}.{plan.key.name} with a word of its own",
        )
    elif names:
        asked = " and ".join(match.entity.name for match in plan.matches)
        yield Remark(
            place,
            f"one query reads {asked} in {plan.key.place}, and leaves out {names}, which it reads between them",
            "give the entities that are read together adjacent sort keys, or read each in an access pattern of its own",
        )


RULE = Rule("KP207", Severity.WARNING, _find, __name__, __doc__)
