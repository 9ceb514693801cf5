"""What lies between: items of other entities in the stretch of a partition that one query reads for several entities.

A Query has one condition on the sort key: asked for two entities, it reads all from the first one's items to the
last one's, whoever wrote what stands between. Whether that is so is judged on the templates' fixed texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from keyplan.design.compiled.collisions import can_collide
from keyplan.design.compiled.plans import KeyMatch, QueryPlan
from keyplan.design.stored.entity import CompiledEntity
from keyplan.design.stored.keys import CompiledKey, literal_start
from keyplan.design.stored.templates import Literal_

__all__ = ["neighbours", "others_between"]


def neighbours(plan: QueryPlan, entities: Iterable[CompiledEntity]) -> Iterator[tuple[CompiledEntity, CompiledKey]]:
    """The entities, with the key, whose items a query reads besides those that are asked for."""
    if not plan.key.sort:
        return
    asked = {match.entity.name for match in plan.matches}
    for entity in entities:
        if entity.name in asked:
            continue
        for key in entity.keys:
            if same_partition(plan.key, key) and _lies_in(
                literal_start(key.sort[0][1]) if key.sort else "", plan.matches
            ):
                yield entity, key


def others_between(plan: QueryPlan, entities: Iterable[CompiledEntity]) -> Iterator[tuple[CompiledEntity, CompiledKey]]:
    """Like neighbours, with the claims, and further keys of what is asked for: whatever the design could have written
    where a query looks.
    """
    known = list(entities)
    yield from neighbours(plan, known)
    asked = {match.entity.name: match.key for match in plan.matches}
    for entity in known:
        own = [key for key in entity.keys if entity.name in asked and key is not asked[entity.name]]
        for key in (*own, *entity.claims):
            start = literal_start(key.sort[0][1]) if key.sort else ""
            if same_partition(plan.key, key) and (not plan.key.sort or _lies_in(start, plan.matches)):
                yield entity, key


def start_of(match: KeyMatch) -> str:
    """The fixed text that all sort keys of an entity in a query's interval begin with."""
    known = match.sort[0].known if match.sort else ()
    return known[0].text if known and isinstance(known[0], Literal_) else ""


def same_partition(key: CompiledKey, other: CompiledKey) -> bool:
    """Whether items of both keys can stand in one partition of one place."""
    if key.place != other.place:
        return False
    return can_collide(replace(key, sort=()), replace(other, sort=()))


def _lies_in(own: str, matches: Sequence[KeyMatch]) -> bool:
    """Whether sort keys that begin with a text can be among what the condition names: those that begin as an open key
    of the query does, and all between the first and the last of several.
    """
    opened = [start_of(match) for match in matches if not match.full]
    if any(own.startswith(start) or (start.startswith(own) and own != start) for start in opened):
        return True
    starts = [start_of(match) for match in matches]
    return len(set(starts)) > 1 and min(starts) <= own <= max(starts)
