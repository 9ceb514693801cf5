"""A query reads items of other entities, and throws them away.

A Query reads what its key condition names, whoever wrote it. Where the items of another entity lie in the same
stretch of the partition, they are read and paid for, count towards the 1 MB of a page, and are then left out of the
answer. It comes of a sort key without a word of its own, or of one word that begins with another (``ORDER`` and
``ORDERLINE``). And it comes of asking for two entities at once: one query reads all that stands between them.

Begin the sort key with the entity's word and ``#``, or ask for both entities at once; let those that are read together
stand together.

Source: Query in the API reference.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.check.findings import Remark, Severity
from keyplan.check.rule import Rule
from keyplan.check.subject import Subject
from keyplan.design.compiled.neighbours import neighbours, start_of

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    seen: set[int] = set()
    for query in subject.queries:
        plan = query.plan
        if id(plan) in seen or (len(plan.matches) == 1 and query.match.full):
            continue
        seen.add(id(plan))
        result = dict.fromkeys(entity.name for entity, _ in neighbours(plan, subject.design.entities.values()))
        if result and len(plan.matches) == 1:
            start = start_of(query.match)
            what = f"what begins with {start!r}" if start else "all"
            yield Remark(
                query.pattern.place,
                f"it reads {what} of a partition in {query.key.place}, {' and '.join(result)} too, and leaves that out",
                f"begin the sort key of {query.match.entity.name}.{query.key.name} with a word of its own",
            )
        elif result:
            asked = " and ".join(match.entity.name for match in plan.matches)
            between = " and ".join(result)
            yield Remark(
                query.pattern.place,
                f"one query reads {asked} in {query.key.place}, and leaves out {between}, which it reads between them",
                "give the entities that are read together sort keys that stand together, or ask for each by itself",
            )


RULE = Rule("KP207", Severity.WARNING, _find, __name__, __doc__)
