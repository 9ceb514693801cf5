"""Sample items of any design, for the map of a new one: valid values per field, with ids that entities share."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError

from keyplan.errors import KeyplanError, Refused
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.session.design import Design

__all__ = ["write_generated"]

IDS = 3
"""Different values of each field of a key, so that items of several entities meet in a collection."""
EACH = 9


def write_generated(design: Design) -> int:
    """Write up to nine items of each entity; return the number written. Raises Refused without the extra ``testing``,
    StoreError, DynamoDBError.
    """
    return sum(_is_written(design, made) for entity in design.compiled.entities.values() for made in _items(entity))


def _items(entity: CompiledEntity) -> list[Entity]:
    result: list[Entity] = []
    model = entity.cls.model_fields
    fields = [name for name, info in model.items() if info.is_required() or name in entity.key_fields]
    keys = [name for name in fields if name in entity.key_fields]
    domains = {name: _values(name, entity.fields[name].annotation) for name in fields if name in entity.fields}
    for number in range(min(EACH, IDS ** len(keys)) if keys else 1):
        given: dict[str, Any] = {}
        for name, values in domains.items():
            at = number // IDS ** keys.index(name) % IDS if name in keys else number
            if values:
                given[name] = values[at % len(values)]
        try:
            result.append(entity.cls(**given))
        except ValidationError:  # fields that depend on each other, or a type without known values
            continue
    return result


def _values(name: str, annotation: Any) -> list[Any]:
    """Valid values of a field: readable strings if its type allows them."""
    try:
        from keyplan.testing.samples import samples  # noqa: PLC0415 - needs the extra ``testing``
    except ModuleNotFoundError as error:
        raise Refused("sample data needs the extra testing", hint="pip install 'keyplan[testing]'") from error
    if kind_of(annotation) is str:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        try:
            return [adapter.validate_python(f"{name.removesuffix('_id')}-{number + 1}") for number in range(EACH)]
        except ValidationError:
            pass
    return samples(annotation)


def _is_written(design: Design, item: Entity) -> bool:
    try:
        design.create(item)
    except KeyplanError as error:
        if error.code in {"StoreError", "DynamoDBError"}:
            raise
        return False  # its unique value is taken, or its key is invalid
    return True
