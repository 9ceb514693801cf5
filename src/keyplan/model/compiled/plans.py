"""Compiled read plans: one class per kind of request. A plan is data; the client executes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from keyplan.model.compiled.constants import domain_of, values_asked
from keyplan.model.compiled.return_types import Shape
from keyplan.model.compiled.signatures import Parameter, ParameterKind, Signature
from keyplan.model.compiled.time_bucket_keys import Buckets
from keyplan.model.declared.indexes import Index, KeyAttribute
from keyplan.model.declared.pattern_load import Load
from keyplan.model.declared.patterns import Options
from keyplan.model.stored.key_formats import RankFormat
from keyplan.model.stored.key_templates import Literal_, Template, Variable
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey


@dataclass(frozen=True, slots=True)
class Known:
    """A field with a known value: from a parameter, a constant of ``where=``, or a field of a junction."""

    field: str
    kind: ParameterKind
    source: str
    """``argument``, ``constant`` or ``junction``."""
    constant: Any = None
    annotation: Any = None
    optional: bool = False
    default: Any = None
    """The default of a range parameter."""

    @property
    def values(self) -> tuple[Any, ...] | None:
        """The possible values of the field, if they are known when the design is compiled; otherwise None."""
        if self.kind not in {ParameterKind.VALUE, ParameterKind.EACH}:
            return None
        return values_asked(self.constant) if self.source == "constant" else domain_of(self.annotation)

    def __str__(self) -> str:
        return f"{self.field} = {self.constant!r}" if self.source == "constant" else self.field


@dataclass(frozen=True, slots=True)
class SortPart:
    """The condition on a sort key attribute: the known leading parts, and a condition on the next variable."""

    attribute: KeyAttribute
    template: Template
    known: tuple[Literal_ | Variable, ...]
    condition: Variable | None
    condition_kind: ParameterKind | None
    complete: bool

    def start(self, values: Mapping[str, Any]) -> str:
        return "".join(
            part.text if isinstance(part, Literal_) else part.text(values[part.field]) for part in self.known
        )


@dataclass(frozen=True, slots=True)
class KeyMatch:
    """A key that matches a pattern's known fields."""

    entity: CompiledEntity
    key: CompiledKey
    sort: tuple[SortPart, ...]
    order: tuple[tuple[str, bool], ...]
    """The fields that order the result, each with whether its string is reversed."""
    used: frozenset[str]
    each: tuple[str, ...]
    """The fields of its partition key with several values, in key order."""
    full: bool
    """Whether the key identifies one item (on an index, one key, which several items can share)."""
    narrowed: frozenset[str] = frozenset()
    """Parameters whose fields are only in the key's ``when=``, with additional values: a filter applies them."""
    buckets: Buckets | None = None
    """The time buckets of its partition key for a range: they are read one after the other."""
    leads: bool = False
    """Whether the buckets come first in ``order``, because the sort key doesn't start with their time."""

    @property
    def omits_without(self) -> tuple[str, ...]:
        """Unspecified optional fields that order the index. An item without one of them isn't in the index."""
        if self.key.index is None or self.key.when or not any(template.fields for _, template in self.key.partition):
            return ()  # a key with when= or a constant partition key is sparse on purpose
        names = (name for name, _ in self.order if name not in self.used)
        return tuple(name for name in names if self.entity.fields[name].optional)

    @property
    def sifts(self) -> bool:
        """Whether the first and the last bucket are read completely, because the sort key doesn't limit the time."""
        return self.buckets is not None and not any(
            part.condition is not None and part.condition.field == self.buckets.field for part in self.sort
        )


@dataclass(frozen=True, slots=True)
class FilterValue:
    """A parameter in a filter: name, stored form and DynamoDB type. ``many``: the parameter has all options of IN."""

    parameter: str
    encode: Callable[[Any], dict[str, Any]]
    tag: str
    many: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter expression with attribute names. ``parameters`` maps placeholders to parameters."""

    text: str
    names: Mapping[str, str]
    constants: Mapping[str, Mapping[str, Any]]
    parameters: Mapping[str, FilterValue]
    defaulted: tuple[CompiledEntity, ...] = ()
    """The entities whose defaults matter for absent attributes; empty if the string includes them."""
    held: frozenset[str] | None = None
    """The attributes in the index that is read; None: all."""
    declared: Filter | None = None
    """The filter as declared, if absent attributes need more."""
    shown: Filter | None = None
    """The filter with all additions that a call's values can cause; None: unchanged."""


@dataclass(frozen=True, slots=True)
class GetPlan:
    """GetItem by the primary key."""

    entity: CompiledEntity
    consistent: bool
    operation: str = "GetItem"


@dataclass(frozen=True, slots=True)
class ClaimPlan:
    """Two GetItem requests: the first reads a unique claim, and the second the item whose key the claim contains."""

    entity: CompiledEntity
    claim: CompiledKey
    consistent: bool
    operation: str = "GetItem, GetItem"


@dataclass(frozen=True, slots=True)
class BatchGetPlan:
    """A BatchGetItem request. Some fields of the primary key have several values, and the others one value."""

    entity: CompiledEntity
    each: tuple[str, ...]
    consistent: bool
    operation: str = "BatchGetItem"


@dataclass(frozen=True)
class QueryPlan:
    """A Query of the table or an index. Shards and ``each`` need one Query per partition, and a merge in order."""

    index: Index | None
    matches: tuple[KeyMatch, ...]
    forward: bool
    consistent: bool
    filter: Filter | None = None
    each: tuple[str, ...] = ()
    """The fields with several values: each combination is a partition."""
    operation: str = "Query"
    completed: tuple[CompiledEntity, ...] = ()
    """The entities whose items are read from the table by the keys in the index; empty if the index is sufficient."""
    turns: bool = False
    """Whether each call sets the direction, by the pattern's ``newest_first`` parameter."""
    apart: tuple[QueryPlan, ...] = ()
    """Narrower queries in result order, if other items are in between; empty: one query per partition."""

    @property
    def parts(self) -> tuple[QueryPlan, ...]:
        """The queries to send: this query, or the narrower queries in ``apart``."""
        return self.apart or (self,)

    @property
    def shards(self) -> int:
        return self.matches[0].key.shards

    @property
    def key(self) -> CompiledKey:
        return self.matches[0].key

    @property
    def buckets(self) -> Buckets | None:
        return self.matches[0].buckets

    def bucket_sets(self, values: Mapping[str, Any]) -> Sequence[tuple[str, Mapping[str, Any]]]:
        """The string and the values of each time bucket, in result order. Raises ArgumentError."""
        if self.buckets is None:
            return [("", values)]
        return self.buckets.sets(values, ascending=self.forward is not self.matches[0].order[0][1])

    @cached_property
    def one_interval(self) -> bool:
        """Whether the key condition is exact: the query has one entity, and no range or open prefix."""
        ranged = any(
            part.condition_kind is ParameterKind.RANGE or (part.condition is not None and part.condition.is_open)
            for match in self.matches
            for part in match.sort
        )
        return len(self.matches) == 1 and not ranged and self.buckets is None

    @cached_property
    def ranks(self) -> dict[str, Callable[[Any], int]]:
        conditions = (part.condition for match in self.matches for part in match.sort if part.condition is not None)
        return {
            condition.field: condition.format.rank
            for condition in conditions
            if isinstance(condition.format, RankFormat)
        }

    @cached_property
    def sifted(self) -> dict[Any, Callable[[Mapping[str, Mapping[str, Any]]], Any]]:
        """For each view, the function that reads items with the range fields that the view lacks."""
        entities = (match.entity for match in self.matches)
        return {entity.gives: entity.sifted for entity in entities if entity.sifted is not None}

    @property
    def merged(self) -> bool:
        return self.shards > 1 or bool(self.each)


@dataclass(frozen=True)
class ScanPlan:
    """A Scan of the table or an index, which the pattern must declare."""

    entities: tuple[CompiledEntity, ...]
    consistent: bool
    filter: Filter | None = None
    operation: str = "Scan"
    index: Index | None = None
    """The index to scan; None: the table."""
    completed: tuple[CompiledEntity, ...] = ()
    """As in QueryPlan."""
    segments: int = 1
    """The number of segments read in parallel."""

    @property
    def keys(self) -> tuple[CompiledKey, ...]:
        name = None if self.index is None else self.index.name
        return tuple(
            key for entity in self.entities for key in entity.index_keys if key.index and key.index.name == name
        )


@dataclass(frozen=True)
class ThroughPlan:
    """A read through a junction: first of the junction's items, then of the end items that they refer to.

    ``fields`` maps fields of the end items to fields of the junction. If ``end`` is a GetPlan, BatchGetItem reads the
    end items. If ``end`` is a QueryPlan, each junction item needs one query, and the results are merged in order.
    """

    junction: GetPlan | QueryPlan | ClaimPlan
    end: GetPlan | QueryPlan
    fields: Mapping[str, str]
    arguments: tuple[str, ...] = ()
    """Parameters and constants that apply to the end."""
    one: bool = False
    """Whether one junction item leads to one end."""
    also: tuple[ThroughPlan, ...] = ()
    """Further junctions to the same entity: the result is their union, each item once."""

    @property
    def ways(self) -> tuple[ThroughPlan, ...]:
        return (self, *self.also)

    @property
    def operation(self) -> str:
        return ", ".join([self._operation, *(way.operation for way in self.also)])

    @property
    def _operation(self) -> str:
        second = (
            "BatchGetItem"
            if isinstance(self.end, GetPlan) and isinstance(self.junction, QueryPlan) and not self.one
            else self.end.operation
        )
        return f"{self.junction.operation}, {second}"


Plan = GetPlan | ClaimPlan | BatchGetPlan | QueryPlan | ScanPlan | ThroughPlan


def plans_in(plan: Plan) -> Iterator[GetPlan | ClaimPlan | BatchGetPlan | QueryPlan | ScanPlan]:
    if isinstance(plan, ThroughPlan):
        for way in plan.ways:
            yield from plans_in(way.junction)
            yield from plans_in(way.end)
    else:
        yield plan


def entities_read(plan: Plan) -> Iterator[CompiledEntity]:
    for element in plans_in(plan):
        match element:
            case QueryPlan():
                yield from (match.entity for match in element.matches)
            case ScanPlan():
                yield from element.entities
            case _:
                yield element.entity


def _turned(plan: Plan) -> Plan:
    match plan:
        case QueryPlan():
            return _query_turned(plan)
        case ThroughPlan(junction=junction, end=end):
            return replace(
                plan,
                junction=_query_turned(junction) if isinstance(junction, QueryPlan) else junction,
                end=_query_turned(end) if isinstance(end, QueryPlan) else end,
                also=tuple(element for way in plan.also if isinstance(element := _turned(way), ThroughPlan)),
            )
        case _:
            return plan


def _query_turned(plan: QueryPlan) -> QueryPlan:
    if not plan.turns:
        return plan
    return replace(plan, forward=not plan.forward, apart=tuple(map(_query_turned, reversed(plan.apart))))


def turns(plan: Plan) -> bool:
    if isinstance(plan, ThroughPlan):
        return any(turns(element) for way in plan.ways for element in (way.junction, way.end))
    return isinstance(plan, QueryPlan) and plan.turns


def newest_by_default(direction: Parameter) -> bool:
    return direction.default is True


@dataclass(frozen=True)
class ReadPattern:
    """A compiled read: its signature, shape, plan, options, and known fields."""

    id: str
    name: str
    place: str
    signature: Signature
    shape: Shape
    plan: Plan
    options: Options
    constants: Mapping[str, Any] = field(default_factory=dict)
    proof: str = ""
    load: Load = field(default_factory=Load)
    is_turned: bool = False
    """Whether ``plan`` is for the opposite of the ``newest_first`` parameter's default."""

    @property
    def limit(self) -> Parameter | None:
        return self._of_kind(ParameterKind.LIMIT)

    @property
    def direction(self) -> Parameter | None:
        return self._of_kind(ParameterKind.DIRECTION)

    @property
    def buckets(self) -> Buckets | None:
        return self.plan.buckets if isinstance(self.plan, QueryPlan) else None

    def _of_kind(self, kind: ParameterKind) -> Parameter | None:
        return next((parameter for parameter in self.signature.parameters if parameter.kind is kind), None)

    @cached_property
    def turned(self) -> ReadPattern:
        return replace(self, plan=_turned(self.plan), is_turned=not self.is_turned)

    def as_called(self, arguments: Mapping[str, Any]) -> ReadPattern:
        direction = self.direction
        if direction is None:
            return self
        usual = newest_by_default(direction)
        other = arguments.get(direction.name, usual) is not usual
        return self if other is self.is_turned else self.turned
