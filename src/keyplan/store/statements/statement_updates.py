"""Statements that say no more than UpdateItem and DeleteItem do: changes of one item by equality with each attribute of
its key.

What such a text says is worked out once and kept; only its values differ from use to use. Whatever isn't plainly of
this form, or is refused here, is left to those who plan statements in general and know the words for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from keyplan.dynamodb.expressions import (
    BoundCondition,
    ExpressionFault,
    Placeholders,
    bind_condition,
    bind_update,
    tree,
)
from keyplan.dynamodb.partiql import Delete, Template, Update, parse
from keyplan.dynamodb.partiql.syntax import Returning
from keyplan.dynamodb.values import AttributeValue, ValueFault
from keyplan.errors import DynamoDBError
from keyplan.store.database import Database
from keyplan.store.items.write_outcome import Write
from keyplan.store.requests import write_preparation as prepare
from keyplan.store.statements.statement_keys import KeyValues, key_values_of
from keyplan.store.statements.statement_plans import Given, Written, returned_of, write_of
from keyplan.store.tables.item_keys import key_of_request

_KEPT_MAX = 1024
"""Texts; the one that wasn't asked for the longest goes first."""


@dataclass(frozen=True, slots=True)
class Change:
    """One item to change: its table, its key, and what is done to it: nothing but to remove it, without an update."""

    table: str
    key: KeyValues
    template: Template
    returning: Returning | None
    parameters: int

    def written(self, database: Database, parameters: Sequence[AttributeValue], *, tells_item: bool) -> Written | None:
        """The write with these parameters; None where it isn't to be worked out here."""
        try:
            table = database.table(self.table)
            values = self.key.filled(parameters)
            key = key_of_request(table, values)
            update = self.template.changed
            if update is None:
                removal = Write(table, key, removes=True, wants_old=self.returning is not None, tells_item=tells_item)
                return Written(removal, returned_of(None, self.returning))
            bound = bind_update(update, self.template.filled(parameters).given(), "")
            change = prepare.change_of(table, bound, values)
        except (DynamoDBError, ExpressionFault, ValueFault):
            return None
        there = _is_there(table.partition.name)
        return Written(
            Write(table, key, there, change=change, tells_item=tells_item), returned_of(bound, self.returning)
        )


def written_of(database: Database, text: str, given: Given, *, tells_item: bool) -> Written:
    """The write of a statement, from what is known of its text where that is enough.

    Raises:
        StatementFault, ExpressionFault, ValueFault, ValidationException: it doesn't fit its table, or says what can't
            be.
        ResourceNotFoundException: there is no such table.
    """
    change = change_of(text)
    written = None if change is None else change.written(database, given.parameters, tells_item=tells_item)
    return write_of(database, given, tells_item=tells_item) if written is None else written


@lru_cache(_KEPT_MAX)
def change_of(text: str) -> Change | None:
    """What a statement changes, if it is of this form."""
    try:
        statement = parse(text)
        if not isinstance(statement, (Update, Delete)) or len(statement.table) != 1:
            return None
        key = key_values_of(statement.where)
        if key is None or not _can_return(statement):
            return None
        template = Template(changes=statement.changes if isinstance(statement, Update) else ())
        return Change(statement.table[0], key, template, statement.returning, statement.parameters)
    except (ExpressionFault, ValueFault):
        return None


def _can_return(statement: Update | Delete) -> bool:
    return isinstance(statement, Update) or statement.returning in {None, Returning("ALL", "OLD")}


@lru_cache(_KEPT_MAX)
def _is_there(name: str) -> BoundCondition:
    """That an item is there, which each has whose partition key this is."""
    return bind_condition(tree.Call("attribute_exists", (tree.Path(("#0",)),)), Placeholders({"#0": name}), "")
