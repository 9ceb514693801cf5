"""Usage of a table: the contents of key attributes, the patterns of indexes, and the operations of patterns.

The operations of a read follow from its plan. Those of a write are known only to the client, which passes them as
``Uses``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.plans import BatchGetPlan, Plan, QueryPlan, ReadPattern, ScanPlan, ThroughPlan

__all__ = ["Use", "WriteOperations", "key_notes", "patterns_of_index", "uses_of"]


@dataclass(frozen=True, slots=True)
class Use:
    """An operation of a pattern, and the index it reads; None is the table."""

    operation: str
    index: str | None = None


WriteOperations: TypeAlias = Mapping[str, Iterable[str]]
"""The operations of a write by name, as IAM actions: PutItem, UpdateItem, DeleteItem, ConditionCheckItem,
BatchWriteItem. Reads within a write are those of the read patterns.
"""


def uses_of(pattern: ReadPattern) -> tuple[Use, ...]:
    """The operations of a read, without duplicates, in order."""
    return tuple(dict.fromkeys(_uses(pattern.plan)))


def _uses(plan: Plan) -> Iterator[Use]:
    match plan:
        case ThroughPlan():
            for way in plan.ways:
                yield from _uses(way.junction)
                if isinstance(way.end, QueryPlan):
                    yield from _uses(way.end)
                else:
                    yield Use(replace(way, also=()).operation.rpartition(", ")[2])
        case QueryPlan():
            yield Use("Query", None if plan.index is None else plan.index.name)
            if plan.completed:
                yield Use("BatchGetItem")
        case ScanPlan():
            yield Use("Scan", None if plan.index is None else plan.index.name)
            if plan.completed:
                yield Use("BatchGetItem")
        case BatchGetPlan():
            yield Use(plan.operation)
        case _:
            yield Use("GetItem")


def patterns_of_index(design: CompiledDesign) -> dict[str, list[str]]:
    """The reads of each index by index name, in class order."""
    result: dict[str, list[str]] = {index.name: [] for index in design.table.indexes}
    for pattern in design.reads.values():
        for use in uses_of(pattern):
            if use.index is not None:
                result[use.index].append(pattern.name)
    return result


def key_notes(design: CompiledDesign, index: str | None) -> dict[str, str]:
    """The contents of each key attribute of an index (None: of the table): the entities' templates, without
    duplicates.
    """
    result: dict[str, dict[str, None]] = {}
    for entity in design.entities.values():
        for key in (*entity.keys, *entity.claims):
            if (key.index.name if key.index else None) == index:
                for attribute, template in key.attributes:
                    result.setdefault(attribute.name, {})[str(template)] = None
    return {name: ", ".join(texts) for name, texts in result.items()}
