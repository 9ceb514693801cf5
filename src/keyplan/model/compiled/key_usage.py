"""Who uses what of a table: what each key attribute holds, which patterns each index serves, which operations each
pattern sends.

A read's operations follow from its plan. A write's are known to the client alone, which hands them in as ``Uses``.
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
    """One operation that a pattern sends, and the index that it reads; None is the table."""

    operation: str
    index: str | None = None


WriteOperations: TypeAlias = Mapping[str, Iterable[str]]
"""By a write's name its operations, in the words of IAM: PutItem, UpdateItem, DeleteItem, ConditionCheckItem,
BatchWriteItem. The reads that a write asks count too, and are told by the reads themselves."""


def uses_of(pattern: ReadPattern) -> tuple[Use, ...]:
    """What a read sends, each once, in order."""
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
    """By an index's name the reads that it serves, in the order of the class."""
    result: dict[str, list[str]] = {index.name: [] for index in design.table.indexes}
    for pattern in design.reads.values():
        for use in uses_of(pattern):
            if use.index is not None:
                result[use.index].append(pattern.name)
    return result


def key_notes(design: CompiledDesign, index: str | None) -> dict[str, str]:
    """By a key attribute of an index (None: of the table) what it holds: the entities' templates, each once."""
    result: dict[str, dict[str, None]] = {}
    for entity in design.entities.values():
        for key in (*entity.keys, *entity.claims):
            if (key.index.name if key.index else None) == index:
                for attribute, template in key.attributes:
                    result.setdefault(attribute.name, {})[str(template)] = None
    return {name: ", ".join(texts) for name, texts in result.items()}
