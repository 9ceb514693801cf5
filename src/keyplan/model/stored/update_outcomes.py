"""What an update's changes make of an instance: of each field's value before, its value after.

How a change is asked of DynamoDB is made in ``keyplan.client.update_expressions``.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from keyplan.errors import ArgumentError, UpdateRefused, shown
from keyplan.model.declared.actions import (
    Add,
    Append,
    Change,
    Delete,
    Discard,
    Include,
    Once,
    Put,
    Remove,
    Update,
    Within,
)
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.example_values import typical_value
from keyplan.model.stored.nested_updates import within
from keyplan.model.stored.stored_entity import CompiledEntity, faults_of
from keyplan.model.stored.stored_fields import StoredField

__all__ = ["certain_before", "certain_outcome", "changed", "likely_outcome", "outcome", "whole_update"]


def changed(entity: CompiledEntity, before: Entity, changes: dict[str, Any]) -> tuple[Entity, dict[str, Any]]:
    """The instance after the changes, validated, its version one further; and the changes with their validated values.

    Raises ArgumentError, UpdateRefused.
    """
    result = entity.own_values(before)
    for name, change in changes.items():
        result[name] = outcome(entity, name, result[name], change)
    if entity.version is not None:
        result[entity.version.name] = result[entity.version.name] + 1
    try:
        after: Entity = entity.cls.__pydantic_validator__.validate_python(result, by_name=True)
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
    """What a field holds after a change, if it holds ``before`` now: None counts as 0, or as empty. Raises
    ArgumentError, UpdateRefused.
    """
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
            case Once():
                return change.value if before is None else before
            case Within():
                return within(before, change, f"{entity.name}.{name}")
            case Remove():
                return _removed(entity.fields[name], f"{entity.name}.{name}")
            case _:
                return change
    except (TypeError, ArithmeticError, RecursionError) as error:
        raise ArgumentError(f"{shown(change)} doesn't fit: {error}", place=f"{entity.name}.{name}") from None


def whole_update(entity: CompiledEntity, action: Update[Any]) -> Update[Any]:
    """The update with what it leaves to be chosen: its slot, and its token among its changes. Raises UpdateRefused."""
    if entity.slots and action.creates and isinstance(action.target, type):
        action = action.among(_slots(entity, action))
    if action.token is None:
        return action
    if entity.tokens is None:
        raise UpdateRefused(
            "nothing in its items keeps the tokens of once()",
            place=entity.name,
            hint="give it a field for them: applied: Tokens = set()",
        )
    name = entity.tokens.name
    if name in action.changes:
        raise UpdateRefused("once() puts its token there", place=f"{entity.name}.{name}", hint="make it two updates")
    return action.set(**{name: Include((action.token,))})


def _slots(entity: CompiledEntity, action: Update[Any]) -> dict[str, int]:
    """The slots that an update doesn't say: any, and for one token the same each time."""
    open_ = {name: count for name, count in entity.slots.items() if name not in action.key}
    if action.token is None:
        return {name: random.randrange(count) for name, count in open_.items()}  # noqa: S311 - it spreads load
    return {name: zlib.crc32(action.token.encode()) % count for name, count in open_.items()}


def certain_before(entity: CompiledEntity, action: Update[Any], pins: Mapping[str, Any]) -> Entity | None:
    """The instance that an update meets in the store, where what it expects says all of it; otherwise None.

    Raises ItemTooLarge.
    """
    return _whole(entity, _expected(entity, action, pins))


def certain_outcome(entity: CompiledEntity, action: Update[Any], pins: Mapping[str, Any]) -> Entity | None:
    """The instance that an update leaves in the store, where what it expects (its ``only_if``, a version, the
    ``pins`` of its keys) and what it sets say all of it; otherwise None. An update with a token may have been carried
    out before, and the item may have changed since.

    Raises ArgumentError, UpdateRefused, ItemTooLarge.
    """
    if action.token is not None:
        return None
    held = _expected(entity, action, pins)
    version = entity.version
    if version is not None and version.name in held:
        held[version.name] = (held[version.name] or 0) + 1
    for name, change in action.changes.items():
        if not isinstance(change, Change | None):
            held[name] = change
        elif isinstance(change, Remove | None) or name in held:
            held[name] = outcome(entity, name, held.get(name), change)
    return _whole(entity, held)


def _expected(entity: CompiledEntity, action: Update[Any], pins: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that an update says of the item that it meets."""
    target = action.target
    version = entity.version
    held: dict[str, Any] = {}
    if isinstance(target, Entity):
        known = entity.own_values(target)
        # A version that is expected unchanged says the same of everything else
        held = known if version is not None else {name: known[name] for name in entity.key_fields if name in known}
    else:
        held = dict(action.key)
    return {**held, **pins, **action.equals}


def _whole(entity: CompiledEntity, held: Mapping[str, Any]) -> Entity | None:
    """The instance with these fields, as it is stored; None where a field isn't among them."""
    if any(name not in held for name, stored in entity.fields.items() if not stored.computed):
        return None
    try:
        instance: Entity = entity.cls.__pydantic_validator__.validate_python(
            {name: held[name] for name, stored in entity.fields.items() if not stored.computed}, by_name=True
        )
    except ValidationError:
        return None
    return entity.as_stored(instance)


def likely_outcome(entity: CompiledEntity, action: Put[Any] | Update[Any] | Delete[Any]) -> Entity:
    """An instance such as an action may leave, or have met, whichever it is asked for: made of what the action says, of
    defaults, and of typical values. Raises ArgumentError, UpdateRefused.
    """
    if isinstance(action, Put):
        met: Entity = action.item
        return met
    changes = {} if isinstance(action, Delete) or action.gives_previous else dict(action.changes)
    if not isinstance(action.target, type):
        before: Entity = action.target
        return changed(entity, before, changes)[0] if changes else before
    held: dict[str, Any] = {}
    for name, stored in entity.fields.items():
        if not stored.computed:
            fixed = stored.optional or not stored.required
            held[name] = stored.default if fixed else typical_value(stored.annotation, name)
    held |= {**action.key, **action.equals}
    for name, change in changes.items():
        held[name] = outcome(entity, name, held[name], change)
    try:
        made: Entity = entity.cls.__pydantic_validator__.validate_python(held, by_name=True)
    except ValidationError:
        return entity.cls.model_construct(**held)
    return made
