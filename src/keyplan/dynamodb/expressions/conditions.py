"""Conditions bound to their placeholders: functions from an item to a boolean.

If an attribute is missing, or the types differ, every comparison except ``<>`` is false.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Collection
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from keyplan.dynamodb.expressions import tree
from keyplan.dynamodb.expressions.expression_errors import ExpressionFault
from keyplan.dynamodb.expressions.expression_rules import check_in, check_operands
from keyplan.dynamodb.expressions.paths import Getter, Steps, getter, resolve, show
from keyplan.dynamodb.expressions.placeholders import Placeholders
from keyplan.dynamodb.values import AttributeValue, Item, less, same

SIZED = frozenset({"S", "B", "SS", "NS", "BS", "L", "M"})


@dataclass(slots=True)  # not frozen, for speed: created for every operand of every request
class Bound:
    """An operand with its placeholders resolved.

    ``tag`` is the type of a value or of ``size(...)``; None for a path, whose type depends on the item. ``steps``
    is set for a path, ``value`` for a value.
    """

    get: Getter
    tag: str | None = None
    steps: Steps | None = None
    value: AttributeValue | None = None


def bind_operand(operand: tree.Operand, given: Placeholders) -> Bound:
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
    raise ExpressionFault("Arithmetic is not allowed in a condition")  # pragma: no cover - the grammar excludes it


def bind_arguments(call: tree.Call, given: Placeholders) -> list[Bound]:
    arguments = [bind_operand(argument, given) for argument in call.arguments]
    check_operands(call)
    return arguments


def check_type(operand: Bound, name: str, allowed: Collection[str]) -> None:
    """Reject an operand of a known type that the operator or function ``name`` doesn't accept."""
    if operand.tag is not None and operand.tag not in allowed:
        raise refuse_type(name, operand.tag)


def refuse_type(name: str, text: str) -> ExpressionFault:
    return ExpressionFault(
        f"Incorrect operand type for operator or function; operator or function: {name}, operand type: {text}"
    )


def check_distinct(name: str, first: Steps | None, *others: Steps | None) -> None:
    """Reject a comparison of a path with itself; an operand that isn't a path is None."""
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
    # size() counts UTF-16 code units, not billed bytes.
    "S": lambda text: len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2,
    "B": lambda text: len(b64decode(text)),
    **dict.fromkeys(("SS", "NS", "BS", "L", "M"), len),
}


Predicate: TypeAlias = Callable[[Item], bool]

ORDERED = frozenset({"S", "N", "B"})
_PREFIXED = frozenset({"S", "B"})
_SCALARS = frozenset({"S", "N", "B", "BOOL", "NULL"})
# The service prints these lists in a fixed order.
_TYPE_NAMES = "{N,BS,L,B,NULL,M,S,SS,NS,BOOL}"
_TYPES = frozenset(_TYPE_NAMES[1:-1].split(","))
_ANY_TYPE = "{NS,DOUBLE,N,DECIMALSET,BOOL,HD,DICT,DOUBLESET,S,L,INTSET,HDS,FS,FLOAT,M,SS,NULL,B,DECIMAL,BS,INT}"
_READERS: dict[str, Callable[[Any], Any]] = {"S": str, "N": Decimal, "B": b64decode}


def bind_predicate(condition: tree.Condition, given: Placeholders) -> Predicate:
    """The function that evaluates a condition on an item. Raises ``ExpressionFault`` (without the prefix)."""
    match condition:
        case tree.And(conditions):
            return _all([bind_predicate(inner, given) for inner in conditions])
        case tree.Or(conditions):
            return _any([bind_predicate(inner, given) for inner in conditions])
        case tree.Not(inner):
            negated = True
            while isinstance(inner, tree.Not):
                negated = not negated
                inner = inner.condition
            holds = bind_predicate(inner, given)
            return (lambda item: not holds(item)) if negated else holds
        case tree.Compare():
            return _compare(condition, given)
        case tree.Between():
            return _between(condition, given)
        case tree.In():
            return _in(condition, given)
        case tree.Call():
            return _FUNCTIONS[condition.function](condition, given)


def _all(conditions: list[Predicate]) -> Predicate:
    if len(conditions) == 2:
        first, second = conditions
        return lambda item: first(item) and second(item)

    def holds(item: Item) -> bool:
        for condition in conditions:  # noqa: SIM110 - a loop costs half as much as a generator here
            if not condition(item):
                return False
        return True

    return holds


def _any(conditions: list[Predicate]) -> Predicate:
    def holds(item: Item) -> bool:
        for condition in conditions:  # noqa: SIM110 - a loop costs half as much as a generator here
            if condition(item):
                return True
        return False

    return holds


def _compare(compare: tree.Compare, given: Placeholders) -> Predicate:
    operator = compare.operator
    left, right = bind_operand(compare.left, given), bind_operand(compare.right, given)
    check_distinct(operator, left.steps, right.steps)
    if operator == "=":
        return _equal(left, right)
    if operator == "<>":
        equal = _equal(left, right)
        return lambda item: not equal(item)
    for operand in (left, right):
        check_type(operand, operator, ORDERED)
    if right.value is not None:
        return _ordered_constant(operator, left.get, right.value)
    return _ordered(operator, left.get, right.get)


def _equal(left: Bound, right: Bound) -> Predicate:
    get = left.get
    if right.value is not None and right.tag in _SCALARS:
        wanted = right.value
        if left.steps is not None and len(left.steps) == 1:
            name = str(left.steps[0])
            return lambda item: item.get(name) == wanted
        return lambda item: get(item) == wanted
    get_right = right.get

    def holds(item: Item) -> bool:
        first, second = get(item), get_right(item)
        return first is not None and second is not None and same(first, second)

    return holds


def _ordered_constant(operator: str, get: Getter, bound: AttributeValue) -> Predicate:
    ((tag, content),) = bound.items()
    read = _READERS[tag]
    limit = read(content)
    tests: dict[str, Callable[[Any], bool]] = {
        "<": lambda result: result < limit,
        "<=": lambda result: result <= limit,
        ">": lambda result: result > limit,
        ">=": lambda result: result >= limit,
    }
    test = tests[operator]

    def holds(item: Item) -> bool:
        value = get(item)
        return value is not None and tag in value and test(read(value[tag]))

    return holds


def _ordered(operator: str, get_left: Getter, get_right: Getter) -> Predicate:
    def holds(item: Item) -> bool:
        left, right = get_left(item), get_right(item)
        if left is None or right is None:
            return False
        before = less(left, right)
        if before is None:
            return False
        if operator == "<":
            return before
        if operator == ">=":
            return not before
        after = bool(less(right, left))
        return after if operator == ">" else not after

    return holds


def _between(between: tree.Between, given: Placeholders) -> Predicate:
    operand = bind_operand(between.operand, given)
    low, high = bind_operand(between.low, given), bind_operand(between.high, given)
    check_distinct("BETWEEN", operand.steps, low.steps, high.steps)
    for bound in (operand, low, high):
        check_type(bound, "BETWEEN", ORDERED)
    if low.value is not None and high.value is not None:
        _check_bounds(low.value, high.value)
    get, get_low, get_high = operand.get, low.get, high.get

    def holds(item: Item) -> bool:
        value, least, most = get(item), get_low(item), get_high(item)
        if value is None or least is None or most is None:
            return False
        return less(value, least) is False and less(most, value) is False

    return holds


def _check_bounds(low: AttributeValue, high: AttributeValue) -> None:
    order = less(high, low)
    if order is False:
        return
    if order is None:
        requirement = "requires same data type for lower and upper bounds"
    else:
        requirement = "requires upper bound to be greater than or equal to lower bound"
    raise ExpressionFault(
        f"The BETWEEN operator {requirement}; lower bound operand: AttributeValue: {_shown(low)}, "
        f"upper bound operand: AttributeValue: {_shown(high)}"
    )


def _shown(value: AttributeValue) -> str:
    ((tag, content),) = value.items()
    if tag == "B":
        size = len(b64decode(content))
        content = f"java.nio.HeapByteBuffer[pos=0 lim={size} cap={size}]"
    return f"{{{tag}:{content}}}"


def _in(condition: tree.In, given: Placeholders) -> Predicate:
    operand = bind_operand(condition.operand, given)
    options = [bind_operand(option, given) for option in condition.options]
    check_in(condition)
    check_distinct("IN", operand.steps, *(option.steps for option in options))
    return _any([_equal(operand, option) for option in options])


def _exists(call: tree.Call, given: Placeholders) -> Predicate:
    get = bind_arguments(call, given)[0].get
    return lambda item: get(item) is not None


def _not_exists(call: tree.Call, given: Placeholders) -> Predicate:
    get = bind_arguments(call, given)[0].get
    return lambda item: get(item) is None


def _two_operands(call: tree.Call, given: Placeholders) -> tuple[Bound, Bound]:
    first, second = bind_arguments(call, given)
    check_distinct(call.function, first.steps, second.steps)
    return first, second


def _attribute_type(call: tree.Call, given: Placeholders) -> Predicate:
    operand, wanted = _two_operands(call, given)
    if wanted.tag != "S":
        raise refuse_type("attribute_type", wanted.tag or _ANY_TYPE)
    tag: str = (wanted.value or {})["S"]
    if tag not in _TYPES:
        raise ExpressionFault(f"Invalid attribute type name found; type: {tag}, valid types: {_TYPE_NAMES}")
    get = operand.get

    def holds(item: Item) -> bool:
        value = get(item)
        return value is not None and tag in value

    return holds


def _begins_with(call: tree.Call, given: Placeholders) -> Predicate:
    operand, prefix = _two_operands(call, given)
    for argument in (operand, prefix):
        check_type(argument, "begins_with", _PREFIXED)
    get, get_prefix = operand.get, prefix.get

    def holds(item: Item) -> bool:
        value, start = get(item), get_prefix(item)
        if value is None or start is None:
            return False
        if "S" in value and "S" in start:
            return bool(value["S"].startswith(start["S"]))
        if "B" in value and "B" in start:
            return b64decode(value["B"]).startswith(b64decode(start["B"]))
        return False

    return holds


def _contains(call: tree.Call, given: Placeholders) -> Predicate:
    operand, wanted = _two_operands(call, given)
    get, get_wanted = operand.get, wanted.get

    def holds(item: Item) -> bool:
        value, part = get(item), get_wanted(item)
        return value is not None and part is not None and contains(value, part)

    return holds


def contains(value: AttributeValue, part: AttributeValue) -> bool:
    """Whether a string or binary contains a substring, or a set or list contains an element."""
    ((tag, content),) = value.items()
    if tag == "L":
        return any(same(element, part) for element in content)
    ((kind, wanted),) = part.items()
    if tag == kind == "S" or tag == f"{kind}S":
        return wanted in content
    return tag == kind == "B" and b64decode(wanted) in b64decode(content)


_FUNCTIONS: dict[str, Callable[[tree.Call, Placeholders], Predicate]] = {
    "attribute_exists": _exists,
    "attribute_not_exists": _not_exists,
    "attribute_type": _attribute_type,
    "begins_with": _begins_with,
    "contains": _contains,
}
