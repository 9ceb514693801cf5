"""Implements vector indexes, with validation, entries, write sizes and distances. The error messages are AWS's.

A vector is a list of numbers in an item's attribute; in an index it is a row of 32-bit floats, written in the item's
transaction. An item without the attribute, or without the index's HASH attribute, isn't in the index.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import mul
from typing import Any

from keyplan.dynamodb.limits import VECTOR_DIMENSIONS_MAX, VECTOR_FILTERS_MAX, VECTOR_INDEXES_MAX, VECTOR_PROJECTED_MAX
from keyplan.dynamodb.service_errors import LimitExceededException, ValidationException, one_or_more
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
    """An index entry of an item: the searchable attributes and the vector."""

    texts: tuple[Any, ...]
    vector: bytes


def check_vectors(table: Table, item: Item, touched: frozenset[str] | None = None) -> None:
    """Reject an item with invalid attributes for a vector index; for an update, only changed attributes."""
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
    """The stored form of a vector, as little-endian floats. None if a component doesn't fit into a 32-bit float."""
    try:
        return struct.pack(f"<{len(components)}f", *[float(component["N"]) for component in components])
    except (KeyError, OverflowError):
        return None


def vector_entry_of(index: VectorIndex, item: Item) -> VectorEntry | None:
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
    for index in table.vector_indexes:
        before = vector_entry_of(index, old) if old is not None else None
        after = vector_entry_of(index, new) if new is not None else None
        if after is not None and before != after:
            writer.vectors.put(table.stored.layout.id, index.number, row, after.texts, after.vector)
        elif after is None and (before is not None or old is None):
            writer.vectors.remove(table.stored.layout.id, index.number, row)


def make_vectors(writer: Writer, table_id: int, index: VectorIndex) -> None:
    writer.vectors.create(table_id, index.number, len(index.schema))


def add_vectors(writer: Writer, stored: StoredTable, index: VectorIndex, row: int, item: Item) -> None:
    entry = vector_entry_of(index, item)
    if entry is not None:
        writer.vectors.put(stored.layout.id, index.number, row, entry.texts, entry.vector)


def shown_of(index: VectorIndex, item: Item) -> dict[str, Any]:
    names = index.projected
    return {name: value for name, value in item.items() if name != index.attribute and (not names or name in names)}


def write_bytes(index: VectorIndex, old: Item | None, new: Item | None) -> int:
    """The billed bytes of a write: the larger entry or, if HASH changes, both; at least 1 KB each; 0 without change."""
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
    """The billed size of a write, where ``size`` is the stored size of the item: the size of an indexed vector depends
    on its dimensions, not on its numbers (recorded from the service). Reads and the 400 KB limit use the stored size.
    """
    dimensions = {index.attribute: index.dimensions for index in table.vector_indexes}
    for name, count in dimensions.items():
        if name in item:
            size += _FLOAT_BYTES * count - value_size(dict(item[name]))
    return size


class Scale:
    """Distances to a vector, by the index's distance function. Scores are 32-bit floats."""

    def __init__(self, function: DistanceFunction, target: bytes) -> None:
        self.function: DistanceFunction = function
        self._target = _floats(target)
        self._length = math.sqrt(sum(map(mul, self._target, self._target)))

    def score(self, vector: bytes) -> float:
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
        return -score if self.function == "DOT_PRODUCT" else score


def _floats(vector: bytes) -> array[float]:
    floats = array("f")
    floats.frombytes(vector)
    return floats


Definition = dict[str, Any]
Indexes = Sequence[Mapping[str, Any]]


def check_vector_indexes(indexes: Indexes, defined: Collection[str], billing_mode: str | None) -> None:
    check_on_demand(indexes, billing_mode)
    if len(indexes) > VECTOR_INDEXES_MAX:
        raise one_or_more(f"VectorIndex count exceeds the per-table limit of {VECTOR_INDEXES_MAX}")
    dimensions: dict[str, int] = {}
    for index in indexes:
        _check_index(index, defined)
        name = index["VectorAttribute"]["AttributeName"]
        if dimensions.setdefault(name, index["Dimensions"]) != index["Dimensions"]:
            raise one_or_more(
                f"Conflicting attribute definition for '{name}'. "
                "All VectorIndexes on the same vector attribute must use the same dimensions."
            )


def check_on_demand(indexes: Indexes, billing_mode: str | None) -> None:
    """Reject vector indexes of a table that isn't or won't be on-demand. Raises ValidationException."""
    if indexes and billing_mode != "PAY_PER_REQUEST":
        raise one_or_more("Vector indexes are only supported for PAY_PER_REQUEST tables")


def _check_index(index: Mapping[str, Any], defined: Collection[str]) -> None:
    if not 1 <= index["Dimensions"] <= VECTOR_DIMENSIONS_MAX:
        raise one_or_more(f"Number of dimensions must be between 1 and {VECTOR_DIMENSIONS_MAX} inclusive.")
    elements: Sequence[Mapping[str, str]] = index.get("SearchSchema") or ()
    names = [element["AttributeName"] for element in elements]
    kinds = [element["SearchSchemaElementType"] for element in elements]
    if any(name not in defined for name in names):
        raise one_or_more("One element in SearchSchema is not defined in attribute definitions")
    if len(set(names)) < len(names):
        raise one_or_more("SearchSchema contains a duplicate AttributeName")
    for kind, most in (("HASH", 1), ("INLINE_FILTER", VECTOR_FILTERS_MAX)):
        if kinds.count(kind) > most:
            raise one_or_more(
                f"Value '{kinds.count(kind)}' at 'SearchSchema' failed to satisfy constraint: "
                f"Member must have {kind} count less than or equal to {most}"
            )
    projection = index["Projection"]
    if projection.get("ProjectionType") is None:
        raise one_or_more("Unknown ProjectionType: null")
    has_names = bool(projection.get("NonKeyAttributes"))
    if has_names != (projection["ProjectionType"] == "INCLUDE"):
        said = "specified" if has_names else "not specified"
        raise one_or_more(f"ProjectionType is {projection['ProjectionType']}, but NonKeyAttributes is {said}")
    for number, each in enumerate(projection.get("NonKeyAttributes") or ()):
        if each in projection["NonKeyAttributes"][:number]:
            raise one_or_more(f"Duplicate element in NonKeyAttributes: {each}")
    if has_names and len(projection["NonKeyAttributes"]) >= VECTOR_PROJECTED_MAX:
        raise one_or_more(f"Number of projected attributes must not exceed {VECTOR_PROJECTED_MAX}")


def check_vector_names(indexes: Indexes, given: Collection[str]) -> None:
    """Reject a request's attribute definitions (``given``) for vector attributes. Raises ValidationException."""
    for index in indexes:
        name = index["VectorAttribute"]["AttributeName"]
        if name in given:
            raise one_or_more(
                f"Conflicting attribute definition for '{name}'. "
                "An attribute cannot be defined in AttributeDefinitions when used as a VectorAttribute."
            )


def redefined(existing: str, new: str) -> ValidationException:
    return one_or_more(
        "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. "
        f"Existing schema: {existing} New schema: {new}"
    )


def printed_vector(index: Mapping[str, Any]) -> str:
    name = index["VectorAttribute"]["AttributeName"]
    return f"VectorIndexSchema:[VectorAttribute: key{{{name}:L:{index['Dimensions']}}}]"


def printed_schema(schema: Indexes, types: Mapping[str, str]) -> str:
    elements = (
        f"SchemaElement: key{{{key['AttributeName']}:{types.get(key['AttributeName'])}:{key['KeyType']}}}"
        for key in schema
    )
    return f"Schema:[{', '.join(elements)}]"


def one_vector_change(updates: Indexes, *, has_other: bool) -> Mapping[str, Any] | None:
    """The only creation or deletion in an UpdateTable, which can't contain another index change."""
    for update in updates:
        actions = [kind for kind in ("Create", "Delete") if update.get(kind)]
        if not actions:
            raise one_or_more("One of VectorIndexUpdate.Create, VectorIndexUpdate.Delete must not be null")
        if len(actions) > 1:
            raise one_or_more("Only one vector index action is allowed per VectorIndexUpdate object")
    if len(updates) + has_other > 1:
        raise LimitExceededException(
            "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
        )
    return updates[0] if updates else None


def with_vector_change(
    definition: Definition, change: Mapping[str, Any], attributes: Sequence[Mapping[str, str]]
) -> Definition:
    """The definition with an added or removed vector index. Raises ValidationException or LimitExceededException."""
    indexes: list[Mapping[str, Any]] = list(definition.get("VectorIndexes") or [])
    numbers: dict[str, int] = dict(definition["IndexNumbers"])
    known = {each["AttributeName"]: each for each in definition["AttributeDefinitions"]}
    create = change.get("Create")
    changed: Definition
    if create:
        if create["IndexName"] in numbers:
            raise ValidationException("Attempting to create an index which already exists")
        if len(indexes) == VECTOR_INDEXES_MAX:
            raise LimitExceededException(
                "Subscriber limit exceeded: Number of vector secondary indexes exceeds per-table limit of "
                f"{VECTOR_INDEXES_MAX}"
            )
        _check_definitions(definition, create, attributes)
        # A different type of an attribute that the new index doesn't use is ignored.
        known = {**{each["AttributeName"]: each for each in attributes}, **known}
        indexes.append(create)
        numbers[create["IndexName"]] = definition["NextIndexNumber"]
        check_vector_indexes(indexes, known, definition["BillingMode"])
        changed = {**definition, "NextIndexNumber": definition["NextIndexNumber"] + 1}
    else:
        name = change["Delete"]["IndexName"]
        indexes = [index for index in indexes if index["IndexName"] != name]
        del numbers[name]
        changed = dict(definition)
    changed |= {"VectorIndexes": indexes, "IndexNumbers": numbers, "AttributeDefinitions": list(known.values())}
    return changed


def _check_definitions(
    definition: Definition, create: Mapping[str, Any], attributes: Sequence[Mapping[str, str]]
) -> None:
    given = {each["AttributeName"]: each["AttributeType"] for each in attributes}
    types = {each["AttributeName"]: each["AttributeType"] for each in definition["AttributeDefinitions"]}
    check_vector_names([*(definition.get("VectorIndexes") or ()), create], given)
    for each in definition.get("VectorIndexes") or ():
        if each["VectorAttribute"] == create["VectorAttribute"] and each["Dimensions"] != create["Dimensions"]:
            raise redefined(printed_vector(each), printed_vector(create))
    keyed: Indexes = [definition, *(definition.get("GlobalSecondaryIndexes") or ())]
    keyed = [*keyed, *(definition.get("LocalSecondaryIndexes") or ())]
    for each in keyed:
        if any(key["AttributeName"] == create["VectorAttribute"]["AttributeName"] for key in each["KeySchema"]):
            raise redefined(printed_schema(each["KeySchema"], types), printed_vector(create))
    check_vector_names([create], types)
    for element in create.get("SearchSchema") or ():
        name = element["AttributeName"]
        # The request must define the attributes even if the table already defines them.
        if name not in given:
            raise one_or_more("One element in SearchSchema is not defined in attribute definitions")
        if types.get(name, given[name]) != given[name]:
            raise one_or_more(
                "Attributes cannot be redefined. "
                "Please check that your attribute has the same type as previously defined."
            )
