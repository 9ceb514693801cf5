"""What DynamoDB counts for the statement of an UpdateItem, which it limits to 400 KB by itself, whatever the item is.

The service publishes nothing of it. Public recordings of its answers (October 2026, eight of ten regions asked) give
the sizes to the byte: an UpdateExpression costs three bytes, each action what stands below and its path, and each
operand itself. Neither the key nor what the statement leaves alone counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from keyplan.dynamodb.expressions import tree
from keyplan.dynamodb.expressions.paths import Steps, resolve
from keyplan.dynamodb.expressions.placeholders import Placeholders
from keyplan.dynamodb.values import value_size

__all__ = ["statement_bytes"]

_UPDATE_BYTES = 3
_WRITING_BYTES = 19
_REMOVING_BYTES = 1
_TARGET_STEP_BYTES = 4
"""Of each step of a path that is written, after the first."""
_READING_BYTES = 1
_READ_STEP_BYTES = 14
_FUNCTION_BYTES = {"+": 34, "-": 37, "list_append": 37, "if_not_exists": 39}


def statement_bytes(actions: Sequence[tree.Action], targets: Sequence[Steps], given: Placeholders) -> int:
    """The bytes that the service counts for the actions of an update; ``targets`` are their resolved paths."""
    return _UPDATE_BYTES + sum(
        _action_bytes(action, given) + _target_bytes(steps) for action, steps in zip(actions, targets, strict=True)
    )


def _action_bytes(action: tree.Action, given: Placeholders) -> int:
    match action:
        case tree.Set(_, operand):
            return _WRITING_BYTES + _operand_bytes(operand, given)
        case tree.Add(_, value):
            return _WRITING_BYTES + value_size(given.value(value.name))
        case tree.Remove() | tree.Delete():
            return _REMOVING_BYTES


def _operand_bytes(operand: tree.Operand, given: Placeholders) -> int:
    match operand:
        case tree.Value(name):
            return value_size(given.value(name))
        case tree.Path():
            return _READING_BYTES + sum(_READ_STEP_BYTES + _step_bytes(step) for step in resolve(operand, given))
        case tree.Arithmetic(operator, left, right):
            return _FUNCTION_BYTES[operator] + _operand_bytes(left, given) + _operand_bytes(right, given)
        case tree.Call(function, arguments):
            return _FUNCTION_BYTES[function] + sum(_operand_bytes(argument, given) for argument in arguments)


def _target_bytes(steps: Steps) -> int:
    return _TARGET_STEP_BYTES * (len(steps) - 1) + sum(map(_step_bytes, steps))


def _step_bytes(step: str | int) -> int:
    return len(str(step)) if isinstance(step, int) else len(step.encode("utf-8", "surrogatepass"))
