"""DynamoDB's errors: one class per type, named after the type in the protocol.

Messages are AWS's. This module contains the shared messages; other messages are in the modules that raise the error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keyplan.errors import DynamoDBError


class _ServiceError(DynamoDBError):
    """An error whose class has the name of its type; subclasses of such a class share its type."""

    def __init_subclass__(cls) -> None:
        if _ServiceError in cls.__bases__:
            cls.type = cls.__name__


class ValidationException(_ServiceError):
    """The request violates a rule of the API."""


class RequestFault(ValidationException):
    """A request that is invalid for any table. ``older`` is the message in the older layer (decision 0029)."""

    def __init__(self, message: str, older: str | None = None) -> None:
        super().__init__(message)
        self.older = message if older is None else older


class CountFault(ValidationException):
    """A request has more members than the maximum. The service reports only this error of the request."""


class SerializationException(_ServiceError):
    """A member of the request has the wrong JSON type."""


class UnknownOperationException(_ServiceError):
    """The operation doesn't exist or isn't supported."""


class ResourceNotFoundException(_ServiceError):
    """The table or index doesn't exist."""


class TableNotFoundException(_ServiceError):
    """The table named in a backup request doesn't exist."""


class AccessDeniedException(_ServiceError):
    """The caller isn't authorized, or the change would prevent the caller from changing the policy again."""


class PolicyNotFoundException(_ServiceError):
    """The resource has no policy."""


class GlobalTableNotFoundException(_ServiceError):
    """The global table (version 2017.11.29) doesn't exist."""


class TableAlreadyExistsException(_ServiceError):
    """The target table of a restore already exists."""


class TableInUseException(_ServiceError):
    """A table of this name is being restored."""


class BackupNotFoundException(_ServiceError):
    """The backup doesn't exist."""


class BackupInUseException(_ServiceError):
    """A restore from the backup is in progress."""


class ContinuousBackupsUnavailableException(_ServiceError):
    """Continuous backups aren't enabled for the table."""


class PointInTimeRecoveryUnavailableException(_ServiceError):
    """Point-in-time recovery isn't enabled for the table."""


class InvalidRestoreTimeException(_ServiceError):
    """The restore time is outside the recovery period."""


class InvalidExportTimeException(_ServiceError):
    """The export time is outside the recovery period."""


class ExportNotFoundException(_ServiceError):
    """The export doesn't exist."""


class ExportConflictException(_ServiceError):
    """A ClientToken was reused for a different export."""


class ImportNotFoundException(_ServiceError):
    """The import doesn't exist."""


class ImportConflictException(_ServiceError):
    """A ClientToken was reused for a different import."""


class ResourceInUseException(_ServiceError):
    """The table already exists, or is being created, updated or deleted."""


class LimitExceededException(_ServiceError):
    """Too many concurrent table operations."""


class ConditionalCheckFailedException(_ServiceError):
    """The condition is false. ``fields["Item"]`` is the current item if the request asked for it."""

    def __init__(self, item: Mapping[str, Any] | None = None) -> None:
        super().__init__("The conditional request failed", fields={"Item": item} if item is not None else None)


class DuplicateItemException(_ServiceError):
    """The key of an inserted item already exists (PartiQL)."""

    def __init__(self) -> None:
        super().__init__("Duplicate primary key exists in table")


class TransactionCanceledException(_ServiceError):
    """The transaction was canceled. ``fields["CancellationReasons"]`` has one reason per action, in order."""

    def __init__(self, reasons: Sequence[Mapping[str, Any]]) -> None:
        codes = ", ".join(reason["Code"] for reason in reasons)
        super().__init__(
            f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
            fields={"CancellationReasons": [dict(reason) for reason in reasons]},
        )


class IdempotentParameterMismatchException(_ServiceError):
    """A ClientRequestToken was reused for a different request."""


class ItemCollectionSizeLimitExceededException(_ServiceError):
    """An item collection of a table with local secondary indexes exceeds 10 GB."""


class TransactionConflictException(_ServiceError):
    """Another transaction is changing the item."""


ThrottlingReasons = Sequence[Mapping[str, str]]
"""Each has ``reason`` (``TableWriteKeyRangeThroughputExceeded``) and ``resource``, the ARN of a table or index."""


class ProvisionedThroughputExceededException(_ServiceError):
    """The throughput of a provisioned table, an index or a partition was exceeded."""

    def __init__(self, message: str, reasons: ThrottlingReasons = ()) -> None:
        super().__init__(message, fields={"ThrottlingReasons": list(reasons)})


class ThrottlingException(_ServiceError):
    """The throughput of an on-demand table, an index or a partition was exceeded."""

    def __init__(self, message: str, reasons: ThrottlingReasons = ()) -> None:
        super().__init__(message, fields={"throttlingReasons": list(reasons)})


class RequestLimitExceeded(_ServiceError):
    """The account's throughput quota was exceeded."""

    def __init__(self, message: str, reasons: ThrottlingReasons = ()) -> None:
        super().__init__(message, fields={"ThrottlingReasons": list(reasons)})


THROTTLING = (ProvisionedThroughputExceededException, ThrottlingException, RequestLimitExceeded)
"""Throttling errors."""
THROTTLING_TYPES = frozenset(error.type for error in THROTTLING)
PROVISIONED_THROUGHPUT_CODE = "ProvisionedThroughputExceeded"
THROTTLING_CODE = "ThrottlingError"
THROTTLING_CODES = frozenset({PROVISIONED_THROUGHPUT_CODE, THROTTLING_CODE})
"""Throttling codes in the results of a transaction's actions and a batch's statements."""


class ExpiredIteratorException(_ServiceError):
    """The shard iterator is older than 15 minutes."""


class TrimmedDataAccessException(_ServiceError):
    """The stream records are older than 24 hours."""


class InternalServerError(_ServiceError):
    """An internal error of the store."""


def one_or_more(message: str) -> ValidationException:
    """The ``ValidationException`` with the wording that AWS uses for most constraints on values."""
    return ValidationException(f"One or more parameter values were invalid: {message}")


def table_not_found(name: str | None = None) -> ResourceNotFoundException:
    """The error for a missing table. The message for a table operation names the table."""
    detail = f": Table: {name} not found" if name is not None else ""
    return ResourceNotFoundException(f"Requested resource not found{detail}")
