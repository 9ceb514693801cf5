"""From trees back to text: ``to_text`` prints what parsing reads as the same tree."""

from __future__ import annotations

from itertools import groupby

from keyplan.dynamodb.expressions import tree

__all__ = ["to_text"]

Printable = tree.Condition | tree.Operand | tree.Projection | tree.Update

_SECTIONS: dict[type[tree.Action], str] = {
    tree.Set: "SET",
    tree.Remove: "REMOVE",
    tree.Add: "ADD",
    tree.Delete: "DELETE",
}


def to_text(expression: Printable) -> str:
    """The text of an expression's tree, with parentheses only where its form needs them."""
    match expression:
        case tree.Projection(paths):
            return ", ".join(map(_operand, paths))
        case tree.Update(actions):
            return " ".join(
                f"{_SECTIONS[section]} {', '.join(map(_action, group))}"
                for section, group in groupby(actions, key=type)
            )
        case tree.Path() | tree.Value() | tree.Arithmetic():
            return _operand(expression)
        case _:
            return _condition(expression)


def _condition(condition: tree.Condition) -> str:
    match condition:
        case tree.Or(conditions):
            return " OR ".join(_within(inner, tree.Or) for inner in conditions)
        case tree.And(conditions):
            return " AND ".join(_within(inner, tree.Or, tree.And) for inner in conditions)
        case tree.Not(inner):
            return f"NOT {_within(inner, tree.Or, tree.And)}"
        case tree.Compare(operator, left, right):
            return f"{_operand(left)} {operator} {_operand(right)}"
        case tree.Between(operand, low, high):
            return f"{_operand(operand)} BETWEEN {_operand(low)} AND {_operand(high)}"
        case tree.In(operand, options):
            return f"{_operand(operand)} IN ({', '.join(map(_operand, options))})"
        case tree.Call():
            return _operand(condition)


def _within(condition: tree.Condition, *weaker: type[tree.Condition]) -> str:
    text = _condition(condition)
    return f"({text})" if isinstance(condition, weaker) else text


def _operand(operand: tree.Operand) -> str:
    match operand:
        case tree.Path(parts):
            first, *rest = parts
            return str(first) + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in rest)
        case tree.Value(name):
            return name
        case tree.Call(function, arguments):
            return f"{function}({', '.join(map(_operand, arguments))})"
        case tree.Arithmetic(operator, left, right):
            return f"{_operand(left)} {operator} {_operand(right)}"


def _action(action: tree.Action) -> str:
    match action:
        case tree.Set(path, value):
            return f"{_operand(path)} = {_operand(value)}"
        case tree.Remove(path):
            return _operand(path)
        case tree.Add(path, value) | tree.Delete(path, value):
            return f"{_operand(path)} {value.name}"
