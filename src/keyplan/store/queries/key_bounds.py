"""From a KeyConditionExpression to the bounds that the storage reads.

An application asks the same question again and again with other values. So what an expression means for a
table's key is remembered by its text: which placeholder stands for which key attribute. The next request
with that text only takes its values from those placeholders. Whatever is unusual about a request (another
type, an empty value) goes the long way, which knows all the errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keyplan.dynamodb.expressions import Expression, KeyCondition, KeyTerm, Placeholders, bind_key_condition
from keyplan.dynamodb.values import check_value, key_text
from keyplan.store.queries.query_pages import Target
from keyplan.store.storage.key_layouts import Bound, Bounds, KeyText
from keyplan.store.tables.item_keys import check_not_empty
from keyplan.store.tables.table import KeyAttribute

PLANS_MAX = 1024
"""How many plans a table keeps before it starts anew."""

_CODE_POINT_MAX = 0x10FFFF
_SURROGATE_FIRST, _SURROGATE_LAST = 0xD800, 0xDFFF


@dataclass(frozen=True, slots=True)
class Plan:
    """Where the values of a key condition are found: placeholders with the type they must have."""

    partition: tuple[tuple[str, str], ...]
    equal: tuple[tuple[str, str], ...]
    operator: str | None
    operands: tuple[tuple[str, str], ...]
    count: int
    """How many placeholders there are; a request with more has one that isn't used."""


def planned_bounds(target: Target, request: Mapping[str, Any], *, forward: bool) -> Bounds | None:
    """The bounds by a remembered plan; None when there is none for this request or it needs a closer look."""
    plan = target.table.plans.get(_plan_key(target, request))
    values = request.get("ExpressionAttributeValues")
    if plan is None or values is None or len(values) != plan.count:
        return None
    partition = _texts(values, plan.partition)
    equal = _texts(values, plan.equal)
    operands = _texts(values, plan.operands)
    if partition is None or equal is None or operands is None:
        return None
    if plan.operator is None:
        return Bounds(partition, equal, forward=forward)
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
        if type(text) is not str or not text:
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
    """A key condition, bound to the key of the target.

    Raises:
        ExpressionFault: it isn't one.
        ValidationException: a value is empty.
    """
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
        check_not_empty(attribute, value, index)
    by_name = {attribute.name: attribute for attribute in attributes}
    for term in condition.sort:
        for value in term.values:
            check_not_empty(by_name[term.name], value, index)
    return condition


def remember(target: Target, request: Mapping[str, Any], given: Placeholders, condition: KeyCondition) -> None:
    """Keep the plan of a request that was fine and has no other expression."""
    values: dict[str, Any] = request["ExpressionAttributeValues"]
    placeholder_of = {id(given.value(name)): name for name in values}
    if len(placeholder_of) < len(values):
        return  # one object stands behind two placeholders
    types = {attribute.name: attribute.type for attribute in target.sort}
    equal = [term for term in condition.sort if term.operator == "="]
    last = condition.sort[-1] if len(equal) < len(condition.sort) else None

    def places(term: KeyTerm) -> tuple[tuple[str, str], ...]:
        return tuple((placeholder_of[id(value)], types[term.name]) for value in term.values)

    plan = Plan(
        _partition_places(target.partition, condition, placeholder_of),
        tuple(places(term)[0] for term in equal),
        last.operator if last is not None else None,
        places(last) if last is not None else (),
        len(values),
    )
    plans = target.table.plans
    if len(plans) >= PLANS_MAX:
        plans.clear()
    plans[_plan_key(target, request)] = plan


def _partition_places(
    attributes: tuple[KeyAttribute, ...], condition: KeyCondition, placeholder_of: Mapping[int, str]
) -> tuple[tuple[str, str], ...]:
    return tuple(
        (placeholder_of[id(value)], attribute.type)
        for attribute, value in zip(attributes, condition.partition, strict=True)
    )


def bounds_of(condition: KeyCondition, *, forward: bool) -> Bounds:
    """The bounds of a bound key condition."""
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
    """The first key after all that begin with ``prefix``; None when there is none."""
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


def contains(bounds: Bounds, rest: tuple[KeyText, ...]) -> bool:
    """Whether a position (without its partition attributes) lies within the sort conditions."""
    if rest[: len(bounds.equal)] != bounds.equal:
        return False
    limits = [bound for bound in (bounds.low, bounds.high) if bound is not None]
    return not limits or all(_holds(rest[len(bounds.equal)], bound) for bound in limits)


def _holds(position: KeyText, bound: Bound) -> bool:
    operator, limit = bound
    # The order of UTF-8 bytes, which is SQLite's.
    left = position.encode() if isinstance(position, str) else position
    right = limit.encode() if isinstance(limit, str) else limit
    if operator == ">":
        return left > right
    if operator == ">=":
        return left >= right
    return left < right if operator == "<" else left <= right
