"""Statements that say no more than GetItem does: a SELECT of one item by equality with each attribute of its key.

What such a text asks for is worked out once and kept, so that it is answered as fast as GetItem. Whatever isn't plainly
of this form, or is refused here, is left to those who read statements in general and know the words for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from keyplan.engine.database import Database
from keyplan.engine.effort import spend
from keyplan.engine.items import decode
from keyplan.engine.keys import key_of_request
from keyplan.engine.requests import Answer, Request
from keyplan.engine.statements import Shown, shown_of
from keyplan.errors import DynamoDBError
from keyplan.expressions import ExpressionFault
from keyplan.partiql import Lowering, Select, parse
from keyplan.partiql.syntax import And, Compare, Constant, Node, Number, Parameter, Path
from keyplan.values import AttributeValue, ValueFault

_KEPT_MAX = 1024
"""Texts; the one that wasn't asked for the longest goes first."""
_MEMBERS = frozenset({"Statement", "Parameters", "ConsistentRead"})
"""Of requests that are answered here. The others limit pages, go on with them or count what they consume."""


@dataclass(frozen=True, slots=True)
class Get:
    """One item to get: its table, its key, and what is shown of it."""

    table: str
    key: Mapping[str, AttributeValue | int]
    """By attribute, its value or the number of its parameter."""
    shown: Shown | None
    parameters: int

    def answer(self, database: Database, request: Request) -> Answer | None:
        """The answer; None where it isn't to be given here."""
        parameters = request.get("Parameters") or ()
        if database.meter is not None or len(parameters) != self.parameters or not request.keys() <= _MEMBERS:
            return None
        key = {name: parameters[value] if isinstance(value, int) else value for name, value in self.key.items()}
        try:
            table = database.table(self.table)
            stored_key = key_of_request(table, key)
        except (DynamoDBError, ExpressionFault, ValueFault):
            return None
        row = table.stored.get(*stored_key)
        if row is None:
            return {"Items": []}
        if self.shown is None:
            return {"Items": [database.show(row[1])]}
        spend(len(row[1]))
        return {"Items": [self.shown.project(decode(row[1]))]}


@lru_cache(_KEPT_MAX)
def get_of(text: str) -> Get | None:
    """What a statement gets, if it is of this form."""
    try:
        statement = parse(text)
        if not isinstance(statement, Select) or statement.order or len(statement.table) != 1:
            return None
        where = statement.where
        conditions = where.conditions if isinstance(where, And) else (where,)
        key: dict[str, AttributeValue | int] = {}
        for condition in conditions:
            if not isinstance(condition, Compare) or condition.operator != "=":
                return None
            name, value = _named(condition.left), _value(condition.right)
            if name is None or value is None or name in key:
                return None
            key[name] = value
        return Get(statement.table[0], key, shown_of(Lowering(()), statement.projection), statement.parameters)
    except (ExpressionFault, ValueFault):
        return None


def _named(node: Node) -> str | None:
    """The attribute that a path is, if it is one at the top level."""
    return str(node.parts[0]) if isinstance(node, Path) and len(node.parts) == 1 else None


def _value(node: Node) -> AttributeValue | int | None:
    if isinstance(node, Parameter):
        return node.number
    return Lowering(()).value(node) if isinstance(node, (Constant, Number)) else None
