"""Exact sizes of items and index entries, as DynamoDB stores and bills them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keyplan.dynamodb import values
from keyplan.dynamodb.values import Item
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.table import Table

OVERHEAD_BYTES = 100
"""The storage overhead of each item and index entry. Source: "Storage" in the developer guide's "Read and write
operations"; read and write units don't include it.
"""
REPLICA_BYTES = 48
"""The additional size of an item of a global table, per region. Source: "DynamoDB item sizes and formats"."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An index entry: its key, its projected attributes, and its size in bytes."""

    key: tuple[Any, ...]
    projected: Item
    size_bytes: int


@dataclass(frozen=True, slots=True)
class FieldSize:
    """A field of a typical item: the bytes of its name and value, and the source of the value's length."""

    field: str
    attribute: str
    size_bytes: int
    source: str
    exact: bool


@dataclass(frozen=True, slots=True)
class ItemSizes:
    """The sizes in bytes of a typical item, its fields, its other key attributes and its index entries."""

    entity: str
    item_bytes: int
    fields: tuple[FieldSize, ...]
    key_bytes: int
    entries: Mapping[str, int]

    @property
    def open_fields(self) -> tuple[FieldSize, ...]:
        """The fields of variable length, whose sizes come from a traffic file, an example or an estimate."""
        return tuple(field for field in self.fields if not field.exact)


def projected(table: Table, index: Index) -> frozenset[str] | None:
    if index.projection == "ALL":
        return None
    names = {attribute.name for attribute in (*index.partition, *index.sort)}.union(table.key_names)
    return frozenset(names if index.projection == "KEYS_ONLY" else names.union(index.projection))


def entry_of(table: Table, index: Index, item: Item) -> Entry | None:
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
    entries = ((index.name, entry_of(table, index, item)) for index in table.indexes)
    return {name: entry.size_bytes for name, entry in entries if entry is not None}
