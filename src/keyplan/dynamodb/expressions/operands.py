"""Operands of conditions and updates, bound: their type where it is known, and how to read them."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from keyplan.dynamodb.expressions import tree
from keyplan.dynamodb.expressions.expression_errors import ExpressionFault
from keyplan.dynamodb.expressions.expression_rules import check_operands
from keyplan.dynamodb.expressions.paths import Getter, Steps, getter, resolve, show
from keyplan.dynamodb.expressions.placeholders import Placeholders
from keyplan.dynamodb.values import AttributeValue

SIZED = frozenset({"S", "B", "SS", "NS", "BS", "L", "M"})


@dataclass(slots=True)  # not frozen: one is made for every operand of every request
class Bound:
    """An operand with its placeholders resolved.

    ``tag`` is the type where the expression alone tells it: of a value, and of ``size(...)``; None for a
    path. ``steps`` is set for a path, ``value`` for a value.
    """

    get: Getter
    tag: str | None = None
    steps: Steps | None = None
    value: AttributeValue | None = None


def bind_operand(operand: tree.Operand, given: Placeholders) -> Bound:
    """Bind an operand of a condition: a path, a value or ``size(...)``."""
    if isinstance(operand, tree.Path):
        steps = resolve(operand, given)
        return Bound(getter(steps), steps=steps)
    if isinstance(operand, tree.Value):
        value = given.value(operand.name)
        return Bound(lambda _item: value, tag=next(iter(value)), value=value)
    if isinstance(operand, tree.Call):
        (inner,) = bind_arguments(operand, given)
        check_type(inner, "size", SIZED)
        return Bound(_size_of(inner.get), tag="N")
    raise ExpressionFault("Arithmetic is not allowed in a condition")  # pragma: no cover - the grammar has none


def bind_arguments(call: tree.Call, given: Placeholders) -> list[Bound]:
    """Bind the arguments of a function, and check their number."""
    arguments = [bind_operand(argument, given) for argument in call.arguments]
    check_operands(call)
    return arguments


def check_type(operand: Bound, name: str, allowed: Collection[str]) -> None:
    """Refuse an operand whose known type the operator or function ``name`` doesn't take."""
    if operand.tag is not None and operand.tag not in allowed:
        raise refuse_type(name, operand.tag)


def refuse_type(name: str, text: str) -> ExpressionFault:
    """The error of an operand of a wrong type."""
    return ExpressionFault(
        f"Incorrect operand type for operator or function; operator or function: {name}, operand type: {text}"
    )


def check_distinct(name: str, first: Steps | None, *others: Steps | None) -> None:
    """Refuse a path that is compared to itself; what isn't a path is None."""
    if first is not None and first in others:
        raise ExpressionFault(
            "The first operand must be distinct from the remaining operands for this operator or function; "
            f"operator: {name}, first operand: {show(first)}"
        )


def _size_of(get: Getter) -> Getter:
    def read(item: dict[str, AttributeValue]) -> AttributeValue | None:
        value = get(item)
        if value is None:
            return None
        ((tag, content),) = value.items()
        measure = _MEASURES.get(tag)
        return None if measure is None else {"N": str(measure(content))}

    return read


_MEASURES: dict[str, Callable[[Any], int]] = {
    # DynamoDB counts UTF-16 code units here, not the bytes that it bills.
    "S": lambda text: len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2,
    "B": lambda text: len(b64decode(text)),
    "SS": len,
    "NS": len,
    "BS": len,
    "L": len,
    "M": len,
}
