"""What a field's type says of its values: which there are, how many, how long they may be."""

from __future__ import annotations

import enum
from typing import Any

from keyplan.model.declared.example_values import choices_of, limits
from keyplan.model.declared.fields import kind_of

__all__ = ["length_max", "numbers_in", "values_of"]


def values_of(annotation: Any) -> tuple[Any, ...] | None:
    """The values that a type has, where they are few: of Literal, Enum (as they are stored) and bool."""
    if kind_of(annotation) is bool:
        return (False, True)
    return tuple(value.value if isinstance(value, enum.Enum) else value for value in choices_of(annotation)) or None


def numbers_in(annotation: Any) -> int | None:
    """How many whole numbers a type takes, where it has both bounds: ``Field(ge=0, lt=16)`` is 16."""
    least, most = limits(annotation, "value")
    return None if kind_of(annotation) is not int or least is None or most is None else max(1, int(most - least) + 1)


def length_max(annotation: Any) -> int | None:
    """The most characters, bytes or elements that a type takes, where it says so."""
    number: int | None = limits(annotation, "length")[1]
    return number
