"""Statement trees, which are frozen and have the positions that errors report. One class per form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from keyplan.dynamodb.partiql.tokens import Place


@dataclass(frozen=True, slots=True)
class Node:
    """An expression in a statement."""

    place: Place = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """A string, ``true``, ``false``, ``null`` or ``missing``, as data type and content."""

    tag: Literal["S", "BOOL", "NULL", "MISSING"]
    content: str | bool


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A number as written, with its sign."""

    text: str


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """A question mark; ``number`` counts from 0."""

    number: int


@dataclass(frozen=True, slots=True)
class ListOf(Node):
    """A list, in brackets or (after IN) in parentheses."""

    members: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class MapOf(Node):
    """A map: names with their positions, and their values."""

    members: tuple[tuple[str, Place, Node], ...]


@dataclass(frozen=True, slots=True)
class Bag(Node):
    """A set, in double angle brackets."""

    members: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Path(Node):
    """A document path: attribute names, and list indexes as ``int``."""

    parts: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Star(Node):
    """An asterisk as an operand, as in COUNT(*)."""


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A function call; the name is as written."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Arithmetic(Node):
    """A sum, a difference or another binary operation."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """A comparison; ``operator`` is one of ``= <> < <= > >=``."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Between(Node):
    """``operand BETWEEN low AND high``."""

    operand: Node
    low: Node
    high: Node


@dataclass(frozen=True, slots=True)
class In(Node):
    """``operand IN options``; ``options`` is a list or one parameter."""

    operand: Node
    options: Node


@dataclass(frozen=True, slots=True)
class Is(Node):
    """``operand IS type``; ``type`` is in capitals."""

    operand: Node
    type: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Not(Node):
    """A negation."""

    condition: Node


@dataclass(frozen=True, slots=True)
class And(Node):
    """Conditions joined by AND."""

    conditions: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or(Node):
    """Conditions joined by OR."""

    conditions: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """One key of ORDER BY."""

    path: Node
    forward: bool


@dataclass(frozen=True, slots=True)
class Returning:
    """``RETURNING which when *``."""

    which: Literal["ALL", "MODIFIED"]
    when: Literal["OLD", "NEW"]

    def __str__(self) -> str:
        return f"RETURNING {self.which} {self.when} *"


@dataclass(frozen=True, slots=True)
class Select:
    """A SELECT statement. An empty ``projection`` means ``*``; ``table`` has the parts of the path in FROM."""

    table: tuple[str, ...]
    projection: tuple[Node, ...]
    where: Node | None
    order: tuple[Order, ...]
    parameters: int


@dataclass(frozen=True, slots=True)
class Exists:
    """A SELECT as a condition of a transaction."""

    select: Select
    parameters: int


@dataclass(frozen=True, slots=True)
class Insert:
    """An INSERT, which creates an item."""

    table: tuple[str, ...]
    value: Node
    parameters: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """One assignment of a SET clause."""

    path: Path
    value: Node


@dataclass(frozen=True, slots=True)
class Removal:
    """One path of a REMOVE clause."""

    path: Path


@dataclass(frozen=True, slots=True)
class Update:
    """An UPDATE of one item."""

    table: tuple[str, ...]
    changes: tuple[Assignment | Removal, ...]
    where: Node | None
    returning: Returning | None
    parameters: int


@dataclass(frozen=True, slots=True)
class Delete:
    """A DELETE of one item."""

    table: tuple[str, ...]
    where: Node | None
    returning: Returning | None
    parameters: int


Statement: TypeAlias = Select | Exists | Insert | Update | Delete
