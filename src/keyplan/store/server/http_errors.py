"""Errors as they go over the wire: the type with its namespace, AWS's spelling of the message, and the status.

Errors of operations come from the engine (``keyplan.dynamodb.service_errors``); those of the protocol itself are
created here, in the words of the service.
"""

from __future__ import annotations

from typing import Any

import orjson

from keyplan.errors import DynamoDBError

_OPERATIONS = "com.amazonaws.dynamodb.v20120810#"
_SERVICE = "com.amazon.coral.service#"
_VALIDATE = "com.amazon.coral.validate#"

_NAMESPACES = {
    "ValidationException": _VALIDATE,
    "AccessDeniedException": _SERVICE,
    "IncompleteSignatureException": _SERVICE,
    "InternalFailure": _SERVICE,
    "InvalidSignatureException": _SERVICE,
    "MissingAuthenticationTokenException": _SERVICE,
    "SerializationException": _SERVICE,
    "ServiceUnavailableException": _SERVICE,
    "UnknownOperationException": _SERVICE,
    "UnrecognizedClientException": _SERVICE,
    "ThrottlingException": _SERVICE,
}
"""All other types are of the operations. By captures of the service."""

_MESSAGE_MEMBERS = {
    "TransactionCanceledException": "Message",
    "IdempotentParameterMismatchException": "Message",
    "TransactionInProgressException": "Message",
    "AccessDeniedException": "Message",
    "SerializationException": "Message",
}
"""Elsewhere it is ``message``. By the API's model and by captures of the service."""

_STATUSES = {
    "InternalServerError": 500,
    "InternalFailure": 500,
    "ServiceUnavailableException": 503,
    "AccessDeniedException": 403,
}

RETRY = "Too much is being received at once. Please try again."


def protocol_fault(type_: str, message: str) -> DynamoDBError:
    """An error of the protocol."""
    return DynamoDBError(message, type=type_)


def unreadable_encoding() -> DynamoDBError:
    """A body that isn't of its Content-Encoding, or one whose encoding isn't known: the service answers with 500 (by
    public tests that are run against it).
    """
    return protocol_fault("InternalFailure", "")


def status_of(error: DynamoDBError) -> int:
    """The HTTP status of an error."""
    return _STATUSES.get(error.type, 400)


def body_of(error: DynamoDBError) -> bytes:
    """The body of an error's answer."""
    body: dict[str, Any] = {"__type": _NAMESPACES.get(error.type, _OPERATIONS) + error.type}
    if error.message:
        body[_MESSAGE_MEMBERS.get(error.type, "message")] = error.message
    return orjson.dumps(body | error.fields)
