"""The contents of a store as input of the cost model, found by brute force over all items. The model must then
predict exactly the metered units: this module finds the items that match each key condition, and the model
calculates requests and units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import total_ordering
from typing import Any

from keyplan.analysis.cost.read_ranges import End, ExpectedItem, ExpectedRange, Found
from keyplan.analysis.cost.simulated_reads import requests_of
from keyplan.analysis.cost.unit_counts import Request
from keyplan.analysis.write_analysis.typical_world import Asked, Before
from keyplan.client.extra_item_filters import answer_filter_of
from keyplan.client.junction_reads import end_values
from keyplan.client.key_conditions import key_condition, order_of, partition_texts, value_sets
from keyplan.client.read_plans import QueryReader, filter_members
from keyplan.client.results import _last_member
from keyplan.client.target import Target
from keyplan.client.time_buckets import bucket_sets
from keyplan.dynamodb import expressions
from keyplan.dynamodb.values import Item, item_size
from keyplan.model.compiled.item_sizes import entry_of
from keyplan.model.compiled.plans import (
    BatchGetPlan,
    ClaimPlan,
    GetPlan,
    QueryPlan,
    ReadPattern,
    ScanPlan,
    ThroughPlan,
)
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.indexes import Index
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.session.design import Design
from keyplan.testing.costs import Metered
from keyplan.testing.stored_world import items_of

Units = tuple[str, tuple[tuple[str, float], ...]]


def metered(result: list[Metered]) -> list[Units]:
    """The metered requests in a comparable format."""
    return [(element.operation, tuple(sorted(element.units.items()))) for element in result]


def predicted(requests: list[Request]) -> list[Units]:
    """The predicted requests in the same format."""
    unitses: list[Units] = []
    for request in requests:
        units: dict[str, float] = {}
        for line in request.lines:
            units[line.target] = units.get(line.target, 0.0) + line.units
        unitses.append((request.operation, tuple(sorted(units.items()))))
    return unitses


# The stored items


class Actual:
    """The contents of a store, as input of the model."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.compiled = design.compiled
        self.target = Target(design.store.table_name, design.compiled.table)
        self.items = list(items_of(design.store))
        names = design.compiled.table.key_names
        self.by_key = {_identity(item, names): item for item in self.items}
        self._names = names
        self._ordering: QueryPlan | None = None

    def at(self, key: Mapping[str, Any]) -> Item | None:
        """The item with a primary key."""
        return self.by_key.get(_identity(key, self._names))

    # Input of the model for writes

    typical = False

    def ask(self, pattern: ReadPattern, arguments: dict[str, Any]) -> Asked:
        return Asked(pattern, arguments)

    def requests(self, asked: Asked) -> list[Request]:
        """The requests of a read within a write."""
        pattern, arguments = asked.pattern, asked.arguments
        limit = None if pattern.limit is None else arguments[pattern.limit.name]
        return requests_of(pattern.as_called(arguments), self.found(pattern, arguments), limit, strongly=True)

    def item(self, instance: Entity) -> Item:
        return self.compiled.entities[type(instance)].to_item(instance)

    def before(self, entity: CompiledEntity, known: Mapping[str, Any], action: Any) -> Before:
        item = self.at(entity.item_key(entity.primary, known))
        return None if item is None else (entity.from_item(item), item)

    # Input of the model for reads

    def found(self, pattern: ReadPattern, arguments: Mapping[str, Any]) -> Found:
        values = {**arguments, **pattern.constants}
        plan = pattern.as_called(arguments).plan
        match plan:
            case GetPlan():
                return Found((self._size(plan.entity.item_key(plan.entity.primary, values)),))
            case ClaimPlan():
                return Found(self._claimed(plan, values))
            case BatchGetPlan():
                entity = plan.entity
                keys = [entity.item_key(entity.primary, element) for element in value_sets(plan.each, values)]
                distinct = {_identity(key, self._names): key for key in keys}
                return Found(tuple(self._size(key) for key in distinct.values()))
            case QueryPlan():
                first, *further = [self._stretches(part, values) for part in plan.parts]
                return Found(stretches=first, also=tuple(further))
            case ScanPlan():
                return Found(stretches=(self._scanned(plan, values),))
            case ThroughPlan():
                return self._through(plan, values)

    def _size(self, key: Mapping[str, Any]) -> int | None:
        item = self.at(key)
        return None if item is None else item_size(item)

    def _claimed(self, plan: ClaimPlan, values: Mapping[str, Any]) -> tuple[int | None, ...]:
        claim = self.at(plan.entity.item_key(plan.claim, values))
        if claim is None:
            return (None,)
        return item_size(claim), self._size(claim["claim_of"]["M"])

    def _stretches(
        self, plan: QueryPlan, values: Mapping[str, Any], through: ThroughPlan | None = None
    ) -> tuple[ExpectedRange, ...]:
        """The matching entries of each queried partition."""
        buckets = enumerate(named for _, named in bucket_sets(plan, values))
        sets = [(at, element) for at, named in buckets for element in value_sets(plan.each, named)]
        reader = QueryReader(plan, self.target)
        result: dict[tuple[str, ...], ExpectedRange] = {}
        for bucket, element in sets:
            for shard in range(plan.shards):
                partition = partition_texts(plan.matches[0], element, plan.key.suffix(shard))
                if reader.request(element, partition) is not None:
                    met = [
                        self._met(plan, reader, element, item, size, place, through)
                        for item, size, place in self._selected(plan, element, partition)
                    ]
                    last = _last_member(plan, element)
                    result[tuple(partition)] = ExpectedRange(
                        sorted(met, key=lambda met: met.place),
                        None if last is None else _kind(plan, last),
                        self._is_closed(plan, element, partition),
                        _Order(self._ordered(plan, partition), plan.forward),
                        bucket,
                    )
        return tuple(result.values())

    def _is_closed(self, plan: QueryPlan, values: Mapping[str, Any], partition: list[str]) -> bool:
        """Whether the last entry has the maximum sort key of the condition: for the table itself, DynamoDB then knows
        that no item follows.
        """
        sort = self.compiled.table.sort
        condition = key_condition(plan, values, partition)
        selected = sorted(self._selected(plan, values, partition), key=lambda element: element[2])
        if plan.index is not None or sort is None or condition is None or not selected:
            return False
        (name,) = [placeholder for placeholder, text in condition.names.items() if text == sort.name] or [""]
        bounds = r"(?:BETWEEN (?P<low>:\w+) AND (?P<high>:\w+)|<= (?P<most>:\w+)|>= (?P<least>:\w+))"
        match = re.search(f"{name} {bounds}", condition.text)
        if not name or match is None:
            return False
        bound = match["high"] or match["most"] if plan.forward else match["low"] or match["least"]
        return bound is not None and condition.values[bound] == selected[-1][0][sort.name]

    def _selected(
        self, plan: QueryPlan, values: Mapping[str, Any], partition: list[str]
    ) -> Iterator[tuple[Item, int, tuple[_Order, _Order]]]:
        """The entries that match the key condition, with their size in the index and their position."""
        condition = key_condition(plan, values, partition)
        assert condition is not None
        given = expressions.Placeholders(dict(condition.names), dict(condition.values))
        matches = expressions.bind_condition(condition.text, given, "FilterExpression").matches
        table = self.compiled.table
        base = (table.partition,) if table.sort is None else (table.partition, table.sort)
        sort = base[1:] if plan.index is None else plan.index.sort
        order = (*sort, *(attribute for attribute, _ in plan.key.partition), *base)
        for item in self.items:
            entry = None if plan.index is None else entry_of(table, plan.index, item)
            if (plan.index is not None and entry is None) or not matches(item):
                continue
            place = tuple(order_of(item[value.name][value.type], value.type) for value in order)
            size = item_size(item) if entry is None else entry.size_bytes
            yield item, size, (_Order(place[: len(sort)], plan.forward), _Order(place, plan.forward))

    def _met(
        self,
        plan: QueryPlan,
        reader: QueryReader,
        values: Mapping[str, Any],
        item: Item,
        size: int,
        place: tuple[_Order, _Order],
        through: ThroughPlan | None,
    ) -> ExpectedItem:
        passes = _passes(plan, values, item)
        instance = reader.instance(item) if passes else None
        gives_item = None if not plan.completed else self._own_end(item)
        answer_filter = answer_filter_of(plan, values)
        if instance is None or (answer_filter is not None and not answer_filter.passes(instance, item)):
            return ExpectedItem(size, None, place, filtered=not passes)
        return ExpectedItem(
            size,
            _kind(plan, type(instance)),
            place,
            gives_item if through is None else self._end(through, instance, values),
        )

    @staticmethod
    def _ordered(plan: QueryPlan, partition: list[str]) -> tuple[Any, ...]:
        """The sort position within a partition."""
        attributes = [attribute for attribute, _ in plan.key.partition]
        return tuple(order_of(text, attribute.type) for text, attribute in zip(partition, attributes, strict=True))

    def _own_end(self, item: Item) -> End:
        """The table item of an index entry."""
        key = {name: item[name] for name in self._names}
        return End(_identity(key, self._names), self._size(key))

    def _end(self, plan: ThroughPlan, link: Entity, values: Mapping[str, Any]) -> End:
        known = end_values(plan, link, values)
        if isinstance(plan.end, GetPlan):
            key = plan.end.entity.item_key(plan.end.entity.primary, known)
            identity = _identity(key, self._names)
            return End(identity, self._size(key), place=self._standing(identity))
        return End(repr(sorted(known.items(), key=lambda element: element[0])), None, self._stretches(plan.end, known))

    def _standing(self, identity: tuple[str, ...]) -> tuple[Any, ...] | None:
        """The position of an item in the result of several junctions."""
        item = self.by_key.get(identity)
        if self._ordering is None or item is None:
            return None
        table, key = self.compiled.table, self._ordering.key
        base = (table.partition,) if table.sort is None else (table.partition, table.sort)
        sort = tuple(attribute for attribute, _ in key.sort)
        order = (*sort, *(attribute for attribute, _ in key.partition), *base)
        place = tuple(order_of(item[value.name][value.type], value.type) for value in order)
        return _Order(place[: len(sort)], self._ordering.forward), _Order(place, self._ordering.forward)

    def _in_order(self, index: Index | None) -> Iterator[Item]:
        """The items in the order of a scan."""
        request: dict[str, Any] = {"TableName": self.design.store.table_name}
        if index is not None:
            request["IndexName"] = index.name
        while True:
            answer = self.design.store.transport.call("Scan", request)
            yield from (self.by_key[_identity(item, self._names)] for item in answer["Items"])
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def _through(self, plan: ThroughPlan, values: Mapping[str, Any]) -> Found:
        junction = plan.junction
        ordering = (way.end for way in plan.ways if isinstance(way.end, QueryPlan))
        self._ordering = next(ordering, None) if plan.also else None
        if isinstance(junction, QueryPlan):
            ways = [
                self._stretches(way.junction, values, way) for way in plan.ways if isinstance(way.junction, QueryPlan)
            ]
            return Found(stretches=ways[0], also=tuple(ways[1:]))
        entity = junction.entity
        key: Any = entity.item_key(entity.primary if isinstance(junction, GetPlan) else junction.claim, values)
        sizes = (self._size(key),) if isinstance(junction, GetPlan) else self._claimed(junction, values)
        if isinstance(junction, ClaimPlan) and sizes[0] is not None:
            key = (self.at(key) or {})["claim_of"]["M"]
        link = self.at(key)
        return Found(sizes, link=None if link is None else self._end(plan, entity.from_item(link), values))

    def _scanned(self, plan: ScanPlan, values: Mapping[str, Any]) -> ExpectedRange:
        """All items; the store defines the order of a scan."""
        met: list[ExpectedItem] = []
        for number, item in enumerate(self._in_order(plan.index)):
            entry = None if plan.index is None else entry_of(self.compiled.table, plan.index, item)
            if plan.index is not None and entry is None:
                continue
            entity = next((compiled_entity for compiled_entity in plan.entities if compiled_entity.matches(item)), None)
            passes = _passes(plan, values, item)
            kind = entity.name if entity is not None and passes else None
            size = item_size(item) if entry is None else entry.size_bytes
            end = self._own_end(item) if plan.completed else None
            met.append(ExpectedItem(size, kind, (number,), end, filtered=not passes))
        return ExpectedRange(met)


@total_ordering
@dataclass(frozen=True)
class _Order:
    """A position in the direction of a read."""

    place: tuple[Any, ...]
    forward: bool

    def __lt__(self, other: _Order) -> bool:
        return self.place < other.place if self.forward else self.place > other.place


def _kind(plan: QueryPlan, gives: type[Any]) -> str:
    """The entity whose items are read."""
    return next(match.entity.name for match in plan.matches if match.entity.gives is gives)


def _passes(plan: QueryPlan | ScanPlan, values: Mapping[str, Any], item: Item) -> bool:
    """Whether an item matches the plan's filter."""
    members = filter_members(plan.filter, values)
    if not members:
        return True
    given = expressions.Placeholders(dict(members["names"]), dict(members["values"]) or None)
    return expressions.bind_condition(members["text"], given, "FilterExpression").matches(item)


def _identity(item: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(next(iter(item[name].values())) for name in names)
