"""Errors of declarations whose location isn't known yet, and checks of the arguments of declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from keyplan.errors import DesignError, ErrorDetail, shown


class Problem(Exception):
    """The reason why a declaration is invalid. ``hint`` says how to fix the declaration."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def lowered(message: str) -> str:
    """A message of pydantic as part of a sentence."""
    return message[:1].lower() + message[1:]


Is = Callable[[Any], bool]
"""Whether a value is valid."""


def check_given(what: str, **given: tuple[Any, Is, str]) -> None:
    """Raises DesignError with all invalid arguments of a declaration. ``given`` has the value of each argument, its
    check, and a description of valid values.
    """
    faults = [
        ErrorDetail(f"{what}({name}=)", f"takes {words}, not {shown(value)}")
        for name, (value, is_right, words) in given.items()
        if not is_right(value)
    ]
    if faults:
        raise DesignError("invalid arguments", place=what, errors=faults)


def is_text(given: Any) -> bool:
    """Whether the value is a nonempty string."""
    return isinstance(given, str) and given != ""


def is_a(kind: type[Any]) -> Is:
    """A check that accepts values of this type."""
    return lambda given: isinstance(given, kind)


def one_of(*values: Any) -> Is:
    """A check that accepts these values."""
    return lambda given: given in values


def or_none(is_right: Is) -> Is:
    """A check that accepts None and the values that ``is_right`` accepts."""
    return lambda given: given is None or is_right(given)


def several(is_one: Is, *, at_least: int = 0, in_order: bool = True) -> Is:
    """A check that accepts a sequence of valid values (any iterable unless ``in_order``), but rejects strings."""
    kind: Any = Sequence if in_order else Iterable

    def is_right(given: Any) -> bool:
        if isinstance(given, str | bytes) or not isinstance(given, kind):
            return False
        elements: list[Any] = list(given)
        return len(elements) >= at_least and all(map(is_one, elements))

    return is_right
