"""Legacy parameters, translated to expression trees.

``Expected``, ``AttributeUpdates``, ``KeyConditions``, ``QueryFilter``, ``ScanFilter`` and ``AttributesToGet`` become
equivalent trees (``keyplan.dynamodb.expressions.tree``) with placeholders, which are bound and evaluated like those of
other requests. Errors have the service's messages. The sources are the developer guide, "Legacy conditional
parameters", and recorded responses (decision 0031).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keyplan.dynamodb.expressions import (
    BoundCondition,
    BoundUpdate,
    NewPlaceholders,
    Placeholders,
    bind_condition,
    bind_update,
    tree,
)
from keyplan.dynamodb.service_errors import RequestFault
from keyplan.dynamodb.values import check_value, less
from keyplan.store.requests.request_expressions import Request
from keyplan.store.tables.item_keys import check_names

_INVALID = "One or more parameter values were invalid: "
_ARGUMENTS = {"NULL": (0, 0), "NOT_NULL": (0, 0), "BETWEEN": (2, 2), "IN": (1, None)}
"""Minimum and maximum number of values of an operator; other operators take one."""
_SCALARS = frozenset({"S", "N", "B"})
_TYPES = {
    **dict.fromkeys(("LE", "LT", "GE", "GT", "CONTAINS", "NOT_CONTAINS", "IN", "BETWEEN"), _SCALARS),
    "BEGINS_WITH": frozenset({"S", "B"}),
}
"""Value types that an operator accepts; EQ and NE accept all."""
_COMPARATORS = {"EQ": "=", "NE": "<>", "LE": "<=", "LT": "<", "GE": ">=", "GT": ">"}
_INDEXABLE = frozenset({"EQ", "LE", "LT", "GE", "GT", "BETWEEN", "BEGINS_WITH"})
_ADDED = frozenset({"N", "SS", "NS", "BS", "L"})
_DELETED = frozenset({"SS", "NS", "BS"})

Conditions = Mapping[str, Mapping[str, Any]]
Plain = tuple[str, list[Mapping[str, Any]]]
"""An operator with its values."""


class _Names(NewPlaceholders):
    def path(self, name: str) -> tree.Path:
        check_names((name,))
        return super().path(name)


@dataclass(frozen=True, slots=True)
class Translated:
    """A condition translated from legacy parameters, with its placeholders."""

    condition: tree.Condition
    given: Placeholders


def expected(request: Request) -> BoundCondition | None:
    """The condition of a write's ``Expected``. Raises RequestFault or ValueFault."""
    conditions: Conditions = request.get("Expected") or {}
    plain = {name: _of_expected(name, condition) for name, condition in conditions.items()}
    return _bound(request, plain, "ConditionExpression")


def filtered(request: Request, member: str) -> BoundCondition | None:
    """The filter of a ``QueryFilter`` or ``ScanFilter``. Raises RequestFault or ValueFault."""
    return _bound(request, _checked(request.get(member) or {}), "FilterExpression")


def _bound(request: Request, conditions: Mapping[str, Plain], kind: str) -> BoundCondition | None:
    operator = request.get("ConditionalOperator")
    if operator is not None and not conditions:
        raise RequestFault("ConditionalOperator cannot be used without Filter or Expected")
    if operator is not None and len(conditions) < 2:
        raise RequestFault("ConditionalOperator can only be used when Filter or Expected has two or more elements")
    if not conditions:
        return None
    translated = _joined(conditions, operator)
    return bind_condition(translated.condition, translated.given, kind)


def key_conditions(request: Request) -> Translated:
    """The condition of ``KeyConditions``. Raises RequestFault or ValueFault if no key supports the condition."""
    plain = _checked(request["KeyConditions"])
    if not plain:
        raise RequestFault("Conditions can be of length 1 or 2 only")
    return _joined(plain, None)


def check_indexable(request: Request) -> None:
    """Reject ``KeyConditions`` with operators that keys don't support, after all other checks. Raises RequestFault."""
    if any(condition["ComparisonOperator"] not in _INDEXABLE for condition in request["KeyConditions"].values()):
        raise RequestFault("Attempted conditional constraint is not an indexable operation")


def attribute_updates(request: Request) -> BoundUpdate | None:
    """The update of ``AttributeUpdates``; None if it is empty. Raises RequestFault or ValueFault."""
    names = _Names()
    actions: list[tree.Action] = []
    for name, update in (request.get("AttributeUpdates") or {}).items():
        actions.append(_action(names, name, update.get("Action") or "PUT", update.get("Value")))
    if not actions:
        return None
    return bind_update(tree.Update(tuple(actions)), names.given())


def _action(names: _Names, name: str, action: str, value: Mapping[str, Any] | None) -> tree.Action:
    path = names.path(name)
    if value is None:
        if action != "DELETE":
            raise RequestFault(f"{_INVALID}Only DELETE action is allowed when no attribute value is specified")
        return tree.Remove(path)
    checked = check_value(dict(value))
    (tag,) = checked
    if action == "PUT":
        return tree.Set(path, names.value(checked))
    if action == "DELETE":
        if tag not in _DELETED:
            raise RequestFault(f"{_INVALID}DELETE action with value is not supported for the type {tag}")
        return tree.Delete(path, names.value(checked))
    if tag not in _ADDED:
        raise RequestFault(f"{_INVALID}ADD action is not supported for the type {tag}")
    if tag == "L":
        # A legacy ADD appends elements to a list; ADD in an UpdateExpression doesn't support lists.
        present = tree.Call("if_not_exists", (path, names.value({"L": []})))
        return tree.Set(path, tree.Call("list_append", (present, names.value(checked))))
    return tree.Add(path, names.value(checked))


# --- conditions ---------------------------------------------------------------------------------------------


def _of_expected(name: str, condition: Mapping[str, Any]) -> Plain:
    value, values = condition.get("Value"), condition.get("AttributeValueList")
    operator, exists = condition.get("ComparisonOperator"), condition.get("Exists")
    if value is not None and values is not None:
        raise _of_attribute("Value and AttributeValueList cannot be used together", name)
    if operator is not None:
        if exists is not None:
            raise _of_attribute("Exists and ComparisonOperator cannot be used together", name)
        if value is None and values is None and operator not in {"NULL", "NOT_NULL"}:
            raise _of_attribute(f"Value or AttributeValueList must be used with ComparisonOperator: {operator}", name)
        return _checked_one(operator, [value] if value is not None else list(values or ()))
    if values is not None:
        raise _of_attribute("AttributeValueList can only be used with a ComparisonOperator", name)
    if exists is not False:
        if value is None:
            shown = "null" if exists is None else "true"
            raise _of_attribute(f"Value must be provided when Exists is {shown}", name)
        return _checked_one("EQ", [value])
    if value is not None:
        raise _of_attribute("Value cannot be used when Exists is false", name)
    return "NULL", []


def _of_attribute(rule: str, name: str) -> RequestFault:
    return RequestFault(f"{_INVALID}{rule} for Attribute: {name}")


def _checked(conditions: Conditions) -> dict[str, Plain]:
    return {
        name: _checked_one(condition["ComparisonOperator"], list(condition.get("AttributeValueList") or ()))
        for name, condition in conditions.items()
    }


def _checked_one(operator: str, values: list[Mapping[str, Any]]) -> Plain:
    least, most = _ARGUMENTS.get(operator, (1, 1))
    checked: list[Mapping[str, Any]] = [check_value(dict(value)) for value in values]
    if len(checked) < least or (most is not None and len(checked) > most):
        raise RequestFault(f"{_INVALID}Invalid number of argument(s) for the {operator} ComparisonOperator")
    tags = [next(iter(value)) for value in checked]
    if len(set(tags)) > 1:
        raise RequestFault(f"{_INVALID}AttributeValues inside AttributeValueList must be of same type")
    allowed = _TYPES.get(operator)
    if tags and allowed is not None and tags[0] not in allowed:
        raise RequestFault(f"{_INVALID}ComparisonOperator {operator} is not valid for {tags[0]} AttributeValue type")
    if operator == "BETWEEN" and less(dict(checked[1]), dict(checked[0])):
        raise RequestFault(
            "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
        )
    return operator, checked


def _joined(conditions: Mapping[str, Plain], operator: str | None) -> Translated:
    names = _Names()
    parts = tuple(_condition(names, name, *plain) for name, plain in conditions.items())
    if len(parts) == 1:
        return Translated(parts[0], names.given())
    return Translated(tree.Or(parts) if operator == "OR" else tree.And(parts), names.given())


def _condition(names: _Names, name: str, operator: str, values: list[Mapping[str, Any]]) -> tree.Condition:
    path = names.path(name)
    operands = [names.value(value) for value in values]
    match operator:
        case "NULL":
            return tree.Call("attribute_not_exists", (path,))
        case "NOT_NULL":
            return tree.Call("attribute_exists", (path,))
        case "BETWEEN":
            return tree.Between(path, operands[0], operands[1])
        case "IN":
            # IN in an expression accepts at most 100 values; the legacy IN accepts any number.
            equal = tuple(tree.Compare("=", path, operand) for operand in operands)
            return equal[0] if len(equal) == 1 else tree.Or(equal)
        case "BEGINS_WITH":
            return tree.Call("begins_with", (path, operands[0]))
        case "CONTAINS":
            return tree.Call("contains", (path, operands[0]))
        case "NOT_CONTAINS":
            # A missing attribute doesn't satisfy the condition.
            there = tree.Call("attribute_exists", (path,))
            return tree.And((there, tree.Not(tree.Call("contains", (path, operands[0])))))
        case _:
            return tree.Compare(_COMPARATORS[operator], path, operands[0])
