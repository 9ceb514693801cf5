"""DynamoDB's numbers: 38 significant digits, magnitudes from 1E-130 to
9.9999999999999999999999999999999999999E+125.

A number travels as decimal text. ``canonical`` is the one text of each number, so that equal numbers are
equal texts; everything that is stored or compared is canonical. Source of the range and the precision: the
developer guide, "Data types: Number"; the texts of errors and the printing are those of the service.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal

__all__ = ["NumberError", "add", "canonical", "compare", "subtract"]

DIGITS_MAX = 38
EXPONENT_MIN = -130
EXPONENT_MAX = 125

NOT_A_NUMBER = "The parameter cannot be converted to a numeric value"
TOO_PRECISE = "Attempting to store more than 38 significant digits in a Number"
TOO_LARGE = "Number overflow. Attempting to store a number with magnitude larger than supported range"
TOO_SMALL = "Number underflow. Attempting to store a number with magnitude smaller than supported range"

_NUMBER = re.compile(r"([+-]?)([0-9]+)?(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?")
_EXPONENT_TEXT_MAX = 20
# Wide enough that a sum of two numbers in range is exact; `_printed` judges its digits and range.
_EXACT = Context(prec=300, Emin=-400, Emax=400)


class NumberError(ValueError):
    """A text that isn't a number DynamoDB can store. The message is the service's."""


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
    if match is None:
        raise NumberError(f"{NOT_A_NUMBER}: {text}" if text else NOT_A_NUMBER)
    sign, whole, fraction, exponent = match.groups()
    if not whole and not fraction:
        raise NumberError(f"{NOT_A_NUMBER}: {text}" if text else NOT_A_NUMBER)
    whole, fraction = whole or "", fraction or ""
    if exponent and len(exponent) > _EXPONENT_TEXT_MAX:
        exponent = "-999999" if exponent[0] == "-" else "999999"
    return _printed(sign == "-", whole + fraction, int(exponent or 0) - len(fraction))


def _printed(negative: bool, digits: str, exponent: int) -> str:
    """Print ``digits × 10^exponent`` after checking its precision and its range."""
    digits = digits.lstrip("0")
    if not digits:
        return "0"
    trimmed = digits.rstrip("0")
    exponent += len(digits) - len(trimmed)
    magnitude = exponent + len(trimmed) - 1
    if magnitude > EXPONENT_MAX:
        raise NumberError(TOO_LARGE)
    if magnitude < EXPONENT_MIN:
        raise NumberError(TOO_SMALL)
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
    if left == right:
        return 0
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
    sign, digits, exponent = number.as_tuple()
    return _printed(bool(sign), "".join(map(str, digits)), int(exponent))
