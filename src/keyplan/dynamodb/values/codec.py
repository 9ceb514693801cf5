"""Conversion between plain Python values and attribute values.

Supports ``str``, ``bool``, ``None``, ``int``, ``Decimal``, finite ``float``, ``bytes``, lists, dicts with string keys,
and sets of strings, numbers or bytes. Fields of a design convert other types (dates, enums, models) to these types.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Set
from decimal import Decimal
from typing import Any

from keyplan.dynamodb.values.numbers import AttributeValue, canonical
from keyplan.dynamodb.values.ordering import sort_members


def encode(python: Any) -> AttributeValue:
    """The attribute value of a plain Python value.

    A float is stored as its shortest ``repr``. Raises ``TypeError`` for an unsupported type, an empty set or a set of
    mixed types; ``NumberError`` for a number that isn't finite, is too precise or out of range.
    """
    encoder = _ENCODERS.get(type(python))
    if encoder is not None:
        return encoder(python)
    for kind, general in _ENCODERS_BY_BASE:
        if isinstance(python, kind):
            return general(python)
    raise TypeError(f"DynamoDB has no type for a {type(python).__name__}: {python!r}")


def decode(value: AttributeValue) -> Any:
    """The plain Python value of an attribute value.

    N becomes an ``int`` if the number is integral, or a ``Decimal``; B becomes ``bytes``; sets become Python sets.
    """
    ((tag, content),) = value.items()
    return _DECODERS[tag](content)


def _encode_number(number: float | Decimal) -> AttributeValue:
    return {"N": canonical(str(number))}


def _encode_float(number: float) -> AttributeValue:
    return {"N": canonical(repr(float(number)))}  # raises for infinity and NaN, which DynamoDB rejects


def _encode_bytes(content: bytes | bytearray | memoryview) -> AttributeValue:
    return {"B": b64encode(content).decode("ascii")}


def _encode_map(content: Mapping[Any, Any]) -> AttributeValue:
    for name in content:
        if not isinstance(name, str):
            raise TypeError(f"map keys must be strings, not {type(name).__name__}: {name!r}")
    return {"M": {str(name): encode(value) for name, value in content.items()}}


def _encode_set(content: Set[Any]) -> AttributeValue:
    members = [encode(member) for member in content]
    tags = {tag for member in members for tag in member}
    if len(tags) != 1 or not tags <= {"S", "N", "B"}:
        raise TypeError(f"a set must contain one or more strings, numbers or bytes, all of one type: {content!r}")
    (tag,) = tags
    return {f"{tag}S": sort_members(f"{tag}S", {member[tag] for member in members})}


def _decode_number(text: str) -> int | Decimal:
    if "e" in text or "E" in text:  # DynamoDB never returns an exponent; other stores do
        text = canonical(text)
    return Decimal(text) if "." in text else int(text)


_ENCODERS: dict[type, Callable[[Any], AttributeValue]] = {
    str: lambda text: {"S": text},
    bool: lambda flag: {"BOOL": flag},
    type(None): lambda _none: {"NULL": True},
    int: _encode_number,
    Decimal: _encode_number,
    float: _encode_float,
    bytes: _encode_bytes,
    bytearray: _encode_bytes,
    memoryview: _encode_bytes,
    list: lambda values: {"L": [encode(value) for value in values]},
    tuple: lambda values: {"L": [encode(value) for value in values]},
    dict: _encode_map,
    set: _encode_set,
    frozenset: _encode_set,
}

# Subclasses (a str or int enum, a named tuple, a defaultdict) are stored as their base type.
_ENCODERS_BY_BASE: tuple[tuple[type, Callable[[Any], AttributeValue]], ...] = (
    (str, lambda text: {"S": str.__str__(text)}),
    (int, lambda number: {"N": canonical(int.__repr__(number))}),
    (float, _encode_float),
    (Decimal, _encode_number),
    (bytes, _encode_bytes),
    (list, _ENCODERS[list]),
    (tuple, _ENCODERS[tuple]),
    (Mapping, _encode_map),
    (Set, _encode_set),
)

_DECODERS: dict[str, Callable[[Any], Any]] = {
    "S": str,
    "N": _decode_number,
    "B": b64decode,
    "BOOL": bool,
    "NULL": lambda _true: None,
    "L": lambda values: [decode(value) for value in values],
    "M": lambda values: {name: decode(value) for name, value in values.items()},
    "SS": set,
    "NS": lambda texts: {_decode_number(text) for text in texts},
    "BS": lambda texts: {b64decode(text) for text in texts},
}
