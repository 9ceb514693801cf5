"""Computes the expected result of a read: filters and sorts all stored rows by their fields, without keys."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from keyplan.client.read_plans import filter_members
from keyplan.dynamodb import expressions
from keyplan.model.compiled.compiler import named_in
from keyplan.model.compiled.constants import values_asked
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
    ThroughPlan,
)
from keyplan.model.compiled.signatures import ParameterKind
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.patterns import Options
from keyplan.model.stored.key_formats import DateFormat, NumberFormat, RankFormat, TimeFormat
from keyplan.model.stored.key_templates import Literal_, Variable
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey
from keyplan.testing.stored_world import Row, World

Groups = list[list[Entity]] | list[list[Entity | None]]
"""A result in order. Items of a group are equal in all fields of the order, so any order within it is correct. None is
an empty result that is as correct as the others.
"""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {"ms": timedelta(milliseconds=1), "s": timedelta(seconds=1)}
_PARTS = {"Y": "year", "m": "month", "d": "day", "H": "hour", "M": "minute", "S": "second", "f": "microsecond"}


class UndecidableError(Exception):
    """The fields of two entities' items don't determine their order."""


@dataclass(frozen=True, slots=True)
class _Fixed:
    text: str


@dataclass(frozen=True, slots=True)
class _Value:
    value: Any
    turned: bool


class Oracle:
    """The brute-force results of one access pattern."""

    def __init__(self, pattern: ReadPattern, options: Options) -> None:
        self.pattern = pattern
        self.options = options
        self.constants = {name: values_asked(value) for name, value in pattern.constants.items()}
        named = named_in(options.where)
        self._folds = folding_of(pattern.plan)
        self.parameters = {
            parameter.name: parameter.kind
            for parameter in pattern.signature.parameters
            if parameter.condition and parameter.name not in named
        }
        self._defaults = {
            parameter.name: parameter.default for parameter in pattern.signature.parameters if not parameter.required
        }

    def groups(self, world: World, arguments: Mapping[str, Any]) -> Groups:
        """The expected items in order. Omitted arguments have their defaults."""
        arguments = {**self._defaults, **arguments}
        plan = self.pattern.as_called(arguments).plan
        match plan:
            case GetPlan() | ClaimPlan():
                return [[row.instance for row in self._matching(world, plan.entity, arguments)]]
            case BatchGetPlan():
                return self._batch(plan, world, arguments)
            case ScanPlan():
                rows = [row for entity in plan.entities for row in self._matching(world, entity, arguments)]
                return [[row.instance for row in rows if plan.index is None or _on_index(plan, row)]]
            case QueryPlan():
                return [[row.instance for row in group] for group in self._query(plan, world, arguments)]
            case ThroughPlan():
                return self._union(plan, world, arguments) if plan.also else self._through(plan, world, arguments)

    def unordered(self, world: World, arguments: Mapping[str, Any]) -> Groups:
        """The matching items as one group, for entities whose common order the fields don't determine."""
        arguments = {**self._defaults, **arguments}
        matches = self.pattern.plan.matches if isinstance(self.pattern.plan, QueryPlan) else ()
        rows = ((match, row) for match in matches for row in self._matching(world, match.entity, arguments))
        return [[row.instance for match, row in rows if _member(match.key, row.values)]]

    # Which items

    def _matching(
        self, world: World, entity: CompiledEntity, arguments: Mapping[str, Any], names: Iterable[str] | None = None
    ) -> list[Row]:
        """The entity's rows that match the arguments, constants and filters."""
        asked = [name for name in (self.parameters if names is None else names) if name in arguments]
        filters = _filters(self.pattern)
        return [
            row
            for row in world.of(entity.cls)
            if all(self._is_as_asked(entity, name, row.values[name], arguments[name]) for name in asked)
            and all(row.values[name] in asked for name, asked in self.constants.items() if name in row.values)
            and all(_passes(condition, row, arguments) for condition in filters)
        ]

    def _is_as_asked(self, entity: CompiledEntity, name: str, value: Any, argument: Any) -> bool:
        fold = self._folds.get((entity.name, name))
        kind = self.parameters[name]
        ranks = _ranks(entity, name) if kind is ParameterKind.RANGE else None
        if ranks is not None and value is not None and argument is not None:
            return bool(argument.ranked(ranks.index).holds(ranks.index(value)))
        if fold is None or value is None or argument is None:
            return _holds(kind, value, argument)
        folded = [fold(part) for part in argument] if kind is ParameterKind.EACH else fold(argument)
        return _holds(kind, fold(value), folded)

    def _batch(self, plan: BatchGetPlan, world: World, arguments: Mapping[str, Any]) -> Groups:
        groups: Groups = []
        matching = self._matching(world, plan.entity, arguments)
        folds: list[Callable[[Any], Any]] = [self._folds.get((plan.entity.name, name), _as_it_is) for name in plan.each]
        given = [arguments.get(name, self.constants.get(name, ())) for name in plan.each]
        keys = (
            tuple(fold(value) for fold, value in zip(folds, values, strict=True))
            for values in itertools.product(*given)
        )
        for wanted in dict.fromkeys(keys):
            groups.extend(
                [row.instance]
                for row in matching
                if tuple(fold(row.values[name]) for fold, name in zip(folds, plan.each, strict=True)) == wanted
            )
        return groups

    def _query(
        self, plan: QueryPlan, world: World, arguments: Mapping[str, Any], names: Iterable[str] | None = None
    ) -> list[list[Row]]:
        rows = [
            (_place(match, row), row)
            for match in plan.matches
            for row in self._matching(world, match.entity, arguments, names)
            if _member(match.key, row.values)
        ]
        return _grouped(rows, forward=plan.forward)

    def _through(self, plan: ThroughPlan, world: World, arguments: Mapping[str, Any]) -> Groups:
        junction = plan.junction.matches[0].entity if isinstance(plan.junction, QueryPlan) else plan.junction.entity
        own = [name for name in self.parameters if name not in plan.arguments]
        if isinstance(plan.junction, QueryPlan):
            links = self._query(plan.junction, world, arguments, own)
        else:
            links = [self._matching(world, junction, arguments, own)]
        if not self.pattern.shape.many:
            return self._through_one(plan, world, arguments, links[0] if links else [])
        if isinstance(plan.end, GetPlan):
            ends = self._matching(world, plan.end.entity, arguments, plan.arguments)
            groups = [[end.instance for link in group for end in ends if _leads(plan, link, end)] for group in links]
            return [group for group in groups if group]
        flat = [link for group in links for link in group]
        query = self._query(plan.end, world, arguments, plan.arguments)
        reached = [[end.instance for end in group if any(_leads(plan, link, end) for link in flat)] for group in query]
        return [group for group in reached if group]

    def _union(self, plan: ThroughPlan, world: World, arguments: Mapping[str, Any]) -> Groups:
        """The items of any of several junctions, in the order of their common key."""
        reached = {
            id(entity) for way in plan.ways for group in self._through(way, world, arguments) for entity in group
        }
        ordering, end = next((way, way.end) for way in plan.ways if isinstance(way.end, QueryPlan))
        ends = self._query(end, world, arguments, ordering.arguments)
        groups = [[end.instance for end in group if id(end.instance) in reached] for group in ends]
        return [group for group in groups if group]

    def _through_one(self, plan: ThroughPlan, world: World, arguments: Mapping[str, Any], links: list[Row]) -> Groups:
        """If several junction items are first, any of them is correct, and its end may not exist."""
        if isinstance(plan.end, GetPlan):
            ends = [self._matching(world, plan.end.entity, arguments, plan.arguments)]
        else:
            ends = self._query(plan.end, world, arguments, plan.arguments)
        entities: list[Entity | None] = []
        for link in links:
            reached = [[end.instance for end in group if _leads(plan, link, end)] for group in ends]
            entities.extend(next((group for group in reached if group), [None]))
        return [entities] if any(entities) else []


def _as_it_is(value: Any) -> Any:
    return value


def folding_of(plan: Plan) -> dict[tuple[str, str], Callable[[Any], str]]:
    """The functions that fold the case of fields in keys, by entity and field name."""
    match plan:
        case GetPlan() | BatchGetPlan():
            keys = [(plan.entity, plan.entity.primary)]
        case ClaimPlan():
            keys = [(plan.entity, plan.claim)]
        case QueryPlan():
            keys = [(match.entity, match.key) for match in plan.matches]
        case ScanPlan():
            keys = []
        case ThroughPlan():
            return {
                pair: fold
                for way in plan.ways
                for half in (way.junction, way.end)
                for pair, fold in folding_of(half).items()
            }
    variables = (
        (entity, each) for entity, key in keys for _, template in key.attributes for each in template.variables
    )
    return {(entity.name, variable.field): variable.folded for entity, variable in variables if variable.folds}


def _ranks(entity: CompiledEntity, name: str) -> tuple[Any, ...] | None:
    """The values of a field in the order of their rank in a key."""
    variables = (variable for key in entity.keys for _, template in key.attributes for variable in template.variables)
    formats = (variable.format for variable in variables if variable.field == name)
    return next((form.ranks for form in formats if isinstance(form, RankFormat)), None)


def _holds(kind: ParameterKind, value: Any, argument: Any) -> bool:
    """Whether a field's value matches a parameter. None matches only None."""
    if argument is None:
        return value is None or kind in {ParameterKind.RANGE, ParameterKind.PREFIX}
    if value is None:
        return False
    match kind:
        case ParameterKind.RANGE:
            return bool(argument.holds(value))
        case ParameterKind.PREFIX:
            return str(value).startswith(argument)
        case ParameterKind.EACH:
            return value in argument
        case _:
            return bool(value == argument)


def _member(key: CompiledKey, values: Mapping[str, Any]) -> bool:
    """Whether an item with these fields has the key."""
    fields = [name for _, template in key.attributes for name in template.fields]
    return all(values[name] is not None for name in fields) and all(
        values[name] in allowed for name, allowed in key.when.items()
    )


def _on_index(plan: ScanPlan, row: Row) -> bool:
    return any(_member(key, row.values) for key in plan.keys if key in row.entity.index_keys)


def _leads(plan: ThroughPlan, link: Row, end: Row) -> bool:
    return all(link.values[source] == end.values[name] for name, source in plan.fields.items())


def filtered_attributes(pattern: ReadPattern) -> set[str]:
    """The attributes that a pattern's filters compare."""
    return {name for condition in _all_filters(pattern) for name in condition.names.values()}


def _filters(pattern: ReadPattern) -> list[Filter]:
    """The filters in DynamoDB's grammar that a pattern has (constants are compared as field values)."""
    return [condition for condition in _all_filters(pattern) if not condition.constants]


def _all_filters(pattern: ReadPattern) -> list[Filter]:
    plans = [pattern.plan]
    if isinstance(pattern.plan, ThroughPlan):
        plans = [plan for way in pattern.plan.ways for plan in (way.junction, way.end)]
    filters = [plan.filter for plan in plans if isinstance(plan, QueryPlan | ScanPlan)]
    return [condition.declared or condition for condition in filters if condition is not None]


def _passes(condition: Filter, row: Row, arguments: Mapping[str, Any]) -> bool:
    """Whether an item passes as it is read, with defaults."""
    members = filter_members(condition, arguments)
    given = expressions.Placeholders(dict(members["names"]), members["values"] or None)
    return expressions.bind_condition(members["text"], given, "FilterExpression").matches(row.as_read)


# Order of results


def _place(match: KeyMatch, row: Row) -> list[_Fixed | _Value]:
    """The order of an item in a key: the time bucket, then the constant texts and fields of its sort key."""
    parts: list[_Fixed | _Value] = []
    if match.buckets is not None:
        parts.append(_Value(_truncated(row.values[match.buckets.field], match.buckets.unit), match.order[0][1]))
    for _, template in match.key.sort:
        for part in template.parts:
            if isinstance(part, Literal_):
                parts.append(_Fixed(part.text))
            else:
                parts.append(_Value(_coarse(part, row.values[part.field]), part.format.descending))
    return parts


def _truncated(value: Any, unit: str) -> tuple[int, ...]:
    """A timestamp or date, truncated to the unit."""
    moment = value.astimezone(UTC) if isinstance(value, datetime) else value
    names = list(_PARTS.values())
    return tuple(getattr(moment, name) for name in names[: names.index(unit) + 1])


def _coarse(variable: Variable, value: Any) -> Any:
    """The value with the precision of its key: timestamps in a Number are whole milliseconds or seconds."""
    form = variable.format
    if isinstance(form, RankFormat):
        return form.rank(value)
    if not variable.sorts:  # compared as strings that include the delimiter after the value
        return variable.folded(value) + ("" if variable.last else variable.ends)
    if isinstance(form, NumberFormat) and form.unit and isinstance(value, datetime):
        return (value - _EPOCH) // _UNITS[form.unit]
    if isinstance(form, TimeFormat | DateFormat) and not form.exact:
        moment = value.astimezone(UTC) if isinstance(value, datetime) else value
        parts = (getattr(moment, name) for letter, name in _PARTS.items() if letter in form.letters)
        return (*parts, *([moment.timetuple().tm_yday] if "j" in form.letters else []))
    return getattr(value, "value", value)


def _compare(places: list[_Fixed | _Value], others: list[_Fixed | _Value]) -> int:
    for left, right in zip(places, others, strict=False):
        if isinstance(left, _Fixed) and isinstance(right, _Fixed):
            if left.text == right.text:
                continue
            if left.text.startswith(right.text) or right.text.startswith(left.text):
                raise UndecidableError
            return -1 if left.text < right.text else 1
        if not isinstance(left, _Value) or not isinstance(right, _Value) or left.turned != right.turned:
            raise UndecidableError
        if left.value != right.value:
            return (-1 if left.value < right.value else 1) * (-1 if left.turned else 1)
    if len(places) != len(others):
        raise UndecidableError
    return 0


def _grouped(rows: list[tuple[list[_Fixed | _Value], Row]], *, forward: bool) -> list[list[Row]]:
    compare: Callable[[Any, Any], int] = lambda a, b: _compare(a[0], b[0])  # noqa: E731
    ordered = sorted(rows, key=functools.cmp_to_key(compare), reverse=not forward)
    groups: list[list[Row]] = []
    last: list[_Fixed | _Value] | None = None
    for place, row in ordered:
        if last is None or _compare(last, place) != 0:
            groups.append([])
        groups[-1].append(row)
        last = place
    return groups
