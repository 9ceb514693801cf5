"""Attribute values of a model's sample as DynamoDB's JSON, whichever way its author wrote them.

Workbench writes ``{"S": "x"}``. Files written by hand or by scripts also hold plain JSON (``"x"``, ``{"left": 3}``),
numbers where DynamoDB's JSON has texts (``{"N": 5}``), and values that DynamoDB has none of. Nothing is refused here:
a value is read as what a person would take it for, or left out; either is noted.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any

from keyplan.dynamodb import values

__all__ = ["Note", "attribute_value", "key_value"]

Note = Callable[[str], None]
"""Takes what was noticed of a value; its place is the caller's to add."""

_TAGS = frozenset({"S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL", "BOOL"})
_SETS = frozenset({"SS", "NS", "BS"})


def attribute_value(given: Any, note: Note) -> dict[str, Any] | None:
    """The value in DynamoDB's JSON; None where nothing is left of it."""
    result = _typed(given, note)
    if result is None:
        return None
    with suppress(values.ValueFault, values.NumberError, TypeError, ValueError, AttributeError, RecursionError):
        return values.check_value(result)
    note("isn't a value that DynamoDB can hold, and is left out")
    return None


def key_value(result: dict[str, Any], kind: str) -> dict[str, Any] | None:
    """The value as a key attribute of that type; None where it can't be one: of another type, or empty."""
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
        note("is plain JSON, and is read as such")
        return {"M": _members(given, note)}
    note("is plain JSON, and is read as such")
    return _from_json(given, note)


def _is_of(tag: str, content: Any) -> bool:
    """Whether it is DynamoDB's JSON: a value whose content is of its tag's kind."""
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
            note("is called a number and is a text: it is read as a text")
            return {"S": str(content)}
        return {"N": number}
    if tag == "B":
        try:
            values.check_value({"B": content})
        except (values.ValueFault, TypeError, ValueError, AttributeError):
            note("is called binary and isn't Base64: it is read as a text")
            return {"S": str(content)}
        return {"B": content}
    return {"S": str(content)}


def _members(given: dict[str, Any], note: Note) -> dict[str, Any]:
    result = {str(name): _typed(value, note) for name, value in given.items()}
    return {name: value for name, value in result.items() if value is not None}


def _set(tag: str, content: list[Any], note: Note) -> dict[str, Any] | None:
    members = list(dict.fromkeys(str(value) for value in content if isinstance(value, str | int | float | Decimal)))
    if tag == "NS" and any(_number(member) is None for member in members):
        note("is called a set of numbers and holds a text: it is read as a set of texts")
        tag = "SS"
    elif tag == "NS":
        members = list({Decimal(member): member for member in members}.values())  # 1 and 1.0 are one number
    if len(members) < len(content):
        note("holds a member twice, or one that a set can't hold: it is left out of the set")
    if not members:
        note("is an empty set, which DynamoDB has none of: it is left out")
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
    """The text of a number as DynamoDB takes it."""
    text = str(given).strip()
    try:
        if not Decimal(text).is_finite():
            return None
        values.check_value({"N": text})
    except (InvalidOperation, values.ValueFault, values.NumberError, ValueError):
        return None
    return text
