"""What a pattern compiles to: one plan a kind of request. A plan is data; the client carries it out.

A plan says which key serves, what its condition is made of, in which direction it is read, and why (``proof``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

__all__ = [
    "BatchGetPlan",
    "ClaimPlan",
    "Filter",
    "FilterValue",
    "GetPlan",
    "KeyMatch",
    "Known",
    "Plan",
    "QueryPlan",
    "ReadPattern",
    "ScanPlan",
    "SortPart",
    "ThroughPlan",
    "newest_by_default",
    "turns",
]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a field: by a parameter, by a constant of ``where=``, or by a junction's field."""

    field: str
    kind: ParameterKind
    source: str
    """``argument``, ``constant`` or ``junction``."""
    constant: Any = None
    annotation: Any = None
    optional: bool = False
    default: Any = None
    """A parameter's, of a range."""

    @property
    def values(self) -> tuple[Any, ...] | None:
        """The only values that the field can have, as far as is known when the design is compiled."""
        if self.kind not in {ParameterKind.VALUE, ParameterKind.EACH}:
            return None
        return values_asked(self.constant) if self.source == "constant" else domain_of(self.annotation)

    def __str__(self) -> str:
        return f"{self.field} = {self.constant!r}" if self.source == "constant" else self.field


@dataclass(frozen=True, slots=True)
class SortPart:
    """What is known of one sort key attribute: its template's leading parts, and a condition on the next variable."""

    attribute: KeyAttribute
    template: Template
    known: tuple[Literal_ | Variable, ...]
    condition: Variable | None
    condition_kind: ParameterKind | None
    complete: bool

    def start(self, values: Mapping[str, Any]) -> str:
        """The text of the leading parts."""
        return "".join(
            part.text if isinstance(part, Literal_) else part.text(values[part.field]) for part in self.known
        )


@dataclass(frozen=True, slots=True)
class KeyMatch:
    """A key of an entity that a question's knowns fit."""

    entity: CompiledEntity
    key: CompiledKey
    sort: tuple[SortPart, ...]
    order: tuple[tuple[str, bool], ...]
    """The fields that order the answer, each with whether its text is turned."""
    used: frozenset[str]
    each: tuple[str, ...]
    """The fields of its partition key that have many values at once, in the order of the key."""
    full: bool
    """Whether the key names one item (on an index: one key, which several items could share)."""
    narrowed: frozenset[str] = frozenset()
    """Parameters whose fields the key has in its ``when=`` alone, with other values as well: a filter answers them."""
    buckets: Buckets | None = None
    """The time in its partition key of which a range is asked: one bucket after the other is read."""
    leads: bool = False
    """Whether the buckets come first in ``order``, since the sort key doesn't begin with their time."""

    @property
    def omits_without(self) -> tuple[str, ...]:
        """The fields of its order that may be None, and aren't asked for: items without them aren't in the index."""
        if self.key.index is None or self.key.when or not any(template.fields for _, template in self.key.partition):
            return ()  # the index is for what has them
        names = (name for name, _ in self.order if name not in self.used)
        return tuple(name for name in names if self.entity.fields[name].optional)

    @property
    def sifts(self) -> bool:
        """Whether the sort key doesn't bound the time of the buckets: the first and the last one are read whole."""
        return self.buckets is not None and not any(
            part.condition is not None and part.condition.field == self.buckets.field for part in self.sort
        )


@dataclass(frozen=True, slots=True)
class FilterValue:
    """A parameter in a filter: its name, the form that its values are sent in, and DynamoDB's type for them. ``many``:
    it stands for all the options of an IN.
    """

    parameter: str
    encode: Callable[[Any], dict[str, Any]]
    tag: str
    many: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter expression with field names resolved to attributes. ``parameters`` are by placeholder."""

    text: str
    names: Mapping[str, str]
    constants: Mapping[str, Mapping[str, Any]]
    parameters: Mapping[str, FilterValue]
    defaulted: tuple[CompiledEntity, ...] = ()
    """The entities by whose defaults a call's values decide how items that lack an attribute are met; none where that
    is in the text already.
    """
    held: frozenset[str] | None = None
    """The attributes that the index has which is read; None: all."""
    declared: Filter | None = None
    """The filter as the pattern says it, where items that lack an attribute need more."""
    shown: Filter | None = None
    """The filter with all that a call's values may add to it; None: as it is."""


@dataclass(frozen=True, slots=True)
class GetPlan:
    """GetItem by the whole primary key."""

    entity: CompiledEntity
    consistent: bool
    operation: str = "GetItem"


@dataclass(frozen=True, slots=True)
class ClaimPlan:
    """A unique claim read by its key, then its owner by the key that the claim holds: two GetItem."""

    entity: CompiledEntity
    claim: CompiledKey
    consistent: bool
    operation: str = "GetItem, GetItem"


@dataclass(frozen=True, slots=True)
class BatchGetPlan:
    """BatchGetItem: some fields take many values, the others one each."""

    entity: CompiledEntity
    each: tuple[str, ...]
    consistent: bool
    operation: str = "BatchGetItem"


@dataclass(frozen=True)
class QueryPlan:
    """Query on the table or an index; with shards or ``each``, one a partition, merged in order."""

    index: Index | None
    matches: tuple[KeyMatch, ...]
    forward: bool
    consistent: bool
    filter: Filter | None = None
    each: tuple[str, ...] = ()
    """The fields that have many values at once: of several, each combination is a partition."""
    operation: str = "Query"
    counted: bool = False
    """Whether the store itself counts (Select=COUNT): nothing else can lie where it looks."""
    completed: tuple[CompiledEntity, ...] = ()
    """The entities whose items are read from the table by the keys that the index holds; none: it holds enough."""
    turns: bool = False
    """Whether each call says in which direction it is read, by the pattern's ``newest_first`` parameter."""
    apart: tuple[QueryPlan, ...] = ()
    """The narrower queries that it is read by, in the order of the answer, where others' items lie between what is
    asked for; none: one query of each partition reads all.
    """

    @property
    def parts(self) -> tuple[QueryPlan, ...]:
        """The queries that it is read by: itself, or those narrower ones."""
        return self.apart or (self,)

    @property
    def shards(self) -> int:
        """Over how many shards each partition is spread."""
        return self.matches[0].key.shards

    @property
    def key(self) -> CompiledKey:
        """The (first entity's) key that serves."""
        return self.matches[0].key

    @property
    def buckets(self) -> Buckets | None:
        """The buckets of time that are read one after the other, where a range names some."""
        return self.matches[0].buckets

    def bucket_sets(self, values: Mapping[str, Any]) -> Sequence[tuple[str, Mapping[str, Any]]]:
        """The values for each bucket in the order of the answer, with a text that tells the bucket; without buckets
        the values as they are. Raises ArgumentError.
        """
        if self.buckets is None:
            return [("", values)]
        return self.buckets.sets(values, ascending=self.forward is not self.matches[0].order[0][1])

    @cached_property
    def one_interval(self) -> bool:
        """Whether its key condition says everything: one entity, no bound that could exclude its end, and no prefix
        that could reach over the end of a value without escapes.
        """
        ranged = any(
            part.condition_kind is ParameterKind.RANGE or (part.condition is not None and part.condition.is_open)
            for match in self.matches
            for part in match.sort
        )
        return len(self.matches) == 1 and not ranged and self.buckets is None

    @cached_property
    def ranks(self) -> dict[str, Callable[[Any], int]]:
        """The fields that stand in the keys by their rank among a few values, each with what tells it."""
        conditions = (part.condition for match in self.matches for part in match.sort if part.condition is not None)
        return {
            condition.field: condition.format.rank
            for condition in conditions
            if isinstance(condition.format, RankFormat)
        }

    @cached_property
    def sifted(self) -> dict[Any, Callable[[Mapping[str, Mapping[str, Any]]], Any]]:
        """How items are read whose instances, of views, lack the fields of ranges."""
        entities = (match.entity for match in self.matches)
        return {entity.gives: entity.sifted for entity in entities if entity.sifted is not None}

    @property
    def merged(self) -> bool:
        """Whether several partitions are read."""
        return self.shards > 1 or bool(self.each)


@dataclass(frozen=True)
class ScanPlan:
    """Scan of the whole table, or of an index; only where the pattern declares it."""

    entities: tuple[CompiledEntity, ...]
    consistent: bool
    filter: Filter | None = None
    operation: str = "Scan"
    index: Index | None = None
    """The index that is read whole; None: the table."""
    completed: tuple[CompiledEntity, ...] = ()
    """As of a QueryPlan."""
    segments: int = 1
    """How many segments are read at a time."""

    @property
    def keys(self) -> tuple[CompiledKey, ...]:
        """The keys by which the entities stand in the index."""
        name = None if self.index is None else self.index.name
        return tuple(
            key for entity in self.entities for key in entity.index_keys if key.index and key.index.name == name
        )


@dataclass(frozen=True)
class ThroughPlan:
    """By a junction: its items first, then the ends that they name.

    ``fields`` maps the end's field to the junction's. The ends are read by key (``end`` a GetPlan: BatchGetItem), or
    by a query each, merged in order (a QueryPlan).
    """

    junction: GetPlan | QueryPlan | ClaimPlan
    end: GetPlan | QueryPlan
    fields: Mapping[str, str]
    arguments: tuple[str, ...] = ()
    """Parameters and constants that speak of the end."""
    one: bool = False
    """Whether one junction leads to one end."""
    also: tuple[ThroughPlan, ...] = ()
    """Further junctions that lead to the same entity: the answer is what any of them leads to, each item once."""

    @property
    def ways(self) -> tuple[ThroughPlan, ...]:
        """The plan by the first junction, and those by the further ones."""
        return (self, *self.also)

    @property
    def operation(self) -> str:
        """The operations, in order."""
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


def _turned(plan: Plan) -> Plan:
    """The plan read in the other direction, where calls say the direction."""
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
    """Whether each call says in which direction something of the plan is read."""
    if isinstance(plan, ThroughPlan):
        return any(turns(element) for way in plan.ways for element in (way.junction, way.end))
    return isinstance(plan, QueryPlan) and plan.turns


def newest_by_default(direction: Parameter) -> bool:
    """What a ``newest_first`` parameter says where a call doesn't."""
    return direction.default is True


@dataclass(frozen=True)
class ReadPattern:
    """A compiled read: its signature, its shape, its plan, what its decorator said, and what it knows besides its
    arguments.
    """

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
    """Whether ``plan`` is for the other ``newest_first`` than the parameter's default."""

    @property
    def limit(self) -> Parameter | None:
        """The parameter that bounds the answer."""
        return self._of_kind(ParameterKind.LIMIT)

    @property
    def direction(self) -> Parameter | None:
        """The parameter that says in which direction the answer is read."""
        return self._of_kind(ParameterKind.DIRECTION)

    @property
    def buckets(self) -> Buckets | None:
        """The buckets of time that a range of it names."""
        return self.plan.buckets if isinstance(self.plan, QueryPlan) else None

    def _of_kind(self, kind: ParameterKind) -> Parameter | None:
        return next((parameter for parameter in self.signature.parameters if parameter.kind is kind), None)

    @cached_property
    def turned(self) -> ReadPattern:
        """The pattern with the plan for the other ``newest_first``."""
        return replace(self, plan=_turned(self.plan), is_turned=not self.is_turned)

    def as_called(self, arguments: Mapping[str, Any]) -> ReadPattern:
        """The pattern with the plan for a call's direction."""
        direction = self.direction
        if direction is None:
            return self
        usual = newest_by_default(direction)
        other = arguments.get(direction.name, usual) is not usual
        return self if other is self.is_turned else self.turned
