"""Which HTTP status an error gets. The first kind in the list that fits decides."""

from __future__ import annotations

from keyplan.dynamodb.service_errors import THROTTLING_TYPES
from keyplan.errors import (
    AccessRefused,
    DynamoDBError,
    ItemNotFound,
    ItemTooLarge,
    KeyplanError,
    Refused,
    RequestError,
    SignInNeeded,
    StoreError,
    TooManyRequests,
    UnknownPattern,
    WriteFailed,
)

__all__ = ["status_of"]

_STATUSES: tuple[tuple[type[KeyplanError], int], ...] = (
    (UnknownPattern, 404),
    (ItemNotFound, 404),
    (ItemTooLarge, 413),
    (RequestError, 400),
    (WriteFailed, 409),
    (Refused, 409),
    (SignInNeeded, 401),
    (TooManyRequests, 429),
    (AccessRefused, 403),
    (StoreError, 503),
)
_DYNAMODB_STATUSES = {
    "ConditionalCheckFailedException": 409,
    "TransactionCanceledException": 409,
    "TransactionConflictException": 409,
    "TransactionInProgressException": 409,
    "ItemCollectionSizeLimitExceededException": 409,
    "ValidationException": 400,
    "SerializationException": 400,
    "InternalServerError": 503,
    "LimitExceededException": 503,
    "ResourceInUseException": 503,
    "ResourceNotFoundException": 503,
    "ServiceUnavailable": 503,
    **dict.fromkeys(THROTTLING_TYPES, 503),
}


def status_of(error: KeyplanError) -> int:
    """The status: 4xx where the caller can mend it, 503 where the store can't answer, 500 for bad content in it."""
    if isinstance(error, DynamoDBError):
        return _DYNAMODB_STATUSES.get(error.type, 500)
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)
