"""DynamoDB's errors: one class per type, named after the type in the protocol.

Messages are AWS's texts. Texts used in one place are where the error is raised; shared texts are here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keyplan.errors import DynamoDBError


class ValidationException(DynamoDBError):
    """The request violates a rule of the API."""

    type = "ValidationException"


class RequestFault(ValidationException):
    """A request is invalid regardless of the tables' contents. ``older`` is the text of operations in the older layer
    (decision 0029).
    """

    def __init__(self, message: str, older: str | None = None) -> None:
        super().__init__(message)
        self.older = message if older is None else older


class CountFault(ValidationException):
    """There are more members than the maximum. No other error of the request is reported."""


class SerializationException(DynamoDBError):
    """A member of the request has the wrong JSON type."""

    type = "SerializationException"


class UnknownOperationException(DynamoDBError):
    """The operation doesn't exist or isn't supported."""

    type = "UnknownOperationException"


class ResourceNotFoundException(DynamoDBError):
    """The table or index doesn't exist."""

    type = "ResourceNotFoundException"


class TableNotFoundException(DynamoDBError):
    """The table doesn't exist, in operations on backups."""

    type = "TableNotFoundException"


class AccessDeniedException(DynamoDBError):
    """The caller isn't authorized, or the change would prevent the caller from changing the policy again."""

    type = "AccessDeniedException"


class PolicyNotFoundException(DynamoDBError):
    """The resource has no policy."""

    type = "PolicyNotFoundException"


class GlobalTableNotFoundException(DynamoDBError):
    """The global table (version 2017.11.29) doesn't exist."""

    type = "GlobalTableNotFoundException"


class GlobalTableAlreadyExistsException(DynamoDBError):
    """The global table (version 2017.11.29) already exists."""

    type = "GlobalTableAlreadyExistsException"


class ReplicaAlreadyExistsException(DynamoDBError):
    """The region already has a replica."""

    type = "ReplicaAlreadyExistsException"


class ReplicaNotFoundException(DynamoDBError):
    """The region has no replica."""

    type = "ReplicaNotFoundException"


class TableAlreadyExistsException(DynamoDBError):
    """The table already exists, in restore operations."""

    type = "TableAlreadyExistsException"


class TableInUseException(DynamoDBError):
    """A table of this name is being restored."""

    type = "TableInUseException"


class BackupNotFoundException(DynamoDBError):
    """The backup doesn't exist."""

    type = "BackupNotFoundException"


class BackupInUseException(DynamoDBError):
    """A restore from the backup is in progress."""

    type = "BackupInUseException"


class ContinuousBackupsUnavailableException(DynamoDBError):
    """Continuous backups aren't enabled for the table."""

    type = "ContinuousBackupsUnavailableException"


class PointInTimeRecoveryUnavailableException(DynamoDBError):
    """Point-in-time recovery isn't enabled for the table."""

    type = "PointInTimeRecoveryUnavailableException"


class InvalidRestoreTimeException(DynamoDBError):
    """The restore time is outside the recovery period."""

    type = "InvalidRestoreTimeException"


class InvalidExportTimeException(DynamoDBError):
    """The export time is outside the recovery period."""

    type = "InvalidExportTimeException"


class ExportNotFoundException(DynamoDBError):
    """The export doesn't exist."""

    type = "ExportNotFoundException"


class ExportConflictException(DynamoDBError):
    """A ClientToken was reused for a different export."""

    type = "ExportConflictException"


class ImportNotFoundException(DynamoDBError):
    """The import doesn't exist."""

    type = "ImportNotFoundException"


class ImportConflictException(DynamoDBError):
    """A ClientToken was reused for a different import."""

    type = "ImportConflictException"


class ResourceInUseException(DynamoDBError):
    """The table already exists, or is being created, updated or deleted."""

    type = "ResourceInUseException"


class LimitExceededException(DynamoDBError):
    """Too many concurrent table operations."""

    type = "LimitExceededException"


class ConditionalCheckFailedException(DynamoDBError):
    """The condition is false. ``fields["Item"]`` is the current item if the request asked for it."""

    type = "ConditionalCheckFailedException"

    def __init__(self, item: Mapping[str, Any] | None = None) -> None:
        super().__init__("The conditional request failed", fields={"Item": item} if item is not None else None)


class DuplicateItemException(DynamoDBError):
    """The key of an inserted item already exists (PartiQL)."""

    type = "DuplicateItemException"

    def __init__(self) -> None:
        super().__init__("Duplicate primary key exists in table")


class TransactionCanceledException(DynamoDBError):
    """The transaction was canceled. ``fields["CancellationReasons"]`` has one reason per action, in order."""

    type = "TransactionCanceledException"

    def __init__(self, reasons: Sequence[Mapping[str, Any]]) -> None:
        codes = ", ".join(reason["Code"] for reason in reasons)
        super().__init__(
            f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
            fields={"CancellationReasons": [dict(reason) for reason in reasons]},
        )


class IdempotentParameterMismatchException(DynamoDBError):
    """A ClientRequestToken was reused for a different request."""

    type = "IdempotentParameterMismatchException"


class ItemCollectionSizeLimitExceededException(DynamoDBError):
    """An item collection of a table with local secondary indexes exceeds 10 GB."""

    type = "ItemCollectionSizeLimitExceededException"


class TransactionConflictException(DynamoDBError):
    """Another transaction is changing the item."""

    type = "TransactionConflictException"


ThrottlingReasons = Sequence[Mapping[str, str]]
"""Each has ``reason`` (``TableWriteKeyRangeThroughputExceeded``) and ``resource``, the ARN of a table or index."""


class ProvisionedThroughputExceededException(DynamoDBError):
    """The throughput of a provisioned table, an index or a partition was exceeded."""

    type = "ProvisionedThroughputExceededException"

    def __init__(self, message: str, reasons: ThrottlingReasons = ()) -> None:
        super().__init__(message, fields={"ThrottlingReasons": list(reasons)})


class ThrottlingException(DynamoDBError):
    """The throughput of an on-demand table, an index or a partition was exceeded."""

    type = "ThrottlingException"

    def __init__(self, message: str, reasons: ThrottlingReasons = ()) -> None:
        super().__init__(message, fields={"throttlingReasons": list(reasons)})


class RequestLimitExceeded(DynamoDBError):
    """The account's throughput quota was exceeded."""

    type = "RequestLimitExceeded"

    def __init__(self, message: str, reasons: ThrottlingReasons = ()) -> None:
        super().__init__(message, fields={"ThrottlingReasons": list(reasons)})


THROTTLING = (ProvisionedThroughputExceededException, ThrottlingException, RequestLimitExceeded)
"""Throttling errors."""
THROTTLING_TYPES = frozenset(error.type for error in THROTTLING)
PROVISIONED_THROUGHPUT_CODE = "ProvisionedThroughputExceeded"
THROTTLING_CODE = "ThrottlingError"
THROTTLING_CODES = frozenset({PROVISIONED_THROUGHPUT_CODE, THROTTLING_CODE})
"""Throttling codes in the results of a transaction's actions and a batch's statements."""


class ExpiredIteratorException(DynamoDBError):
    """The shard iterator is older than 15 minutes."""

    type = "ExpiredIteratorException"


class TrimmedDataAccessException(DynamoDBError):
    """The stream records are older than 24 hours."""

    type = "TrimmedDataAccessException"


class InternalServerError(DynamoDBError):
    """An internal error of the store."""

    type = "InternalServerError"


def one_or_more(message: str) -> ValidationException:
    """``ValidationException`` in the form that most of AWS's rules about values have."""
    return ValidationException(f"One or more parameter values were invalid: {message}")


def table_not_found(name: str | None = None) -> ResourceNotFoundException:
    """The error for a missing table. Table operations name the table, item operations don't."""
    detail = f": Table: {name} not found" if name is not None else ""
    return ResourceNotFoundException(f"Requested resource not found{detail}")
