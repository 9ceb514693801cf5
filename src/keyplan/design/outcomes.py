"""What an update's changes make of an instance: of each field's value before, its value after.

How a change is asked of DynamoDB is made in ``keyplan.client.updates``.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from keyplan.design.actions import Add, Append, Change, Discard, Include, Remove
from keyplan.design.entity import CompiledEntity, Entity, faults_of
from keyplan.design.stored import StoredField
from keyplan.errors import ArgumentError, UpdateRefused

__all__ = ["changed", "outcome"]


def changed(entity: CompiledEntity, before: Entity, changes: dict[str, Any]) -> tuple[Entity, dict[str, Any]]:
    """The instance after the changes, validated, its version one further; and the changes with their validated values.

    Raises ArgumentError, UpdateRefused.
    """
    found = entity.own_values(before)
    for name, change in changes.items():
        found[name] = outcome(entity, name, found[name], change)
    if entity.version is not None:
        found[entity.version.name] = found[entity.version.name] + 1
    try:
        after: Entity = entity.cls.__pydantic_validator__.validate_python(found, by_name=True)
    except ValidationError as error:
        raise ArgumentError("the update isn't valid", place=entity.name, faults=faults_of(error, entity.name)) from None
    checked = {name: change if isinstance(change, Change) else getattr(after, name) for name, change in changes.items()}
    return after, checked


def _removed(stored: StoredField, place: str) -> Any:
    """What a field reads as without its attribute."""
    if stored.optional:
        return None
    if stored.required:
        raise UpdateRefused("it can't be without a value", place=place, hint="set it to one")
    return stored.default


def outcome(entity: CompiledEntity, name: str, before: Any, change: Any) -> Any:
    """What a field holds after a change, if it holds ``before`` now. Raises ArgumentError, UpdateRefused."""
    try:
        match change:
            case Add():
                return (before or 0) + change.amount
            case Append():
                return [*(before or ()), *change.items]
            case Include():
                return {*(before or ()), *change.elements}
            case Discard():
                return {*(before or ())} - set(change.elements)
            case Remove():
                return _removed(entity.fields[name], f"{entity.name}.{name}")
            case _:
                return change
    except TypeError as error:
        raise ArgumentError(f"{change!r} doesn't fit: {error}", place=f"{entity.name}.{name}") from None
