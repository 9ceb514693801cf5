"""Evaluates a recorded case. Results have the format of the recorded responses."""

from __future__ import annotations

import re
from typing import Any

from keyplan.dynamodb.expressions import (
    ExpressionFault,
    Placeholders,
    bind_condition,
    bind_key_condition,
    bind_projection,
    bind_update,
)
from keyplan.dynamodb.values import Item, check_item, less, same
from tests.expressions.cases import ITEM, Case

TYPES = {"pk": "S", "sk": "N"}


def our_answer(kind: str, case: Case, item: Item = ITEM) -> Any:
    """``{"error": message}``, or the result for the item. Messages are in the older wording of DynamoDB Local."""
    try:
        return _answer(kind, case, check_item(item))
    except ExpressionFault as fault:
        return {"error": fault.older}


def _answer(kind: str, case: Case, item: Item) -> Any:
    given = Placeholders(case["names"], case["values"])
    text = case["text"]
    if kind == "FilterExpression":
        condition = bind_condition(text, given, kind)
        given.check_unused()
        return condition.matches(item)
    if kind == "ProjectionExpression":
        projection = bind_projection(text, given)
        given.check_unused()
        return projection.project(item)
    if kind == "UpdateExpression":
        update = bind_update(text, given)
        given.check_unused()
        updated = update.first_of(("pk", "sk"))
        if updated is not None:
            attribute = f"Cannot update attribute {updated}. This attribute is part of the key"
            raise ExpressionFault(f"One or more parameter values were invalid: {attribute}")
        return update.apply(item)
    key = bind_key_condition(text, given, partition=["pk"], sort=["sk"], types=TYPES)
    given.check_unused()
    return same(key.partition[0], item["pk"]) and all(_holds(term, item) for term in key.sort)


def _holds(term: Any, item: Item) -> bool:
    value = item[term.name]
    first, last = term.values[0], term.values[-1]
    before, after = bool(less(value, first)), bool(less(first, value))
    match term.operator:
        case "=":
            return same(value, first)
        case "<":
            return before
        case "<=":
            return not after
        case ">":
            return after
        case ">=":
            return not before
        case "BETWEEN":
            return not before and less(last, value) is False
        case _:
            return bool(value["S"].startswith(first["S"]))


def normal(answer: Any) -> Any:
    """A response of DynamoDB Local with types in its error messages sorted, because their order varies."""
    if not isinstance(answer, dict):
        return answer
    if "error" in answer:
        return {**answer, "error": re.sub(r"\{[A-Z,]+\}", _in_order, answer["error"])}
    return check_item(answer)


def _in_order(types: re.Match[str]) -> str:
    return f"{{{','.join(sorted(types.group().strip('{}').split(',')))}}}"
