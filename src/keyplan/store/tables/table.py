"""The engine's tables: keys, indexes and settings, which are read from and written to the catalog.

The stored definition is DynamoDB's own description of the table (the members of a DescribeTable response, without
counts), with the numbers of its indexes in the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, cast

import orjson

from keyplan.store.arns import arn_of
from keyplan.store.state_delays import COPYING, SETTLING, works_of
from keyplan.store.storage.key_layouts import IndexLayout, ScalarType, TableLayout, TableRecord
from keyplan.store.storage.sqlite import Storage
from keyplan.store.storage.table_reads import StoredTable
from keyplan.store.streams import STREAM, Recorder, TableStream

if TYPE_CHECKING:
    from keyplan.store.storage.vector_rows import DistanceFunction

ProjectionType = Literal["ALL", "KEYS_ONLY", "INCLUDE"]


@dataclass(frozen=True, slots=True)
class KeyAttribute:
    """An attribute of a key, and its type."""

    name: str
    type: ScalarType


@dataclass(frozen=True)
class Index:
    """A secondary index: one to four partition attributes, up to four sort attributes, and its projection."""

    name: str
    number: int
    is_local: bool
    partition: tuple[KeyAttribute, ...]
    sort: tuple[KeyAttribute, ...]
    projection: ProjectionType
    projected: frozenset[str]
    """The names of the projected attributes, keys included; empty when all are."""

    @cached_property
    def keys(self) -> tuple[KeyAttribute, ...]:
        return self.partition + self.sort

    @cached_property
    def layout(self) -> IndexLayout:
        return IndexLayout(
            self.number,
            tuple(key.type for key in self.partition),
            tuple(key.type for key in self.sort),
            self.projection != "ALL",
        )


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """A vector index: the attribute with the vectors, and the searchable attributes."""

    name: str
    number: int
    attribute: str
    dimensions: int
    function: DistanceFunction
    schema: tuple[KeyAttribute, ...]
    """The searchable attributes, the HASH attribute first."""
    has_hash: bool
    projected: frozenset[str]
    """The names of the projected attributes, keys included; empty when all are."""


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A table: its key, indexes and settings, and its storage."""

    name: str
    partition: KeyAttribute
    sort: KeyAttribute | None
    indexes: tuple[Index, ...]
    definition: Mapping[str, Any]
    record: TableRecord
    stored: StoredTable
    stream: TableStream | None = None
    vector_indexes: tuple[VectorIndex, ...] = ()
    plans: dict[tuple[object, ...], Any] = field(default_factory=dict)
    """Cached plans of queries (``keyplan.store.queries``), valid for this definition."""

    @property
    def region(self) -> str:
        return self.stored.storage.region

    def arn(self, index: str | None = None) -> str:
        return arn_of(self.region, self.name, index)

    @cached_property
    def keys(self) -> tuple[KeyAttribute, ...]:
        return (self.partition,) if self.sort is None else (self.partition, self.sort)

    @cached_property
    def key_names(self) -> frozenset[str]:
        return frozenset(key.name for key in self.keys)

    @cached_property
    def index_by_name(self) -> dict[str, Index]:
        return {index.name: index for index in self.indexes}

    @cached_property
    def indexes_in_order(self) -> tuple[Index, ...]:
        """The indexes by name, because an error about several indexes names the first of them."""
        return tuple(sorted(self.indexes, key=attrgetter("name")))

    @cached_property
    def keeps_history(self) -> bool:
        return self.definition.get("PointInTimeRecovery") is not None

    @cached_property
    def own_region(self) -> str | None:
        replication: Mapping[str, Any] | None = self.definition.get("Replication")
        return None if replication is None else replication["Own"]

    @cached_property
    def copying(self) -> tuple[tuple[str, int], ...]:
        """The running backups: the name and the last row of each backup."""
        running: Mapping[str, Mapping[str, Any]] = self.definition.get(COPYING) or {}
        return tuple((name, each["Last"]) for name, each in running.items())

    @cached_property
    def notes_writes(self) -> bool:
        return self.keeps_history or self.own_region is not None or COPYING in self.definition

    @cached_property
    def has_work(self) -> bool:
        """Whether chunked work on the table is running or abandoned."""
        return bool(works_of(self.definition))

    @cached_property
    def needs_old(self) -> bool:
        """Whether a write needs the replaced item for index entries or for the stream."""
        return bool(self.indexes) or bool(self.vector_indexes) or self.stream is not None

    @cached_property
    def is_settled(self) -> bool:
        """Whether the table isn't being created, changed or deleted."""
        return SETTLING not in self.definition

    @cached_property
    def has_local_indexes(self) -> bool:
        return any(index.is_local for index in self.indexes)


def read_table(record: TableRecord, storage: Storage, recorder: Recorder | None = None) -> Table:
    """The table of a catalog record. ``recorder`` writes the records of the table's stream, if any."""
    definition = cast("dict[str, Any]", orjson.loads(record.definition))
    partition, sort, indexes = _shape(definition)
    layout = _layout(partition, sort, indexes, record.id, record.generation)
    stream = None if recorder is None else _stream(definition, record.id, recorder)
    return Table(
        record.name,
        partition,
        sort,
        indexes,
        definition,
        record,
        storage.table(layout),
        stream,
        read_vectors(definition),
    )


def _stream(definition: Mapping[str, Any], table_id: int, recorder: Recorder) -> TableStream | None:
    """The enabled stream of a table. A copied definition names another table's stream."""
    specification = definition.get("StreamSpecification") or {}
    latest = definition.get(STREAM)
    if not specification.get("StreamEnabled") or latest is None or latest["TableId"] != table_id:
        return None
    return TableStream(latest["Id"], specification["StreamViewType"], recorder)


def next_layout(definition: Mapping[str, Any], before: TableLayout) -> TableLayout:
    """The layout for a changed definition, as a new generation. Writes with the previous layout are retried."""
    return layout_of(definition, before.id, before.generation + 1)


def layout_of(definition: Mapping[str, Any], table_id: int, generation: int) -> TableLayout:
    return _layout(*_shape(definition), table_id, generation)


def _layout(
    partition: KeyAttribute, sort: KeyAttribute | None, indexes: tuple[Index, ...], table_id: int, generation: int
) -> TableLayout:
    return TableLayout(
        table_id,
        generation,
        partition.type,
        sort.type if sort is not None else None,
        tuple(index.layout for index in indexes),
    )


def _shape(definition: Mapping[str, Any]) -> tuple[KeyAttribute, KeyAttribute | None, tuple[Index, ...]]:
    types = _types(definition)
    partition, sort = _split(definition["KeySchema"], types)
    base = frozenset(key.name for key in (*partition, *sort))
    numbers = cast("dict[str, int]", definition["IndexNumbers"])
    indexes = [
        _shape_index(index, numbers, types, base, is_local=member == "LocalSecondaryIndexes")
        for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
        for index in definition.get(member, ())
    ]
    return partition[0], sort[0] if sort else None, tuple(indexes)


def _types(definition: Mapping[str, Any]) -> dict[str, ScalarType]:
    return {each["AttributeName"]: each["AttributeType"] for each in definition["AttributeDefinitions"]}


def _projected(projection: Mapping[str, Any], keys: Iterable[str]) -> frozenset[str]:
    """The names of the projected attributes; empty when all are."""
    if projection["ProjectionType"] == "ALL":
        return frozenset()
    return frozenset((*keys, *(projection.get("NonKeyAttributes") or ())))


def read_vectors(definition: Mapping[str, Any]) -> tuple[VectorIndex, ...]:
    indexes = cast("list[dict[str, Any]]", definition.get("VectorIndexes") or [])
    if not indexes:
        return ()
    types = _types(definition)
    base = frozenset(cast("str", key["AttributeName"]) for key in definition["KeySchema"])
    return tuple(_shape_vectors(index, definition["IndexNumbers"], types, base) for index in indexes)


def _shape_vectors(
    index: Mapping[str, Any], numbers: Mapping[str, int], types: Mapping[str, ScalarType], base: frozenset[str]
) -> VectorIndex:
    elements: list[dict[str, str]] = index.get("SearchSchema") or []
    ordered = sorted(elements, key=lambda element: element["SearchSchemaElementType"] != "HASH")
    schema = tuple(KeyAttribute(each["AttributeName"], types[each["AttributeName"]]) for each in ordered)
    return VectorIndex(
        index["IndexName"],
        numbers[index["IndexName"]],
        index["VectorAttribute"]["AttributeName"],
        index["Dimensions"],
        index["DistanceFunction"],
        schema,
        bool(ordered) and ordered[0]["SearchSchemaElementType"] == "HASH",
        _projected(index["Projection"], (*base, *(attribute.name for attribute in schema))),
    )


def _split(
    schema: list[dict[str, str]], types: Mapping[str, ScalarType]
) -> tuple[tuple[KeyAttribute, ...], tuple[KeyAttribute, ...]]:
    keys = [(KeyAttribute(each["AttributeName"], types[each["AttributeName"]]), each["KeyType"]) for each in schema]
    return (tuple(key for key, kind in keys if kind == "HASH"), tuple(key for key, kind in keys if kind == "RANGE"))


def _shape_index(
    index: Mapping[str, Any],
    numbers: Mapping[str, int],
    types: Mapping[str, ScalarType],
    base: frozenset[str],
    *,
    is_local: bool,
) -> Index:
    partition, sort = _split(index["KeySchema"], types)
    projection: ProjectionType = index["Projection"]["ProjectionType"]
    projected = _projected(index["Projection"], (*base, *(key.name for key in (*partition, *sort))))
    name = index["IndexName"]
    return Index(name, numbers[name], is_local, partition, sort, projection, projected)
