"""The values of a call, once for each combination of those that it has many of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from keyplan.errors import ArgumentError

__all__ = ["COMBINATIONS_MAX", "value_sets"]

COMBINATIONS_MAX = 1000
"""How many combinations two or more parameters of many values may make: each is a partition that is queried, or a key
that is read."""


def value_sets(each: Sequence[str], values: Mapping[str, Any], *, once: bool = True) -> list[Mapping[str, Any]]:
    """The values for each partition, or key, in the order of the parameters' values; ``once``: without repetitions.
    Raises ArgumentError for more combinations than a question may have.
    """
    if not each:
        return [values]
    if len(each) == 1:
        (name,) = each
        return [{**values, name: value} for value in (dict.fromkeys(values[name]) if once else values[name])]
    lists: list[list[Any]] = [list(dict.fromkeys(values[name]) if once else values[name]) for name in each]
    count = math.prod(map(len, lists))
    if count > COMBINATIONS_MAX:
        sizes = " × ".join(f"{len(value):,} of {name}" for name, value in zip(each, lists, strict=True))
        raise ArgumentError(
            f"{sizes} are {count:,} combinations, and a call takes {COMBINATIONS_MAX:,}",
            place=", ".join(each),
            hint="ask with fewer values at a time",
        )
    return [{**values, **dict(zip(each, element, strict=True))} for element in itertools.product(*lists)]
