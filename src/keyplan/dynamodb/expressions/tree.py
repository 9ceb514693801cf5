"""The trees of expressions: frozen, hashable, with the placeholders as written. One class a form of the
grammar.

Parsing makes them, ``to_text`` prints them, binding turns them into functions. They hold no names or values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = [
    "Action",
    "Add",
    "And",
    "Arithmetic",
    "Between",
    "Call",
    "Compare",
    "Condition",
    "Delete",
    "In",
    "Not",
    "Operand",
    "Or",
    "Path",
    "Projection",
    "Remove",
    "Set",
    "Update",
    "Value",
]


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
    """A function with its arguments. As a condition (``begins_with``) or as an operand (``size``)."""

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
    """``operand BETWEEN low AND high``, both ends included."""

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
    """Two or more conditions that must all hold, as one chain of ANDs was written."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Two or more conditions of which one must hold, as one chain of ORs was written."""

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
    """The actions of an update expression in the order of the text; those of one section stand together."""

    actions: tuple[Action, ...]
