"""Validation and normalization of external attribute values.

``check_value`` and ``check_item`` reject what DynamoDB rejects, with its messages, and return normalized values:
canonical numbers and base64, sorted sets. A value that is already normalized is returned unchanged. Limits of tables
and requests (keys, 400 KB) are checked in ``keyplan.store``.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection
from typing import Any

from keyplan.dynamodb.values.numbers import AttributeValue, Item, NumberError, canonical
from keyplan.dynamodb.values.ordering import sort_members

_REPEATED_MAX = 16_384
"""The maximum number of characters of a set to repeat in a message."""
# Containers can be on levels 1 to 31, so that their contents are at most on level 32.
CONTAINER_DEPTH_MAX = 31
NAME_BYTES_MAX = 65_535
"""Of an attribute name, in an item and in nested maps."""
SHORT_NAME = NAME_BYTES_MAX // 4
"""In characters: the UTF-8 form of a shorter name is never too long."""

EMPTY = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
SEVERAL = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
INVALID = "One or more parameter values were invalid: "
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
)


class ValueFault(ValueError):
    """A value that DynamoDB rejects. ``older`` is the message in the older layer (decision 0029)."""

    def __init__(self, message: str, older: str | None = None) -> None:
        self.message = message
        self.older = message if older is None else older
        super().__init__(message)


class NameFault(ValueFault):
    """A nested map has an invalid name. The service reports this error only if everything else is valid."""


def check_item(item: Item) -> Item:
    """The normalized attributes of an item; the same object if nothing changed.

    Raises ``ValueFault`` for the first attribute that DynamoDB would reject. An invalid name in a nested map is
    reported after all other errors of the item (recorded for an empty name, in ten regions, in October 2026).
    """
    changed: Item | None = None
    try:
        for name, value in item.items():
            if type(value) is not dict or len(value) != 1:
                raise ValueFault(_count_fault(value))
            ((tag, content),) = value.items()
            if tag == "S" and type(content) is str:
                continue
            check = _CHECKS.get(tag)
            if check is None:
                raise ValueFault(EMPTY)
            normal = check(content, 1)
            if normal is not content:
                if changed is None:
                    changed = dict(item)
                changed[name] = {tag: normal}
    except NameFault:
        check_item({name: _without_names(value, 1) for name, value in item.items()})
        raise
    return item if changed is None else changed


def _without_names(value: Any, depth: int) -> Any:
    """The value with a list in place of each map, to the maximum depth."""
    if depth > CONTAINER_DEPTH_MAX or type(value) is not dict or len(value) != 1:
        return value
    match value:
        case {"L": list(members)}:
            return {"L": [_without_names(member, depth + 1) for member in members]}
        case {"M": dict(members)}:
            return {"L": [_without_names(member, depth + 1) for member in members.values()]}
        case _:
            return value


def check_value(value: AttributeValue, depth: int = 1) -> AttributeValue:
    """The normalized attribute value; the same object if nothing changed.

    ``depth`` is the level of the value: 1 for an attribute of an item. Raises ``ValueFault`` for an unknown type or
    several types, invalid content, an empty set, a set with duplicates, a number out of range, or more than 32 levels.
    """
    if type(value) is not dict or len(value) != 1:
        raise ValueFault(_count_fault(value))
    ((tag, content),) = value.items()
    check = _CHECKS.get(tag)
    if check is None:
        raise ValueFault(EMPTY)
    normal = check(content, depth)
    return value if normal is content else {tag: normal}


def _count_fault(value: Any) -> str:
    if type(value) is not dict:
        return EMPTY
    known = sum(tag in _CHECKS for tag in value)
    return SEVERAL if known > 1 else EMPTY


def _string(content: Any, _depth: int) -> Any:
    if type(content) is not str:
        raise ValueFault(_type_fault(content, "S"))
    return content


def _number(content: Any, _depth: int) -> Any:
    if type(content) is not str:
        raise ValueFault(_type_fault(content, "N"))
    try:
        normal = canonical(content)
    except NumberError as fault:
        raise ValueFault(str(fault), fault.older) from None
    return content if normal == content else normal


def _binary(content: Any, _depth: int) -> Any:
    if type(content) is not str:
        raise ValueFault(_type_fault(content, "B"))
    try:
        normal = b64encode(b64decode(content, validate=True)).decode("ascii")
    except (binascii.Error, ValueError):
        raise ValueFault(f"{INVALID}Base64 decoding of a binary value failed") from None
    return content if normal == content else normal


def _boolean(content: Any, _depth: int) -> Any:
    if type(content) is not bool:
        raise ValueFault(_type_fault(content, "BOOL"))
    return content


def _null(content: Any, _depth: int) -> Any:
    if content is not True:
        raise ValueFault(f"{INVALID}Null attribute value types must have the value of true")
    return content


def _list(content: Any, depth: int) -> Any:
    if type(content) is not list:
        raise ValueFault(_type_fault(content, "L"))
    if depth > CONTAINER_DEPTH_MAX:
        raise ValueFault(TOO_DEEP)
    changed: list[AttributeValue] | None = None
    for index, value in enumerate(content):
        normal = check_value(value, depth + 1)
        if normal is not value:
            if changed is None:
                changed = list(content)
            changed[index] = normal
    return content if changed is None else changed


def _map(content: Any, depth: int) -> Any:
    if type(content) is not dict:
        raise ValueFault(_type_fault(content, "M"))
    if depth > CONTAINER_DEPTH_MAX:
        raise ValueFault(TOO_DEEP)
    changed: Item | None = None
    for name, value in content.items():
        normal = check_value(value, depth + 1)
        if normal is not value:
            if changed is None:
                changed = dict(content)
            changed[name] = normal
    fault = name_fault(content)
    if fault is not None:
        raise NameFault(fault)
    return content if changed is None else changed


def name_fault(names: Collection[str]) -> str | None:
    """DynamoDB's error if one of these attribute names is empty or too long; None if all are valid."""
    if "" in names:
        return "Empty attribute name"
    if max(map(len, names), default=0) > SHORT_NAME and any(map(_is_long_name, names)):
        return f"Attribute name is too large, must be less than {NAME_BYTES_MAX + 1} bytes"
    return None


def _is_long_name(name: str) -> bool:
    return len(name.encode("utf-8", "surrogatepass")) > NAME_BYTES_MAX


def _set(element: Callable[[Any, int], Any], kind: str, tag: str) -> Callable[[Any, int], Any]:
    def check(content: Any, depth: int) -> Any:
        if type(content) is not list:
            raise ValueFault(_type_fault(content, tag))
        if not content:
            # The service's message has this grammatical error and this double space.
            what = "Binary sets should not be empty" if tag == "BS" else f"An {kind} set  may not be empty"
            raise ValueFault(INVALID + what)
        try:
            normal = [element(member, depth) for member in content]
        except ValueFault:
            if tag == "SS" and None in content:
                raise ValueFault(f"{INVALID}An string set may not have a null string as a member") from None
            raise
        if len(normal) > 1:
            if len(set(normal)) != len(normal):
                raise _duplicates(tag, content, normal)
            normal = sort_members(tag, normal)
        return content if normal == content else normal

    return check


def _duplicates(tag: str, content: list[str], normal: list[str]) -> ValueFault:
    """The error for a set with duplicates: the sorted members through the first duplicate, then the remaining ones in
    the original order. Members of a number set aren't named.
    """
    if tag == "NS":
        return ValueFault(f"{INVALID}Input collection contains duplicates.", "Input collection contains duplicates")
    if sum(map(len, content)) + len(content) > _REPEATED_MAX:
        return ValueFault(f"{INVALID}Input collection contains duplicates.")
    seen: set[str] = set()
    first = 0
    while normal[first] not in seen:
        seen.add(normal[first])
        first += 1
    quoted = [f'"{member}"' for member in [*sort_members(tag, normal[:first]), *normal[first:]]]
    shown, older = ", ".join(quoted), ", ".join(content)
    if tag == "SS":
        return ValueFault(*(f"{INVALID}Input collection [{each}] contains duplicates." for each in (shown, older)))
    shown = ",".join(quoted)
    return ValueFault(
        *(f"{INVALID}Input collection [{each}]of type BS contains duplicates." for each in (shown, older))
    )


def _type_fault(content: Any, tag: str) -> str:
    if content is None:
        return EMPTY
    return f"Unexpected value type in payload: {type(content).__name__} for {tag}"


_CHECKS: dict[str, Callable[[Any, int], Any]] = {
    "S": _string,
    "N": _number,
    "B": _binary,
    "BOOL": _boolean,
    "NULL": _null,
    "L": _list,
    "M": _map,
    "SS": _set(_string, "string", "SS"),
    "NS": _set(_number, "number", "NS"),
    "BS": _set(_binary, "binary", "BS"),
}
