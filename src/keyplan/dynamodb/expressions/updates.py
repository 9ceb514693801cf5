"""Updates bound to their placeholders: the effect of each action on an item, and writes to document paths.

Every action reads the item as it was before the update; then all values are written together, into a new item that
shares unchanged values. List indexes refer to the list as it was before the update; an index beyond its end appends.
The semantics of SET, REMOVE, ADD and DELETE are those of the developer guide, "Update expressions".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, TypeAlias

from keyplan.dynamodb.expressions import tree
from keyplan.dynamodb.expressions.conditions import check_distinct, refuse_type
from keyplan.dynamodb.expressions.expression_errors import ExpressionFault, UpdateFault
from keyplan.dynamodb.expressions.expression_rules import check_operands
from keyplan.dynamodb.expressions.paths import Getter, Steps, getter, resolve
from keyplan.dynamodb.expressions.placeholders import Placeholders
from keyplan.dynamodb.values import AttributeValue, Item, NumberError, add, sort_members, subtract, value_size
from keyplan.dynamodb.values.validation import CONTAINER_DEPTH_MAX

TOO_DEEP = "Nesting Levels have exceeded supported limits"
_MEMBERS_MAX = 400 * 1024
"""The maximum number of members that an update writes; each takes at least a byte, so an item with more is too large.
"""
INVALID_PATH = "The document path provided in the update expression is invalid for update"
REMOVED: Final[AttributeValue] = {}
"""A marker that removes the existing value. No attribute value is an empty dict."""


@dataclass(frozen=True, slots=True)
class Write:
    """A value to write at a path, or ``REMOVED``."""

    steps: Steps
    value: AttributeValue


def write_all(writes: Iterable[Write], item: Item) -> Item:
    """The item after the writes; the given item isn't changed.

    Raises ``UpdateFault`` for a path through a value that is missing, or isn't a map or list.
    """
    copy = _Copy(item)
    # Sort by list index, so that appends keep their order. Names and indexes at one position were already rejected.
    ordered = sorted(writes, key=attrgetter("steps"))
    for write in ordered:
        if write.value is not REMOVED:
            copy.put(write.steps, write.value)
    for write in reversed(ordered):
        if write.value is REMOVED:
            copy.remove(write.steps)
    copy.append()
    return copy.item


class _Copy:
    """A shallow copy of an item that copies each container on its first write."""

    def __init__(self, item: Item) -> None:
        self.item: Item = dict(item)
        self._copied: dict[Steps, Any] = {}
        self._appends: list[tuple[list[AttributeValue], AttributeValue]] = []
        self._members = 0
        """The number of members inspected."""

    def _container(self, steps: Steps) -> Any:
        holder: Any = self.item
        for depth in range(1, len(steps)):
            prefix = steps[:depth]
            inner = self._copied.get(prefix)
            if inner is None:
                value = _held(holder, steps[depth - 1])
                tag = "L" if isinstance(steps[depth], int) else "M"
                if value is None or tag not in value:
                    raise UpdateFault(INVALID_PATH)
                inner = value[tag].copy()
                holder[steps[depth - 1]] = {tag: inner}
                self._copied[prefix] = inner
            holder = inner
        return holder

    def put(self, steps: Steps, value: AttributeValue) -> None:
        if ("M" in value or "L" in value) and self._is_deeper(value, CONTAINER_DEPTH_MAX - len(steps) + 1):
            raise UpdateFault(TOO_DEEP)
        holder = self._container(steps)
        last = steps[-1]
        if isinstance(last, int) and last >= len(holder):
            # Append after the removals, whose indexes refer to the original list.
            self._appends.append((holder, value))
        else:
            holder[last] = value

    def _is_deeper(self, value: AttributeValue, levels: int) -> bool:
        layer = [value]
        while True:
            lists = [each["L"] for each in layer if "L" in each]
            maps = [each["M"] for each in layer if "M" in each]
            if not lists and not maps:
                return False
            if levels == 0:
                return True
            levels -= 1
            layer = [each for inner in lists for each in inner]
            layer += [each for inner in maps for each in inner.values()]
            self._members += len(layer)
            if self._members > _MEMBERS_MAX:
                return False

    def append(self) -> None:
        for elements, value in self._appends:
            elements.append(value)

    def remove(self, steps: Steps) -> None:
        holder = self._container(steps)
        if _held(holder, steps[-1]) is not None:
            del holder[steps[-1]]


def _held(holder: Any, step: str | int) -> AttributeValue | None:
    if isinstance(step, str):
        value: AttributeValue | None = holder.get(step)
        return value
    return holder[step] if step < len(holder) else None


Evaluation: TypeAlias = Callable[[Item], Write | None]
"""What an action writes, given the item before the update; None for no write."""

MISSING = "The provided expression refers to an attribute that does not exist in the item"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"

_ADDABLE = frozenset({"N", "SS", "NS", "BS"})
_DELETABLE = frozenset({"SS", "NS", "BS"})
_LONG_NAMES = {"S": "STRING", "N": "NUMBER", "B": "BINARY", "BOOL": "BOOL", "NULL": "NULL", "L": "LIST", "M": "MAP"}
"""Of the types that ADD or DELETE doesn't accept."""
_Compute: TypeAlias = Callable[[Item], AttributeValue]


def bind_value(action: tree.Action, steps: Steps, given: Placeholders) -> Evaluation:
    """The write of an action at its resolved path. Raises ``ExpressionFault`` (without the prefix)."""
    match action:
        case tree.Remove():
            return _below(steps, lambda _item: Write(steps, REMOVED))
        case tree.Set(_, operand):
            compute = _value(operand, given)
            return _below(steps, lambda item: Write(steps, compute(item)))
        case tree.Add(_, value):
            operand_value = given.value(value.name)
            _check_operand("ADD", operand_value, _ADDABLE)
            return _below(steps, _adder(steps, operand_value))
        case tree.Delete(_, value):
            operand_value = given.value(value.name)
            _check_operand("DELETE", operand_value, _DELETABLE)
            return _below(steps, _deleter(steps, operand_value))


def _below(steps: Steps, evaluate: Evaluation) -> Evaluation:
    """An evaluation that first checks that the parent map or list exists."""
    if len(steps) == 1:
        return evaluate
    get_holder = getter(steps[:-1])
    tag = "L" if isinstance(steps[-1], int) else "M"

    def evaluate_below(item: Item) -> Write | None:
        holder = get_holder(item)
        if holder is None or tag not in holder:
            raise UpdateFault(INVALID_PATH)
        return evaluate(item)

    return evaluate_below


def _check_operand(section: str, value: AttributeValue, allowed: frozenset[str]) -> None:
    (tag,) = value
    if tag not in allowed:
        raise ExpressionFault(
            f"Incorrect operand type for operator or function; operator: {section}, "
            f"operand type: {_LONG_NAMES[tag]}, typeSet: ALLOWED_FOR_ADD_OPERAND"
        )


def _value(operand: tree.Operand, given: Placeholders) -> _Compute:
    match operand:
        case tree.Value(name):
            value = given.value(name)
            return lambda _item: value
        case tree.Path():
            return _present(getter(resolve(operand, given)))
        case tree.Arithmetic():
            return _arithmetic(operand, given)
        case tree.Call():
            return _call(operand, given)


def _call(call: tree.Call, given: Placeholders) -> _Compute:
    arguments = [_value(argument, given) for argument in call.arguments]
    check_operands(call)
    first, second = arguments
    if call.function == "list_append":
        _check_constants("list_append", call.arguments, "L", given)
        return lambda item: {"L": _content(first(item), "L") + _content(second(item), "L")}
    path, other = call.arguments
    get: Getter = first
    if isinstance(path, tree.Path):
        steps = resolve(path, given)
        check_distinct(call.function, steps, resolve(other, given) if isinstance(other, tree.Path) else None)
        get = getter(steps)

    def if_not_exists(item: Item) -> AttributeValue:
        # The service computes the default even if it isn't used, and fails if the computation fails.
        default = second(item)
        result = get(item)
        return default if result is None else result

    return if_not_exists


def _present(get: Getter) -> _Compute:
    def compute(item: Item) -> AttributeValue:
        value = get(item)
        if value is None:
            raise UpdateFault(MISSING)
        return value

    return compute


def _arithmetic(operand: tree.Arithmetic, given: Placeholders) -> _Compute:
    left, right = _value(operand.left, given), _value(operand.right, given)
    _check_constants(operand.operator, (operand.left, operand.right), "N", given)
    combine = add if operand.operator == "+" else subtract

    def compute(item: Item) -> AttributeValue:
        first = _content(left(item), "N")
        return {"N": _number(combine, first, _content(right(item), "N"))}

    return compute


def _check_constants(name: str, operands: Iterable[tree.Operand], tag: str, given: Placeholders) -> None:
    for operand in operands:
        if isinstance(operand, tree.Value):
            (text,) = given.value(operand.name)
            if text != tag:
                raise refuse_type(name, text)


def _number(combine: Callable[[str, str], str], first: str, second: str) -> str:
    try:
        return combine(first, second)
    except NumberError as fault:
        raise UpdateFault(str(fault)) from None


def _content(value: AttributeValue, tag: str) -> Any:
    if tag not in value:
        raise UpdateFault(WRONG_TYPE)
    return value[tag]


def _adder(steps: Steps, value: AttributeValue) -> Evaluation:
    get = getter(steps)
    ((tag, content),) = value.items()

    def evaluate(item: Item) -> Write:
        present = get(item)
        if present is None:
            return Write(steps, value)
        result = _content(present, tag)
        if tag == "N":
            return Write(steps, {"N": _number(add, result, content)})
        # A normalized set is sorted, whatever the order of insertion.
        return Write(steps, {tag: sort_members(tag, {*result, *content})})

    return evaluate


def _deleter(steps: Steps, value: AttributeValue) -> Evaluation:
    get = getter(steps)
    ((tag, content),) = value.items()

    def evaluate(item: Item) -> Write | None:
        present = get(item)
        if present is None:
            return None
        gone = set(content)
        left = [member for member in _content(present, tag) if member not in gone]
        return Write(steps, {tag: left} if left else REMOVED)

    return evaluate


# The size of the statement in UpdateItem. DynamoDB limits it to 400 KB, for items of any size. The rule isn't
# published; recordings (October 2026) give the sizes to the byte: an UpdateExpression costs three bytes, each
# action the bytes below and its path, and each operand its size.
_UPDATE_BYTES = 3
_WRITING_BYTES = 19
_REMOVING_BYTES = 1
_TARGET_STEP_BYTES = 4
"""Of each step of a written path after the first."""
_READING_BYTES = 1
_READ_STEP_BYTES = 14
_FUNCTION_BYTES = {"+": 34, "-": 37, "list_append": 37, "if_not_exists": 39}


def statement_bytes(actions: Sequence[tree.Action], targets: Sequence[Steps], given: Placeholders) -> int:
    """The bytes that the service counts for the actions of an update; ``targets`` are the actions' resolved paths."""
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
