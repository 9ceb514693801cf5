"""Changes within a field: what they make of its value, and the types along their paths.

How they are asked of DynamoDB is made in ``keyplan.client.update_expressions``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel, RootModel

from keyplan.errors import ArgumentError, UpdateRefused
from keyplan.model.declared.actions import Add, Append, Once, Remove, Within
from keyplan.model.declared.fields import is_optional, kind_of, layers
from keyplan.model.declared.paths import Steps
from keyplan.model.stored.pydantic_values import annotated

__all__ = ["in_map", "needs_value", "type_at", "within"]


def within(value: Any, change: Within, place: str) -> Any:
    """A field's value after the changes within it. Raises ArgumentError where a part of it isn't there."""
    for steps, inner in change.changes:
        value = _changed(value, steps, inner, place)
    return value


def _changed(value: Any, steps: Steps, change: Any, place: str) -> Any:
    step, *rest = steps
    path = f"{place}[{step}]" if isinstance(step, int) else f"{place}.{step}"
    match value:
        case BaseModel():
            now = getattr(value, str(step), None)
            if rest:
                return value.model_copy(update={str(step): _changed(now, tuple(rest), change, path)})
            info = type(value).model_fields[str(step)]
            new = info.get_default(call_default_factory=True) if isinstance(change, Remove) else _leaf(now, change)
            return value.model_copy(update={str(step): new})
        case Mapping():
            others = {name: element for name, element in value.items() if name != step}
            if rest:
                return {**value, step: _changed(value.get(step), tuple(rest), change, path)}
            return others if isinstance(change, Remove) else {**value, step: _leaf(value.get(step), change)}
        case list() | tuple() if isinstance(step, int) and step < len(value):
            parts = list(value)
            if not rest and isinstance(change, Remove):
                del parts[step]
            else:
                parts[step] = _changed(parts[step], tuple(rest), change, path) if rest else _leaf(parts[step], change)
            return type(value)(parts)
        case _:
            raise ArgumentError("it isn't there, so nothing within it can be changed", place=path, hint="set it whole")


def _leaf(value: Any, change: Any) -> Any:
    match change:
        case Add():
            return (value or 0) + change.amount
        case Append():
            return [*(value or ()), *change.items]
        case Once():
            return change.value if value is None else value
        case _:
            return change


def type_at(annotation: Any, step: str | int) -> Any:
    """The type, with its constraints, of what stands at a step within a type."""
    kind = kind_of(annotation)
    if isinstance(kind, type) and issubclass(kind, RootModel):
        return type_at(kind.model_fields["root"].annotation, step)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        info = kind.model_fields.get(str(step))
        return Any if info is None else annotated(info)
    inner = next((layer for layer in layers(annotation) if get_args(layer) and kind_of(layer) is kind), annotation)
    arguments = [value for value in get_args(inner) if value is not Ellipsis]
    if not arguments:
        return Any
    if isinstance(kind, type) and issubclass(kind, tuple) and isinstance(step, int) and len(arguments) > step:
        return arguments[step]
    return arguments[-1]


def in_map(annotation: Any) -> bool:
    """Whether a type is a map, whose keys may be missing."""
    kind = kind_of(annotation)
    return isinstance(kind, type) and issubclass(kind, Mapping)


def needs_value(annotation: Any, step: str | int) -> bool:
    """Whether what stands at a step of a type can't be taken away. Raises UpdateRefused where nothing can."""
    kind = kind_of(annotation)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        info = kind.model_fields.get(str(step))
        return info is not None and info.is_required() and not is_optional(info.annotation)
    if isinstance(kind, type) and issubclass(kind, tuple):
        raise UpdateRefused("elements of a tuple can't be taken away", place=str(step))
    return not (isinstance(kind, type) and issubclass(kind, Mapping | Sequence))
