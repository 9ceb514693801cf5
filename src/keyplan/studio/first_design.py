"""A first design of a table that has none: entities, keys and fields inferred from some of its items, as a module."""

from __future__ import annotations

from typing import Any

from keyplan.errors import RequestError
from keyplan.formats.workbench.compiling import working_module
from keyplan.formats.workbench.reading import Index, KeyAttribute, KeyAttributes, Model, TableModel
from keyplan.model.declared import indexes
from keyplan.studio.items import place_attributes
from keyplan.studio.sampling import sample
from keyplan.studio.subject import Subject

__all__ = ["first_design_json"]


def first_design_json(subject: Subject) -> dict[str, Any]:
    """The module's text, notes on what was guessed, and the error of a design that can't work. Raises StoreError,
    DynamoDBError, RequestError for a table without items or with keys of several attributes.
    """
    items = sample(subject).items
    if not items:
        raise RequestError("the table has no items to infer a design from", hint="write some items first")
    table = subject.table
    model = TableModel(
        table.name,
        _key(subject, None),
        attributes=dict(table.attribute_types),
        indexes=[_index(subject, index) for index in table.indexes],
        items=[{name: dict(value) for name, value in item.items()} for item in items],
    )
    made, left_out, error = working_module(Model(subject.table_name, "", [model]))
    return {
        "text": made.text.replace("from a NoSQL Workbench model", "inferred from its items", 1),
        "design": made.designs[0],
        "notes": [*made.notes, *left_out],
        "error": None if error is None else str(error),
        "url": subject.url,
        "items": len(items),
    }


def _index(subject: Subject, index: indexes.Index) -> Index:
    return Index(index.name, _key(subject, index), index.projection, index.local)


def _key(subject: Subject, index: indexes.Index | None) -> KeyAttributes:
    partition, sort = place_attributes(subject.table, index)
    if len(partition) > 1 or len(sort) > 1:
        raise RequestError("an index has a key of several attributes", hint="write the design by hand")
    first, *rest = [KeyAttribute(attribute.name, attribute.type) for attribute in (*partition, *sort)]
    return KeyAttributes(first, rest[0] if rest else None)
