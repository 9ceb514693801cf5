"""DynamoDB's numbers: 38 significant digits, magnitudes from 1E-130 to
9.9999999999999999999999999999999999999E+125.

A number travels as decimal text. ``canonical`` is the one text of each number, so that equal numbers are
equal texts; everything that is stored or compared is canonical. Source of the range and the precision: the
developer guide, "Data types: Number"; the texts of errors and the printing are those of the service.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal
from typing import Any, TypeAlias

AttributeValue: TypeAlias = dict[str, Any]
"""One value as on the wire: a dict of one key, its type tag (``{"S": "x"}``); B is base64 text, N decimal
text.
"""

Item: TypeAlias = dict[str, AttributeValue]
"""Attribute values by attribute name."""

TAGS = frozenset({"S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"})
SET_TAGS = frozenset({"SS", "NS", "BS"})


DIGITS_MAX = 38
EXPONENT_MIN = -130
EXPONENT_MAX = 125

NOT_A_NUMBER = "The parameter cannot be converted to a numeric value"
TOO_PRECISE = "Attempting to store more than 38 significant digits in a Number"
TOO_LARGE = "Number overflow. Attempting to store a number with magnitude larger than supported range"
TOO_SMALL = "Number underflow. Attempting to store a number with magnitude smaller than supported range"

_NUMBER = re.compile(r"([+-]?)([0-9]+)?(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?")
_EXPONENT_DIGITS_MAX = 19
"""A longer exponent can't be a 64-bit integer."""
# Wide enough that a sum of two numbers in range is exact; `_printed` judges its digits and range.
_EXACT = Context(prec=300, Emin=-400, Emax=400)


class NumberError(ValueError):
    """A text that isn't a number DynamoDB can store. The message is the service's; ``older`` is what those operations
    say that read numbers as Java's BigDecimal does (decision 0029).
    """

    def __init__(self, message: str, older: str | None = None) -> None:
        self.older = message if older is None else older
        super().__init__(message)


def canonical(text: str) -> str:
    """The one text of a number: plain notation, no needless zeros, no plus sign, no negative zero.

    Raises ``NumberError`` for a text that isn't a number, has more than 38 significant digits or is out of
    range.
    """
    if text.isdigit() and text.isascii() and len(text) <= DIGITS_MAX and (text[0] != "0" or text == "0"):
        return text
    return _canonical(text)


def _canonical(text: str) -> str:
    match = _NUMBER.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        raise NumberError(f"{NOT_A_NUMBER}: {text}", None if text else NOT_A_NUMBER)
    sign, whole, fraction, exponent = match.groups()
    whole, fraction = whole or "", fraction or ""
    power = _exponent(exponent or "0")
    if power is None or not -(2**63) <= power < 2**63:
        raise NumberError(f"{NOT_A_NUMBER}: {text}")
    try:
        return _printed(sign == "-", whole + fraction, power - len(fraction))
    except NumberError as error:
        raise NumberError(str(error), _older_fault(text, whole + fraction, power, len(fraction))) from None


def _exponent(text: str) -> int | None:
    """The value of an exponent; None for one that is beyond any limit, whose digits aren't worth reading."""
    digits = text.lstrip("+-").lstrip("0")
    if len(digits) > _EXPONENT_DIGITS_MAX:
        return None
    value = int(digits or "0")
    return -value if text[0] == "-" else value


def _older_fault(text: str, digits: str, power: int, fraction_length: int) -> str:
    """What is wrong with a refused number where it is read as Java's BigDecimal does: its exponent and its scale must
    be 32-bit integers, and the magnitude is computed in 32 bits, in which it may wrap.
    """
    scale = fraction_length - power
    if power >= 2**31 or scale >= 2**31:  # where they aren't, neither is below the lowest
        return f"{NOT_A_NUMBER}: {text}"
    significant = digits.lstrip("0")
    magnitude = ((max(len(significant), 1) - scale + 2**31) % 2**32) - 2**31 - 1
    if magnitude > EXPONENT_MAX:
        return TOO_LARGE
    return TOO_SMALL if magnitude < EXPONENT_MIN else TOO_PRECISE


def _printed(negative: bool, digits: str, exponent: int) -> str:
    """Print ``digits × 10^exponent`` after checking its precision and its range."""
    digits = digits.lstrip("0")
    trimmed = digits.rstrip("0")
    exponent += len(digits) - len(trimmed)
    # A zero is judged by the exponent it is written with.
    magnitude = exponent + max(len(trimmed), 1) - 1
    if magnitude > EXPONENT_MAX:
        raise NumberError(TOO_LARGE)
    if magnitude < EXPONENT_MIN:
        raise NumberError(TOO_SMALL)
    if not trimmed:
        return "0"
    if len(trimmed) > DIGITS_MAX:
        raise NumberError(TOO_PRECISE)
    if exponent >= 0:
        plain = trimmed + "0" * exponent
    elif magnitude >= 0:
        plain = f"{trimmed[: magnitude + 1]}.{trimmed[magnitude + 1 :]}"
    else:
        plain = f"0.{'0' * (-magnitude - 1)}{trimmed}"
    return f"-{plain}" if negative else plain


def compare(left: str, right: str) -> int:
    """-1, 0 or 1: how the number ``left`` stands to the number ``right``. Both are number texts."""
    first, second = Decimal(left), Decimal(right)
    return (first > second) - (first < second)


def add(left: str, right: str) -> str:
    """The canonical sum of two canonical numbers. Raises ``NumberError`` when it can't be stored."""
    if "." not in left and "." not in right and len(left) < DIGITS_MAX and len(right) < DIGITS_MAX:
        return str(int(left) + int(right))
    return _result(_EXACT.add(Decimal(left), Decimal(right)))


def subtract(left: str, right: str) -> str:
    """The canonical difference of two canonical numbers. Raises ``NumberError`` when it can't be stored."""
    if "." not in left and "." not in right and len(left) < DIGITS_MAX and len(right) < DIGITS_MAX:
        return str(int(left) - int(right))
    return _result(_EXACT.subtract(Decimal(left), Decimal(right)))


def _result(number: Decimal) -> str:
    """The text of a computed number. One that would need more than 38 digits is an overflow, says the service."""
    sign, digits, exponent = number.as_tuple()
    if not number:
        return "0"
    text = "".join(map(str, digits))
    if len(text.strip("0")) > DIGITS_MAX:
        raise NumberError(TOO_LARGE)
    return _printed(bool(sign), text, int(exponent))
