"""Indexes that are read whole, and those that hold no more than a part of what is asked for: what is read besides.

Which key serves a question is decided in ``compiler.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from keyplan.model.compiled.constants import values_asked
from keyplan.model.compiled.key_matching import all_in
from keyplan.model.compiled.plan_checks import check_filtered, check_projected, lacking_in_index
from keyplan.model.compiled.plans import Filter, KeyMatch, QueryPlan, ScanPlan
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.options import Options
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_views import asking_for, seen_by

__all__ = ["all_of_index", "asking_for_time", "completed", "standing_in", "without_implied"]


def standing_in(wanted: Index, entities: Iterable[CompiledEntity], *, consistent: bool) -> list[KeyMatch]:
    """The keys by which entities stand in an index that is read whole. Raises Problem for one that doesn't, and where
    the index can't be read so.
    """
    matches: list[KeyMatch] = []
    for entity in entities:
        keys = [key for key in entity.index_keys if key.index is not None and key.index.same_keys(wanted)]
        if not keys:
            raise Problem(f"{entity.name} has no key on {wanted.name}", "name an index in which it stands")
        matches.extend(KeyMatch(entity, key, (), (), frozenset(), (), full=False) for key in keys)
    if consistent and not wanted.local:
        raise Problem("a global index can't be read with strong consistency", "leave consistent=True out")
    return matches


def without_implied(constants: Mapping[str, Any], matches: Sequence[KeyMatch]) -> dict[str, Any]:
    """The constants that something must filter: what each of the keys waits for needs no filter."""
    return {
        name: value
        for name, value in constants.items()
        if not all(name in match.key.when and all_in(match.key.when[name], values_asked(value)) for match in matches)
    }


def all_of_index(
    matches: Sequence[KeyMatch], entities: tuple[CompiledEntity, ...], options: Options, condition: Filter | None
) -> ScanPlan:
    """The plan that reads the index whole. Raises Problem where it lacks what is asked for."""
    plan = ScanPlan(entities, options.consistent, condition, index=matches[0].key.index, segments=options.segments)
    if not options.complete:
        check_projected(matches, condition)
        return plan
    _check_lacking(matches, condition)
    keys_only = tuple(seen_by(entity, ()) for entity in entities)
    return replace(plan, entities=keys_only, completed=entities, operation="Scan, BatchGetItem")


def completed(plan: QueryPlan, fields_of: Callable[[CompiledEntity], list[str]]) -> QueryPlan:
    """The plan, with the table read for what its index lacks; ``fields_of`` an entity those that entries are compared
    by. Raises Problem.
    """
    _check_lacking(plan.matches, plan.filter)
    keys_only = tuple(replace(match, entity=seen_by(match.entity, fields_of(match.entity))) for match in plan.matches)
    whole = tuple(match.entity for match in plan.matches)
    return replace(plan, matches=keys_only, completed=whole, operation="Query, BatchGetItem")


def asking_for_time(match: KeyMatch) -> KeyMatch:
    """A view is asked for the time, too, where its items must be compared with the range of their buckets."""
    if match.buckets is None or not match.sifts:
        return match
    return replace(match, entity=asking_for(match.entity, match.buckets.field))


def _check_lacking(matches: Sequence[KeyMatch], condition: Filter | None) -> None:
    if not any(lacking_in_index(match) for match in matches):
        raise Problem(f"{matches[0].key.place} holds all that is asked for", "leave complete=True out")
    check_filtered(matches, condition)
