"""Whether what is stored comes back: tried once, when an entity is compiled, for the fields that pydantic dumps.

For those, a value of each kind that the field's type takes is written as an item and read again. What can't be written,
can't be read, or is another value then, is a fault of the design. Fields with a form of our own need no trial.
"""

from __future__ import annotations

import enum
import types
import warnings
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import ip_address, ip_network
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError

from keyplan.errors import KeyplanError
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.example_values import typical_value
from keyplan.model.declared.fields import is_alias, is_optional, marks_of
from keyplan.model.stored.pydantic_values import Form, annotated, holds_anything, members_of
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_fields import StoredField

__all__ = ["comeback_faults"]

_JSON = ("a text", 12, 2.5, True, ["a", 2.5], {"a": {"b": [1, 2.5, None]}}, "2026-01-02T03:04:05Z")
_OTHERS = (
    datetime(2026, 1, 2, 9, 42, 0, 123_456, tzinfo=UTC), date(2026, 1, 2), time(9, 42, 0, 123_456),
    timedelta(days=1, seconds=2, microseconds=3), Decimal("2.50"), UUID(int=7), b"\xff\x00", "a/b",
    ip_address("192.0.2.1"), ip_address("2001:db8::1"), ip_network("192.0.2.0/24"), "192.0.2.1", "192.0.2.1/24",
    "https://example.com/a?b=c", "someone@example.com", "postgres://user@example.com/a", "redis://example.com/1",
    "a+b*", "aGVsbG8=", "[1, 2]", '{"a": 1}', "#a1b2c3", "1.5", "1", 1, 0, -1, 7.25,
    "00:00:01", [1], [1.5], ["a", "b"], [[1, 2], [3, 4]], ("a", 1), {"a": 1}, {1: "a"}, {"a"}, 1 + 2j,
)  # fmt: skip
"""Values that types may take."""
SAMPLES_MAX = 24
EACH_MAX = 4


def comeback_faults(entity: CompiledEntity) -> Iterator[tuple[str, Problem]]:
    """The fields whose values don't come back as they were, each with what is wrong."""
    for name in entity.cls.__pydantic_decorators__.model_serializers:
        yield (
            name,
            Problem(
                "an entity is stored field by field, which a model_serializer of the whole can't be part of",
                "serialize single fields (field_serializer), or move them into a nested model",
            ),
        )
    suspects = [
        field
        for field in entity.fields.values()
        if not field.computed and not marks_of(field.annotation) and (_is_tried(field) or entity.reads_by_json)
    ]
    if not suspects:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a type says of the samples it is offered concerns nobody
        others = _others(entity)
        result = [(field.name, _problem(entity, field, others)) for field in suspects]
    yield from ((name, problem) for name, problem in result if problem is not None)


def _is_tried(field: StoredField) -> bool:
    """Whether somebody else says how it is stored: pydantic, or functions of the user's."""
    return field.form not in _SURE and (field.codec is None or field.codec.mark.write is not None)


def _others(entity: CompiledEntity) -> dict[str, Any]:
    """Values of the required fields."""
    result: dict[str, Any] = {}
    for name, info in entity.cls.model_fields.items():
        if info.is_required():
            for sample in _samples(entity.fields[name].annotation):
                result[name] = sample
                break
    return result


def _problem(entity: CompiledEntity, field: StoredField, others: dict[str, Any]) -> Problem | None:
    try:
        TypeAdapter(field.annotation, config=_config_of(field.annotation)).json_schema(mode="serialization")
    except PydanticInvalidForJsonSchema as error:
        if field.form is Form.DUMPED:
            return Problem(f"pydantic has no JSON form for it: {error.message.splitlines()[0]}", _HINT)
    except (PydanticUserError, TypeError, NameError):
        pass
    samples = _samples(field.annotation)
    twice = next((value for value in samples if not _taken_again(field.annotation, value)), None)
    if twice is not None:
        return Problem(f"its validator doesn't take {twice!r}, which it made: an instance is validated again", _HINT)
    for sample in samples:
        try:
            instance: Entity = entity.cls.model_validate({**others, field.name: sample}, by_name=True)
        except (ValidationError, TypeError):
            continue
        problem = _tried(entity, field, instance)
        if problem is not None:
            return problem
    return None


def _taken_again(annotation: Any, value: Any) -> bool:
    try:
        TypeAdapter(annotation, config=_config_of(annotation)).validate_python(value)
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
        return False
    return True


_SURE = frozenset({Form.OURS, Form.KEYED})
"""The forms whose values come back as they were: what a key can't hold is refused at each write."""
_HINT = "store it in another type, or give it a serializer and a validator that read it back"


def _tried(entity: CompiledEntity, field: StoredField, instance: Entity) -> Problem | None:
    value = getattr(instance, field.name)
    try:
        if getattr(entity.checked(instance), field.name) != value and not _by_identity(value):
            return Problem(
                f"its validator makes another value of {value!r} again: an instance is validated twice", _HINT
            )
    except KeyplanError:
        return Problem(f"its validator doesn't take {value!r}, which it made: an instance is validated twice", _HINT)
    try:
        item = entity.encode_fields(entity.own_values(instance))
    except KeyplanError as error:
        return Problem(f"{value!r} can't be stored: {error.message}", _HINT)
    shown = item.get(field.attribute)
    try:
        result = getattr(entity.from_item(item), field.name)
    except KeyplanError as error:
        own = next((fault.message for fault in error.faults if f".{field.name}" in fault.place), None)
        if own is None and error.faults:
            return None  # another field of the sample is at fault
        return Problem(f"{value!r} is stored as {shown}, which can't be read back: {own or error.message}", _HINT)
    if not _same(result, value):
        return Problem(f"{value!r} is stored as {shown}, and read back as {result!r}", _HINT)
    return None


def _same(result: Any, value: Any) -> bool:
    if type(result) is not type(value) and not (isinstance(result, int | float) and isinstance(value, int | float)):
        return False
    if _by_identity(value):
        return vars(result) == vars(value) if hasattr(value, "__dict__") else True
    return bool(result == value)


def _has_own_config(annotation: Any) -> bool:
    origin = get_origin(annotation)
    inner = get_args(annotation)[0] if origin is Annotated else annotation
    return isinstance(inner, type) and (
        hasattr(inner, "model_config") or hasattr(inner, "__dataclass_fields__") or hasattr(inner, "__total__")
    )


# Samples


DEPTH_MAX = 5


def _samples(annotation: Any, depth: int = 0) -> list[Any]:
    """Values that a type takes: as it makes them, each kind once or twice. ``depth``: of types within types."""
    made = [] if depth > DEPTH_MAX else list(_made(annotation, depth + 1))
    candidates = list(_JSON) if holds_anything(annotation) else [*made, *_JSON, *_OTHERS]
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation, config=_config_of(annotation))
    except (PydanticUserError, TypeError, NameError):
        return []
    result: list[Any] = []
    for candidate in candidates:
        try:
            value = adapter.validate_python(candidate)
        except PydanticUserError:  # a part of a type that is defined by the whole only
            return []
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
            continue
        if value is not None and sum(type(other) is type(value) for other in result) < EACH_MAX:
            result.append(value)
    return result[:SAMPLES_MAX] or ([None] if is_optional(annotation) else [])


def _by_identity(value: Any) -> bool:
    """Whether two values are equal only if they are one."""
    comparison: Any = type(value).__eq__
    return comparison is object.__eq__


def _config_of(annotation: Any) -> Any:
    return None if _has_own_config(annotation) else {"arbitrary_types_allowed": True}


def _made(annotation: Any, depth: int) -> Iterator[Any]:
    """Values made by a type: each choice, each branch of a union, a container of such, and a typical one."""
    if is_alias(annotation):
        yield from _made(annotation.__value__, depth)
        return
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _made(arguments[0], depth)
    elif origin in {Union, types.UnionType}:
        for part in arguments:
            yield from list(_made(part, depth))[:4]
    elif origin is Literal:
        yield from arguments
    elif isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        yield from annotation
    elif origin in {list, set, frozenset} or (origin is tuple and arguments[-1:] == (Ellipsis,)):
        for sample in _samples(arguments[0], depth):
            yield [sample]
    elif origin is dict:
        for value in _samples(arguments[1], depth):
            for name in _samples(arguments[0], depth)[:4]:
                yield {name: value}
    elif isinstance(annotation, type) and (members := _members(annotation)):
        samples = {name: next(iter(_samples(element, depth)), None) for name, element in members.items()}
        yield list(samples.values()) if issubclass(annotation, tuple) else samples
    else:
        yield from _typical(annotation)


def _members(cls: type[Any]) -> dict[str, Any]:
    """The fields of a model, a dataclass, a named tuple or a typed dictionary."""
    fields = getattr(cls, "model_fields", None)
    if isinstance(fields, dict):
        return {name: annotated(value) for name, value in fields.items()}
    return members_of(cls)


def _typical(annotation: Any) -> Iterator[Any]:
    try:
        yield typical_value(annotation, "value")
    except (KeyplanError, Problem, ValidationError, ValueError, TypeError, AttributeError, KeyError, IndexError):
        return
