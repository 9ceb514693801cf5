"""How the service's newer reader of JSON refuses a request, which SearchVectors has: at the first member that it can't
read, in its own words and with the place in the text.

Recorded of the service (October 2026) for nulls and for a missing table name; the words for other types are those of
the reader that these come from. The column is that of the request written without spaces.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import orjson

from keyplan.dynamodb.operations.shapes import Flag, ListOf, Real, Shape, Structure, Text, Whole
from keyplan.dynamodb.service_errors import SerializationException, ValidationException

_WRITTEN_TOGETHER_MAX = 10_000


def refuse_unreadable(shape: Structure, request: Any) -> None:
    """Refuse a request with a member that can't be read, or without one that is required.

    Raises:
        SerializationException: a member has another JSON type than its own.
        ValidationException: a required member is missing.
    """
    if type(request) is not dict:
        return
    for name, value in request.items():
        member = shape.members.get(name)
        if member is None or (value is None and name not in shape.required):
            continue
        if not _is_readable(member, value):
            raise SerializationException(
                f"invalid type: {_shown(value)}, expected {_wanted(member)} at line 1 column {_column(request, name)}"
            )
    missing = next((name for name in shape.members if name in shape.required and name not in request), None)
    if missing is not None:
        end = max(2, _column(request, None) + 1)
        raise ValidationException(f"missing field `{missing}` at line 1 column {end}")


def _column(request: dict[str, Any], last: str | None) -> int:
    """Where a member ends in the request's text; without a name, where the last one does."""
    column = 0
    for name, value in request.items():
        column += _length(name) + _length(value) + 2
        if name == last:
            break
    return column


def _length(value: Any) -> int:
    """The length of a value's text. That of many members is made in parts: other threads get their turns between."""
    if type(value) is list and len(value) > _WRITTEN_TOGETHER_MAX:
        starts = range(0, len(value), _WRITTEN_TOGETHER_MAX)
        return 1 + sum(_length(value[start : start + _WRITTEN_TOGETHER_MAX]) - 1 for start in starts)
    if type(value) is dict and len(value) > _WRITTEN_TOGETHER_MAX:
        members = iter(value.items())
        parts = iter(lambda: dict(islice(members, _WRITTEN_TOGETHER_MAX)), {})
        return 1 + sum(_length(part) - 1 for part in parts)
    try:
        return len(orjson.dumps(value, default=str))
    except TypeError:  # nested too deep, an integer beyond 64 bits, half a character: few can be so large
        return len(_written(value).encode("utf-8", "surrogatepass"))


def _written(value: Any) -> str:
    """A value as JSON, without spaces: any that JSON's own reader makes, also a number or a text that others refuse."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _is_readable(member: Shape, value: Any) -> bool:
    match member:
        case Text():
            return type(value) is str
        case Whole():
            return type(value) is int
        case Real():
            return type(value) in {int, float}
        case Flag():
            return type(value) is bool
        case ListOf():
            return type(value) is list
        case _:
            return type(value) is dict


def _wanted(member: Shape) -> str:
    match member:
        case Text():
            return "a string"
        case Whole(bits=bits):
            return f"i{bits}"
        case Real():
            return "f64"
        case Flag():
            return "a boolean"
        case ListOf():
            return "a sequence"
        case _:
            return "a map"


def _shown(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return f"boolean `{str(value).lower()}`"
        case int():
            return f"integer `{value}`"
        case float():
            return f"floating point `{value}`"
        case str():
            return f"string {_written(value)}"
        case list():
            return "sequence"
        case _:
            return "map"
