"""From a fault that was found to the error that DynamoDB gives: the one place that knows how the service words it.

What is wrong with a request by itself (its values, its expressions, what goes with what) is worded by the layer that
its operation is of: within ``1 validation error detected: `` by PutItem, UpdateItem and DeleteItem, in the same words
by GetItem, BatchGetItem and Query, in older words by all others. TransactWriteItems has the current words for what
nests too deep. What only the table or the item shows is worded the same everywhere, and never has that prefix. Decision
0029 has the sources.
"""

from __future__ import annotations

import json
from typing import Any

from keyplan.dynamodb.expressions import ExpressionFault, UpdateFault
from keyplan.dynamodb.operations.registry import Operation
from keyplan.dynamodb.operations.shape_errors import Wording, wording_for
from keyplan.dynamodb.service_errors import CountFault, RequestFault, SerializationException, ValidationException
from keyplan.dynamodb.values import TOO_DEEP, ValueFault

ENVELOPE = "1 validation error detected: "


_NO_UNICODE = "A string of the request is not valid Unicode"


def check_unicode(params: Any) -> None:
    """Refuse a request with half a character in one of its strings. It is looked for where something failed that may
    come of it: strings are neither stored nor looked up without being encoded.

    Raises:
        SerializationException: it has one.
    """
    try:
        json.dumps(params, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        raise SerializationException(_NO_UNICODE) from None


def error_of(fault: Exception, operation: Operation, params: Any) -> Exception:
    """The error of DynamoDB that a fault of a request becomes."""
    if isinstance(fault, UnicodeEncodeError):
        return SerializationException(_NO_UNICODE)
    if isinstance(fault, UpdateFault):
        return ValidationException(fault.message)
    if isinstance(fault, CountFault) or not isinstance(fault, (ExpressionFault, ValueFault, ValidationException)):
        return fault
    try:
        # The service reads the whole request before it judges any of it.
        operation.check_types(params)
    except SerializationException as wrong_type:
        return wrong_type
    if not isinstance(fault, (ExpressionFault, ValueFault, RequestFault)):
        return fault
    wording = operation.wording
    if fault.message == TOO_DEEP and operation.depth_wording is not None:
        wording = operation.depth_wording
    return ValidationException(worded(fault, wording_for(wording, params)))


def worded(fault: ExpressionFault | ValueFault | RequestFault, wording: Wording) -> str:
    """What is wrong with a request by itself, in these words."""
    if wording == "older":
        return fault.older
    return f"{ENVELOPE}{fault.message}" if wording == "enveloped" else fault.message
