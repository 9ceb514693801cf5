"""The combinations of fields that items have, with their weights, from the shares in a traffic file.

A share applies to an optional field that has a value; or, for a field in ``when=``, to the values for which a key
contains the item. Fields are assumed to be independent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any, TypeAlias

from keyplan.model.declared.fields import is_optional
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["Filling", "combinations", "constants_of", "unshared"]

Filling: TypeAlias = Mapping[tuple[str, str], bool]
"""Whether a field, by entity and name, has a value."""
EXACT_MAX = 6
"""The number of fields for which every combination is used; beyond that, a sample."""
CHOSEN = 64


def constants_of(entity: CompiledEntity, name: str) -> list[tuple[Any, ...]]:
    """The values of a field for which keys contain an item, without None; once per key."""
    result = (tuple(value for value in key.when[name] if value is not None) for key in entity.keys if name in key.when)
    return [values for values in dict.fromkeys(result) if values]


def unshared(entity: CompiledEntity, name: str) -> str | None:
    """Why a field can't have a share; None if it can."""
    field = entity.fields[name]
    constants = constants_of(entity, name)
    if field.computed:
        return f"{name} is computed: set the share of the fields that it is computed from"
    if len(constants) > 1:
        return f"several keys have when= with different values of {name}: one share can't be of all"
    if not constants and not is_optional(field.annotation):
        return f"each {entity.name} has {name}: it isn't optional, and in no key's when="
    return None


def combinations(shares: Iterable[tuple[tuple[str, str], float]]) -> list[tuple[float, Filling]]:
    """The combinations of fields, with weights that add up to 1."""
    given = list(shares)
    open_ = [(place, share) for place, share in given if 0 < share < 1]
    fixed = {place: share == 1 for place, share in given if share in {0, 1}}
    if len(open_) > EXACT_MAX:
        return [
            (1 / CHOSEN, fixed | {place: _step(at, position) < share for position, (place, share) in enumerate(open_)})
            for at in range(CHOSEN)
        ]
    return [
        (
            math.prod(share if there else 1 - share for (_, share), there in zip(open_, choice, strict=True)),
            fixed | {place: there for (place, _), there in zip(open_, choice, strict=True)},
        )
        for choice in product((True, False), repeat=len(open_))
    ]


def _step(at: int, position: int) -> float:
    """The ``at``-th of evenly spread numbers from 0 to 1, in another order for each position (by odd multipliers)."""
    return ((at * (2 * position * position + 6 * position + 5)) % CHOSEN + 0.5) / CHOSEN
