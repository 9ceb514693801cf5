"""ExecuteTransaction: execute up to 100 PartiQL statements atomically, either all SELECTs of one item or all writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from keyplan.dynamodb.expressions import ExpressionFault
from keyplan.dynamodb.partiql import Select, StatementFault
from keyplan.dynamodb.service_errors import RequestFault, ResourceNotFoundException, TransactionCanceledException
from keyplan.dynamodb.values import ValueFault
from keyplan.store.database import Database
from keyplan.store.items.write_outcome import Write
from keyplan.store.operations.transact_get_items import read_capacity, read_together
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.requests.write_transactions import NO_REASON, check_together, write_together
from keyplan.store.statements.single_item_statements import OneItem, one_item, written_of
from keyplan.store.statements.statement_keys import KEY_TYPE
from keyplan.store.statements.statement_plans import NOT_FULL_KEY, Given, UnkeyedFault, given_of, returning_of
from keyplan.store.tables.item_keys import MISMATCH, SchemaFault

_ONE_ITEM = "Select statements within ExecuteTransaction must specify the primary key in the where clause."
_ON_INDEX = "Reads on indices are not supported within transactions."
_INDEX_PARTS = 2
_REASONS: dict[str, str] = dict.fromkeys((NOT_FULL_KEY, KEY_TYPE), MISMATCH)
"""Errors whose message differs in a cancellation reason."""
T = TypeVar("T")


def execute_transaction(database: Database, request: Request) -> Answer:
    statements: list[Mapping[str, Any]] = request["TransactStatements"]
    given = [_parse(number, statement) for number, statement in enumerate(statements)]
    if len({element.reads for element in given}) > 1:
        raise RequestFault(
            "ExecuteTransaction API does not support both read and write operations in the same request."
        )
    if given[0].reads:
        return _read(database, request, statements, given)
    return _write(database, request, statements, given)


def _parse(number: int, statement: Mapping[str, Any]) -> Given:
    try:
        return given_of(statement["Statement"], statement.get("Parameters"))
    except ExpressionFault as fault:
        raise _fault_of(number, fault) from None


def _fault_of(number: int, fault: ExpressionFault | ValueFault) -> StatementFault:
    return StatementFault(f"Validation failed in TransactStatements[{number}]: {fault.older}")


def _read(
    database: Database, request: Request, statements: Sequence[Mapping[str, Any]], given: Sequence[Given]
) -> Answer:
    items = _planned(
        [
            partial(_one_item, database, statement["Statement"], element)
            for statement, element in zip(statements, given, strict=True)
        ]
    )
    tables = [item.table for item in items]
    rows = read_together(database, tables, [item.key for item in items])
    responses: list[Answer] = []
    for item, row in zip(items, rows, strict=True):
        shown = None if row is None else item.show(row[1])
        responses.append({} if shown is None else {"Item": shown})
    return {"Responses": responses, **read_capacity(request, tables, rows)}


def _one_item(database: Database, text: str, given: Given) -> OneItem:
    names = given.statement.table if isinstance(given.statement, Select) else ()
    if len(names) == _INDEX_PARTS and all(names):
        database.table(given.table_name)
        raise StatementFault(_ON_INDEX)
    item = one_item(database, text, given)
    if item is None:
        raise StatementFault(_ONE_ITEM)
    return item


def _planned(makes: Sequence[Callable[[], T]]) -> list[T]:
    """The plans of the statements; those that don't match their table's schema cancel the transaction later."""
    made: list[T] = []
    reasons: list[Answer] = []
    for number, make in enumerate(makes):
        reason = NO_REASON
        try:
            made.append(make())
        except ResourceNotFoundException as missing:
            reason = {"Code": "ResourceNotFound", "Message": missing.message}
        except (UnkeyedFault, SchemaFault) as fault:
            reason = {"Code": "ValidationError", "Message": _REASONS.get(fault.message, fault.message)}
        except (ExpressionFault, ValueFault) as fault:
            raise _fault_of(number, fault) from None
        reasons.append(reason)
    if len(made) < len(makes):
        raise TransactionCanceledException(reasons)
    return made


def _write(
    database: Database, request: Request, statements: Sequence[Mapping[str, Any]], given: Sequence[Given]
) -> Answer:
    writes = _planned(
        [
            partial(
                _one_write,
                database,
                statement["Statement"],
                element,
                statement.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD",
            )
            for statement, element in zip(statements, given, strict=True)
        ]
    )
    check_together(writes)
    answer, _ = write_together(database, request, writes, statements)
    return {"Responses": [], **answer}


def _one_write(database: Database, text: str, given: Given, returns_item: bool) -> Write:
    if returning_of(given) is not None:
        database.table(given.table_name)
        raise StatementFault("RETURNING clause is not supported in ExecuteTransaction.")
    return written_of(database, text, given, returns_item=returns_item).write
