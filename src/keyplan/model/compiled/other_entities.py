"""What lies between: items of other entities in the stretch of a partition that one query reads.

A Query has one condition on the sort key: asked for two entities, it reads all from the first one's items to the
last one's, whoever wrote what stands between. Whether that is so is judged on the templates' fixed texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from keyplan.model.compiled.collisions import can_collide
from keyplan.model.compiled.plans import KeyMatch, QueryPlan
from keyplan.model.stored.key_templates import Literal_
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey, literal_start

__all__ = ["neighbours", "others_between"]


def neighbours(plan: QueryPlan, entities: Iterable[CompiledEntity]) -> Iterator[tuple[CompiledEntity, CompiledKey]]:
    """The entities, with the key, whose items a query reads besides those that are asked for."""
    asked = {match.entity.name for match in plan.matches}
    for entity in entities:
        if entity.name in asked:
            continue
        for key in entity.keys:
            if same_partition(plan.key, key) and _lies_in(key, plan.matches):
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
            if same_partition(plan.key, key) and _lies_in(key, plan.matches):
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


def _lies_in(key: CompiledKey, matches: Sequence[KeyMatch]) -> bool:
    """Whether items under a key of the same partition can be among what the condition names: those whose sort keys
    begin as an open key of the query does, those whose key can be one that the query names whole, and all between the
    first and the last of several.
    """
    own = literal_start(key.sort[0][1]) if key.sort else ""
    opened = [start_of(match) for match in matches if not match.full]
    if any(own.startswith(start) or (start.startswith(own) and own != start) for start in opened):
        return True
    if any(can_collide(match.key, key) for match in matches if match.full):
        return True
    starts = [start_of(match) for match in matches]
    return len(set(starts)) > 1 and min(starts) <= own <= max(starts)
