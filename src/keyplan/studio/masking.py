"""Masks secret fields, those declared with ``Field(repr=False)``, in what the studio shows and exports."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["MASK", "masked", "secret_names", "secrets_of"]

MASK = "••••••"
"""What is shown instead of a secret value."""


def secret_names(design: CompiledDesign | None) -> frozenset[str]:
    """The names of the design's secret fields and of their attributes. A field in a key can't be masked."""
    if design is None:
        return frozenset()
    return frozenset(name for entity in design.entities.values() for name in secrets_of(entity))


@cache
def secrets_of(entity: CompiledEntity) -> frozenset[str]:
    """The names of an entity's secret fields and of their attributes."""
    hidden = {name for name, info in entity.cls.model_fields.items() if not info.repr} - {
        name for key in entity.keys for _, template in key.attributes for name in template.fields
    }
    return frozenset(
        text for field in entity.fields.values() if field.name in hidden for text in (field.name, field.attribute)
    )


def masked(value: Any, names: frozenset[str]) -> Any:
    """JSON data with the values under these names masked: of fields, of attributes, of changes and of requests."""
    if not names:
        return value
    if isinstance(value, list):
        return [masked(element, names) for element in value]
    if not isinstance(value, Mapping):
        return value
    hidden = {name for name in value if name in names}
    if isinstance(value.get("name"), str) and value["name"] in names:  # a changed attribute
        hidden |= {"before", "after"} & value.keys()
    result = {name: _hidden(each) if name in hidden else masked(each, names) for name, each in value.items()}
    attributes, values = value.get("ExpressionAttributeNames"), value.get("ExpressionAttributeValues")
    if isinstance(attributes, Mapping) and isinstance(values, Mapping) and any(n in attributes.values() for n in names):
        result["ExpressionAttributeValues"] = {name: _hidden(each) for name, each in values.items()}
    return result


def _hidden(value: Any) -> Any:
    """A mask of the value's form. What is empty stays visible."""
    if value is None or value == "":
        return value
    return {"S": MASK} if isinstance(value, Mapping) else MASK
