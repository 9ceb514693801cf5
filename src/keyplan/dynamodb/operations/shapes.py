"""Request shapes, compiled into predicates that are fast enough to run on every request.

A shape has a type and constraints. ``compile_check`` compiles a shape into a predicate; only if the predicate returns
False, ``explain`` (``keyplan.dynamodb.operations.shape_errors``) walks the request again and raises AWS's error.

``keyplan.dynamodb.values`` validates attribute values; shapes accept any JSON object as an attribute value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Check = Callable[[Any], bool]
Named = Literal["none", "max", "both"]
"""The length limits that are reported first, by the member's name alone, without the value. AWS does so in operations
with the current wording (decision 0029).
"""

_MEMO_MAX = 4096
_ARN_MAX = 1024
_ARN_COLONS = 5
_NUMBERS = frozenset((int, float))
_STRING = frozenset((str,))


@dataclass(frozen=True, slots=True)
class Text:
    """A string; lengths are in characters. ``enum`` has the allowed values in AWS's order."""

    min: int | None = None
    max: int | None = None
    pattern: str | None = None
    enum: tuple[str, ...] = ()
    arn: bool = False
    """Whether an ARN is accepted in place of the name."""
    never_empty: bool = False
    """Whether an empty text is reported as only one error."""
    named: Named = "none"
    message: str | None = None
    """The current text for a value that isn't in ``enum``, if it differs from the usual text."""
    first: bool = False
    """Whether ``message`` is reported before all other errors."""
    length_first: bool = False
    """Whether a length error is listed before the pattern error."""
    length_message: str | None = None
    """The service's special text for a length error, which is reported before all other errors."""
    like: str | None = None
    """An equivalent of ``pattern`` for patterns whose matching can take exponential time."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A 64-bit or 32-bit integer."""

    min: int | None = None
    max: int | None = None
    bits: Literal[32, 64] = 64
    named: Named = "none"

    @property
    def limits(self) -> tuple[int, int]:
        end = 2 ** (self.bits - 1)
        return (-end if self.min is None else self.min), (end - 1 if self.max is None else self.max)


@dataclass(frozen=True, slots=True)
class Real:
    """A number that can have a fraction, for example seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A boolean."""


@dataclass(frozen=True, slots=True)
class Value:
    """An attribute value: a JSON object that ``keyplan.dynamodb.values`` validates."""


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list; ``min`` and ``max`` limit its number of members."""

    of: Shape
    min: int | None = None
    max: int | None = None
    named: Named = "none"


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map with string keys; ``min`` and ``max`` limit its size; ``key`` is the shape of keys that are table names."""

    of: Shape
    min: int | None = None
    max: int | None = None
    key: Text | None = None
    named: Named = "none"
    keys_last: bool = False
    """Whether its keys are checked last."""
    echoed_as_json: bool = False
    """Whether AWS repeats a rejected map as JSON instead of in Java's format."""


@dataclass(frozen=True, slots=True)
class Structure:
    """An object with named members. Unknown members are ignored, as in AWS."""

    members: Mapping[str, Shape]
    required: frozenset[str] = field(default_factory=frozenset[str])
    name: str = ""
    """The service's name for it, which Java prints."""


Shape = Text | Whole | Real | Flag | Value | ListOf | MapOf | Structure


def structure(required: Mapping[str, Shape] | None = None, **optional: Shape) -> Structure:
    return Structure({**(required or {}), **optional}, frozenset(required or ()))


def in_order(shape: Structure, *names: str) -> Structure:
    """The structure with these members first, because errors are listed in member order."""
    first = {name: shape.members[name] for name in names}
    return Structure({**first, **shape.members}, shape.required, shape.name)


def named(name: str, shape: Structure) -> Structure:
    return Structure(shape.members, shape.required, name)


def member_names(shape: Shape) -> Iterator[str]:
    """The names of all members of a shape, including those of attribute values."""
    match shape:
        case Value():
            yield from ("S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL", "BOOL")
        case ListOf() | MapOf():
            yield from member_names(shape.of)
        case Structure():
            yield from shape.members
            for member in shape.members.values():
                yield from member_names(member)
        case _:
            pass


def without_unknown(shape: Shape, value: Any) -> Any:
    """A valid request, or a part of it, without the unknown members of its structures."""
    if isinstance(shape, Structure) and value is not None:
        known = shape.members
        return {name: without_unknown(known[name], member) for name, member in value.items() if name in known}
    if isinstance(shape, ListOf) and value is not None:
        return [without_unknown(shape.of, member) for member in value]
    return value


def compile_check(shape: Shape) -> Check:
    """A predicate that is true only for values without errors in ``explain``.

    The predicate can be false for a valid request with explicit nulls; ``explain`` then accepts the request.
    """
    match shape:
        case Text():
            return _text_check(shape)
        case Whole():
            least, most = shape.limits
            return lambda value: type(value) is int and least <= value <= most
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


def _is_any_string(shape: Shape) -> bool:
    return isinstance(shape, Text) and not shape.enum and {shape.min, shape.max, shape.pattern} == {None}


def _text_check(shape: Text) -> Check:
    if shape.enum:
        enum = frozenset(shape.enum)
        return lambda value: type(value) is str and value in enum
    if _is_any_string(shape):
        return lambda value: type(value) is str
    known: set[str] = set()

    def check(value: Any) -> bool:
        if type(value) is not str:
            return False
        if value in known:
            return True
        if any(text_faults(shape, value)):
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
        # keyplan.dynamodb.values validates each member later.
        return lambda value: type(value) is dict and len(value) >= low and (high is None or len(value) <= high)
    of = compile_check(shape.of)
    key = compile_check(shape.key) if shape.key is not None else None
    strings = _is_any_string(shape.of)

    def check(value: Any) -> bool:
        if type(value) is not dict or len(value) < low or (high is not None and len(value) > high):
            return False
        valid = {*map(type, value.values())} <= _STRING if strings else all(map(of, value.values()))
        return valid and (key is None or all(map(key, value)))

    return check


def _structure_check(shape: Structure) -> Check:
    checks = {name: compile_check(member) for name, member in shape.members.items()}
    strings = frozenset(name for name, member in shape.members.items() if _is_any_string(member))
    required = shape.required

    def check(value: Any) -> bool:
        if type(value) is not dict:
            return False
        for name, member in value.items():
            if name in strings and type(member) is str:
                continue
            of = checks.get(name)
            if of is not None and not of(member):
                return False
        return required <= value.keys()

    return check


def text_faults(shape: Text, value: str) -> Iterator[str]:
    """The constraints that a string violates, in AWS's words."""
    if shape.enum:
        if value not in shape.enum:
            yield f"Member must satisfy enum value set: [{', '.join(shape.enum)}]"
        return
    if shape.arn and value.startswith("arn:") and len(value) <= _ARN_MAX:
        yield from _arn_faults(shape, value)
        return
    if shape.never_empty and not value:
        yield "Member must have length greater than or equal to 1"
        return
    pattern = shape.pattern is not None and re.fullmatch(shape.like or shape.pattern, value) is None
    if pattern and not shape.length_first:
        yield f"Member must satisfy regular expression pattern: {shape.pattern}"
    if shape.min is not None and len(value) < shape.min:
        yield f"Member must have length greater than or equal to {shape.min}"
    if shape.max is not None and len(value) > shape.max:
        yield f"Member must have length less than or equal to {shape.max}"
    if pattern and shape.length_first:
        yield f"Member must satisfy regular expression pattern: {shape.pattern}"


def _arn_faults(shape: Text, arn: str) -> Iterator[str]:
    kind, slash, name = arn.split(":", _ARN_COLONS)[-1].partition("/")
    if slash and arn.count(":") >= _ARN_COLONS and kind != "table":
        yield "Invalid resource type"
    elif slash and len(name) < (shape.min or 0):
        yield f"Table name of ARN must have length greater than or equal to {shape.min}"
    elif not slash or len(name) > (shape.max or 0) or re.fullmatch(shape.pattern or "", name) is None:
        yield (
            "Valid ARN format is 'arn:<awsPartition>:<vendor>:<region>:<subscriber>:resourceType/resourceName', "
            f"where Resource name must have length less than or equal to {shape.max}, "
            f"Resource name must have length greater than or equal to {shape.min}, "
            f"Resource name must satisfy regular expression pattern: {shape.pattern}"
        )
