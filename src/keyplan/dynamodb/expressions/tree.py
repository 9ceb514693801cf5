"""Syntax trees of expressions: frozen, hashable, with placeholders as written. One class per grammar form.

``parse_*`` functions build trees; ``to_text`` prints text that parses to the same tree. Trees don't contain the names
and values that placeholders stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Path:
    """A document path: attribute names and ``#placeholders`` as ``str``, list indexes as ``int``."""

    parts: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A value placeholder, with its colon."""

    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function call, as a condition (``begins_with``) or as an operand (``size``)."""

    function: str
    arguments: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """A sum or difference in the SET section; ``operator`` is ``+`` or ``-``."""

    operator: str
    left: Operand
    right: Operand


Operand: TypeAlias = Path | Value | Call | Arithmetic


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison; ``operator`` is one of ``= <> < <= > >=``."""

    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Between:
    """``operand BETWEEN low AND high``, inclusive."""

    operand: Operand
    low: Operand
    high: Operand


@dataclass(frozen=True, slots=True)
class In:
    """``operand IN (options)``."""

    operand: Operand
    options: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """A negation."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class And:
    """Two or more conditions joined by one chain of ANDs."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Two or more conditions joined by one chain of ORs."""

    conditions: tuple[Condition, ...]


Condition: TypeAlias = Compare | Between | In | Not | And | Or | Call


@dataclass(frozen=True, slots=True)
class Projection:
    """The paths of a projection expression."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Set:
    """One action of the SET section."""

    path: Path
    value: Operand


@dataclass(frozen=True, slots=True)
class Remove:
    """One action of the REMOVE section."""

    path: Path


@dataclass(frozen=True, slots=True)
class Add:
    """One action of the ADD section."""

    path: Path
    value: Value


@dataclass(frozen=True, slots=True)
class Delete:
    """One action of the DELETE section."""

    path: Path
    value: Value


Action: TypeAlias = Set | Remove | Add | Delete


@dataclass(frozen=True, slots=True)
class Update:
    """The actions of an update expression in text order; the actions of one section are adjacent."""

    actions: tuple[Action, ...]


def below(node: Condition | Operand | Action) -> Sequence[Condition | Operand]:
    """The conditions and operands of a node, without the path that an action writes."""
    match node:
        case And(inner) | Or(inner) | Call(_, inner):
            return inner
        case Not(one) | Set(_, one):
            return (one,)
        case Compare(_, left, right) | Arithmetic(_, left, right):
            return (left, right)
        case Between(operand, low, high):
            return (operand, low, high)
        case In(operand, options):
            return (operand, *options)
        case _:
            return ()


def joined(kind: type[And | Or], condition: Condition | None) -> list[Condition]:
    conditions: list[Condition] = []
    stack = [] if condition is None else [condition]
    while stack:
        part = stack.pop()
        if isinstance(part, kind):
            stack.extend(reversed(part.conditions))
        else:
            conditions.append(part)
    return conditions


Printable = Condition | Operand | Projection | Update

_SECTIONS: dict[type[Action], str] = {Set: "SET", Remove: "REMOVE", Add: "ADD", Delete: "DELETE"}


def to_text(expression: Printable) -> str:
    """The text of a tree, with parentheses only where the grammar requires them."""
    match expression:
        case Projection(paths):
            return ", ".join(map(_operand, paths))
        case Update(actions):
            return " ".join(
                f"{_SECTIONS[section]} {', '.join(map(_action, group))}"
                for section, group in groupby(actions, key=type)
            )
        case Path() | Value() | Arithmetic():
            return _operand(expression)
        case _:
            return _condition(expression)


def _condition(condition: Condition) -> str:
    match condition:
        case Or(conditions):
            return " OR ".join(_within(inner, Or) for inner in conditions)
        case And(conditions):
            return " AND ".join(_within(inner, Or, And) for inner in conditions)
        case Not(inner):
            return f"NOT {_within(inner, Or, And)}"
        case Compare(operator, left, right):
            return f"{_operand(left)} {operator} {_operand(right)}"
        case Between(operand, low, high):
            return f"{_operand(operand)} BETWEEN {_operand(low)} AND {_operand(high)}"
        case In(operand, options):
            return f"{_operand(operand)} IN ({', '.join(map(_operand, options))})"
        case Call():
            return _operand(condition)


def _within(condition: Condition, *weaker: type[Condition]) -> str:
    text = _condition(condition)
    return f"({text})" if isinstance(condition, weaker) else text


def _operand(operand: Operand) -> str:
    match operand:
        case Path(parts):
            first, *rest = parts
            return str(first) + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in rest)
        case Value(name):
            return name
        case Call(function, arguments):
            return f"{function}({', '.join(map(_operand, arguments))})"
        case Arithmetic(operator, left, right):
            return f"{_operand(left)} {operator} {_operand(right)}"


def _action(action: Action) -> str:
    match action:
        case Set(path, value):
            return f"{_operand(path)} = {_operand(value)}"
        case Remove(path):
            return _operand(path)
        case Add(path, value) | Delete(path, value):
            return f"{_operand(path)} {value.name}"
