"""Key and Unique as an entity declares them. What they are compiled to is in ``stored/keys.py``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keyplan.model.declared.argument_checks import check_given, is_a, or_none, several
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.key_styles import KeyStyle

__all__ = ["Key", "Unique"]

_TEMPLATE = 'a template such as "ORDER#{order_id}"'
_TEMPLATES = f"{_TEMPLATE}, or a list of them"


@dataclass(frozen=True, init=False)
class Key:
    """Where an entity's items stand: a template for the partition key, one for the sort key.

    Without ``index`` it is the entity's primary key; with one, its place in that index. An index with several native
    key attributes takes a list of templates, one an attribute. ``when={"status": "pending"}`` keeps an item in the
    index only while its fields have these values (a tuple of values: any of them); an item is also absent while a
    field of the template is None. ``shards=n`` spreads the partition over n, by a hash of the item's primary key.
    ``style`` says how values are written, where not as the table's keys are (``Table(key_style=)``).
    """

    partition: tuple[str, ...]
    sort: tuple[str, ...]
    index: Index | None
    when: Mapping[str, Any] | None
    shards: int
    style: KeyStyle | None

    def __init__(
        self,
        partition: str | Sequence[str],
        sort: str | Sequence[str] | None = None,
        *,
        index: Index | None = None,
        when: Mapping[str, Any] | None = None,
        shards: int = 1,
        style: KeyStyle | None = None,
    ) -> None:
        check_given(
            "Key",
            partition=(partition, _is_templates, _TEMPLATES),
            sort=(sort, or_none(_is_templates), _TEMPLATES),
            index=(index, or_none(is_a(Index)), "an index"),
            when=(when, or_none(is_a(Mapping)), "a mapping of fields to values"),
            shards=(shards, _is_count, "a number from 1 on"),
            style=(style, or_none(is_a(KeyStyle)), "a KeyStyle"),
        )
        object.__setattr__(self, "partition", (partition,) if isinstance(partition, str) else tuple(partition))
        object.__setattr__(self, "sort", _sort_templates(sort))
        object.__setattr__(self, "index", index)
        object.__setattr__(self, "when", when)
        object.__setattr__(self, "shards", shards)
        object.__setattr__(self, "style", style)


@dataclass(frozen=True)
class Unique:
    """A value that one item of the entity may have: ``Unique("USER_EMAIL#{email}")``.

    Keyplan keeps a claim item under this key, written and removed in the same transaction as the item; a second item
    with the value is refused with ValueTaken. While a field of the template is None, nothing is claimed. A claim also
    answers ``-> Entity | None`` by the same fields, with strong consistency: two reads by key.
    """

    partition: str
    sort: str = "CLAIM"
    style: KeyStyle | None = None

    def __post_init__(self) -> None:
        check_given(
            "Unique",
            partition=(self.partition, is_a(str), _TEMPLATE),
            sort=(self.sort, is_a(str), _TEMPLATE),
            style=(self.style, or_none(is_a(KeyStyle)), "a KeyStyle"),
        )


def _sort_templates(sort: str | Sequence[str] | None) -> tuple[str, ...]:
    if sort is None:
        return ()
    return (sort,) if isinstance(sort, str) else tuple(sort)


def _is_templates(given: Any) -> bool:
    return isinstance(given, str) or several(is_a(str))(given)


def _is_count(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and given >= 1
