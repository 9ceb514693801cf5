"""The order of values: sortable storage forms of keys, and comparison of any two values.

``key_text`` converts a key value into text or bytes whose byte order (SQLite's BINARY, memcmp) is DynamoDB's order;
``key_value`` converts it back. Strings sort by their UTF-8 bytes, which is the order of Python's ``str``; numbers by
value; binaries as unsigned bytes.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from keyplan.dynamodb.values.numbers import SET_TAGS, AttributeValue

# Negative, zero and positive numbers start with N, O and P, so that they sort in this order.
_NEGATIVE, _ZERO, _POSITIVE = "N", "O", "P"
_EXPONENT_BIAS = 130
_EXPONENT_TOP = 255
# Sorts after every digit, so that of two negative numbers the one with more digits comes first.
_END = "~"
_NINES = str.maketrans("0123456789", "9876543210")


def key_text(value: AttributeValue) -> str | bytes:
    """Encode a key attribute (S, B or canonical N). The byte order of encoded values is DynamoDB's order."""
    if "S" in value:
        text: str = value["S"]
        return text
    if "B" in value:
        return b64decode(value["B"])
    return _number_text(value["N"])


def key_value(stored: str | bytes, tag: str) -> AttributeValue:
    """The attribute value of a storage form from ``key_text``; ``tag`` is S, N or B."""
    if tag == "B":
        return {"B": b64encode(stored if isinstance(stored, bytes) else stored.encode()).decode("ascii")}
    text = stored if isinstance(stored, str) else stored.decode()
    return {"S": text} if tag == "S" else {"N": _number_of(text)}


def _number_text(number: str) -> str:
    """Sign, three-digit exponent, digits; both in nine's complement if the number is negative."""
    if number == "0":
        return _ZERO
    negative = number[0] == "-"
    whole, _, fraction = number[negative:].partition(".")
    if whole != "0":
        exponent = len(whole) - 1
        digits = (whole + fraction).rstrip("0")
    else:
        digits = fraction.lstrip("0")
        exponent = len(digits) - len(fraction) - 1
    biased = exponent + _EXPONENT_BIAS
    if negative:
        return f"{_NEGATIVE}{_EXPONENT_TOP - biased:03d}{digits.translate(_NINES)}{_END}"
    return f"{_POSITIVE}{biased:03d}{digits}"


def _number_of(text: str) -> str:
    if text == _ZERO:
        return "0"
    negative = text[0] == _NEGATIVE
    digits = text[4:-1].translate(_NINES) if negative else text[4:]
    biased = _EXPONENT_TOP - int(text[1:4]) if negative else int(text[1:4])
    exponent = biased - _EXPONENT_BIAS
    if exponent < 0:
        plain = f"0.{'0' * (-exponent - 1)}{digits}"
    elif len(digits) <= exponent + 1:
        plain = digits + "0" * (exponent + 1 - len(digits))
    else:
        plain = f"{digits[: exponent + 1]}.{digits[exponent + 1 :]}"
    return f"-{plain}" if negative else plain


def same(left: AttributeValue, right: AttributeValue) -> bool:
    """Whether two normalized values have the same type and content; sets are compared in any order."""
    if left == right:
        return True
    ((tag, first),) = left.items()
    ((other, second),) = right.items()
    if tag != other:
        return False
    if tag in SET_TAGS:
        return set(first) == set(second)
    if tag == "L":
        return len(first) == len(second) and all(map(same, first, second))
    if tag == "M":
        return first.keys() == second.keys() and all(same(first[name], second[name]) for name in first)
    return False


def less(left: AttributeValue, right: AttributeValue) -> bool | None:
    """Whether ``left`` sorts before ``right``; None unless both have the same type, which is S, N or B."""
    ((tag, first),) = left.items()
    ((other, second),) = right.items()
    if tag != other or tag not in _ORDERED:
        return None
    before: bool = _ORDERED[tag](first) < _ORDERED[tag](second)
    return before


_ORDERED: dict[str, Any] = {"S": str, "N": Decimal, "B": b64decode}


def sort_members(tag: str, members: Iterable[str]) -> list[str]:
    """The members of a set (SS, NS or BS) in normalized order: by value."""
    return sorted(members, key=_ORDERED[tag[0]])
