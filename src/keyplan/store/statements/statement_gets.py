"""Statements that say no more than GetItem does: a SELECT of one item by equality with each attribute of its key.

What such a text asks for is worked out once and kept, so that it is answered as fast as GetItem. Whatever isn't plainly
of this form, or is refused here, is left to those who read statements in general and know the words for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from keyplan.dynamodb.expressions import ExpressionFault
from keyplan.dynamodb.partiql import Lowering, Select, parse
from keyplan.dynamodb.values import AttributeValue, ValueFault
from keyplan.errors import DynamoDBError
from keyplan.store.database import Database
from keyplan.store.items.stored_items import decode, or_carefully
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.statements.statement_keys import KeyValues, key_values_of
from keyplan.store.statements.statement_plans import Given, Shown, read_of, shown_of
from keyplan.store.tables.item_keys import Key, key_of_request
from keyplan.store.tables.table import Table
from keyplan.store.work_budget import spend, spend_on_items

_KEPT_MAX = 1024
"""Texts; the one that wasn't asked for the longest goes first."""
_MEMBERS = frozenset({"Statement", "Parameters", "ConsistentRead"})
"""Of requests that are answered here. The others limit pages, go on with them or count what they consume."""


@dataclass(frozen=True, slots=True)
class Get:
    """One item to get: its table, its key, and what is shown of it."""

    table: str
    key: KeyValues
    shown: Shown | None
    parameters: int

    def answer(self, database: Database, request: Request) -> Answer | None:
        """The answer; None where it isn't to be given here."""
        if database.meter is not None or not request.keys() <= _MEMBERS:
            return None
        place = self.place(database, request.get("Parameters") or ())
        if place is None:
            return None
        table, key = place
        row = table.stored.get(*key)
        return {"Items": [] if row is None else [self.show(database, row[1])]}

    def place(self, database: Database, parameters: Sequence[AttributeValue]) -> tuple[Table, Key] | None:
        """The table and the key of the item; None where they aren't to be worked out here."""
        if len(parameters) != self.parameters:
            return None
        try:
            table = database.table(self.table)
            return table, key_of_request(table, self.key.filled(parameters))
        except (DynamoDBError, ExpressionFault, ValueFault):
            return None

    def show(self, database: Database, body: bytes) -> Any:
        """What is shown of the item."""
        if self.shown is None:
            return database.show(body)
        spend(len(body))
        project = self.shown.project
        return or_carefully(lambda: project(decode(body)))


@dataclass(frozen=True, slots=True)
class OneItem:
    """A SELECT of one item by its key, among several statements."""

    table: Table
    key: Key
    show: Callable[[bytes], Any]
    """What is shown of the item; None where the condition doesn't hold."""


def one_item(database: Database, text: str, given: Given, *, consistent: bool = False) -> OneItem | None:
    """The item that a SELECT reads by its key; None where it isn't one item of a table.

    Raises:
        StatementFault, ExpressionFault, ValidationException: the statement doesn't fit its table, or says what can't
            be.
        ResourceNotFoundException: there is no such table.
    """
    get = get_of(text)
    place = None if get is None else get.place(database, given.parameters)
    if get is not None and place is not None:
        return OneItem(*place, partial(get.show, database))
    read = read_of(database, given, consistent=consistent)
    if read.target.index is not None:
        return None
    key = read.key() if read.is_of_key else None
    if key is None:
        return None

    def show(body: bytes) -> Any:
        spend_on_items((body,), 0 if read.filter is None else read.filter.operators)
        return read.shown(decode(body))

    return OneItem(read.target.table, key, show)


@lru_cache(_KEPT_MAX)
def get_of(text: str) -> Get | None:
    """What a statement gets, if it is of this form."""
    try:
        statement = parse(text)
        if not isinstance(statement, Select) or statement.order or len(statement.table) != 1:
            return None
        key = key_values_of(statement.where)
        if key is None:
            return None
        return Get(statement.table[0], key, shown_of(Lowering(()), statement.projection), statement.parameters)
    except (ExpressionFault, ValueFault):
        return None
