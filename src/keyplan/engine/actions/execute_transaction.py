"""ExecuteTransaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from keyplan.engine.actions.transact_get_items import read_capacity, read_together
from keyplan.engine.database import Database
from keyplan.engine.items import or_carefully
from keyplan.engine.judging import Write
from keyplan.engine.keys import SchemaFault
from keyplan.engine.requests import Answer, Request
from keyplan.engine.statement_changes import written_of
from keyplan.engine.statement_gets import OneItem, one_item
from keyplan.engine.statements import Given, given_of, returning_of
from keyplan.engine.transactions import NO_REASON, check_together, write_together
from keyplan.expressions import ExpressionFault
from keyplan.partiql import Select, StatementFault
from keyplan.wire.errors import RequestFault, TransactionCanceledException

_ONE_ITEM = "Select statements within ExecuteTransaction must specify the primary key in the where clause."
_ON_INDEX = "Reads on indices are not supported within transactions."
T = TypeVar("T")


def execute_transaction(database: Database, request: Request) -> Answer:
    """Run up to a hundred PartiQL statements, all or none: either SELECTs of one item each, or writes."""
    statements: list[Mapping[str, Any]] = request["TransactStatements"]
    given = [_told(number, _parse, statement) for number, statement in enumerate(statements)]
    if len({element.reads for element in given}) > 1:
        raise RequestFault(
            "ExecuteTransaction API does not support both read and write operations in the same request."
        )
    if given[0].reads:
        return or_carefully(partial(_read, database, request, statements, given))
    return _write(database, request, statements, given)


def _parse(statement: Mapping[str, Any]) -> Given:
    given = given_of(statement["Statement"], statement.get("Parameters"))
    if returning_of(given) is not None:
        raise StatementFault("RETURNING clause is not supported in ExecuteTransaction.")
    return given


def _told(number: int, make: Callable[..., T], *arguments: Any) -> T:
    """What ``make`` makes; what is wrong with the statement names its number."""
    try:
        return make(*arguments)
    except ExpressionFault as fault:
        raise StatementFault(f"Validation failed in TransactStatements[{number}]: {fault.older}") from None


def _read(
    database: Database, request: Request, statements: Sequence[Mapping[str, Any]], given: Sequence[Given]
) -> Answer:
    items = [
        _planned(number, len(given), _one_item, database, statement["Statement"], element)
        for number, (statement, element) in enumerate(zip(statements, given, strict=True))
    ]
    tables = [item.table for item in items]
    rows = read_together(database, tables, [item.key for item in items])
    responses: list[Answer] = []
    for item, row in zip(items, rows, strict=True):
        shown = None if row is None else item.show(row[1])
        responses.append({} if shown is None else {"Item": shown})
    return {"Responses": responses, **read_capacity(request, tables, rows)}


def _one_item(database: Database, text: str, given: Given) -> OneItem:
    item = one_item(database, text, given)
    if item is None:
        on_index = isinstance(given.statement, Select) and len(given.statement.table) > 1
        raise StatementFault(_ON_INDEX if on_index else _ONE_ITEM)
    return item


def _planned(number: int, count: int, make: Callable[..., T], *arguments: Any) -> T:
    """What ``make`` makes of a statement; where it doesn't fit its table, it cancels the transaction."""
    try:
        return _told(number, make, *arguments)
    except SchemaFault as fault:
        reason = {"Code": "ValidationError", "Message": fault.message}
        raise TransactionCanceledException(
            [*[NO_REASON] * number, reason, *[NO_REASON] * (count - number - 1)]
        ) from None


def _write(
    database: Database, request: Request, statements: Sequence[Mapping[str, Any]], given: Sequence[Given]
) -> Answer:
    writes: list[Write] = []
    for number, (statement, element) in enumerate(zip(statements, given, strict=True)):
        tells_item = statement.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
        writes.append(_planned(number, len(given), _one_write, database, statement["Statement"], element, tells_item))
    check_together(writes)
    answer, _ = write_together(database, request, writes, statements)
    return {"Responses": [], **answer}


def _one_write(database: Database, text: str, given: Given, tells_item: bool) -> Write:
    return written_of(database, text, given, tells_item=tells_item).write
