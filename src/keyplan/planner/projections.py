"""What an index must hold: the attributes that the questions which read it ask for, where none asks for whole items.

A smaller entry costs fewer units and less storage, and isn't written by an update of what it doesn't hold. Whether that
is cheaper is judged in ``compiling.py``, by the cost model.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace

from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.plan_checks import lacking_in_index
from keyplan.model.compiled.plans import Filter, KeyMatch, Plan, QueryPlan, ScanPlan, ThroughPlan
from keyplan.model.declared.indexes import Index

__all__ = ["projected"]

INCLUDED_MAX = 20
"""Attributes that an index can include. Source: "Service, account, and table quotas" in the developer guide."""


def projected(index: Index, compiled: CompiledDesign, completed: Collection[str]) -> Index | None:
    """The index with no more in it than is asked of it; None where a question asks for whole items, or for too much.
    ``completed``: the questions that read from the table what it lacks.
    """
    if index.projection != "ALL":
        return None
    keys_only = Index(index.name, index.partition, index.sort, projection="KEYS_ONLY", local=index.local)
    included: dict[str, None] = {}
    for read in compiled.reads.values():
        for matches, condition in _reads_of(read.plan, index):
            for match in matches if read.name not in completed else ():
                small = replace(match, key=replace(match.key, index=keys_only))
                lacking = lacking_in_index(small)
                if lacking and match.entity.asked is None:
                    return None
                included |= dict.fromkeys(match.entity.fields[name].attribute for name in lacking)
            included |= dict.fromkeys(_filtered(condition, matches))
    if len(included) > INCLUDED_MAX:
        return None
    return Index(index.name, index.partition, index.sort, projection=tuple(included) or "KEYS_ONLY", local=index.local)


def _reads_of(plan: Plan, index: Index) -> Iterator[tuple[tuple[KeyMatch, ...], Filter | None]]:
    """The keys by which a plan reads the index, and what it filters there."""
    match plan:
        case QueryPlan():
            if plan.index is not None and plan.index.name == index.name:
                yield plan.matches, plan.filter
        case ScanPlan():
            if plan.index is not None and plan.index.name == index.name:
                keys = [
                    (entity, key) for entity in plan.entities for key in entity.index_keys if key.index == plan.index
                ]
                matches = (KeyMatch(entity, key, (), (), frozenset(), (), full=False) for entity, key in keys)
                yield tuple(matches), plan.filter
        case ThroughPlan():
            for way in plan.ways:
                yield from _reads_of(way.junction, index)
                yield from _reads_of(way.end, index)
        case _:
            pass


def _filtered(condition: Filter | None, matches: tuple[KeyMatch, ...]) -> Iterator[str]:
    """The attributes that a filter looks at, beside those of the keys."""
    if condition is not None:
        keys = {
            attribute.name
            for match in matches
            for attribute, _ in (*match.entity.primary.attributes, *match.key.attributes)
        }
        for value in re.findall(r"(?<!\.)#\w+", condition.text):
            if condition.names[value] not in keys:
                yield condition.names[value]
