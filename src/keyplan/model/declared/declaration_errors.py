"""What is wrong with a declaration, before its place is known: whoever knows the place makes a fault of it. And how a
message of pydantic's stands in one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from keyplan.errors import DesignError, ErrorDetail, shown

__all__ = ["Is", "Problem", "check_given", "is_a", "is_text", "lowered", "one_of", "or_none", "several"]


class Problem(Exception):
    """Why a declaration can't be so; ``hint`` says what to write instead."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def lowered(message: str) -> str:
    """A message of pydantic's as a part of a sentence."""
    return message[:1].lower() + message[1:]


Is = Callable[[Any], bool]
"""Whether a value is of a kind."""


def check_given(what: str, **given: tuple[Any, Is, str]) -> None:
    """Raises DesignError with every argument of a declaration that isn't of the kind which it takes: for each what was
    given, whether it is of the kind, and words for that.
    """
    faults = [
        ErrorDetail(f"{what}({name}=)", f"takes {words}, not {shown(value)}")
        for name, (value, is_right, words) in given.items()
        if not is_right(value)
    ]
    if faults:
        raise DesignError("invalid arguments", place=what, errors=faults)


def is_text(given: Any) -> bool:
    """A text that says something."""
    return isinstance(given, str) and given != ""


def is_a(kind: type[Any]) -> Is:
    """A value of that type."""
    return lambda given: isinstance(given, kind)


def one_of(*values: Any) -> Is:
    """One of these values."""
    return lambda given: given in values


def or_none(is_right: Is) -> Is:
    """None, or what is right."""
    return lambda given: given is None or is_right(given)


def several(is_one: Is, *, at_least: int = 0, in_order: bool = True) -> Is:
    """So many or more, of which each is right. A text is one, and a set has no order."""
    kind: Any = Sequence if in_order else Iterable

    def is_right(given: Any) -> bool:
        if isinstance(given, str | bytes) or not isinstance(given, kind):
            return False
        elements: list[Any] = list(given)
        return len(elements) >= at_least and all(map(is_one, elements))

    return is_right
