"""The forms of an index: which attributes its sort key has, and of which types.

All keys in one index have the same. Which keys share one is chosen in ``search.py``.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TypeAlias

from keyplan.model.declared.fields import kind_of
from keyplan.planner.candidates import KEY_ATTRIBUTES_MAX, Candidate
from keyplan.planner.facts import EntityFacts

__all__ = ["OWN", "PARTITION", "TEXT", "Forms", "attribute_form", "own_form", "sort_forms"]

Forms: TypeAlias = tuple[tuple[str, ...], ...]
"""The forms that a key may have, the preferred first: of each the types of its attributes."""

TEXT = ("S",)
"""The form of an index with one joined text as its sort key."""


def sort_forms(entity: EntityFacts, key: Candidate) -> Forms:
    """The types that a key's sort attributes may have, the preferred first: one joined text, or native ones where a
    number orders that no text keeps in order. A whole number alone can be either.
    """
    kinds = [kind_of(entity.kinds[name]) for name in key.sort[: key.needed]]
    if any(kind in {float, Decimal} for kind in kinds):
        return (tuple("N" if kind in {float, Decimal} else "S" for kind in kinds),)
    return (TEXT, ("N",)) if kinds == [int] and not key.merged and not key.turned else (TEXT,)


OWN = "="
"""Begins the form of an index whose sort attribute is a field's own; the attribute's name stands behind it."""


def own_form(entity: EntityFacts, key: Candidate) -> tuple[str, ...] | None:
    """The form of a key that orders by a number which updates change by the item's key alone, a counter: the index has
    the number's own attribute, so that the change moves the entry by itself. None for any other key.
    """
    if len(key.sort[: key.needed]) != 1 or not key.partition or key.turned or key.merged or key.sorted_as:
        return None
    (name, *_), rest = key.sort, {*key.partition, *(name for name, _ in key.when)}
    counts = name in entity.blind and name in entity.cls.model_fields and name not in entity.optional
    if not counts or rest & entity.blind or kind_of(entity.kinds[name]) not in {int, float, Decimal}:
        return None
    info = entity.cls.model_fields[name]
    return (OWN, info.serialization_alias or info.alias or name)


PARTITION = "P"
"""Stands in a form for each partition attribute, where there are attributes instead of joined texts."""


def attribute_form(entity: EntityFacts, key: Candidate) -> tuple[str, ...] | None:
    """The form of a key of several attributes: a partition attribute for each field, then the types of the fields that
    its needs ask for, or of what tells items apart. None for a key that has more fields than an index has attributes,
    or whose order needs a joined text.
    """
    sort = key.sort[: key.needed or len(key.sort)]
    if not key.partition or not sort or key.merged or key.turned or key.sorted_as:
        return None
    if max(len(key.partition), len(sort)) > KEY_ATTRIBUTES_MAX:
        return None
    numbers = {int, float, Decimal}
    types = tuple("N" if kind_of(entity.kinds[name]) in numbers else "S" for name in sort)
    return (*(PARTITION for _ in key.partition), *types)
