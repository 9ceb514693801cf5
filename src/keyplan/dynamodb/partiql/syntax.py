"""Statement trees: frozen, with the positions for errors. One class per form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Place:
    """A position: line and column, both from 1, and the length in characters."""

    line: int
    column: int
    length: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}:{self.length}"


@dataclass(frozen=True, slots=True)
class Constant:
    """A string, ``true``, ``false``, ``null`` or ``missing``, as tag and content."""

    tag: Literal["S", "BOOL", "NULL", "MISSING"]
    content: str | bool
    place: Place


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written, with its sign."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Parameter:
    """A question mark; ``number`` counts from 0."""

    number: int
    place: Place


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list, in brackets or (after IN) in parentheses."""

    members: tuple[Node, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map: names with their positions, and their values."""

    members: tuple[tuple[str, Place, Node], ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Bag:
    """A set, in double angle brackets."""

    members: tuple[Node, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Path:
    """A document path: attribute names, and list indexes as ``int``."""

    parts: tuple[str | int, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Star:
    """A star as an operand, as in COUNT(*)."""

    place: Place


@dataclass(frozen=True, slots=True)
class Call:
    """A function call; the name as written."""

    name: str
    arguments: tuple[Node, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """A sum, a difference or another binary operation."""

    operator: str
    left: Node
    right: Node
    place: Place


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison; ``operator`` is one of ``= <> < <= > >=``."""

    operator: str
    left: Node
    right: Node
    place: Place


@dataclass(frozen=True, slots=True)
class Between:
    """``operand BETWEEN low AND high``."""

    operand: Node
    low: Node
    high: Node
    place: Place


@dataclass(frozen=True, slots=True)
class In:
    """``operand IN options``; the options are a list or one parameter."""

    operand: Node
    options: Node
    place: Place


@dataclass(frozen=True, slots=True)
class Is:
    """``operand IS type``; ``type`` in capitals."""

    operand: Node
    type: str
    negated: bool
    place: Place


@dataclass(frozen=True, slots=True)
class Not:
    """A negation."""

    condition: Node
    place: Place


@dataclass(frozen=True, slots=True)
class And:
    """Conditions joined by AND."""

    conditions: tuple[Node, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Or:
    """Conditions joined by OR."""

    conditions: tuple[Node, ...]
    place: Place


Node: TypeAlias = (
    Constant
    | Number
    | Parameter
    | ListOf
    | MapOf
    | Bag
    | Path
    | Star
    | Call
    | Arithmetic
    | Compare
    | Between
    | In
    | Is
    | Not
    | And
    | Or
)


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
    """A query. An empty ``projection`` means ``*``; ``table`` has the parts of the path in FROM."""

    table: tuple[str, ...]
    projection: tuple[Node, ...]
    where: Node | None
    order: tuple[Order, ...]
    parameters: int


@dataclass(frozen=True, slots=True)
class Exists:
    """A query as a condition of a transaction."""

    select: Select
    parameters: int


@dataclass(frozen=True, slots=True)
class Insert:
    """A new item."""

    table: tuple[str, ...]
    value: Node
    parameters: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """One assignment of SET."""

    path: Path
    value: Node


@dataclass(frozen=True, slots=True)
class Removal:
    """One path of REMOVE."""

    path: Path


@dataclass(frozen=True, slots=True)
class Update:
    """Changes of one item."""

    table: tuple[str, ...]
    changes: tuple[Assignment | Removal, ...]
    where: Node | None
    returning: Returning | None
    parameters: int


@dataclass(frozen=True, slots=True)
class Delete:
    """The removal of one item."""

    table: tuple[str, ...]
    where: Node | None
    returning: Returning | None
    parameters: int


Statement: TypeAlias = Select | Exists | Insert | Update | Delete
