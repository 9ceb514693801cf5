"""Validate constants of ``where=`` and ``when=`` by the fields' types, and list the values of types with few values.

``key_matching`` uses the constants for keys, and ``compiled_filters`` uses them for filters.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Container, Iterable
from decimal import Decimal
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from keyplan.dynamodb.values import NumberError, ValueFault
from keyplan.errors import KeyFieldError
from keyplan.model.compiled.signatures import type_name
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.fields import is_alias, kind_of, unbounded
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_fields import StoredField

_MANY = (tuple, list, set, frozenset)
_NUMBERS = (int, float, Decimal)


class AnyOf(tuple[Any, ...]):
    """A constant with several alternative values."""

    __slots__ = ()


def constant_of(owner: str, field: StoredField, given: Any) -> Any:
    """The constant of a field, or ``AnyOf`` for several values. Raises Problem for an invalid value."""
    if not isinstance(given, _MANY) or _validated(field.annotation, given) is not _INVALID:
        return _constant(owner, field, given)
    if not given:
        raise Problem(f"the list of values for {owner}.{field.name} is empty", "list at least one value")
    ordered: Iterable[Any] = sorted(given, key=str) if isinstance(given, set | frozenset) else given
    result = list({repr(value): value for value in (_constant(owner, field, each) for each in ordered)}.values())
    return result[0] if len(result) == 1 else AnyOf(result)


def all_slots(entities: Iterable[CompiledEntity], said: Container[str]) -> dict[str, AnyOf]:
    slots = {name: count for entity in entities for name, count in entity.slots.items()}
    return {name: AnyOf(range(count)) for name, count in slots.items() if name not in said}


def values_asked(constant: Any) -> tuple[Any, ...]:
    return tuple(constant) if isinstance(constant, AnyOf) else (constant,)


def domain_of(annotation: Any) -> tuple[Any, ...] | None:
    """The values of a Literal, Enum or bool type, including None if it is allowed; None for any other type."""
    if annotation is None or annotation is type(None):
        return (None,)
    if is_alias(annotation):
        return domain_of(annotation.__value__)
    origin = get_origin(annotation)
    if origin is Annotated:
        return domain_of(get_args(annotation)[0])
    if origin is Literal:
        return get_args(annotation)
    if origin in {Union, types.UnionType}:
        parts = [domain_of(part) for part in get_args(annotation)]
        return None if None in parts else tuple(value for part in parts for value in part or ())
    if getattr(annotation, "__supertype__", None) is not None:
        return domain_of(annotation.__supertype__)
    if annotation is bool:
        return (False, True)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum) and not issubclass(annotation, enum.Flag):
        return tuple(annotation)
    return None


class _Invalid:
    """The type of a placeholder for an invalid value."""


_INVALID = _Invalid()


def _validated(annotation: Any, value: Any) -> Any:
    """The value, validated: a number of any kind for a number, an enum's member by its value."""
    kind = kind_of(annotation)
    number = kind in _NUMBERS and isinstance(value, _NUMBERS) and not isinstance(value, bool)
    by_value = isinstance(kind, type) and issubclass(kind, enum.Enum)
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(unbounded(annotation))
        return adapter.validate_python(value, strict=not number and not by_value)
    except (ValidationError, TypeError):
        return _INVALID


def _constant(owner: str, field: StoredField, value: Any) -> Any:
    if value is None and not field.optional:
        raise Problem(f"{owner}.{field.name} can't be None", "omit the condition, or make the field optional")
    result = value if value is None else _validated(field.annotation, value)
    if result is _INVALID:
        domain = domain_of(field.annotation)
        if domain is None or type(value) not in {type(element) for element in domain}:
            raise Problem(f"{owner}.{field.name} is of type {type_name(field.annotation)}, so it can't be {value!r}")
        result = value  # ``keyplan check`` reports the value as a typo
    try:
        if result is not None:
            field.encode(result)
    except KeyFieldError as error:
        raise Problem(f"{owner}.{field.name} can't be {value!r}: {error.message}", error.hint) from None
    except (ValueFault, NumberError, TypeError, UnicodeEncodeError) as error:
        raise Problem(f"{owner}.{field.name} can't be {value!r}: {error}") from None
    return result
