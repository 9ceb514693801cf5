"""BatchExecuteStatement: execute up to 25 independent PartiQL statements, whose errors are in the response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyplan.dynamodb.capacity import ConsumedByTable, read_units
from keyplan.dynamodb.expressions import ExpressionFault, UpdateFault
from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.dynamodb.partiql import StatementFault
from keyplan.dynamodb.service_errors import THROTTLING, RequestFault, ValidationException
from keyplan.dynamodb.values import ValueFault
from keyplan.errors import DynamoDBError
from keyplan.store.database import Database
from keyplan.store.items.item_writes import add_units, perform
from keyplan.store.requests.request_expressions import Answer, Request, consumed_capacity
from keyplan.store.simulation import cancellation_of
from keyplan.store.statements.single_item_statements import one_item, written_of
from keyplan.store.statements.statement_plans import Given, given_of
from keyplan.store.storage.key_layouts import StaleTableError

_ONE_ITEM = "Select statements within BatchExecuteStatement must specify the primary key in the where clause."
_STALE_RETRIES = 50


def batch_execute_statement(database: Database, request: Request) -> Answer:
    statements: list[Mapping[str, Any]] = request["Statements"]
    parsed = [_given(statement) for statement in statements]
    if not all(isinstance(given, Given) for given in parsed):
        # The service deserializes the whole request first: an invalid attribute value fails all statements.
        OPERATIONS["BatchExecuteStatement"].check_types(request)
    kinds = {given.reads for given in parsed if isinstance(given, Given)}
    if len(kinds) > 1:
        raise RequestFault("Read and write requests together in the same batch is not supported.")
    units = ConsumedByTable("Read" if kinds == {True} else "Write")
    responses = [_run(database, statement, given, units) for statement, given in zip(statements, parsed, strict=True)]
    return {"Responses": responses, **consumed_capacity(request, units)}


def _given(statement: Mapping[str, Any]) -> Given | ExpressionFault | ValueFault:
    """A statement, or its error, which is reported in its place."""
    try:
        return given_of(statement["Statement"], statement.get("Parameters"))
    except (ExpressionFault, ValueFault) as fault:
        return fault


def _run(
    database: Database,
    statement: Mapping[str, Any],
    given: Given | ExpressionFault | ValueFault,
    units: ConsumedByTable,
) -> Answer:
    if not isinstance(given, Given):
        return _error(given)
    for _ in range(_STALE_RETRIES):
        # After a concurrent table change, retry only this statement: earlier statements have already been executed.
        try:
            if given.reads:
                return _read(database, statement, given, units)
            return _write(database, statement, given, units)
        except StaleTableError:
            database.refresh()
        except (DynamoDBError, ExpressionFault, ValueFault) as fault:
            name = given.table_name
            if not (isinstance(fault, (ValidationException, ExpressionFault)) and database.refresh()):
                return _error(fault, name)
    raise StaleTableError


def _read(database: Database, statement: Mapping[str, Any], given: Given, units: ConsumedByTable) -> Answer:
    consistent = bool(statement.get("ConsistentRead"))
    element = one_item(database, statement["Statement"], given, consistent=consistent)
    if element is None:
        raise StatementFault(_ONE_ITEM)
    row = element.table.stored.get(*element.key)
    item = None if row is None else element.show(row[1])
    consumed = read_units(0 if row is None else row[0], consistent=consistent)
    if database.meter is not None:
        database.meter.read(element.table, None, element.key[:1], consumed)
    units[element.table.name].table_units += consumed
    answer: Answer = {"TableName": element.table.name}
    if item is not None:
        answer["Item"] = item
    return answer


def _write(database: Database, statement: Mapping[str, Any], given: Given, units: ConsumedByTable) -> Answer:
    if given.is_check:
        raise StatementFault("EXISTS can only be used in ExecuteTransaction write requests.")
    written = written_of(database, statement["Statement"], given, returns_item=False)
    write = written.write
    outcome = database.write(lambda writer: perform(writer, write, database.charge))
    add_units(units[write.table.name], write.table, outcome)
    answer: Answer = {"TableName": write.table.name}
    item = written.returned(outcome)
    if item:
        answer["Item"] = item
    return answer


def _error(fault: DynamoDBError | ExpressionFault | ValueFault, table_name: str | None = None) -> Answer:
    """The response for a failed statement. Errors that depend on the item also name the table."""
    if isinstance(fault, THROTTLING):
        return {"Error": cancellation_of(fault)}
    if isinstance(fault, (ExpressionFault, ValueFault, RequestFault)):
        if isinstance(fault, UpdateFault):
            return {"Error": {"Code": "ValidationError", "Message": fault.message}, "TableName": table_name}
        return {"Error": {"Code": "ValidationError", "Message": fault.older}}
    code = fault.type.removesuffix("Exception")
    if code == "Validation":
        code = "ValidationError"
    answer: Answer = {"Error": {"Code": code, "Message": fault.message}}
    if code in {"ConditionalCheckFailed", "DuplicateItem"} and table_name is not None:
        answer["TableName"] = table_name
    return answer
