"""Query that reads items of other entities.

A Query reads every item that matches its key condition. If the key condition also matches items of other entities,
these items are read, charged and omitted from the result. Omitted items also count toward the limit of 1 MB per page.
This happens if a sort key has no prefix, or if another sort key starts with the same prefix (``ORDER`` and
``ORDERLINE``). This also happens in a query for two entities if items of a third entity sort between them. If there can
be many items of the third entity, Keyplan queries each entity separately, and the rule reports nothing.

Start the sort key with the entity's name and ``#``. Give entities that are read together adjacent sort keys. If the
items of the third entity are large, declare a separate access pattern for each entity.

See Query in the API Reference.
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
        message = f"the pattern reads {what} in a partition of {plan.key.place}, and the result omits {names} items"
        hint = f"begin the sort key of {first.entity.name}.{plan.key.name} with a prefix that no other entity uses"
        yield Remark(place, message, hint)
    elif names:
        asked = " and ".join(match.entity.name for match in plan.matches)
        message = f"one query for {asked} in {plan.key.place} also reads, and then omits, {names} items between them"
        hint = f"give {asked} adjacent sort keys, or read each entity with a separate access pattern"
        yield Remark(place, message, hint)


RULE = Rule("KP207", Severity.WARNING, _find, __name__, __doc__)
