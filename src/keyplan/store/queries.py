"""Implements Query and Scan, with key conditions as bounds of a SQL read, pages, start keys and responses.

The plan of a key condition, which maps placeholders to key attributes, is cached by the condition's text. A request
that differs in more than its values is planned again, so that one function reports all errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any, Protocol

from orjson import JSONDecodeError

from keyplan.dynamodb.capacity import Consumed, read_units
from keyplan.dynamodb.expressions import (
    BoundCondition,
    BoundProjection,
    Expression,
    KeyCondition,
    KeyTerm,
    Placeholders,
    bind_key_condition,
)
from keyplan.dynamodb.limits import PAGE_BYTES_MAX, PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from keyplan.dynamodb.service_errors import ValidationException, one_or_more
from keyplan.dynamodb.values import ValueFault, check_item, check_value, item_size, key_text
from keyplan.store.database import Database
from keyplan.store.items.stored_items import decode
from keyplan.store.requests.request_expressions import Answer, Request, wants_capacity
from keyplan.store.simulation import Meter
from keyplan.store.storage.key_layouts import Bound, Bounds, KeyText, Row, raw_of
from keyplan.store.tables.item_keys import MISMATCH, NO_SORT, SHORT_KEY, check_scalars, checked_text
from keyplan.store.tables.item_keys import projection_of as index_projection
from keyplan.store.tables.table import Index, KeyAttribute, Table
from keyplan.store.work_budget import spend_on_items

PLANS_MAX = 1024
"""Maximum number of cached plans per table; then the cache is cleared."""

_CODE_POINT_MAX = 0x10FFFF
_SURROGATE_FIRST, _SURROGATE_LAST = 0xD800, 0xDFFF


@dataclass(frozen=True, slots=True)
class Plan:
    """The placeholders of a key condition's values, with their required types."""

    partition: tuple[tuple[str, str], ...]
    equal: tuple[tuple[str, str], ...]
    operator: str | None
    operands: tuple[tuple[str, str], ...]
    count: int
    """The number of placeholders; a request with more has an unused one."""


def planned_bounds(target: Target, request: Mapping[str, Any], *, forward: bool) -> Bounds | None:
    """The bounds from a cached plan; None if no plan is cached or the request needs full validation."""
    plan = target.table.plans.get(_plan_key(target, request))
    values = request.get("ExpressionAttributeValues")
    if plan is None or values is None or len(values) != plan.count:
        return None
    partition = _texts(values, plan.partition)
    equal = _texts(values, plan.equal) if plan.equal else ()
    if partition is None or equal is None:
        return None
    if plan.operator is None:
        return Bounds(partition, equal, forward=forward)
    operands = _texts(values, plan.operands)
    if operands is None:
        return None
    if plan.operator == "BETWEEN" and operands[0] > operands[1]:  # type: ignore[operator]  # both are of one type
        return None
    low, high = _range(plan.operator, operands)
    return Bounds(partition, equal, low, high, forward=forward)


def _texts(values: Mapping[str, Any], wanted: tuple[tuple[str, str], ...]) -> tuple[KeyText, ...] | None:
    texts: list[KeyText] = []
    for placeholder, tag in wanted:
        value = values.get(placeholder)
        if type(value) is not dict or len(value) != 1:
            return None
        text = value.get(tag)
        if type(text) is not str or not 0 < len(text) <= SHORT_KEY:
            return None
        texts.append(text if tag == "S" else key_text(check_value(value)))
    return tuple(texts)


def _plan_key(target: Target, request: Mapping[str, Any]) -> tuple[object, ...]:
    names: dict[str, str] | None = request.get("ExpressionAttributeNames")
    return (
        target.index.name if target.index is not None else None,
        request["KeyConditionExpression"],
        None if names is None else tuple(names.items()),
    )


def bound_condition(target: Target, expression: Expression, given: Placeholders) -> KeyCondition:
    """A key condition, bound to the target's key. Raises ExpressionFault or ValidationException."""
    attributes = (*target.partition, *target.sort)
    condition = bind_key_condition(
        expression,
        given,
        partition=[attribute.name for attribute in target.partition],
        sort=[attribute.name for attribute in target.sort],
        types={attribute.name: attribute.type for attribute in attributes},
    )
    index = None if target.index is None else target.index.name
    for attribute, value in zip(target.partition, condition.partition, strict=True):
        checked_text(attribute, value, PARTITION_KEY_BYTES_MAX, index)
    by_name = {attribute.name: attribute for attribute in attributes}
    for term in condition.sort:
        for value in term.values:
            checked_text(by_name[term.name], value, SORT_KEY_BYTES_MAX, index)
    return condition


def remember(target: Target, request: Mapping[str, Any], given: Placeholders, condition: KeyCondition) -> None:
    """Cache the plan of a valid request without other expressions."""
    values: dict[str, Any] = request["ExpressionAttributeValues"]
    placeholder_of = {id(given.value(name)): name for name in values}
    if len(placeholder_of) < len(values):
        return  # two placeholders have the same value object
    types = {attribute.name: attribute.type for attribute in target.sort}
    equal = [term for term in condition.sort if term.operator == "="]
    last = condition.sort[-1] if len(equal) < len(condition.sort) else None

    def places(term: KeyTerm) -> tuple[tuple[str, str], ...]:
        return tuple((placeholder_of[id(value)], types[term.name]) for value in term.values)

    plan = Plan(
        tuple(
            (placeholder_of[id(value)], attribute.type)
            for attribute, value in zip(target.partition, condition.partition, strict=True)
        ),
        tuple(places(term)[0] for term in equal),
        last.operator if last is not None else None,
        places(last) if last is not None else (),
        len(values),
    )
    plans = target.table.plans
    if len(plans) >= PLANS_MAX:
        plans.clear()
    plans[_plan_key(target, request)] = plan


def bounds_of(condition: KeyCondition, *, forward: bool) -> Bounds:
    low: Bound | None = None
    high: Bound | None = None
    equal: list[KeyText] = []
    for term in condition.sort:
        texts = tuple(key_text(value) for value in term.values)
        if term.operator == "=":
            equal.append(texts[0])
        else:
            low, high = _range(term.operator, texts)
    partition = tuple(key_text(value) for value in condition.partition)
    return Bounds(partition, tuple(equal), low, high, forward=forward)


def _range(operator: str, operands: tuple[KeyText, ...]) -> tuple[Bound | None, Bound | None]:
    text = operands[0]
    match operator:
        case "BETWEEN":
            return (">=", text), ("<=", operands[1])
        case "begins_with":
            end = _after_prefix(text)
            return (">=", text), None if end is None else ("<", end)
        case "<" | "<=":
            return None, (operator, text)
        case _:
            return (operator, text), None


def _after_prefix(prefix: KeyText) -> KeyText | None:
    """The first key after all keys with the prefix; None if there is none."""
    if isinstance(prefix, bytes):
        stripped = prefix.rstrip(b"\xff")
        return stripped[:-1] + bytes([stripped[-1] + 1]) if stripped else None
    text = prefix.rstrip(chr(_CODE_POINT_MAX))
    if not text:
        return None
    following = ord(text[-1]) + 1
    if _SURROGATE_FIRST <= following <= _SURROGATE_LAST:
        following = _SURROGATE_LAST + 1
    return text[:-1] + chr(following)


_COMPARISONS: dict[str, Callable[[bytes, bytes], bool]] = {">": gt, ">=": ge, "<": lt, "<=": le}


def contains(bounds: Bounds, rest: tuple[KeyText, ...]) -> bool:
    """Whether a position (without its partition attributes) is within the sort conditions."""
    if rest[: len(bounds.equal)] != bounds.equal:
        return False
    limits = [bound for bound in (bounds.low, bounds.high) if bound is not None]
    return not limits or all(_holds(rest[len(bounds.equal)], bound) for bound in limits)


def _holds(position: KeyText, bound: Bound) -> bool:
    operator, limit = bound
    return _COMPARISONS[operator](raw_of(position), raw_of(limit))


_INVALID_START = "The provided starting key is invalid"
_WITH_START = ("exactly one of the supported datatypes", "Null attribute value", "string set", "Binary set")
"""Errors of a value that are reported as errors of the start key. Those of numbers and of duplicates in a set aren't
(recorded from the service).
"""
_CONSISTENT = "Consistent reads are not supported on global secondary indexes"

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a read: a table or one of its indexes."""

    table: Table
    index: Index | None = None

    @property
    def partition(self) -> tuple[KeyAttribute, ...]:
        return (self.table.partition,) if self.index is None else self.index.partition

    @property
    def sort(self) -> tuple[KeyAttribute, ...]:
        if self.index is not None:
            return self.index.sort
        return () if self.table.sort is None else (self.table.sort,)

    @property
    def position(self) -> tuple[KeyAttribute, ...]:
        """The attributes of a position: the index's key attributes, then the table's."""
        return self.table.keys if self.index is None else self.index.keys + self.table.keys


def target_of(database: Database, table: Table, request: Request, operation: str) -> Target:
    name = request.get("IndexName")
    if name is None:
        return Target(table, None)
    index = table.index_by_name.get(name)
    if index is None:
        if any(each.name == name for each in table.vector_indexes):
            # As in the service, ConsistentRead is checked first, and only Query's message ends with a full stop.
            if operation == "Query" and request.get("ConsistentRead"):
                raise ValidationException(_CONSISTENT)
            stop = "." if operation == "Query" else ""
            raise ValidationException(f"{operation} operation not supported on this index type{stop}")
        raise ValidationException(f"The table does not have the specified index: {name}")
    if request.get("ConsistentRead") and not index.is_local:
        raise ValidationException(_CONSISTENT)
    if not table.is_settled:
        database.check_index(table, name)
    return Target(table, index)


def check_select(target: Target, request: Request, *, enveloped: bool = True) -> None:
    """Reject a ``Select`` that is incompatible with the request. Raises ValidationException."""
    select = request.get("Select")
    if select is None:
        return
    members = ("ProjectionExpression", "AttributesToGet")
    given = next((member for member in members if request.get(member) is not None), None)
    fault: str | None = None
    if given is not None and select != "SPECIFIC_ATTRIBUTES":
        what = "only the Count" if select == "COUNT" else select
        fault = f"Cannot specify the {given} when choosing to get {what}"
    elif given is None and select == "SPECIFIC_ATTRIBUTES":
        fault = "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
    elif select == "ALL_PROJECTED_ATTRIBUTES" and target.index is None:
        fault = "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"
    if fault is not None:
        # Query adds this prefix only to the messages of this function (recorded from the service).
        raise ValidationException(f"1 validation error detected: {fault}" if enveloped else fault)


def check_paths(target: Target, filter_: BoundCondition | None, projection: BoundProjection | None) -> None:
    """Reject paths into key attributes, first in the projection, then in the filter."""
    for expression in (projection, filter_):
        if expression is not None:
            check_scalars(target.table, expression.nested)


def fetches_items(
    target: Target, request: Request, filter_: BoundCondition | None, projection: BoundProjection | None
) -> bool:
    """Whether a local secondary index must fetch unprojected attributes from the table. Raises ValidationException."""
    index = target.index
    if index is None or not index.projected:
        return False
    unfiltered = sorted(filter_.attributes - index.projected) if filter_ is not None else []
    if unfiltered:
        raise one_or_more(
            f"Secondary index {index.name} does not project one or more filter attributes: [{', '.join(unfiltered)}]"
        )
    if request.get("Select") == "ALL_ATTRIBUTES" and not index.is_local:
        raise one_or_more(
            "Select type ALL_ATTRIBUTES is not supported for global secondary index "
            f"{index.name} because its projection type is not ALL"
        )
    missing = sorted(projection.attributes - index.projected) if projection is not None else []
    if missing and not index.is_local:
        raise one_or_more(f"Global secondary index {index.name} does not project [{', '.join(missing)}]")
    return bool(missing) or request.get("Select") == "ALL_ATTRIBUTES"


def start_of(target: Target, start: Item | None) -> tuple[KeyText, ...] | None:
    """The position of an ExclusiveStartKey from ``checked_start``. Raises ValidationException."""
    if start is None:
        return None
    check_own_start(target, start)
    if any(attribute.type not in start.get(attribute.name, ()) for attribute in target.position):
        raise ValidationException(f"{_INVALID_START}: {MISMATCH}")
    texts = [key_text(start[attribute.name]) for attribute in target.position]
    for attribute, text in zip(target.position, texts, strict=True):
        if not text:
            raise ValidationException(
                f"{_INVALID_START}: One or more parameter values are not valid. "
                "The AttributeValue for a key attribute cannot contain an empty "
                f"{'binary' if attribute.type == 'B' else 'string'} value. Key: {attribute.name}"
            )
    if target.table.sort is None:
        texts.append(NO_SORT)
    return tuple(texts)


def checked_start(request: Request) -> Item | None:
    """The normalized ExclusiveStartKey. AWS validates the key after legacy parameters and before expressions."""
    start: Item | None = request.get("ExclusiveStartKey")
    if start is None:
        return None
    try:
        return check_item(start)
    except ValueFault as fault:
        if not any(words in fault.message for words in _WITH_START):
            raise
        raise ValueFault(f"{_INVALID_START}: {fault.message}", f"{_INVALID_START}: {fault.older}") from None


def check_start_partition(target: Target, start: Item | None) -> None:
    """Reject a start key with a wrong number of attributes, or no partition key. Raises ValidationException."""
    if start is not None:
        if len(start) != len({attribute.name for attribute in target.position}):
            raise ValidationException(_INVALID_START)
        _check_start_attributes(target.partition, start)


def check_own_start(target: Target, start: Item | None) -> None:
    """Reject a start key without the index's key attributes; the table's key attributes are checked later."""
    if start is not None:
        check_start_partition(target, start)
        _check_start_attributes(target.sort, start)


def check_table_start(target: Target, start: Item | None) -> None:
    """Reject a start key that isn't a key of the table, with the older message of Scan. Raises ValidationException."""
    types = {attribute.name: attribute.type for attribute in target.position}
    if start is not None and (start.keys() != types.keys() or any(types[name] not in start[name] for name in types)):
        raise ValidationException(f"{_INVALID_START}: {MISMATCH}")


def _check_start_attributes(attributes: tuple[KeyAttribute, ...], start: Item) -> None:
    if any(attribute.name not in start for attribute in attributes):
        raise ValidationException(_INVALID_START)
    if any(attribute.type not in start[attribute.name] for attribute in attributes):
        raise ValidationException(MISMATCH)


class Projection(Protocol):
    """The projection of a page."""

    @property
    def paths(self) -> Sized: ...

    def project(self, item: Item) -> Item: ...


@dataclass(frozen=True, slots=True)
class PageQuery:
    """A page to read, with the target, the bounds, the filter and the projection."""

    target: Target
    bounds: Bounds
    filter: BoundCondition | None
    projection: Projection | None
    fetches: bool
    """Whether a local secondary index fetches whole items from the table."""


def answer_page(database: Database, query: PageQuery, request: Request) -> Answer:
    target = query.target
    number = target.index.number if target.index is not None else None
    limit: int | None = request.get("Limit")
    stored = target.table.stored
    if database.lag is not None and number is not None and not request.get("ConsistentRead"):
        rows, more = database.lag.page(stored, number, query.bounds, limit, PAGE_BYTES_MAX)
    else:
        rows, more = stored.page(number, query.bounds, limit, PAGE_BYTES_MAX)
    counts_only = request.get("Select") == "COUNT"
    is_whole = _is_whole(query)
    level = wants_capacity(request)
    if not (is_whole or (counts_only and query.filter is None)) or (query.fetches and level):
        _spend(query, rows)
    if database.meter is not None:
        _charge(database.meter, query, _consumed(query, request, rows))
    decoded: list[Item] = []
    if counts_only and query.filter is None:
        answer: Answer = {"Count": len(rows), "ScannedCount": len(rows)}
    elif is_whole:
        answer = {"Count": len(rows), "ScannedCount": len(rows), "Items": [database.show(row[1]) for row in rows]}
    else:
        decoded = [decode(row[1]) for row in rows]
        items = _shown(query, decoded)
        answer = {"Count": len(items), "ScannedCount": len(rows)}
        if not counts_only:
            projection = query.projection
            answer["Items"] = items if projection is None else [projection.project(item) for item in items]
    if more and not _is_whole_key(query):
        shown: Any = decoded[-1] if decoded else answer.get("Items", [None])[-1]
        last = shown if isinstance(shown, dict) else decode(rows[-1][1])
        position = _position_of(target, last)
        if not _is_last_key(query, last):
            answer["LastEvaluatedKey"] = position
    if level is not None:
        answer["ConsumedCapacity"] = _consumed(query, request, rows).as_json(level)
    return answer


def _spend(query: PageQuery, rows: list[Row]) -> None:
    conditions = 0 if query.filter is None else query.filter.operators
    shown = 0 if query.projection is None else len(query.projection.paths)
    spend_on_items([row[1] for row in rows], conditions, shown)


def _charge(meter: Meter, query: PageQuery, consumed: Consumed) -> None:
    partition = query.bounds.partition or None
    table, index = query.target.table, query.target.index
    if index is None or index.is_local:
        meter.read(table, None, partition, consumed.table_units + sum(consumed.local_units.values()))
    else:
        meter.read(table, index, partition, sum(consumed.global_units.values()))


def _is_whole(query: PageQuery) -> bool:
    index = query.target.index
    is_all = index is None or not index.projected or query.fetches
    return is_all and query.filter is None and query.projection is None


def _is_whole_key(query: PageQuery) -> bool:
    """Whether the bounds are one key of a table without a sort key, so that nothing can follow."""
    target = query.target
    return target.index is None and target.table.sort is None and bool(query.bounds.partition)


def _position_of(target: Target, item: Item) -> Item:
    try:
        return {attribute.name: item[attribute.name] for attribute in target.position}
    except KeyError as missing:
        raise JSONDecodeError(f"the item has no key attribute {missing}", "", 0) from None


def _is_last_key(query: PageQuery, item: Item) -> bool:
    """Whether an item of a table has the last sort key within the bounds. As in DynamoDB Local, not for prefixes."""
    bounds, sort = query.bounds, query.target.table.sort
    if query.target.index is not None or sort is None:
        return False
    is_prefix = bounds.high is not None and bounds.high[0] == "<" and bounds.low is not None
    end = bounds.high if bounds.forward else None if is_prefix else bounds.low
    return end is not None and end[0] in {"<=", ">="} and key_text(item[sort.name]) == end[1]


def _shown(query: PageQuery, items: list[Item]) -> list[Item]:
    index = query.target.index
    if index is not None and index.projected and not query.fetches:
        items = [index_projection(index, item) for item in items]
    if query.filter is not None:
        matches = query.filter.matches
        return [item for item in items if matches(item)]
    return items


def _consumed(query: PageQuery, request: Mapping[str, Any], rows: list[Row]) -> Consumed:
    target = query.target
    consistent = bool(request.get("ConsistentRead"))
    consumed = Consumed(target.table.name, "Read")
    units = read_units(sum(row[0] for row in rows), consistent=consistent)
    if target.index is None:
        consumed.table_units = units
        return consumed
    consumed.add_index(target.index.name, units, is_local=target.index.is_local)
    if query.fetches:
        consumed.table_units = sum(read_units(item_size(decode(row[1])), consistent=consistent) for row in rows)
    return consumed
