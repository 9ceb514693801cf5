"""The requests of PartiQL: ExecuteStatement, BatchExecuteStatement, ExecuteTransaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyplan.dynamodb import limits
from keyplan.dynamodb.operations.members import FLAG, RETURN_CONSUMED, RETURN_ON_FAILURE
from keyplan.dynamodb.operations.shapes import ListOf, Shape, Structure, Text, Value, Whole, structure

__all__ = ["REQUESTS", "only_selects"]

_STATEMENT: dict[str, Shape] = {"Statement": Text(1, limits.STATEMENT_CHARACTERS_MAX)}
_MORE: dict[str, Shape] = {
    "Parameters": ListOf(Value(), 1, limits.STATEMENT_CHARACTERS_MAX, named="max"),
    "ReturnValuesOnConditionCheckFailure": RETURN_ON_FAILURE,
}

REQUESTS: Mapping[str, Structure] = {
    "ExecuteStatement": structure(
        _STATEMENT,
        ConsistentRead=FLAG,
        NextToken=Text(1, limits.STATEMENT_TOKEN_CHARACTERS_MAX),
        Limit=Whole(1, bits=32),
        ReturnConsumedCapacity=RETURN_CONSUMED,
        **_MORE,
    ),
    "BatchExecuteStatement": structure(
        {"Statements": ListOf(structure(_STATEMENT, ConsistentRead=FLAG, **_MORE), 1, limits.BATCH_STATEMENTS_MAX)},
        ReturnConsumedCapacity=RETURN_CONSUMED,
    ),
    "ExecuteTransaction": structure(
        {"TransactStatements": ListOf(structure(_STATEMENT, **_MORE), 1, limits.TRANSACT_ACTIONS_MAX)},
        ClientRequestToken=Text(1, 36),
        ReturnConsumedCapacity=RETURN_CONSUMED,
    ),
}
"""Each operation's request."""


_LISTS = {"BatchExecuteStatement": "Statements", "ExecuteTransaction": "TransactStatements"}
_SELECT = "SELECT"


def only_selects(operation: str, params: Any) -> bool:
    """Whether each statement of a request is a SELECT, by its first word. The request needn't have been validated."""
    statements = params.get(_LISTS[operation]) if operation in _LISTS and type(params) is dict else [params]
    if type(statements) is not list or not 0 < len(statements) <= limits.TRANSACT_ACTIONS_MAX:
        return False
    for statement in statements:
        text = statement.get("Statement") if type(statement) is dict else None
        if type(text) is not str or text.lstrip()[: len(_SELECT)].upper() != _SELECT:
            return False
    return True
