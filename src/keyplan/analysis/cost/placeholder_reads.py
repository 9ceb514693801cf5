"""A read with placeholders for its keys: the client runs it like the original, and its keys contain only positions.

Everything that determines the requests is kept: index or table, the number of merged partitions, bounds of the sort
key, filters, junctions, completion, the shape. Names, values and formats are replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from keyplan.model.compiled.plans import (
    BatchGetPlan,
    ClaimPlan,
    Filter,
    GetPlan,
    KeyMatch,
    Plan,
    QueryPlan,
    ReadPattern,
    ScanPlan,
    SortPart,
    ThroughPlan,
)
from keyplan.model.compiled.time_bucket_keys import Buckets
from keyplan.model.declared.indexes import Index, KeyAttribute
from keyplan.model.declared.table import Table
from keyplan.model.stored.key_formats import TextFormat
from keyplan.model.stored.key_templates import Literal_, Template, Variable
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey

__all__ = ["MET", "NOWHERE", "Seen", "StandIns", "mark", "query_plans"]

Item = Mapping[str, Mapping[str, Any]]

MET = "met"
"""The attribute of an item that contains what it represents."""
NOWHERE = "nowhere"
"""A partition that isn't queried, and an item that doesn't exist."""
BEFORE_LAST, LAST = "a", "c"
"""What sort keys begin with before the last of a collection's entities, and from its first item on: their
bounds are apart."""


def mark(way: int, last: str | None, kind: str | None) -> str:
    """The prefix of an entity's sort keys in the query with that number. ``last``: the entity that comes last
    there.
    """
    return f"{way:02d}{LAST if kind is not None and kind == last else BEFORE_LAST}"


class Seen:
    """What an item is read as. ``leads``: the name of what it leads to; ``key``: its key in the order of the
    result, if several junctions can lead to it.
    """

    def __init__(self, item: Item) -> None:
        self.leads: str = item[MET].get("leads", NOWHERE)
        self.key: Mapping[str, str] = item[MET].get("key", {})


class _StandIn(CompiledEntity):
    """An entity whose items are distinguished by what they represent. ``kind``: its name; None if it matches any
    item. ``named``: the value in its primary key.
    """

    def __init__(self, table: Table, kind: str | None, named: str) -> None:
        self.name = kind or "item"
        self.gives = type(self.name, (Seen,), {})
        self.asked = None
        self.sifted = None
        self.labels = {}
        self.index_keys = ()
        self.primary = _Key("primary", None, *_templates((table.partition,), (table.sort,), named), {}, 1)
        self.matches = self.matches_sort = _anything if kind is None else _of_kind(kind)
        self.from_item = self.gives

    def field_values(self, instance: Any) -> dict[str, Any]:
        """The key in the order of the result."""
        return {**instance.key}


@dataclass(frozen=True, eq=False)
class _Key(CompiledKey):
    """A key that consists of a partition's name. ``suffixes``: of its shards, in order."""

    suffixes: tuple[str, ...] = ()

    def suffix(self, shard: int) -> str:
        """The string after the partition's name."""
        return self.suffixes[shard] if self.suffixes else CompiledKey.suffix(self, shard)

    def shard_suffix(self, values: Mapping[str, Any]) -> str:  # noqa: ARG002 - a key's
        """Empty: the name contains it."""
        return ""


_Templates: TypeAlias = tuple[tuple[KeyAttribute, Template], ...]


def _templates(
    partition: Iterable[KeyAttribute], sort: Iterable[KeyAttribute | None], named: str, sorted_by: str = ""
) -> tuple[_Templates, _Templates]:
    """The templates of a key: the partition's name, and the string in the first sort attribute."""
    first = _variable(sorted_by) if sorted_by else _FIXED
    return (
        tuple((attribute, _variable(named)) for attribute in partition),
        tuple((attribute, _FIXED if at else first) for at, attribute in enumerate(sort) if attribute is not None),
    )


def _variable(name: str) -> Template:
    return Template(f"{{{name}}}", (Variable(name, TextFormat(str), last=True, bare=True),))


_FIXED = Template("-", (Literal_("-"),))


def _anything(item: Item) -> bool:
    return MET in item


def _of_kind(kind: str) -> Callable[[Item], bool]:
    return lambda item: item[MET]["met"].kind == kind


@dataclass(frozen=True)
class _Buckets(Buckets):
    """Buckets that are the names of their partitions; ``field`` is the value that these are."""

    names: tuple[Any, ...] = ()

    def sets(self, values: Mapping[str, Any], *, ascending: bool = True) -> Sequence[tuple[str, Mapping[str, Any]]]:
        """The names of each bucket's partitions, as they are read."""
        del ascending
        return [(str(at), {**values, self.field: names}) for at, names in enumerate(self.names)]

    def placed(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """The values as they are."""
        return values


class StandIns:
    """The placeholders of one read.

    ``partitions``: the names of the partitions that each way starts with, per bucket, without the ``suffixes`` of
    shards. ``items``: the items that are read by key. ``last``: for each query, the entity whose items come last in
    a collection.
    """

    def __init__(
        self,
        pattern: ReadPattern,
        partitions: Sequence[Sequence[Sequence[str]]],
        items: Sequence[str],
        last: Sequence[str | None],
        *,
        is_sorted: bool,
        suffixes: tuple[str, ...] = (),
    ) -> None:
        self._partitions = partitions
        self._suffixes = suffixes
        self._last = last
        self.table = Table("places", sort="sk" if is_sorted else None)
        self._values: dict[str, Any] = {"item": items[0] if items else NOWHERE, "each": list(items)}
        self._entities: dict[str, CompiledEntity] = {}
        plan = self._plan(pattern.plan, 0)
        members = tuple(
            replace(member, gives=self._entity(member.entity.__name__).gives) for member in pattern.shape.members
        )
        shape = replace(pattern.shape, optional=True, factory=dict, members=members)
        self.pattern = replace(pattern, plan=plan, shape=shape, constants=self._values)

    def _plan(self, plan: Plan, way: int) -> Any:
        match plan:
            case GetPlan():
                return replace(plan, entity=self._read_by_key("item"))
            case ClaimPlan():
                return replace(plan, entity=self._read_by_key("owner"), claim=self._read_by_key("item").primary)
            case BatchGetPlan():
                return replace(plan, entity=self._read_by_key("each"), each=("each",))
            case QueryPlan():
                return self._query(plan, way)
            case ScanPlan():
                entities = tuple(self._entity(entity.name) for entity in plan.entities)
                index = self._index(plan.index)  # segments divide what is paid for, and add nothing to it
                return replace(plan, entities=entities, index=index, segments=1, **self._rest(plan))
            case ThroughPlan():
                return self._through(plan, way)

    def _through(self, plan: ThroughPlan, way: int) -> ThroughPlan:
        junction = self._plan(plan.junction, way)
        also = tuple(self._through(through_plan, number) for number, through_plan in enumerate(plan.also, 1))
        if isinstance(plan.end, GetPlan):
            end, named = replace(plan.end, entity=self._read_by_key("id")), "id"
            return replace(plan, junction=junction, end=end, fields={named: "leads"}, arguments=(), also=also)
        ends = self._queried(plan.end, "partition", ())
        return replace(plan, junction=junction, end=ends, fields={"partition": "leads"}, arguments=(), also=also)

    def _query(self, plan: QueryPlan, way: int) -> QueryPlan:
        """A query of the partitions with which a way begins, each by its name; what is read apart are ways of its
        own.
        """
        if plan.apart:
            parts = [self._query(part, number) for number, part in enumerate(plan.apart)]
            return replace(
                parts[0], matches=tuple(match for part in parts for match in part.matches), apart=tuple(parts)
            )
        name = f"partition{way}"
        buckets = [
            list(names) if plan.merged else names[0] if names else NOWHERE for names in self._partitions[way] or [()]
        ]
        self._values[name] = buckets[0]
        made = None if plan.buckets is None else _Buckets(name, plan.buckets.unit, names=tuple(buckets))
        return self._queried(plan, name, (name,) if plan.merged else (), self._suffixes, way, made)

    def _queried(
        self,
        plan: QueryPlan,
        named: str,
        each: tuple[str, ...],
        suffixes: tuple[str, ...] = (),
        way: int | None = None,
        buckets: _Buckets | None = None,
    ) -> QueryPlan:
        index = self._index(plan.index)
        partition = (self.table.partition,) if index is None else index.partition
        sort = (self.table.sort,) if index is None else index.sort
        templates = _templates(partition, sort if plan.key.sort else (), named, "sort")
        key = _Key("key", index, *templates, {}, plan.shards, suffixes=suffixes)
        matches = tuple(
            KeyMatch(
                self._entity(match.entity.name),
                key,
                self._bounds(key, match, way),
                (("", False),),
                frozenset(),
                each,
                match.full,
                buckets=buckets,
            )
            for match in plan.matches
        )
        return replace(plan, index=index, matches=matches, forward=True, each=each, **self._rest(plan))

    def _bounds(self, key: CompiledKey, match: KeyMatch, way: int | None) -> tuple[SortPart, ...]:
        """What is known of an entity's sort keys: which query reads it, and of a collection's last, that it is."""
        if way is None or not self._last or not key.sort:
            return ()
        ((attribute, template), *_) = key.sort
        start = mark(way, self._last[way], match.entity.name)
        return (SortPart(attribute, template, (Literal_(start),), None, None, complete=False),)

    def _rest(self, plan: QueryPlan | ScanPlan) -> dict[str, Any]:
        completed = (self._read_by_key("id"),) if plan.completed else ()
        return {"filter": None if plan.filter is None else Filter(MET, {}, {}, {}), "completed": completed}

    def _entity(self, kind: str) -> CompiledEntity:
        """The entity with that name, whose items queries find."""
        entity = self._entities.get(kind)
        if entity is None:
            entity = self._entities[kind] = _StandIn(self.table, kind, "id")
        return entity

    def _read_by_key(self, named: str) -> CompiledEntity:
        """The entity of items that are read by their keys."""
        return _StandIn(self.table, None, named)

    @staticmethod
    def _index(index: Index | None) -> Index | None:
        """The index with attributes of its own that contain strings."""
        if index is None:
            return None
        partition = "pk" if index.local else "index_pk"
        return Index(index.name, partition, [f"index_sk{at}" for at in range(len(index.sort))], local=index.local)


def query_plans(plan: Plan) -> list[QueryPlan]:
    """The queries in a plan."""
    match plan:
        case QueryPlan():
            return [plan]
        case ThroughPlan():
            return [
                query_plan for way in plan.ways for part in (way.junction, way.end) for query_plan in query_plans(part)
            ]
        case _:
            return []
