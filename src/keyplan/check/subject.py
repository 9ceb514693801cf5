"""What rules look at: a compiled design with its traffic, and what several rules want to know of it.

A rule is a function of a subject. Nothing here judges; nothing is asked of a store.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args
from uuid import UUID

from keyplan.check.sources import Sources
from keyplan.check.writing import WrittenCode
from keyplan.design.entity import CompiledEntity
from keyplan.design.fields import bounds_of, kind_of, layers, ulid
from keyplan.design.formats import Problem
from keyplan.design.keys import CompiledKey
from keyplan.design.model import CompiledDesign, WritePattern
from keyplan.design.plans import BatchGetPlan, ClaimPlan, GetPlan, KeyMatch, Plan, QueryPlan, ReadPattern, ThroughPlan
from keyplan.design.questions import ParameterKind
from keyplan.design.shapes import ShapeKind
from keyplan.design.sizes import ItemSizes
from keyplan.design.stored import StoredField, computed_inputs
from keyplan.design.traffic import Load, Stored, Traffic
from keyplan.design.typical import Typical

if TYPE_CHECKING:
    from keyplan.check.demand import Demands

__all__ = [
    "Query",
    "Subject",
    "bounded",
    "choices_of",
    "counted",
    "entities_of",
    "junction_of",
    "length_max",
    "number",
    "numbers_in",
    "plans_in",
    "ranged",
]

TEXT_FIELDS = frozenset({"body", "content", "document", "html", "markdown", "payload", "raw", "source_text"})
"""Names of text fields that hold whole documents, where no bound says otherwise."""


@dataclass(frozen=True, slots=True)
class Query:
    """One Query of a read, by one entity's key."""

    pattern: ReadPattern
    plan: QueryPlan
    match: KeyMatch

    @property
    def key(self) -> CompiledKey:
        """The key that serves."""
        return self.match.key


@dataclass
class Subject:
    """A design, what is asked of it, and where it stands in its source. ``owner``: its class, where there is one."""

    design: CompiledDesign
    traffic: Traffic
    owner: type[Any] | None = None
    sources: Sources = field(default_factory=Sources)
    found: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Code and place of what the rules have found so far."""
    demands: Demands | None = None
    """What the patterns take, once a rule has asked ``demand.py``."""

    # Parts

    @property
    def table_place(self) -> str:
        """The place of what concerns the whole table."""
        return f"{self.design.name}.table"

    @cached_property
    def keys(self) -> tuple[tuple[CompiledEntity, CompiledKey], ...]:
        """Every primary key and index key with its entity."""
        return tuple((entity, key) for entity in self.design.entities.values() for key in entity.keys)

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """Every Query that a read makes, once for each entity in its answer."""
        return tuple(
            Query(pattern, plan, match)
            for pattern in self.design.reads.values()
            for plan in plans_in(pattern.plan)
            if isinstance(plan, QueryPlan)
            for match in plan.matches
        )

    def readers(self, key: CompiledKey) -> list[Query]:
        """The queries that a key serves."""
        return [one for one in self.queries if one.key is key]

    @cached_property
    def writes(self) -> tuple[WrittenCode, ...]:
        """The code of every write."""
        return tuple(WrittenCode.of(one, self.design, self.owner, self.sources) for one in self.design.writes.values())

    def load(self, pattern: ReadPattern | WritePattern) -> Load:
        """What is asked of a pattern."""
        return self.traffic.patterns[pattern.name]

    def stored(self, entity: CompiledEntity) -> Stored:
        """What is said of an entity's items."""
        return self.traffic.entities[entity.name]

    @staticmethod
    def silences(text: str, code: str, place: str) -> bool:
        """Whether a silence (a code, or a code and a place) is of a finding. The place's last part will do."""
        wanted, _, where = text.partition(" ")
        return wanted == code and (not where or where == place or place.endswith(f".{where}"))

    # Sizes

    @cached_property
    def typical(self) -> Typical:
        """Typical items of the entities, for their sizes."""
        return Typical(self.design, self.traffic.entities)

    def sizes(self, entity: CompiledEntity) -> ItemSizes | None:
        """The sizes of a typical item; None for an entity that no example can be made of."""
        try:
            return self.typical.sizes(entity)
        except Problem:
            return None

    # Values

    def partitions(self, entity: CompiledEntity, key: CompiledKey) -> int | None:
        """How many partition key values a key can have, without shards. None: any number."""
        count = 1
        for values in self.partition_values(entity, key).values():
            if values is None:
                return None
            count *= max(1, len(values))
        return count

    def partition_values(self, entity: CompiledEntity, key: CompiledKey) -> dict[str, tuple[Any, ...] | None]:
        """The fields in a partition key, each with the values that it can have there: by ``when=`` or its type, or
        those that all questions of the key fix it to. None: any.
        """
        names = dict.fromkeys(name for _, template in key.partition for name in template.fields)
        return {name: self._values_in(entity, key, name) for name in names}

    def _values_in(self, entity: CompiledEntity, key: CompiledKey, name: str) -> tuple[Any, ...] | None:
        if name in key.when:
            return key.when[name]
        choices = choices_of(entity.fields[name].annotation)
        if choices is not None:
            return choices
        asked = [one.pattern.constants.get(name, ...) for one in self.readers(key)]
        return tuple(dict.fromkeys(asked)) if asked and ... not in asked else None

    def generated(self, entity: CompiledEntity, name: str) -> bool:
        """Whether a field's values are made so that no two items have the same one."""
        info = entity.cls.model_fields.get(name)
        if info is None:
            return False
        return kind_of(info.annotation) is UUID or info.default_factory is ulid or _is_uuid(info.default_factory)

    def only_time(self, entity: CompiledEntity, name: str) -> bool:
        """Whether a field is a moment or a day, or is computed of nothing else."""
        stored = entity.fields[name]
        if kind_of(stored.annotation) in {datetime, date}:
            return True
        if not stored.computed:
            return False
        inputs = computed_inputs(entity.cls, name)
        return bool(inputs) and all(kind_of(entity.fields[one].annotation) in {datetime, date} for one in inputs)

    def documents(self, entity: CompiledEntity) -> Iterator[StoredField]:
        """The fields that hold whole documents: texts and bytes without a bound, in no key, by their names or by the
        sizes that the traffic file gives.
        """
        keyed = {name for key in (*entity.keys, *entity.claims) for name in key.fields}
        given = self.stored(entity).fields
        for one in entity.fields.values():
            if one.computed or one.name in keyed or kind_of(one.annotation) not in {str, bytes}:
                continue
            if given.get(one.name, 0) >= 1024 or (one.name in TEXT_FIELDS and length_max(one.annotation) is None):
                yield one

    # Reads

    def items_read(self, query: Query) -> tuple[float | None, str]:
        """How many items one call reads of one partition, and where that is known from."""
        load = self.load(query.pattern)
        limit = limit_of(query.pattern)
        if load.items is None:
            return (None, "") if limit is None else (float(limit), f"limit {limit:,}")
        if limit is not None and limit < load.items and query.plan.filter is None:
            return float(limit), f"limit {limit:,}"
        return load.items, f"{number(load.items)} items"

    def bytes_of(self, query: Query) -> tuple[int | None, str]:
        """The bytes of one item that a query reads, and where that is known from."""
        load = self.load(query.pattern)
        if load.item_bytes is not None:
            return load.item_bytes, f"{load.item_bytes:,} bytes"
        sizes = self.sizes(query.match.entity)
        if sizes is None:
            return None, ""
        index = query.plan.index
        size = sizes.item_bytes if index is None else sizes.entries.get(index.name, sizes.item_bytes)
        return size, f"{size:,} bytes"


def plans_in(plan: Plan) -> Iterator[Plan]:
    """The plans that a plan is made of, in the order of their requests."""
    if isinstance(plan, ThroughPlan):
        for way in plan.ways:
            yield from plans_in(way.junction)
            yield from plans_in(way.end)
    else:
        yield plan


def junction_of(plan: ThroughPlan) -> CompiledEntity:
    """The entity by whose items a plan goes."""
    return plan.junction.matches[0].entity if isinstance(plan.junction, QueryPlan) else plan.junction.entity


def entities_of(plan: Plan) -> Iterator[CompiledEntity]:
    """The entities whose items a plan reads."""
    for one in plans_in(plan):
        match one:
            case QueryPlan():
                yield from (match.entity for match in one.matches)
            case GetPlan() | ClaimPlan() | BatchGetPlan():
                yield one.entity
            case _:
                yield from getattr(one, "entities", ())


def limit_of(pattern: ReadPattern) -> int | None:
    """How many items a call answers with unless it says otherwise."""
    limit = pattern.limit
    return limit.default if limit is not None and isinstance(limit.default, int) else None


def bounded(pattern: ReadPattern) -> bool:
    """Whether an answer has an end: one item, a limit, or an iterator that is read as it is taken."""
    return pattern.shape.kind in {ShapeKind.ONE, ShapeKind.PAGE, ShapeKind.ITERATOR} or limit_of(pattern) is not None


def ranged(query: Query) -> bool:
    """Whether a query's sort key is bounded from both ends, or by a prefix, whatever it is called with."""
    return any(part.condition_kind in {ParameterKind.RANGE, ParameterKind.PREFIX} for part in query.match.sort)


def choices_of(annotation: Any) -> tuple[Any, ...] | None:
    """The values that a type has, where they are few: of Literal, Enum and bool."""
    kind = kind_of(annotation)
    if kind is bool:
        return (False, True)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return tuple(one.value for one in kind)
    found = [value for one in layers(annotation) if _is_literal(one) for value in get_args(one)]
    return tuple(found) or None


def _is_literal(annotation: Any) -> bool:
    return getattr(annotation, "__origin__", None) is Literal


def numbers_in(annotation: Any) -> int | None:
    """How many whole numbers a type takes, where it has both bounds: ``Field(ge=0, lt=16)`` is 16."""
    if kind_of(annotation) is not int:
        return None
    bounds = bounds_of(annotation)
    least = max((bound + (operator == ">") for operator, bound in bounds if operator in {">", ">="}), default=None)
    most = min((bound - (operator == "<") for operator, bound in bounds if operator in {"<", "<="}), default=None)
    return None if least is None or most is None else max(1, int(most - least) + 1)


def length_max(annotation: Any) -> int | None:
    """The most characters, bytes or elements that a type takes, where it says so."""
    found = [
        value
        for one in layers(annotation)
        for part in (one, *getattr(one, "metadata", ()))
        if not isinstance(one, type) and isinstance(value := getattr(part, "max_length", None), int)
    ]
    return min(found, default=None)


def _is_uuid(factory: Any) -> bool:
    return getattr(factory, "__name__", "") in {"uuid1", "uuid4", "uuid6", "uuid7"}


def counted(value: float, what: str) -> str:
    """``1 write unit``, ``2 write units``."""
    return f"{number(value)} {what}{'' if value == 1 else 's'}"


def number(value: float) -> str:
    """A number as people read it: ``1,000``, ``2.5``."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}" if value < 10_000 else f"{value:,.0f}"
