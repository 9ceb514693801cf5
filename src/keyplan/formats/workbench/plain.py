"""Converts values of a model's sample to DynamoDB JSON.

Workbench writes ``{"S": "x"}``. Files written by hand or by scripts also contain plain JSON (``"x"``, ``{"left": 3}``),
numbers instead of strings (``{"N": 5}``), and values that DynamoDB doesn't support. Nothing is rejected: a value is
converted or omitted, and noted.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any

from keyplan.dynamodb import values

Note = Callable[[str], None]
"""Receives a note on a value; the caller adds its place."""

_TAGS = frozenset({"S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL", "BOOL"})
_SETS = frozenset({"SS", "NS", "BS"})


def attribute_value(given: Any, note: Note) -> dict[str, Any] | None:
    """The value in DynamoDB JSON; None if nothing remains."""
    result = _typed(given, note)
    if result is None:
        return None
    with suppress(values.ValueFault, values.NumberError, TypeError, ValueError, AttributeError, RecursionError):
        return values.check_value(result)
    note("isn't a DynamoDB value, and is omitted")
    return None


def key_value(result: dict[str, Any], kind: str) -> dict[str, Any] | None:
    """The value as a key attribute of that type; None if it has another type or is empty."""
    ((tag, content),) = result.items()
    if tag == kind:
        return None if content == "" else result
    if (tag, kind) == ("N", "S"):
        return {"S": str(content)}
    if (tag, kind) == ("S", "N") and _number(content) is not None:
        return {"N": str(_number(content))}
    return None


def _typed(given: Any, note: Note) -> dict[str, Any] | None:
    if isinstance(given, dict):
        if len(given) == 1:
            ((tag, content),) = given.items()
            if tag in _TAGS and _is_of(tag, content):
                return _content(str(tag), content, note)
        note("is plain JSON")
        return {"M": _members(given, note)}
    note("is plain JSON")
    return _from_json(given, note)


def _is_of(tag: str, content: Any) -> bool:
    if tag in {"S", "B"}:
        return isinstance(content, str | int | float | Decimal) and not isinstance(content, bool)
    if tag == "N":
        return isinstance(content, str | int | float | Decimal) and not isinstance(content, bool)
    if tag == "M":
        return isinstance(content, dict)
    if tag == "L" or tag in _SETS:
        return isinstance(content, list)
    return isinstance(content, bool | str)


def _content(tag: str, content: Any, note: Note) -> dict[str, Any] | None:
    if tag == "M":
        return {"M": _members(content, note)}
    if tag == "L":
        return {"L": [element for element in (_typed(part, note) for part in content) if element is not None]}
    if tag in _SETS:
        return _set(tag, content, note)
    if tag == "NULL":
        return {"NULL": True}
    if tag == "BOOL":
        return {"BOOL": content if isinstance(content, bool) else content.strip().lower() == "true"}
    if tag == "N":
        number = _number(content)
        if number is None:
            note("is a string tagged as a number; read as a string")
            return {"S": str(content)}
        return {"N": number}
    if tag == "B":
        try:
            values.check_value({"B": content})
        except (values.ValueFault, TypeError, ValueError, AttributeError):
            note("is tagged as binary but isn't Base64; read as a string")
            return {"S": str(content)}
        return {"B": content}
    return {"S": str(content)}


def _members(given: dict[str, Any], note: Note) -> dict[str, Any]:
    result = {str(name): _typed(value, note) for name, value in given.items()}
    return {name: value for name, value in result.items() if value is not None}


def _set(tag: str, content: list[Any], note: Note) -> dict[str, Any] | None:
    members = list(dict.fromkeys(str(value) for value in content if isinstance(value, str | int | float | Decimal)))
    if tag == "NS" and any(_number(member) is None for member in members):
        note("is a number set with a string; read as a string set")
        tag = "SS"
    elif tag == "NS":
        members = list({Decimal(member): member for member in members}.values())  # 1 and 1.0 are equal
    if len(members) < len(content):
        note("has a duplicate or invalid member, which is omitted")
    if not members:
        note("is an empty set, which DynamoDB doesn't support; omitted")
        return None
    return {tag: members}


def _from_json(given: Any, note: Note) -> dict[str, Any]:
    if given is None:
        return {"NULL": True}
    if isinstance(given, bool):
        return {"BOOL": given}
    if isinstance(given, int | float | Decimal):
        number = _number(given)
        return {"S": str(given)} if number is None else {"N": number}
    if isinstance(given, list):
        return {"L": [element for element in (_typed(part, note) for part in given) if element is not None]}
    return {"S": str(given)}


def _number(given: Any) -> str | None:
    """A number as DynamoDB writes it."""
    text = str(given).strip()
    try:
        if not Decimal(text).is_finite():
            return None
        values.check_value({"N": text})
    except (InvalidOperation, values.ValueFault, values.NumberError, ValueError):
        return None
    return text
