"""Helpers for tests of items: a compiled entity, its fast and slow readers, and a round trip through an item."""

from __future__ import annotations

import json
from typing import Any

from keyplan import Entity, Index, Table
from keyplan.model.compiled.compiled_design import compile_design
from keyplan.model.stored.item_reading import reader_of
from keyplan.model.stored.stored_entity import CompiledEntity

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


def compiled(cls: type[Entity], *indexes: Index) -> CompiledEntity:
    design = type("D", (), {"table": Table("items", entities=[cls], indexes=indexes), "__module__": __name__})
    return compile_design(design, {}).by_name[cls.__name__]


def is_quick(entity: CompiledEntity) -> bool:
    """Return whether the entity's items are read by pydantic alone, without running Python code for each item."""
    return getattr(entity.from_item, "__func__", None) is not CompiledEntity._read_slowly


def slowly(entity: CompiledEntity, item: Any) -> Entity:
    """Return the instance that the slow reader reads from the item."""
    return entity._read_slowly(item)


def left_to_python(entity: CompiledEntity, item: Any) -> bool:
    """Return whether the fast reader delegates this item to the slow reader."""
    seen: list[Any] = []

    def note(item: Any) -> Entity:
        seen.append(item)
        return slowly(entity, item)

    plain = [field for field in entity.fields.values() if not field.computed]
    reader_of(entity.cls, plain, entity._in_keys, note, entity._in_index_keys)(item)
    return bool(seen)


def round_trip(instance: Entity) -> dict[str, Any]:
    """Return the item of an instance, after checking that both readers read an equal instance."""
    entity = compiled(type(instance), GSI1)
    item: dict[str, Any] = json.loads(json.dumps(entity.to_item(instance)))
    for result in (entity.from_item(item), slowly(entity, item)):
        assert result == instance
        assert {name: type(value) for name, value in result} == {name: type(value) for name, value in instance}
    return item
