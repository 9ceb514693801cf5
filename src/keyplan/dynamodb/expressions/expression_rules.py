"""What an expression may hold, judged on its tree alone: functions, reserved words and limits.

The service judges in two rounds, and this is the first: names of functions and attributes, over the whole
text. The second, which needs the placeholders, happens while binding (``operands``, ``conditions``,
``updates``). Source of the limits: the developer guide, "Quotas: Expression parameters"; the texts of errors
are those of the service.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from keyplan.dynamodb.expressions import tree
from keyplan.dynamodb.expressions.expression_errors import ExpressionFault
from keyplan.dynamodb.expressions.reserved_words import RESERVED_WORDS

__all__ = [
    "check_condition",
    "check_in",
    "check_operands",
    "check_projection",
    "check_size",
    "check_update",
    "count_operators",
]

EXPRESSION_BYTES_MAX = 4096
OPERATORS_MAX = 300
IN_OPTIONS_MAX = 100
LIST_INDEX_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class _Function:
    """How many operands a function takes, where it is allowed, and whether the first must be a path."""

    operands: int
    in_update: bool = False
    as_condition: bool = False
    path_first: bool = False


FUNCTIONS = {
    "attribute_exists": _Function(1, as_condition=True, path_first=True),
    "attribute_not_exists": _Function(1, as_condition=True, path_first=True),
    "attribute_type": _Function(2, as_condition=True),
    "begins_with": _Function(2, as_condition=True),
    "contains": _Function(2, as_condition=True),
    "size": _Function(1),
    "if_not_exists": _Function(2, in_update=True, path_first=True),
    "list_append": _Function(2, in_update=True),
}
# list_append is a whole value of SET; it can't be an operand of another function or of a sum.
_WHOLE_VALUES = frozenset({"list_append"})


def check_size(text: str, *, tells_size: bool = True) -> None:
    """Refuse an empty text and one of more than 4 KB, whose size the service tells of conditions and filters only."""
    if not text:
        raise ExpressionFault("The expression can not be empty;")
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > EXPRESSION_BYTES_MAX:
        result = f" expression size: {size}" if tells_size else ""
        raise ExpressionFault(f"Expression size has exceeded the maximum allowed size;{result}")


def check_condition(condition: tree.Condition) -> None:
    """Refuse unknown or misplaced functions, reserved words and list indexes out of range."""
    match condition:
        case tree.And(conditions) | tree.Or(conditions):
            for inner in conditions:
                check_condition(inner)
        case tree.Not():
            check_condition(_below_nots(condition))
        case tree.Compare(_, left, right):
            _check_all((left, right))
        case tree.Between(operand, low, high):
            _check_all((operand, low, high))
        case tree.In(operand, options):
            _check_all((operand, *options))
        case tree.Call():
            _check_call(condition, as_condition=True)


def check_projection(projection: tree.Projection) -> None:
    """Refuse reserved words and list indexes out of range."""
    _check_all(projection.paths)


def check_update(update: tree.Update) -> None:
    """Refuse unknown or misplaced functions, reserved words and list indexes out of range."""
    for action in update.actions:
        _check_path(action.path)
        if isinstance(action, tree.Set):
            _check_all((action.value,), in_update=True)


def _below_nots(condition: tree.Condition) -> tree.Condition:
    """What a chain of NOTs negates; the chain can be as long as the text."""
    while isinstance(condition, tree.Not):
        condition = condition.condition
    return condition


def _check_all(operands: Iterable[tree.Operand], *, in_update: bool = False, nested: bool = False) -> None:
    for operand in operands:
        match operand:
            case tree.Path():
                _check_path(operand)
            case tree.Call():
                _check_call(operand, in_update=in_update, nested=nested)
            case tree.Arithmetic(_, left, right):
                _check_all((left, right), in_update=in_update, nested=True)
            case tree.Value():
                pass


def _check_call(call: tree.Call, *, as_condition: bool = False, in_update: bool = False, nested: bool = False) -> None:
    name = call.function
    function = FUNCTIONS.get(name)
    if function is None:
        raise ExpressionFault(f"Invalid function name; function: {name}")
    if function.in_update != in_update:
        where = "an update" if in_update else "a condition"
        raise ExpressionFault(f"The function is not allowed in {where} expression; function: {name}")
    if function.as_condition != as_condition or (nested and name in _WHOLE_VALUES):
        raise ExpressionFault(f"The function is not allowed to be used this way in an expression; function: {name}")
    _check_all(call.arguments, in_update=in_update, nested=True)


def _check_path(path: tree.Path) -> None:
    for part in path.parts:
        if isinstance(part, int):
            if part > LIST_INDEX_MAX:
                raise ExpressionFault(f"List index is not within the allowable range; index: [{part}]")
        elif part.upper() in RESERVED_WORDS:
            raise ExpressionFault(f"Attribute name is a reserved keyword; reserved keyword: {part}")


# The second round's checks that need no values.


def check_operands(call: tree.Call) -> None:
    """Refuse a wrong number of operands, and a first operand that must be a path but isn't."""
    name = call.function
    function = FUNCTIONS[name]
    if len(call.arguments) != function.operands:
        raise ExpressionFault(
            "Incorrect number of operands for operator or function; "
            f"operator or function: {name}, number of operands: {len(call.arguments)}"
        )
    if function.path_first and not isinstance(call.arguments[0], tree.Path):
        raise ExpressionFault(f"Operator or function requires a document path; operator or function: {name}")


def check_in(condition: tree.In) -> None:
    """Refuse more than 100 options of IN."""
    if len(condition.options) > IN_OPTIONS_MAX:
        raise ExpressionFault(
            f"The IN operator is provided with too many operands; number of operands: {len(condition.options)}"
        )


def count_operators(expression: tree.Condition | tree.Update) -> int:
    """How many operators and functions an expression has. NOT, AND, OR, comparisons and functions count one
    each.
    """
    count = 0
    stack: list[tree.Condition | tree.Operand | tree.Action] = (
        list(expression.actions) if isinstance(expression, tree.Update) else [expression]
    )
    while stack:
        node = stack.pop()
        count += 1
        match node:
            case tree.Path() | tree.Value():
                count -= 1
            case tree.And(conditions) | tree.Or(conditions):
                count += len(conditions) - 2
                stack.extend(conditions)
            case tree.Not(inner):
                stack.append(inner)
            case tree.Compare(_, left, right) | tree.Arithmetic(_, left, right):
                stack += (left, right)
            case tree.Between(operand, low, high):
                stack += (operand, low, high)
            case tree.In(operand, options):
                stack += (operand, *options)
            case tree.Call(_, arguments):
                stack.extend(arguments)
            case tree.Set(_, value):
                stack.append(value)
            case tree.Remove() | tree.Add() | tree.Delete():
                pass
    return count
