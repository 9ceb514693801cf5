"""Sample items of any design, for the map of a new one. Entities share the values of fields with the same name."""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.errors import ArgumentError, KeyplanError
from keyplan.model.declared.entity import Entity
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.session.design import Design
from keyplan.testing.stores import Factory, sample_value

__all__ = ["write_generated"]

IDS = 3
"""Different values of each key field, so that items of several entities are in one item collection."""
EACH = 9


def write_generated(design: Design) -> int:
    """Write up to nine items of each entity; return the number written. Raises StoreError, DynamoDBError."""
    return sum(_is_written(design, item) for entity in design.compiled.entities.values() for item in _items(entity))


def _items(entity: CompiledEntity) -> Iterator[Entity]:
    make, fields = Factory(), entity.cls.model_fields
    keys = [name for name in fields if name in entity.key_fields]
    for number in range(min(EACH, IDS ** len(keys)) if keys else 1):
        given = {name: sample_value(fields[name], name, number // IDS**at % IDS) for at, name in enumerate(keys)}
        try:
            yield make(entity.cls, **given)
        except ArgumentError:  # fields that depend on each other, or a type without known values
            continue


def _is_written(design: Design, item: Entity) -> bool:
    try:
        design.create(item)
    except KeyplanError as error:
        if error.code in {"StoreError", "DynamoDBError"}:
            raise
        return False  # its unique value is taken, or its key is invalid
    return True
