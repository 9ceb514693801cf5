"""Pages of lists that are short enough to be made whole: a token says how many entries were given before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from keyplan.dynamodb.service_errors import ValidationException

T = TypeVar("T")

_DIGITS = 16
"""A token is made of groups of so many hexadecimal digits: so it says the API's model."""


def page_of(entries: Sequence[T], limit: int, token: str | None, groups: int = 1) -> tuple[list[T], str | None]:
    """The entries from where ``token`` says, up to ``limit``; and the token of what follows, if anything does.

    ``groups`` is how many groups of digits a token has.

    Raises:
        ValidationException: the token isn't one of ours.
    """
    start = 0 if token is None else _start(token)
    end = start + limit
    following = f"{end:0{_DIGITS * groups}x}" if end < len(entries) else None
    return list(entries[start:end]), following


def _start(token: str) -> int:
    if token and len(token) % _DIGITS == 0 and len(token) <= 64 * _DIGITS:
        try:
            return int(token, 16)
        except ValueError:
            pass
    raise ValidationException(f"Invalid Request: Provided nextToken is invalid: {token}")
