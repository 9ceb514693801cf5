"""The shapes of requests, and their validation in AWS's words.

A shape knows its constraints. ``compile_check`` turns a shape into a predicate that is cheap enough for
every request; only when it says no, ``explain`` walks the request again and raises the error that AWS would.

Attribute values are checked by ``keyplan.values``: here an attribute value is any JSON structure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from keyplan.wire.errors import SerializationException, ValidationException

Check = Callable[[Any], bool]

FAULTS_MAX = 10
"""AWS stops listing validation errors here."""

_MEMO_MAX = 4096
_PRINTED_MAX = 1000
"""Characters of a refused value that the message repeats."""
_INT64_END = 2**63
_NUMBERS = frozenset((int, float))


@dataclass(frozen=True, slots=True)
class Text:
    """A string; lengths in characters. ``enum`` stands in the order AWS prints it."""

    min: int | None = None
    max: int | None = None
    pattern: str | None = None
    enum: tuple[str, ...] = ()
    arn: bool = False
    """Whether an ARN may stand where the name does."""


@dataclass(frozen=True, slots=True)
class Whole:
    """An integer."""

    min: int | None = None
    max: int | None = None


@dataclass(frozen=True, slots=True)
class Real:
    """A number that may have a fraction: a moment in seconds since the epoch, or a measure."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A boolean."""


@dataclass(frozen=True, slots=True)
class Value:
    """An attribute value, a JSON structure that ``keyplan.values`` checks."""


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list; ``min`` and ``max`` count its members."""

    of: Shape
    min: int | None = None
    max: int | None = None


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map from strings; ``min`` and ``max`` count its members. ``named`` says that its keys are table
    names.
    """

    of: Shape
    min: int | None = None
    max: int | None = None
    key: Text | None = None


@dataclass(frozen=True, slots=True)
class Structure:
    """A structure of named members. Members it doesn't know are ignored, as AWS does."""

    members: Mapping[str, Shape]
    required: frozenset[str] = field(default_factory=frozenset[str])


Shape = Text | Whole | Real | Flag | Value | ListOf | MapOf | Structure


def structure(required: Mapping[str, Shape] | None = None, **optional: Shape) -> Structure:
    """A structure from its required members and its optional ones."""
    return Structure({**(required or {}), **optional}, frozenset(required or ()))


# --- the cheap predicate ----------------------------------------------------------------------------------


def compile_check(shape: Shape) -> Check:
    """A predicate that is true only of what ``explain`` finds no fault with.

    It may be false of valid requests that hold explicit nulls; ``explain`` then lets them pass.
    """
    match shape:
        case Text():
            return _text_check(shape)
        case Whole():
            low, high = shape.min, shape.max
            return lambda value: (
                type(value) is int and (low is None or value >= low) and (high is None or value <= high)
            )
        case Real():
            return lambda value: type(value) in _NUMBERS
        case Flag():
            return lambda value: value is True or value is False
        case Value():
            return lambda value: type(value) is dict
        case ListOf():
            return _list_check(shape)
        case MapOf():
            return _map_check(shape)
        case Structure():
            return _structure_check(shape)


def _text_check(shape: Text) -> Check:
    if shape.enum:
        enum = frozenset(shape.enum)
        return lambda value: type(value) is str and value in enum
    if shape.min is None and shape.max is None and shape.pattern is None:
        return lambda value: type(value) is str
    known: set[str] = set()

    def check(value: Any) -> bool:
        if type(value) is not str:
            return False
        if value in known:
            return True
        if any(_text_faults(shape, value)):
            return False
        if len(known) >= _MEMO_MAX:
            known.clear()
        known.add(value)
        return True

    return check


def _list_check(shape: ListOf) -> Check:
    low, high = shape.min or 0, shape.max
    of = compile_check(shape.of)

    def check(value: Any) -> bool:
        if type(value) is not list or len(value) < low or (high is not None and len(value) > high):
            return False
        return all(map(of, value))

    return check


def _map_check(shape: MapOf) -> Check:
    low, high = shape.min or 0, shape.max
    if isinstance(shape.of, Value) and shape.key is None:
        # The members are looked at by keyplan.values anyway, one by one.
        return lambda value: type(value) is dict and len(value) >= low and (high is None or len(value) <= high)
    of = compile_check(shape.of)
    key = compile_check(shape.key) if shape.key is not None else None

    def check(value: Any) -> bool:
        if type(value) is not dict or len(value) < low or (high is not None and len(value) > high):
            return False
        return all(map(of, value.values())) and (key is None or all(map(key, value)))

    return check


def _structure_check(shape: Structure) -> Check:
    checks = {name: compile_check(member) for name, member in shape.members.items()}
    required = shape.required

    def check(value: Any) -> bool:
        if type(value) is not dict:
            return False
        for name, member in value.items():
            of = checks.get(name)
            if of is not None and not of(member):
                return False
        return required <= value.keys()

    return check


# --- the explanation --------------------------------------------------------------------------------------


def explain(shape: Structure, request: Any) -> None:
    """Raise the error AWS would for a request of this shape; return when there is none.

    Raises:
        SerializationException: a member has the wrong JSON type.
        ValidationException: members break their constraints; the message lists them (ten at most).
    """
    if request is None:
        raise SerializationException("Unexpected value type in payload")
    _check_types(shape, request)
    faults: list[str] = []
    for fault in _faults(shape, request, ""):
        faults.append(fault)
        if len(faults) == FAULTS_MAX:
            break
    if faults:
        plural = "s" if len(faults) > 1 else ""
        raise ValidationException(f"{len(faults)} validation error{plural} detected: {'; '.join(faults)}")


def _check_types(shape: Shape, value: Any) -> None:
    if value is None:
        return
    match shape:
        case Text():
            _expect_scalar(value, str, "String")
        case Whole():
            _expect_scalar(value, int, "Integer")
        case Real():
            if type(value) not in _NUMBERS:
                _expect_scalar(value, float, "Double")
        case Flag():
            _expect_scalar(value, bool, "Boolean")
        case Value():
            _expect_container(value, dict)
        case ListOf():
            _expect_container(value, list)
            for member in value:
                _check_types(shape.of, member)
        case MapOf():
            _expect_container(value, dict)
            for member in value.values():
                _check_types(shape.of, member)
        case Structure():
            _expect_container(value, dict)
            for name, member in shape.members.items():
                _check_types(member, value.get(name))


def _expect_scalar(value: Any, kind: type[object], name: str) -> None:
    if isinstance(value, list):
        raise SerializationException("Unrecognized collection type class java.lang." + name)
    if isinstance(value, dict):
        raise SerializationException("Start of structure or map found where not expected")
    if isinstance(value, bool) and kind is not bool:
        raise SerializationException(f"{'TRUE' if value else 'FALSE'}_VALUE cannot be converted to {name}")
    if isinstance(value, str) and kind is not str:
        raise SerializationException(f"STRING_VALUE cannot be converted to {name}")
    if type(value) is not kind:
        if isinstance(value, int):
            raise SerializationException(f"NUMBER_VALUE cannot be converted to {name}")
        if isinstance(value, float):
            raise SerializationException(f"DECIMAL_VALUE cannot be converted to {name}")
        raise SerializationException(f"{type(value).__name__} cannot be converted to {name}")
    if isinstance(value, int) and not -_INT64_END <= value < _INT64_END:
        raise SerializationException(f"NUMBER_VALUE cannot be converted to {name}")


def _expect_container(value: Any, kind: type[object]) -> None:
    if type(value) is kind:
        return
    if isinstance(value, dict):
        raise SerializationException("Start of structure or map found where not expected")
    if isinstance(value, list):
        raise SerializationException("Start of list found where not expected")
    raise SerializationException("Unexpected value type in payload")


def _faults(shape: Shape, value: Any, place: str) -> Iterator[str]:
    if value is None:
        return
    match shape:
        case Text():
            for rule in _text_faults(shape, value):
                yield _fault(value, place, rule)
        case Whole():
            if shape.min is not None and value < shape.min:
                yield _fault(value, place, f"Member must have value greater than or equal to {shape.min}")
            if shape.max is not None and value > shape.max:
                yield _fault(value, place, f"Member must have value less than or equal to {shape.max}")
        case Real() | Flag() | Value():
            return
        case ListOf():
            yield from _length_faults(shape, value, place)
            for number, member in enumerate(value, 1):
                yield from _member_faults(shape.of, member, f"{place}.{number}.member")
        case MapOf():
            yield from _map_faults(shape, value, place)
        case Structure():
            for name, member in shape.members.items():
                inner = f"{place}.{_lower_first(name)}" if place else _lower_first(name)
                if name in shape.required:
                    yield from _member_faults(member, value.get(name), inner)
                else:
                    yield from _faults(member, value.get(name), inner)


def _member_faults(shape: Shape, value: Any, place: str) -> Iterator[str]:
    """The faults of a value that must be there."""
    if value is None:
        yield f"Value null at '{place}' failed to satisfy constraint: Member must not be null"
    else:
        yield from _faults(shape, value, place)


def _map_faults(shape: MapOf, value: dict[str, Any], place: str) -> Iterator[str]:
    yield from _length_faults(shape, value, place)
    if shape.key is not None:
        for name in value:
            rules = list(_text_faults(shape.key, name))
            if rules:
                yield _fault(value, place, f"Map keys must satisfy constraint: [{', '.join(rules)}]")
    if isinstance(shape.of, ListOf) and any(
        each is not None and any(_length_faults(shape.of, each, "")) for each in value.values()
    ):
        rules = [
            f"Member must have length less than or equal to {shape.of.max}",
            f"Member must have length greater than or equal to {shape.of.min}",
        ]
        yield _fault(value, place, f"Map value must satisfy constraint: [{', '.join(rules)}]")
        return
    for name, member in value.items():
        yield from _member_faults(shape.of, member, f"{place}.{name}.member")


def _length_faults(shape: ListOf | MapOf, value: Any, place: str) -> Iterator[str]:
    if shape.min is not None and len(value) < shape.min:
        yield _fault(value, place, f"Member must have length greater than or equal to {shape.min}")
    if shape.max is not None and len(value) > shape.max:
        yield _fault(value, place, f"Member must have length less than or equal to {shape.max}")


def _text_faults(shape: Text, value: str) -> Iterator[str]:
    if shape.enum:
        if value not in shape.enum:
            yield f"Member must satisfy enum value set: [{', '.join(shape.enum)}]"
        return
    if shape.arn and value.startswith("arn:") and len(value) <= 1024:
        return
    if shape.pattern is not None and re.fullmatch(shape.pattern, value) is None:
        yield f"Member must satisfy regular expression pattern: {shape.pattern}"
    if shape.min is not None and len(value) < shape.min:
        yield f"Member must have length greater than or equal to {shape.min}"
    if shape.max is not None and len(value) > shape.max:
        yield f"Member must have length less than or equal to {shape.max}"


def _fault(value: Any, place: str, rule: str) -> str:
    text = _printed(value)
    if len(text) > _PRINTED_MAX:
        text = text[:_PRINTED_MAX] + "..."
    return f"Value '{text}' at '{place}' failed to satisfy constraint: {rule}"


def _printed(value: Any) -> str:
    """A value as AWS's Java prints it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(_printed(member) for member in value)}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}={_printed(member)}" for name, member in value.items()) + "}"
    return str(value)


def _lower_first(name: str) -> str:
    # Java's bean convention: SSESpecification keeps its capitals.
    return name if name[:2].isupper() else name[:1].lower() + name[1:]
