"""Exact sizes: of items, and of the entries that indexes hold of them, as DynamoDB stores and bills them.

Bytes of values are counted in ``keyplan.values``; which values a typical item has is thought of in ``typical.py``.
Units and money are the cost model's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keyplan.dynamodb import values
from keyplan.dynamodb.values import Item
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.table import Table

__all__ = ["OVERHEAD_BYTES", "REPLICA_BYTES", "Entry", "FieldSize", "ItemSizes", "entry_bytes", "entry_of", "projected"]

OVERHEAD_BYTES = 100
"""What DynamoDB's storage adds to each item, and to each entry of an index. Source: "Storage" in the developer guide's
"Read and write operations"; units of reading and writing don't count it."""
REPLICA_BYTES = 48
"""What an item of a global table stores besides, in each region. Source: "DynamoDB item sizes and formats"."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What an index holds of an item: its key there, what is projected, and how many bytes that is."""

    key: tuple[Any, ...]
    projected: Item
    size_bytes: int


@dataclass(frozen=True, slots=True)
class FieldSize:
    """One field of a typical item: the bytes of its attribute (name and value), and where the value's length is from.

    ``exact``: the type leaves no other length.
    """

    field: str
    attribute: str
    size_bytes: int
    source: str
    exact: bool


@dataclass(frozen=True, slots=True)
class ItemSizes:
    """A typical item of an entity: its bytes, its fields, the bytes of its key attributes that are no field, and the
    bytes of its entry in each index that holds it.
    """

    entity: str
    item_bytes: int
    fields: tuple[FieldSize, ...]
    key_bytes: int
    entries: Mapping[str, int]

    @property
    def open_fields(self) -> tuple[FieldSize, ...]:
        """The fields whose length is taken from somewhere: a traffic file, an example, a guess."""
        return tuple(field for field in self.fields if not field.exact)


def projected(table: Table, index: Index) -> frozenset[str] | None:
    """The attributes that an index holds: keys of table and index, and what is included. None: all of them."""
    if index.projection == "ALL":
        return None
    names = {attribute.name for attribute in (*index.partition, *index.sort)}.union(table.key_names)
    return frozenset(names if index.projection == "KEYS_ONLY" else names.union(index.projection))


def entry_of(table: Table, index: Index, item: Item) -> Entry | None:
    """The entry of an item in an index; None when it lacks a key attribute of it, and so isn't in there."""
    key: list[Any] = []
    for attribute in (*index.partition, *index.sort):
        value = item.get(attribute.name)
        if value is None or attribute.type not in value:
            return None
        key.append(value[attribute.type])
    names = projected(table, index)
    held = item if names is None else {name: value for name, value in item.items() if name in names}
    return Entry(tuple(key), held, values.item_size(held))


def entry_bytes(table: Table, item: Item) -> dict[str, int]:
    """The bytes of an item's entry in each index that holds it, by the indexes' names."""
    entries = ((index.name, entry_of(table, index, item)) for index in table.indexes)
    return {name: entry.size_bytes for name, entry in entries if entry is not None}
