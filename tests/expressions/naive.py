"""A simple evaluator of conditions, the oracle of the property tests. The evaluator shares only the expression tree
with Keyplan, and compares Python values.
"""

from __future__ import annotations

from base64 import b64decode
from decimal import Decimal
from typing import Any

from keyplan.dynamodb.expressions import tree

MISSING = ("missing", None)


def plain(value: dict[str, Any]) -> tuple[str, Any]:
    """A DynamoDB value as a pair: its type, and a Python value that is equal if the DynamoDB value is."""
    tag = next(iter(value))
    content = value[tag]
    if tag == "N":
        return tag, Decimal(content)
    if tag == "B":
        return tag, b64decode(content)
    if tag == "SS":
        return tag, frozenset(content)
    if tag == "NS":
        return tag, frozenset(Decimal(member) for member in content)
    if tag == "BS":
        return tag, frozenset(b64decode(member) for member in content)
    if tag == "L":
        return tag, tuple(plain(member) for member in content)
    if tag == "M":
        return tag, {name: plain(member) for name, member in content.items()}
    return tag, content


def operand(node: tree.Operand, item: dict[str, Any], values: dict[str, Any]) -> tuple[str, Any]:
    if isinstance(node, tree.Value):
        return plain(values[node.name])
    if isinstance(node, tree.Path):
        result: tuple[str, Any] = ("M", {name: plain(value) for name, value in item.items()})
        for part in node.parts:
            kind, content = result
            if isinstance(part, str):
                result = content.get(part, MISSING) if kind == "M" else MISSING
            else:
                result = content[part] if kind == "L" and part < len(content) else MISSING
        return result
    assert isinstance(node, tree.Call)
    kind, content = operand(node.arguments[0], item, values)
    if kind == "S":
        return "N", Decimal(sum(2 if ord(letter) > 0xFFFF else 1 for letter in content))
    return ("N", Decimal(len(content))) if kind in {"B", "SS", "NS", "BS", "L", "M"} else MISSING


def _in_order(first: tuple[str, Any], second: tuple[str, Any]) -> bool | None:
    if first[0] != second[0] or first[0] not in {"S", "N", "B"}:
        return None
    if first[0] == "S":
        return bool(first[1].encode() <= second[1].encode())
    return bool(first[1] <= second[1])


def holds(node: tree.Condition, item: dict[str, Any], values: dict[str, Any]) -> bool:
    def read(part: tree.Operand) -> tuple[str, Any]:
        return operand(part, item, values)

    if isinstance(node, tree.And):
        return all(holds(part, item, values) for part in node.conditions)
    if isinstance(node, tree.Or):
        return any(holds(part, item, values) for part in node.conditions)
    if isinstance(node, tree.Not):
        return not holds(node.condition, item, values)
    if isinstance(node, tree.Between):
        value = read(node.operand)
        return _in_order(read(node.low), value) is True and _in_order(value, read(node.high)) is True
    if isinstance(node, tree.In):
        value = read(node.operand)
        return value != MISSING and any(value == read(option) for option in node.options)
    if isinstance(node, tree.Compare):
        left, right = read(node.left), read(node.right)
        equal = left == right and left != MISSING
        up, down = _in_order(left, right), _in_order(right, left)
        return {
            "=": equal,
            "<>": not equal,
            "<": up is True and not equal,
            "<=": up is True,
            ">": down is True and not equal,
            ">=": down is True,
        }[node.operator]
    return _function(node.function, [read(argument) for argument in node.arguments])


def _function(name: str, arguments: list[tuple[str, Any]]) -> bool:
    (kind, content), *rest = arguments
    if name == "attribute_exists":
        return kind != "missing"
    if name == "attribute_not_exists":
        return kind == "missing"
    other, wanted = rest[0]
    if name == "attribute_type":
        return bool(kind == wanted)
    if kind == "missing" or other == "missing":
        return False
    if name == "begins_with":
        return kind == other and kind in {"S", "B"} and bool(content.startswith(wanted))
    if kind == "L":
        return rest[0] in content
    if kind in {"S", "B"}:
        return kind == other and wanted in content
    return kind == f"{other}S" and wanted in content
