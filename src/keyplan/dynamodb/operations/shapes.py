"""The shapes of requests, and a predicate that is cheap enough for every request.

A shape knows its constraints. ``compile_check`` turns it into a predicate; only when that returns False, ``explain``
(``keyplan.dynamodb.operations.shape_errors``) walks the request again and raises the error that AWS would.

``keyplan.dynamodb.values`` checks attribute values: here one is any JSON structure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Check = Callable[[Any], bool]
Named = Literal["none", "max", "both"]
"""Which limits of a length are reported by the member's name alone, without what was given, and before anything else.
AWS does so in the operations that have its current words (decision 0029).
"""

_MEMO_MAX = 4096
_ARN_MAX = 1024
_ARN_COLONS = 5
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
    never_empty: bool = False
    """Whether an empty text has this one fault only."""
    named: Named = "none"
    told: str | None = None
    """The service's current words for what isn't in ``enum``, where they differ from the usual ones."""
    first: bool = False
    """Whether ``told`` is said before anything else is looked at."""
    length_first: bool = False
    """Whether a length out of range is told before the pattern."""
    length_told: str | None = None
    """The service's own sentence for a length out of range, where it has one: it is told before anything else."""
    like: str | None = None
    """An expression that accepts the same as ``pattern``, where matching that could take minutes."""


@dataclass(frozen=True, slots=True)
class Whole:
    """An integer of 64 bits, or of 32."""

    min: int | None = None
    max: int | None = None
    bits: Literal[32, 64] = 64
    named: Named = "none"

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest integer that is within the constraints."""
        end = 2 ** (self.bits - 1)
        return (-end if self.min is None else self.min), (end - 1 if self.max is None else self.max)


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
    named: Named = "none"


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map from strings; ``min`` and ``max`` count its members. ``key`` is the shape of its keys, where they are table
    names.
    """

    of: Shape
    min: int | None = None
    max: int | None = None
    key: Text | None = None
    named: Named = "none"
    keys_last: bool = False
    """Whether its keys are looked at when everything else is right."""
    echoed_as_json: bool = False
    """Whether AWS repeats a refused map as JSON, and not as its Java prints it."""


@dataclass(frozen=True, slots=True)
class Structure:
    """A structure of named members. Members it doesn't know are ignored, as AWS does."""

    members: Mapping[str, Shape]
    required: frozenset[str] = field(default_factory=frozenset[str])
    name: str = ""
    """The service's name of it, by which its Java prints it."""


Shape = Text | Whole | Real | Flag | Value | ListOf | MapOf | Structure


def structure(required: Mapping[str, Shape] | None = None, **optional: Shape) -> Structure:
    """A structure from its required members and its optional ones."""
    return Structure({**(required or {}), **optional}, frozenset(required or ()))


def in_order(shape: Structure, *names: str) -> Structure:
    """The structure with these members before the others: faults are listed in the order of the members."""
    first = {name: shape.members[name] for name in names}
    return Structure({**first, **shape.members}, shape.required, shape.name)


def named(name: str, shape: Structure) -> Structure:
    """The structure with the service's name of it."""
    return Structure(shape.members, shape.required, name)


def member_names(shape: Shape) -> Iterator[str]:
    """The names of all members in a shape, those of attribute values among them."""
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


def compile_check(shape: Shape) -> Check:
    """A predicate that is true only of what ``explain`` finds no fault with.

    It may be false of valid requests that hold explicit nulls; ``explain`` then lets them pass.
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


def text_faults(shape: Text, value: str) -> Iterator[str]:
    """The rules that a text breaks, in AWS's words."""
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
    """What is wrong with an ARN that stands for a table's name: an index's stands for none."""
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
