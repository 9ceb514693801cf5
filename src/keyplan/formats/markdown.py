"""A design as Markdown tables: keys, indexes, and the rows of access patterns that the caller passes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from keyplan.formatting.markdown import cell, code, markdown_table
from keyplan.model.compiled.compiled_design import CompiledDesign, patterns_of_index
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the access pattern table: ID, name, operation, index, key condition, and the cost of a call if known."""

    id: str
    question: str
    operation: str
    index: str | None
    conditions: tuple[str, ...] = ()
    takes: str = ""


def design_page(design: CompiledDesign, rows: Iterable[Row]) -> str:
    parts = [f"# {design.name}"]
    if design.doc:
        parts.append(design.doc)
    parts += ["## Keys", _keys(design)]
    if design.table.indexes:
        parts += ["## Indexes", _indexes(design)]
    parts += ["## Access patterns", pattern_table(rows)]
    return "\n\n".join(parts) + "\n"


def pattern_table(rows: Iterable[Row]) -> str:
    result = list(rows)
    with_cost = any(row.takes for row in result)
    head = ["id", "question", "operation", "on", "key condition", *["a call takes"] * with_cost]
    return markdown_table(head, (_pattern_row(row, with_cost=with_cost) for row in result))


def _pattern_row(row: Row, *, with_cost: bool) -> list[str]:
    conditions = "<br>".join(code(condition) for condition in row.conditions) or "–"
    place = code(row.index) if row.index else "the table"
    return [cell(row.id), code(row.question), cell(row.operation), place, conditions, *[cell(row.takes)] * with_cost]


def _keys(design: CompiledDesign) -> str:
    rows = [
        [
            f"**{cell(entity.name)}**" if not number else "",
            cell(key.name),
            code(key.index.name) if key.index else "the table",
            _templates(key.partition),
            _templates(key.sort),
            _members(entity, key),
        ]
        for entity in design.entities.values()
        for number, key in enumerate((*entity.keys, *entity.claims))
    ]
    return markdown_table(["entity", "key", "on", "partition key", "sort key", "items"], rows)


def _templates(attributes: Iterable[tuple[object, object]]) -> str:
    return ", ".join(code(str(template)) for _, template in attributes) or "–"


def _members(entity: CompiledEntity, key: CompiledKey) -> str:
    parts = [
        f"{code(name)} is {' or '.join(code(str(value)) for value in allowed)}" for name, allowed in key.when.items()
    ]
    fields = dict.fromkeys(name for _, template in key.attributes for name in template.fields)
    parts += [f"{code(name)} is present" for name in fields if entity.fields[name].optional and key.index is not None]
    text = "those where " + " and ".join(parts) if parts else "all"
    text = "one claim per value" if key.is_claim else text
    if key.shards > 1:
        text += f", in {key.shards} shards"
    slots = [f"{count} shards" for name, count in entity.slots.items() if name in fields]
    if slots:
        text += f", in {' and '.join(slots)}"
    cases = {variable.style.case for _, template in key.attributes for variable in template.variables} - {None}
    if cases:
        text += f"; the key is in {' and '.join(sorted(map(str, cases)))} case"
    if key is entity.primary and entity.labels:
        labels = [f"{code(name)} is {code(value['S'])}" for name, value in entity.labels.items()]
        text += f"; in each {' and '.join(labels)}"
    return text


def _indexes(design: CompiledDesign) -> str:
    patterns = patterns_of_index(design)
    rows: list[list[str]] = []
    for index in design.table.indexes:
        included = isinstance(index.projection, tuple)
        rows.append(
            [
                f"{code(index.name)}{' (local)' if index.local else ''}",
                ", ".join(code(attribute.name) for attribute in index.partition),
                ", ".join(code(attribute.name) for attribute in index.sort) or "–",
                ", ".join(code(text) for text in index.projection) if included else str(index.projection),
                ", ".join(code(text) for text in patterns[index.name]) or "none",
            ]
        )
    return markdown_table(["index", "partition key", "sort key", "projection", "serves"], rows)
