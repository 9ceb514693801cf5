"""The requests of PartiQL: ExecuteStatement, BatchExecuteStatement, ExecuteTransaction."""

from __future__ import annotations

from collections.abc import Mapping

from keyplan.wire import limits
from keyplan.wire.members import FLAG, RETURN_CONSUMED, RETURN_ON_FAILURE
from keyplan.wire.shapes import ListOf, Shape, Structure, Text, Value, Whole, structure

__all__ = ["REQUESTS"]

_STATEMENT: dict[str, Shape] = {"Statement": Text(1, limits.STATEMENT_CHARACTERS_MAX)}
_MORE: dict[str, Shape] = {
    "Parameters": ListOf(Value(), 1),
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
