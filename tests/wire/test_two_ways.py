"""A request is judged in two ways: by a predicate that is quick, and, where that says no, by what finds the words. Both
say the same of whatever stands at a limit, for each shape of each operation.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest

from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.dynamodb.operations.shape_errors import explain
from keyplan.dynamodb.operations.shapes import (
    Flag,
    ListOf,
    MapOf,
    Real,
    Shape,
    Structure,
    Text,
    Value,
    Whole,
    compile_check,
    structure,
)
from keyplan.dynamodb.service_errors import SerializationException, ValidationException

LONG = 3000
"""Texts, lists and maps aren't made longer than that."""


ARN = "arn:aws:dynamodb:eu-west-1:000000000000:table/"
LONGEST_ARN = 300


def _inside(shape: Shape) -> Iterator[Shape]:
    yield shape
    if isinstance(shape, ListOf | MapOf):
        yield from _inside(shape.of)
    elif isinstance(shape, Structure):
        yield from chain.from_iterable(map(_inside, shape.members.values()))


def _shapes() -> dict[str, Shape]:
    """What has a limit, by what it is."""
    every = chain.from_iterable(_inside(operation.request) for operation in OPERATIONS.values())
    return {repr(shape): shape for shape in every if isinstance(shape, Text | Whole | ListOf | MapOf)}


def _some(shape: Shape, number: int = 0) -> Any:
    """A value without a fault, as far as that is easily made; another one for another number."""
    match shape:
        case Text(enum=(first, *_)):
            return first
        case Text():
            return f"{number:0{max(shape.min or 1, 4)}}"
        case Whole():
            return shape.limits[0]
        case Flag():
            return True
        case Real():
            return 1.5
        case Value():
            return {"S": "a"}
        case ListOf():
            return [_some(shape.of, at) for at in range(shape.min or 0)]
        case MapOf():
            return {f"name{at}": _some(shape.of, at) for at in range(shape.min or 0)}
        case Structure():
            return {name: _some(shape.members[name]) for name in shape.required}


def _at_limits(shape: Shape) -> Iterator[Any]:
    match shape:
        case Whole():
            least, most = shape.limits
            yield from (least - 1, least, most, most + 1)
        case Text():
            for length in _lengths(shape.min, shape.max):
                yield from ("a" * length, "A" * length, "0" * length, "-" * length)
                if shape.arn and length <= LONGEST_ARN:
                    yield f"{ARN}{'a' * length}"
            for name in shape.enum:
                yield from (name, name.lower(), f"{name} ")
        case ListOf():
            for length in _lengths(shape.min, shape.max):
                yield [_some(shape.of, number) for number in range(length)]
        case MapOf():
            for length in _lengths(shape.min, shape.max):
                yield {f"name{number}": _some(shape.of, number) for number in range(length)}
        case _:
            return


def _is_within(shape: Shape, value: Any) -> bool | None:
    """Whether a value is within limits that are all that its shape has; None where it has others."""
    match shape:
        case Whole():
            least, most = shape.limits
            return bool(least <= value <= most)
        case Text(enum=(), pattern=None, arn=False):
            return (shape.min or 0) <= len(value) <= (len(value) if shape.max is None else shape.max)
        case Text(enum=(_, *_)):
            return value in shape.enum
        case Text(arn=True) if value.startswith(ARN):
            return (shape.min or 0) <= len(value) - len(ARN) <= (shape.max or 0)
        case _:
            return None


def _lengths(least: int | None, most: int | None) -> list[int]:
    limits = {0, 1, *(length for limit in (least, most) if limit is not None for length in range(limit - 1, limit + 2))}
    return sorted(length for length in limits if 0 <= length <= LONG)


@pytest.mark.parametrize("wording", ["older", "current", "enveloped"])
def test_whatever_stands_at_a_limit_is_judged_alike_in_both_ways(wording: Any) -> None:
    judged = 0
    for shape in _shapes().values():
        for within in (structure(Given=shape), structure({"Given": shape})):
            check = compile_check(within)
            for value in _at_limits(shape):
                try:
                    explain(within, {"Given": value}, wording)
                except (ValidationException, SerializationException) as error:
                    said = str(error)
                else:
                    said = ""
                assert check({"Given": value}) is not bool(said), (shape, value, said)
                assert bool(said) is not _is_within(shape, value), (shape, value, said)
                judged += 1
    assert judged > 2000
