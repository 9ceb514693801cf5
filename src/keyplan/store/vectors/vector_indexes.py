"""Vector indexes: what is in one, what can't be, what a write to one counts, and how near two vectors are.

A vector is a list of numbers in an item's attribute; in an index it is a row of floats of 32 bits, written in the
transaction of the item. An item without the attribute, or without the index's HASH attribute, isn't in the index.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import mul
from typing import Any

from keyplan.dynamodb.values import item_size, key_text, value_size
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.storage.table_reads import StoredTable
from keyplan.store.storage.vector_rows import DistanceFunction
from keyplan.store.tables.item_keys import SchemaFault, check_not_empty, check_updated_not_empty
from keyplan.store.tables.table import Table, VectorIndex

Item = Mapping[str, Any]

_WRITE_BYTES_MIN = 1024
_FLOAT_BYTES = 4
_INVALID = "One or more parameter values were invalid."
_FLOAT = "32-bit floating point number"
_FLOATS = "[-3.4028235E38, 3.4028235E38]"


@dataclass(frozen=True, slots=True)
class VectorEntry:
    """What an index holds of an item: what a search can name, and the vector."""

    texts: tuple[Any, ...]
    vector: bytes


def check_vectors(table: Table, item: Item, touched: frozenset[str] | None = None) -> None:
    """Refuse an item whose attributes can't stand in a vector index; of an update, those that it touches.

    Raises:
        ValidationException: a vector has another size, or something in it is no number of 32 bits; or an attribute of
            a search schema has another type than was defined, or its HASH attribute is empty.
    """
    for index in table.vector_indexes:
        for number, attribute in enumerate(index.schema):
            value = item.get(attribute.name)
            if value is None or (touched is not None and attribute.name not in touched):
                continue
            if attribute.type not in value:
                raise SchemaFault(
                    f"{_INVALID} Attribute '{attribute.name}' type mismatch. Expected: {attribute.type}, "
                    f"Actual: {next(iter(value))}. IndexName: {index.name}"
                )
            if index.has_hash and not number:
                if touched is None:
                    check_not_empty(attribute, value, index.name)
                else:
                    check_updated_not_empty(attribute, value)
        value = item.get(index.attribute)
        if value is not None and (touched is None or index.attribute in touched):
            _check_vector(index, value)


def _check_vector(index: VectorIndex, value: Mapping[str, Any]) -> None:
    name = index.attribute
    components = value.get("L")
    if components is None:
        raise SchemaFault(
            f"{_INVALID} Invalid type for parameter {name}, Expected: {_FLOAT} list IndexName: {index.name}"
        )
    if len(components) != index.dimensions:
        raise SchemaFault(
            f"{_INVALID} Invalid size for parameter {name}, Expected: {index.dimensions}, "
            f"Actual: {len(components)} IndexName: {index.name}"
        )
    if vector_of(components) is not None:
        return
    for number, component in enumerate(components):
        if "N" in component and vector_of([component]) is None:
            raise SchemaFault(
                f"{_INVALID} Invalid value for parameter {name}[{number}], "
                f"Value: {Decimal(component['N']).normalize()} is outside valid range {_FLOATS}. "
                f"IndexName: {index.name}"
            )
        if "N" not in component:
            raise SchemaFault(
                f"{_INVALID} Invalid type for parameter {name}[{number}], Expected: {_FLOAT}, "
                f"Actual: {next(iter(component))}. IndexName: {index.name}"
            )


def vector_of(components: Sequence[Mapping[str, Any]]) -> bytes | None:
    """The stored form of a vector: its floats, little-endian. None where one isn't a float of 32 bits."""
    try:
        return struct.pack(f"<{len(components)}f", *[float(component["N"]) for component in components])
    except (KeyError, OverflowError):
        return None


def vector_entry_of(index: VectorIndex, item: Item) -> VectorEntry | None:
    """The entry of an item in a vector index; None when it isn't in there."""
    value = item.get(index.attribute)
    components = value.get("L") if value is not None else None
    if components is None or len(components) != index.dimensions:
        return None
    texts: list[Any] = []
    for number, attribute in enumerate(index.schema):
        named = item.get(attribute.name)
        text = key_text(named) if named is not None and attribute.type in named else None
        if index.has_hash and not number and not (named or {}).get(attribute.type):
            return None
        texts.append(text)
    vector = vector_of(components)
    return None if vector is None else VectorEntry(tuple(texts), vector)


def keep_vectors(writer: Writer, table: Table, row: int, old: Item | None, new: Item | None) -> None:
    """Bring the entries of one item from its old state to its new one, touching only what differs."""
    for index in table.vector_indexes:
        before = vector_entry_of(index, old) if old is not None else None
        after = vector_entry_of(index, new) if new is not None else None
        if after is not None and before != after:
            writer.vectors.put(table.stored.layout.id, index.number, row, after.texts, after.vector)
        elif after is None and (before is not None or old is None):
            writer.vectors.remove(table.stored.layout.id, index.number, row)


def make_vectors(writer: Writer, table_id: int, index: VectorIndex) -> None:
    """Make the place of an index."""
    writer.vectors.create(table_id, index.number, len(index.schema))


def add_vectors(writer: Writer, stored: StoredTable, index: VectorIndex, row: int, item: Item) -> None:
    """Write the entry of a new item, or of one that was there before the index."""
    entry = vector_entry_of(index, item)
    if entry is not None:
        writer.vectors.put(stored.layout.id, index.number, row, entry.texts, entry.vector)


def shown_of(index: VectorIndex, item: Item) -> dict[str, Any]:
    """What an index holds of an item, the vector not among it."""
    names = index.projected
    return {name: value for name, value in item.items() if name != index.attribute and (not names or name in names)}


def write_bytes(index: VectorIndex, old: Item | None, new: Item | None) -> int:
    """The bytes that a write counts in a vector index: those of what was in it or is now, the larger, one KB at least;
    both where the item goes from one HASH value to another; nothing where nothing of it changes.
    """
    before = vector_entry_of(index, old) if old is not None else None
    after = vector_entry_of(index, new) if new is not None else None
    old_bytes = 0 if before is None or old is None else _entry_bytes(index, old)
    new_bytes = 0 if after is None or new is None else _entry_bytes(index, new)
    if before is None or after is None:
        return max(old_bytes, new_bytes)
    if index.has_hash and before.texts[0] != after.texts[0]:
        return old_bytes + new_bytes
    if before == after and shown_of(index, old or {}) == shown_of(index, new or {}):
        return 0
    return max(old_bytes, new_bytes)


def _entry_bytes(index: VectorIndex, item: Item) -> int:
    size = _FLOAT_BYTES * index.dimensions + len(index.attribute.encode()) + item_size(shown_of(index, item))
    return max(_WRITE_BYTES_MIN, size)


def billed_size(table: Table, item: Item, size: int) -> int:
    """The size that a write of an item is billed by, where ``size`` is that of the item as it is stored: a vector that
    is in an index counts by its dimensions, whatever numbers it holds (recorded of the service). Reads, and the 400 KB,
    go by the numbers.
    """
    dimensions = {index.attribute: index.dimensions for index in table.vector_indexes}
    for name, count in dimensions.items():
        if name in item:
            size += _FLOAT_BYTES * count - value_size(dict(item[name]))
    return size


class Scale:
    """How near vectors are to one: the score by the index's function. Scores go as floats of 32 bits."""

    def __init__(self, function: DistanceFunction, target: bytes) -> None:
        self.function: DistanceFunction = function
        self._target = _floats(target)
        self._length = math.sqrt(sum(map(mul, self._target, self._target)))

    def score(self, vector: bytes) -> float:
        """The score of a vector."""
        target, other = self._target, _floats(vector)
        if self.function == "EUCLIDEAN":
            exact = math.dist(target, other)
        else:
            exact = sum(map(mul, target, other))
            if self.function == "COSINE":
                lengths = self._length * math.sqrt(sum(map(mul, other, other)))
                exact = 1.0 - (max(-1.0, min(1.0, exact / lengths)) if lengths else 0.0)
        try:
            (single,) = struct.unpack("<f", struct.pack("<f", exact))
        except OverflowError:
            single = math.copysign(3.4028234663852886e38, exact)
        return float(single)

    def order(self, score: float) -> float:
        """What sorts the nearest first."""
        return -score if self.function == "DOT_PRODUCT" else score


def _floats(vector: bytes) -> array[float]:
    floats = array("f")
    floats.frombytes(vector)
    return floats
