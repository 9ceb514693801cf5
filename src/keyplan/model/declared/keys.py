"""Key and Unique, the declarations of an entity's keys. ``keyplan.model.stored.stored_keys`` has compiled keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from keyplan.model.declared.declaration_errors import check_given, is_a, is_text, one_of, or_none, several
from keyplan.model.declared.indexes import Index

_TEMPLATE = 'a template such as "ORDER#{order_id}"'
_TEMPLATES = f"{_TEMPLATE}, or a list of templates"


@dataclass(frozen=True, init=False)
class Key:
    """The key of an entity's items: ``Key("ORDER#{order_id}", "LINE#{number:04d}")``, a template for the partition key
    and one for the sort key.

    Without ``index``, the key is the entity's primary key; with ``index``, it is a key of that index. For an index with
    several native key attributes, pass a list of templates, one per attribute. ``when={"status": "pending"}`` makes the
    key sparse: an item is in the index only while its fields have these values (a tuple: any of them). An item
    isn't in the index while a field of the template is None. ``shards=n`` distributes a partition over n partitions, by
    a hash of the primary key. ``style`` is the form of values in this key; the default is the table's ``key_style=``.

    Raises DesignError for an argument of the wrong type. The class definition of the design checks the templates.
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
            shards=(shards, _is_count, "an integer of at least 1"),
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
    """A unique value among an entity's items: ``Unique("USER_EMAIL#{email}")``.

    Keyplan stores a claim item under this key, in the same transaction as the item; a second item with the value is
    rejected with UniqueValueTaken. While a field of the template is None, nothing is claimed. A read by these fields
    that returns ``Entity | None`` can use the claim, with two strongly consistent GetItem requests.
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


@dataclass(frozen=True, slots=True)
class KeyStyle:
    """The form of values in keys: ``Table("tasks", key_style=KeyStyle(raw=True, case="lower"))``, or for one key.

    ``raw``: values aren't escaped, and any string can follow them. A value that contains the string that follows it in
    the template is ambiguous: reads accept the value, but writes reject it.

    ``case`` converts values to lower or upper case in the key, but not in the field's own attribute. Values that differ
    only in case have the same key: a primary key identifies one item for both, and a query returns the items of both.
    """

    raw: bool = False
    case: Literal["lower", "upper"] | None = None

    def __post_init__(self) -> None:
        check_given(
            "KeyStyle",
            raw=(self.raw, is_a(bool), "True or False"),
            case=(self.case, one_of(None, "lower", "upper"), '"lower", "upper" or None'),
        )

    def fold(self, text: str) -> str:
        """The string, converted to the case of the key."""
        if self.case is None:
            return text
        return text.lower() if self.case == "lower" else text.upper()


OURS = KeyStyle()


@dataclass(frozen=True, slots=True)
class Discriminator:
    """An attribute with a constant value in all items of the entity, by which other programs recognize them:
    ``Discriminator("_et", "Pokemon")``, ``Discriminator("__edb_e__", "task")``.

    Each item is written with this attribute, and an item without it belongs to another entity. Two entities can have
    equal keys if a discriminator distinguishes their items.
    """

    attribute: str
    value: str

    def __post_init__(self) -> None:
        check_given(
            "Discriminator",
            attribute=(self.attribute, is_text, "the name of an attribute"),
            value=(self.value, is_text, "the attribute's value, a nonempty string"),
        )

    @property
    def stored(self) -> dict[str, Any]:
        """The attribute value in DynamoDB JSON."""
        return {"S": self.value}
