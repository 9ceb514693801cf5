"""Query that reads items of other entities.

A Query reads every item that matches its key condition. If the sort keys of another entity match too, its items are
read, charged, counted toward the 1 MB of a page, and then omitted from the result. There are two causes: a sort key
without its own prefix, or with a prefix that another sort key also starts with (``ORDER`` and ``ORDERLINE``); and a
query for two entities whose sort keys have another entity between them. If many items can be between them, Keyplan
queries each entity separately, and nothing is reported.

Start the sort key with the entity's name and ``#``. Give entities that are read together adjacent sort keys. If the
items between them are large, read each entity with a separate pattern.

Source: Query in the API Reference.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.compiled.collisions import neighbours, start_of
from keyplan.model.compiled.plans import QueryPlan


def _find(subject: Subject) -> Remarks:
    plans = {id(query.plan): query for query in subject.queries}
    for query in plans.values():
        for part in query.plan.parts:
            yield from _found(subject, query.pattern.place, part)


def _found(subject: Subject, place: str, plan: QueryPlan) -> Remarks:
    first, *others = plan.matches
    if not others and first.full:
        return
    names = " and ".join(dict.fromkeys(entity.name for entity, _ in neighbours(plan, subject.design.entities.values())))
    if names and not others:
        start = start_of(first)
        what = f"all items whose sort key begins with {start!r}" if start else "all items"
        message = f"it reads {what} in a partition of {plan.key.place}, and omits {names} from the result"
        hint = f"begin the sort key of {first.entity.name}.{plan.key.name} with a prefix that no other entity uses"
        yield Remark(place, message, hint)
    elif names:
        asked = " and ".join(match.entity.name for match in plan.matches)
        message = f"one query reads {asked} in {plan.key.place}, and also {names} between them, which the result omits"
        hint = "give these entities adjacent sort keys, or read each of them with a separate access pattern"
        yield Remark(place, message, hint)


RULE = Rule("KP207", Severity.WARNING, _find, __name__, __doc__)
