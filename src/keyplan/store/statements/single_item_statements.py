"""Statements equivalent to GetItem, UpdateItem or DeleteItem: one item, identified by equality with each key attribute.

Plans are cached by the statement's text, so that a repeated statement costs as much as the equivalent operation. All
other statements, and rejected statements, are handled by ``statement_plans``, which has the error messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from keyplan.dynamodb.expressions import (
    BoundCondition,
    ExpressionFault,
    Placeholders,
    bind_condition,
    bind_update,
    tree,
)
from keyplan.dynamodb.partiql import Delete, Lowering, Select, Template, Update, parse
from keyplan.dynamodb.partiql.syntax import Returning
from keyplan.dynamodb.values import AttributeValue, ValueFault
from keyplan.errors import DynamoDBError
from keyplan.store.database import Database
from keyplan.store.items.stored_items import decode
from keyplan.store.items.write_outcome import Write
from keyplan.store.requests import write_preparation as prepare
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.statements.statement_keys import KeyValues, key_values_of
from keyplan.store.statements.statement_plans import Given, Shown, Written, read_of, returned_of, shown_of, write_of
from keyplan.store.tables.item_keys import Key, key_of_request
from keyplan.store.tables.table import Table
from keyplan.store.work_budget import spend, spend_on_items

_KEPT_MAX = 1024
_MEMBERS = frozenset({"Statement", "Parameters", "ConsistentRead"})
"""Members of requests that are answered here. Others limit or continue pages, or return consumed capacity."""


@dataclass(frozen=True, slots=True)
class Get:
    """The read of one item: its table, key and projection."""

    table: str
    key: KeyValues
    shown: Shown | None
    parameters: int

    def answer(self, database: Database, request: Request) -> Answer | None:
        """The response; None if this module doesn't support the statement."""
        if database.meter is not None or not request.keys() <= _MEMBERS:
            return None
        place = self.place(database, request.get("Parameters") or ())
        if place is None:
            return None
        table, key = place
        row = table.stored.get(*key)
        return {"Items": [] if row is None else [self.show(database, row[1])]}

    def place(self, database: Database, parameters: Sequence[AttributeValue]) -> tuple[Table, Key] | None:
        if len(parameters) != self.parameters:
            return None
        try:
            table = database.table(self.table)
            return table, key_of_request(table, self.key.filled(parameters))
        except (DynamoDBError, ExpressionFault, ValueFault):
            return None

    def show(self, database: Database, body: bytes) -> Any:
        if self.shown is None:
            return database.show(body)
        spend(len(body))
        return self.shown.project(decode(body))


@dataclass(frozen=True, slots=True)
class OneItem:
    """A SELECT of one item by key, among several statements."""

    table: Table
    key: Key
    show: Callable[[bytes], Any]
    """Projects the item; None if the condition is false."""


def one_item(database: Database, text: str, given: Given, *, consistent: bool = False) -> OneItem | None:
    """The item that a SELECT reads by key; None if it doesn't read a single item of a table."""
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


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one item: its table, key and update; without an update, the item is deleted."""

    table: str
    key: KeyValues
    template: Template
    returning: Returning | None

    def written(
        self, database: Database, parameters: Sequence[AttributeValue], *, returns_item: bool
    ) -> Written | None:
        """The write with these parameters; None if ``statement_plans`` must determine it."""
        try:
            table = database.table(self.table)
            values = self.key.filled(parameters)
            key = key_of_request(table, values)
            update = self.template.changed
            if update is None:
                wants_old = self.returning is not None
                removal = Write(table, key, removes=True, wants_old=wants_old, returns_item=returns_item)
                return Written(removal, returned_of(None, self.returning))
            bound = bind_update(update, self.template.filled(parameters).given(), "")
            change = prepare.change_of(table, bound, values)
        except (DynamoDBError, ExpressionFault, ValueFault):
            return None
        there = _is_there(table.partition.name)
        return Written(
            Write(table, key, there, change=change, returns_item=returns_item), returned_of(bound, self.returning)
        )


def written_of(database: Database, text: str, given: Given, *, returns_item: bool) -> Written:
    """The write of a statement, from its cached plan if possible."""
    change = change_of(text)
    written = None if change is None else change.written(database, given.parameters, returns_item=returns_item)
    return write_of(database, given, returns_item=returns_item) if written is None else written


@lru_cache(_KEPT_MAX)
def change_of(text: str) -> Change | None:
    try:
        statement = parse(text)
        if not isinstance(statement, (Update, Delete)) or len(statement.table) != 1:
            return None
        key = key_values_of(statement.where)
        can_return = isinstance(statement, Update) or statement.returning in {None, Returning("ALL", "OLD")}
        if key is None or not can_return:
            return None
        template = Template(changes=statement.changes if isinstance(statement, Update) else ())
        return Change(statement.table[0], key, template, statement.returning)
    except (ExpressionFault, ValueFault):
        return None


@lru_cache(_KEPT_MAX)
def _is_there(name: str) -> BoundCondition:
    return bind_condition(tree.Call("attribute_exists", (tree.Path(("#0",)),)), Placeholders({"#0": name}), "")
