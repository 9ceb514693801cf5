"""A query reads items of other entities, and throws them away.

A Query reads what its key condition names, whoever wrote it. Where the items of another entity lie in the same
stretch of the partition, they are read and paid for, count towards the 1 MB of a page, and are then left out of the
answer. It comes of a sort key without a word of its own, or of one word that begins with another (``ORDER`` and
``ORDERLINE``).

Begin the sort key with the entity's word and ``#``, or ask for both entities at once.

Source: Query in the API reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from keyplan.check.findings import Remark, Severity
from keyplan.check.reads import Query
from keyplan.check.rule import Rule
from keyplan.check.subject import Subject
from keyplan.design.collisions import can_collide
from keyplan.design.entity import CompiledEntity
from keyplan.design.keys import CompiledKey, literal_start
from keyplan.design.templates import Literal_

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for query in subject.queries:
        if query.match.full or not query.key.sort:
            continue
        asked = {match.entity.name for match in query.plan.matches}
        start = _start(query)
        found = [
            entity.name
            for entity, key in subject.keys
            if entity.name not in asked and _same_partition(query.key, key) and _within(entity, key, start)
        ]
        if found:
            what = f"what begins with {start!r}" if start else "all"
            yield Remark(
                query.pattern.place,
                f"it reads {what} of a partition in {query.key.place}, {' and '.join(found)} too, and leaves that out",
                f"begin the sort key of {query.match.entity.name}.{query.key.name} with a word of its own",
            )


def _start(query: Query) -> str:
    """The fixed text that all sort keys in a query's interval begin with."""
    known = query.match.sort[0].known if query.match.sort else ()
    return known[0].text if known and isinstance(known[0], Literal_) else ""


def _same_partition(one: CompiledKey, other: CompiledKey) -> bool:
    """Whether items of both keys can stand in one partition of one place."""
    if one.place != other.place:
        return False
    return can_collide(replace(one, sort=()), replace(other, sort=()))


def _within(entity: CompiledEntity, key: CompiledKey, start: str) -> bool:
    """Whether sort keys of an entity can begin with a text."""
    del entity
    own = literal_start(key.sort[0][1]) if key.sort else ""
    return own.startswith(start) or (start.startswith(own) and own != start)


RULE = Rule("KP207", Severity.WARNING, _find, __name__, __doc__)
