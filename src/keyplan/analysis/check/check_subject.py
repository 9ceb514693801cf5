"""The subject of a check: a compiled design, its traffic, and properties of the design that several rules use."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from keyplan.analysis.cost.cost_wording import number
from keyplan.analysis.traffic.traffic_file import StoredItems, Traffic
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.analysis.write_analysis.analysis import WriteAnalysis, WriteAnalyzer
from keyplan.analysis.write_analysis.code import Action
from keyplan.analysis.write_analysis.sources import Sources
from keyplan.dynamodb.limits import PARTITION_READ_UNITS_MAX, PARTITION_WRITE_UNITS_MAX
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern
from keyplan.model.compiled.constants import values_asked
from keyplan.model.compiled.item_sizes import ItemSizes
from keyplan.model.compiled.plans import KeyMatch, QueryPlan, ReadPattern, ThroughPlan, plans_in
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.compiled.signatures import ParameterKind
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.example_values import choices_of, limits
from keyplan.model.declared.fields import kind_of, ulid
from keyplan.model.declared.indexes import KeyAttribute
from keyplan.model.declared.pattern_load import Load
from keyplan.model.stored.key_templates import Template
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_fields import StoredField
from keyplan.model.stored.stored_keys import CompiledKey


def values_of(annotation: Any) -> tuple[Any, ...] | None:
    """Return the values of a Literal, an Enum (as stored) or a bool; None for other types."""
    if kind_of(annotation) is bool:
        return (False, True)
    return tuple(value.value if isinstance(value, enum.Enum) else value for value in choices_of(annotation)) or None


def numbers_in(annotation: Any) -> int | None:
    """Return the number of integers that a type accepts (16 for ``Field(ge=0, lt=16)``); None without both bounds."""
    least, most = limits(annotation, "value")
    return None if kind_of(annotation) is not int or least is None or most is None else max(1, int(most - least) + 1)


def is_secret(name: str) -> bool:
    """Whether a field's name suggests a secret, the hash of a secret, or a token, which have unique values."""
    return name.rpartition("_")[2] in {"digest", "hash", "secret", "token"}


def length_max(annotation: Any) -> int | None:
    """Return the maximum length of a type in characters, bytes or elements; None without a maximum."""
    number: int | None = limits(annotation, "length")[1]
    return number


def fields_in(part: Iterable[tuple[KeyAttribute, Template]]) -> list[str]:
    """Return the fields in a partition key, a sort key, or both, in order."""
    return list(dict.fromkeys(name for _, template in part for name in template.fields))


@dataclass(frozen=True, slots=True)
class Query:
    """A Query of a read pattern, for one entity in the result."""

    pattern: ReadPattern
    plan: QueryPlan
    match: KeyMatch

    @property
    def key(self) -> CompiledKey:
        return self.match.key


def junction_of(plan: ThroughPlan) -> CompiledEntity:
    return plan.junction.matches[0].entity if isinstance(plan.junction, QueryPlan) else plan.junction.entity


def bounded(pattern: ReadPattern) -> bool:
    """Whether a pattern has a limit, or returns one item, a page or an iterator."""
    if pattern.limit is not None and (pattern.limit.required or isinstance(pattern.limit.default, int)):
        return True
    return pattern.shape.kind in {ShapeKind.ONE, ShapeKind.PAGE, ShapeKind.ITERATOR}


def ranged(query: Query) -> bool:
    """Whether the sort key condition of a query has a ``Range`` or ``Prefix`` parameter."""
    return any(part.condition_kind in {ParameterKind.RANGE, ParameterKind.PREFIX} for part in query.match.sort)


@dataclass(frozen=True, slots=True)
class Demand:
    """The load of a pattern on the busiest partition of a key, in units/s. ``one_item``: most load is on one item."""

    entity: CompiledEntity
    key: CompiledKey
    kind: str
    per_second: float
    line: str
    one_item: bool = False


@dataclass
class Demands:
    """The load of patterns by place and kind of unit (``totals``) and of the busiest partitions (``partitions``)."""

    totals: dict[tuple[str, str], list[tuple[str, float]]] = field(default_factory=dict)
    partitions: list[Demand] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BusiestPartition:
    """The load of all patterns on the busiest partition of a table or an index, in read or write units (``kind``)."""

    place: str
    templates: tuple[str, ...]
    kind: str
    demands: tuple[Demand, ...]

    @property
    def limit(self) -> int:
        return PARTITION_WRITE_UNITS_MAX if self.kind == "write" else PARTITION_READ_UNITS_MAX

    @property
    def per_second(self) -> float:
        return sum(demand.per_second for demand in self.demands)

    @property
    def shards_needed(self) -> int:
        """The number of shards that keeps the load of each partition of the key below 70 % of the limit."""
        units = self.per_second * self.worst.key.shards
        return max(1, math.ceil(round(units / (self.limit * HEADROOM), 6)))

    @property
    def worst(self) -> Demand:
        return max(self.demands, key=lambda demand: demand.per_second)


def busiest_partitions(demands: Demands) -> list[BusiestPartition]:
    groups: dict[tuple[str, tuple[str, ...], str], list[Demand]] = {}
    for partition in demands.partitions:
        sources = tuple(template.source for _, template in partition.key.partition)
        groups.setdefault((partition.key.place, sources, partition.kind), []).append(partition)
    return [BusiestPartition(*group, tuple(own)) for group, own in groups.items()]


HEADROOM = 0.7
"""The maximum planned load of a partition, as a share of the partition's limit."""
TIME_FIELDS = frozenset({"date", "day", "hour", "minute", "month", "week", "year"})
"""Last words of the names of string fields that contain a time."""

TEXT_FIELDS = frozenset({"body", "content", "document", "html", "markdown", "payload", "raw", "source_text"})
"""Names of string fields that contain documents, if they have no maximum length."""


@dataclass
class Subject:
    """A design with its traffic, its source locations, and its class (``owner``), if known."""

    design: CompiledDesign
    traffic: Traffic
    owner: type[Any] | None = None
    sources: Sources = field(default_factory=Sources)
    found: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """The code and place of each finding so far."""
    demands: Demands | None = None
    """The load of the patterns, if ``demand.py`` has calculated it."""

    # Parts

    @property
    def table_place(self) -> str:
        return f"{self.design.name}.table"

    @cached_property
    def keys(self) -> tuple[tuple[CompiledEntity, CompiledKey], ...]:
        return tuple((entity, key) for entity in self.design.entities.values() for key in entity.keys)

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """The queries of all reads, with a separate ``Query`` for each entity in a result."""
        return tuple(
            Query(pattern, plan, match)
            for pattern in self.design.reads.values()
            for plan in plans_in(pattern.plan)
            if isinstance(plan, QueryPlan)
            for match in plan.matches
        )

    def readers(self, key: CompiledKey) -> list[Query]:
        return [query for query in self.queries if query.key is key]

    @cached_property
    def writes(self) -> tuple[WriteAnalysis, ...]:
        return tuple(self.analyzer.analysis(pattern) for pattern in self.design.writes.values())

    @property
    def actions(self) -> Iterator[tuple[WriteAnalysis, Action, CompiledEntity]]:
        """The actions of all writes, if their entity can be determined from the code."""
        every = ((written, action, action.entity) for written in self.writes for action in written.actions)
        return ((written, action, entity) for written, action, entity in every if entity is not None)

    @cached_property
    def analyzer(self) -> WriteAnalyzer:
        return WriteAnalyzer(self.design, self.owner, self.traffic, self.sources)

    def load(self, pattern: ReadPattern | WritePattern) -> Load:
        return self.traffic.patterns[pattern.name]

    def stored(self, entity: CompiledEntity) -> StoredItems:
        return self.traffic.entities[entity.name]

    @staticmethod
    def silences(text: str, code: str, place: str) -> bool:
        """Whether a key of ``ignore=`` (a code, or a code and a place or its last part) matches a finding."""
        wanted, _, where = text.partition(" ")
        return wanted == code and (not where or where == place or place.endswith(f".{where}"))

    # Sizes

    @cached_property
    def typical(self) -> Typical:
        return Typical(self.design, self.traffic.entities)

    def sizes(self, entity: CompiledEntity) -> ItemSizes | None:
        """Return the sizes of a typical item; None if the entity has no typical item."""
        try:
            return self.typical.sizes(entity)
        except Problem:
            return None

    # Values

    def partitions(self, entity: CompiledEntity, key: CompiledKey) -> int | None:
        """Return the number of values that a partition key can have, without shards; None if unlimited."""
        count = 1
        for values in self.partition_values(entity, key).values():
            if values is None:
                return None
            count *= max(1, len(values))
        return count

    def partition_values(self, entity: CompiledEntity, key: CompiledKey) -> dict[str, tuple[Any, ...] | None]:
        """Return the values of each partition key field, from ``when=``, type or patterns (None: any value)."""
        return {name: self._values_in(entity, key, name) for name in fields_in(key.partition)}

    def _values_in(self, entity: CompiledEntity, key: CompiledKey, name: str) -> tuple[Any, ...] | None:
        if name in key.when:
            return key.when[name]
        choices = values_of(entity.fields[name].annotation)
        if choices is not None:
            return choices
        asked = [reader.pattern.constants.get(name, ...) for reader in self.readers(key)]
        if not asked or ... in asked:
            return None
        return tuple(dict.fromkeys(value for constant in asked for value in values_asked(constant)))

    def generated(self, entity: CompiledEntity, name: str) -> bool:
        info = entity.cls.model_fields.get(name)
        if info is None:
            return False
        made_by = getattr(info.default_factory, "__name__", "")
        uuid = made_by in {"uuid1", "uuid4", "uuid6", "uuid7"} or kind_of(info.annotation) is UUID
        return uuid or info.default_factory is ulid

    def only_time(self, entity: CompiledEntity, name: str) -> bool:
        """Whether the type or name of a field indicates a time or a date, or the field is computed only from times."""
        stored = entity.fields[name]
        if kind_of(stored.annotation) is str and name.rpartition("_")[2] in TIME_FIELDS and not stored.computed:
            return True
        if kind_of(stored.annotation) in {datetime, date}:
            return True
        if not stored.computed:
            return False
        inputs = entity.inputs(name)
        return bool(inputs) and all(kind_of(entity.fields[text].annotation) in {datetime, date} for text in inputs)

    def documents(self, entity: CompiledEntity) -> Iterator[StoredField]:
        """Yield the fields that contain documents, by their names or sizes: strings and bytes that are in no key."""
        keyed = {name for key in (*entity.keys, *entity.claims) for name in key.fields}
        given = self.stored(entity).fields
        for stored_field in entity.fields.values():
            name, annotation = stored_field.name, stored_field.annotation
            large = given.get(name, 0) >= 1024 or (name in TEXT_FIELDS and length_max(annotation) is None)
            if large and name not in keyed and not stored_field.computed and kind_of(annotation) in {str, bytes}:
                yield stored_field

    def bytes_of(self, query: Query) -> int | None:
        """Return the size of one item that a query reads, from the traffic file or a typical item."""
        load = self.load(query.pattern)
        if load.item_bytes is not None:
            return load.item_bytes
        sizes = self.sizes(query.match.entity)
        if sizes is None:
            return None
        index = query.plan.index
        return sizes.item_bytes if index is None else sizes.entries.get(index.name, sizes.item_bytes)


def counted(value: float, what: str) -> str:
    """Return a number with a noun, such as ``1 write unit`` or ``2 write units``."""
    return f"{number(value)} {what}{'' if value == 1 else 's'}"
