"""DynamoDB's numbers: 38 significant digits, magnitudes from 1E-130 to 9.9999999999999999999999999999999999999E+125.

Numbers are transferred as decimal text. ``canonical`` returns the unique text of a number, so that equal numbers have
equal text; all stored and compared numbers are canonical. The source of the range and the precision is the section on
numbers in the developer guide. Error messages and formats are those of the service.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal
from typing import Any, TypeAlias

AttributeValue: TypeAlias = dict[str, Any]
"""One value in DynamoDB JSON: a dict with the data type as its only key (``{"S": "x"}``); B is base64 text, N decimal
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
"""A longer exponent isn't a 64-bit integer."""
# Wide enough for exact sums of two numbers in range; `_printed` checks digits and range.
_EXACT = Context(prec=300, Emin=-400, Emax=400)


class NumberError(ValueError):
    """A string that isn't a number that DynamoDB can store. The message is the service's; ``older`` is the message of
    operations that parse numbers with Java's BigDecimal (decision 0029).
    """

    def __init__(self, message: str, older: str | None = None) -> None:
        self.older = message if older is None else older
        super().__init__(message)


def canonical(text: str) -> str:
    """The canonical text of a number: plain notation, no unnecessary zeros, no plus sign, no negative zero.

    Raises ``NumberError`` for a string that isn't a number, has more than 38 significant digits or is out of range.
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
    digits = text.lstrip("+-").lstrip("0")
    if len(digits) > _EXPONENT_DIGITS_MAX:
        return None
    value = int(digits or "0")
    return -value if text[0] == "-" else value


def _older_fault(text: str, digits: str, power: int, fraction_length: int) -> str:
    """The error of a rejected number when parsed with Java's BigDecimal: its exponent and scale must be 32-bit
    integers, and the magnitude is computed in 32 bits, where it can overflow.
    """
    scale = fraction_length - power
    if power >= 2**31 or scale >= 2**31:  # if power and scale are smaller, both also exceed -2**31
        return f"{NOT_A_NUMBER}: {text}"
    significant = digits.lstrip("0")
    magnitude = ((max(len(significant), 1) - scale + 2**31) % 2**32) - 2**31 - 1
    if magnitude > EXPONENT_MAX:
        return TOO_LARGE
    return TOO_SMALL if magnitude < EXPONENT_MIN else TOO_PRECISE


def _printed(negative: bool, digits: str, exponent: int) -> str:
    """Format ``digits × 10^exponent``, after checking precision and range."""
    digits = digits.lstrip("0")
    trimmed = digits.rstrip("0")
    exponent += len(digits) - len(trimmed)
    # The limits of the exponent apply to zero too, such as 0E200.
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
    """Compare two numbers as text: -1, 0 or 1 if ``left`` is less than, equal to or greater than ``right``."""
    first, second = Decimal(left), Decimal(right)
    return (first > second) - (first < second)


def add(left: str, right: str) -> str:
    """The canonical sum of two canonical numbers. Raises ``NumberError`` if DynamoDB can't store the result."""
    if "." not in left and "." not in right and len(left) < DIGITS_MAX and len(right) < DIGITS_MAX:
        return str(int(left) + int(right))
    return _result(_EXACT.add(Decimal(left), Decimal(right)))


def subtract(left: str, right: str) -> str:
    """The canonical difference of two canonical numbers. Raises ``NumberError`` if DynamoDB can't store the result."""
    if "." not in left and "." not in right and len(left) < DIGITS_MAX and len(right) < DIGITS_MAX:
        return str(int(left) - int(right))
    return _result(_EXACT.subtract(Decimal(left), Decimal(right)))


def _result(number: Decimal) -> str:
    """The text of a computed number. The service reports more than 38 digits as an overflow."""
    sign, digits, exponent = number.as_tuple()
    if not number:
        return "0"
    text = "".join(map(str, digits))
    if len(text.strip("0")) > DIGITS_MAX:
        raise NumberError(TOO_LARGE)
    return _printed(bool(sign), text, int(exponent))
