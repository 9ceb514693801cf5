"""The effect of an update on an instance: each field's value after the changes."""

from __future__ import annotations

import random
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel, RootModel, ValidationError

from keyplan.errors import ArgumentError, UpdateRejected, shown
from keyplan.model.declared import actions
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.example_values import typical_value
from keyplan.model.declared.fields import is_optional, kind_of, layers
from keyplan.model.stored.pydantic_values import annotated, field_at
from keyplan.model.stored.stored_entity import CompiledEntity, error_details_of
from keyplan.model.stored.stored_fields import StoredField


def changed(entity: CompiledEntity, before: Entity, changes: dict[str, Any]) -> tuple[Entity, dict[str, Any]]:
    """The validated instance after the changes, and the changes. Raises ArgumentError, UpdateRejected."""
    result = entity.own_values(before)
    for name, change in changes.items():
        result[name] = outcome(entity, name, result[name], change)
    if entity.version is not None:
        result[entity.version.name] = result[entity.version.name] + 1
    try:
        after: Entity = entity.cls.__pydantic_validator__.validate_python(result, by_name=True)
    except ValidationError as error:
        raise ArgumentError(
            "the update makes the item invalid", place=entity.name, errors=error_details_of(error, entity.name)
        ) from None
    checked = {
        name: change if isinstance(change, actions.Change) else getattr(after, name) for name, change in changes.items()
    }
    return after, checked


def _removed(stored: StoredField, place: str) -> Any:
    if stored.optional:
        return None
    if stored.required:
        raise UpdateRejected("a required field can't be removed", place=place, hint="set the field to a value")
    return stored.default


def outcome(entity: CompiledEntity, name: str, before: Any, change: Any) -> Any:
    try:
        match change:
            case actions.Within():
                return within(before, change, f"{entity.name}.{name}")
            case actions.Remove():
                return _removed(entity.fields[name], f"{entity.name}.{name}")
            case _:
                return _applied(before, change)
    except (TypeError, ArithmeticError, RecursionError) as error:
        raise ArgumentError(f"{shown(change)} isn't a valid change: {error}", place=f"{entity.name}.{name}") from None


def whole_update(entity: CompiledEntity, action: actions.Update[Any]) -> actions.Update[Any]:
    if entity.slots and action.creates and isinstance(action.target, type):
        action = action.among(_slots(entity, action))
    if action.token is None:
        return action
    if entity.tokens is None:
        raise UpdateRejected(
            "idempotent() requires a field for the tokens",
            place=entity.name,
            hint="declare a field: applied: IdempotencyTokens = set()",
        )
    name = entity.tokens.name
    if name in action.changes:
        raise UpdateRejected(
            "idempotent() adds the token to this field, so the update can't change it",
            place=f"{entity.name}.{name}",
            hint="use a separate update for the change",
        )
    return action.set(**{name: actions.SetAdd((action.token,))})


def _slots(entity: CompiledEntity, action: actions.Update[Any]) -> dict[str, int]:
    open_ = {name: count for name, count in entity.slots.items() if name not in action.key}
    if action.token is None:
        return {name: random.randrange(count) for name, count in open_.items()}  # noqa: S311 - not a secret
    return {name: zlib.crc32(action.token.encode()) % count for name, count in open_.items()}


def certain_before(entity: CompiledEntity, action: actions.Update[Any], pins: Mapping[str, Any]) -> Entity | None:
    """The instance before an update, or None if the update's conditions don't determine it. Raises ItemTooLarge."""
    return _whole(entity, _expected(entity, action, pins))


def certain_outcome(entity: CompiledEntity, action: actions.Update[Any], pins: Mapping[str, Any]) -> Entity | None:
    """The instance after an update, if the update's conditions (``only_if``, version, ``pins`` of its keys) and changes
    determine it completely; otherwise None. An update with a token may have been executed before, and the item
    may have changed since.

    Raises ArgumentError, UpdateRejected, ItemTooLarge.
    """
    if action.token is not None:
        return None
    held = _expected(entity, action, pins)
    version = entity.version
    if version is not None and version.name in held:
        held[version.name] = (held[version.name] or 0) + 1
    for name, change in action.changes.items():
        if not isinstance(change, actions.Change | None):
            held[name] = change
        elif isinstance(change, actions.Remove | None) or name in held:
            held[name] = outcome(entity, name, held.get(name), change)
    return _whole(entity, held)


def _expected(entity: CompiledEntity, action: actions.Update[Any], pins: Mapping[str, Any]) -> dict[str, Any]:
    target = action.target
    version = entity.version
    held: dict[str, Any] = {}
    if isinstance(target, Entity):
        known = entity.own_values(target)
        # An expected version implies that all other fields are unchanged
        held = known if version is not None else {name: known[name] for name in entity.key_fields if name in known}
    else:
        held = dict(action.key)
    return {**held, **pins, **action.equals}


def _whole(entity: CompiledEntity, held: Mapping[str, Any]) -> Entity | None:
    names = [name for name, stored in entity.fields.items() if not stored.computed]
    if not held.keys() >= {*names}:
        return None
    try:
        instance: Entity = entity.cls.__pydantic_validator__.validate_python(
            {name: held[name] for name in names}, by_name=True
        )
    except ValidationError:
        return None
    return entity.as_stored(instance)


def likely_outcome(
    entity: CompiledEntity, action: actions.Put[Any] | actions.Update[Any] | actions.Delete[Any]
) -> Entity:
    """A plausible instance after an action, or before the action. Raises ArgumentError, UpdateRejected."""
    if isinstance(action, actions.Put):
        met: Entity = action.item
        return met
    changes = {} if isinstance(action, actions.Delete) or action.gives_previous else dict(action.changes)
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


def within(value: Any, change: actions.Within, place: str) -> Any:
    """A field's value after changes of its parts. Raises ArgumentError if a part doesn't exist."""
    for steps, inner in change.changes:
        value = _changed(value, steps, inner, place)
    return value


def _changed(value: Any, steps: actions.Steps, change: Any, place: str) -> Any:
    step, *rest = steps
    path = f"{place}[{step}]" if isinstance(step, int) else f"{place}.{step}"
    match value:
        case BaseModel():
            now = getattr(value, str(step), None)
            if rest:
                return value.model_copy(update={str(step): _changed(now, tuple(rest), change, path)})
            info = type(value).model_fields[str(step)]
            new = (
                info.get_default(call_default_factory=True)
                if isinstance(change, actions.Remove)
                else _applied(now, change)
            )
            return value.model_copy(update={str(step): new})
        case Mapping():
            others = {name: element for name, element in value.items() if name != step}
            if rest:
                return {**value, step: _changed(value.get(step), tuple(rest), change, path)}
            return others if isinstance(change, actions.Remove) else {**value, step: _applied(value.get(step), change)}
        case list() | tuple() if isinstance(step, int) and step < len(value):
            parts = list(value)
            if not rest and isinstance(change, actions.Remove):
                del parts[step]
            else:
                parts[step] = (
                    _changed(parts[step], tuple(rest), change, path) if rest else _applied(parts[step], change)
                )
            return type(value)(parts)
        case _:
            raise ArgumentError("this part or its parent doesn't exist", place=path, hint="set the whole field")


def _applied(value: Any, change: Any) -> Any:
    match change:
        case actions.Add():
            return (value or 0) + change.amount
        case actions.Append():
            return [*(value or ()), *change.items]
        case actions.SetAdd():
            return {*(value or ()), *change.elements}
        case actions.SetRemove():
            return {*(value or ())} - set(change.elements)
        case actions.IfNotExists():
            return change.value if value is None else value
        case _:
            return change


def type_at(annotation: Any, step: str | int) -> Any:
    kind = kind_of(annotation)
    if isinstance(kind, type) and issubclass(kind, RootModel):
        return type_at(kind.model_fields["root"].annotation, step)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        found = field_at(kind, str(step))
        return Any if found is None else annotated(found[1])
    inner = next((layer for layer in layers(annotation) if get_args(layer) and kind_of(layer) is kind), annotation)
    arguments = [value for value in get_args(inner) if value is not Ellipsis]
    if not arguments:
        return Any
    if isinstance(kind, type) and issubclass(kind, tuple) and isinstance(step, int) and len(arguments) > step:
        return arguments[step]
    return arguments[-1]


def stored_step(annotation: Any, step: str | int) -> str | int:
    """The stored name of a step within a type: for a model's field, its alias."""
    kind = kind_of(annotation)
    if isinstance(kind, type) and issubclass(kind, RootModel):
        return stored_step(kind.model_fields["root"].annotation, step)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        found = field_at(kind, str(step))
        return step if found is None else found[0]
    return step


def in_map(annotation: Any) -> bool:
    kind = kind_of(annotation)
    return isinstance(kind, type) and issubclass(kind, Mapping)


def needs_value(annotation: Any, step: str | int) -> bool:
    """Whether a step of a path leads to a required part. Raises UpdateRejected for an element of a tuple."""
    kind = kind_of(annotation)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        info = kind.model_fields.get(str(step))
        return info is not None and info.is_required() and not is_optional(info.annotation)
    if isinstance(kind, type) and issubclass(kind, tuple):
        raise UpdateRejected("elements of a tuple can't be removed", place=str(step))
    return not (isinstance(kind, type) and issubclass(kind, Mapping | Sequence))
