"""DynamoDB's errors, one class per type. The name of the class is the type on the wire.

Messages are AWS's texts. The code that finds a fault has its message; here are only texts that several places share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keyplan.errors import DynamoDBError


class ValidationException(DynamoDBError):
    """The request breaks a rule of the API."""

    type = "ValidationException"


class RequestFault(ValidationException):
    """What is wrong with a request by itself, whatever the tables hold. ``older`` has the words of the operations that
    are of the older layer (decision 0029).
    """

    def __init__(self, message: str, older: str | None = None) -> None:
        super().__init__(message)
        self.older = message if older is None else older


class CountFault(ValidationException):
    """There are more members than are looked at: nothing else is told of such a request."""


class SerializationException(DynamoDBError):
    """A member of the request has the wrong JSON type."""

    type = "SerializationException"


class UnknownOperationException(DynamoDBError):
    """There is no such operation, or it isn't supported here."""

    type = "UnknownOperationException"


class ResourceNotFoundException(DynamoDBError):
    """There is no such table or index."""

    type = "ResourceNotFoundException"


class TableNotFoundException(DynamoDBError):
    """There is no such table: what the operations on backups say."""

    type = "TableNotFoundException"


class AccessDeniedException(DynamoDBError):
    """The caller may not do this, or the change would take away the right to change it again."""

    type = "AccessDeniedException"


class PolicyNotFoundException(DynamoDBError):
    """The resource has no such policy."""

    type = "PolicyNotFoundException"


class GlobalTableNotFoundException(DynamoDBError):
    """There is no such global table (version 2017.11.29)."""

    type = "GlobalTableNotFoundException"


class GlobalTableAlreadyExistsException(DynamoDBError):
    """There is such a global table already."""

    type = "GlobalTableAlreadyExistsException"


class ReplicaAlreadyExistsException(DynamoDBError):
    """The region has a replica already."""

    type = "ReplicaAlreadyExistsException"


class ReplicaNotFoundException(DynamoDBError):
    """The region has no replica."""

    type = "ReplicaNotFoundException"


class TableAlreadyExistsException(DynamoDBError):
    """There is such a table already: what restores say."""

    type = "TableAlreadyExistsException"


class TableInUseException(DynamoDBError):
    """A table of this name is being restored."""

    type = "TableInUseException"


class BackupNotFoundException(DynamoDBError):
    """There is no such backup."""

    type = "BackupNotFoundException"


class BackupInUseException(DynamoDBError):
    """The backup is being restored from."""

    type = "BackupInUseException"


class ContinuousBackupsUnavailableException(DynamoDBError):
    """Backups are not yet enabled for the table."""

    type = "ContinuousBackupsUnavailableException"


class PointInTimeRecoveryUnavailableException(DynamoDBError):
    """The table keeps no history."""

    type = "PointInTimeRecoveryUnavailableException"


class InvalidRestoreTimeException(DynamoDBError):
    """The moment to restore is outside of what the history covers."""

    type = "InvalidRestoreTimeException"


class InvalidExportTimeException(DynamoDBError):
    """The moment to export is outside of what the history covers."""

    type = "InvalidExportTimeException"


class ExportNotFoundException(DynamoDBError):
    """There is no such export."""

    type = "ExportNotFoundException"


class ExportConflictException(DynamoDBError):
    """A ClientToken was used again with another export."""

    type = "ExportConflictException"


class ImportNotFoundException(DynamoDBError):
    """There is no such import."""

    type = "ImportNotFoundException"


class ImportConflictException(DynamoDBError):
    """A ClientToken was used again with another import."""

    type = "ImportConflictException"


class ResourceInUseException(DynamoDBError):
    """The table exists already, or is being changed."""

    type = "ResourceInUseException"


class LimitExceededException(DynamoDBError):
    """Too many table operations at once."""

    type = "LimitExceededException"


class ConditionalCheckFailedException(DynamoDBError):
    """A condition didn't hold. ``fields["Item"]`` is the item as it is, where the request asked for it."""

    type = "ConditionalCheckFailedException"

    def __init__(self, item: Mapping[str, Any] | None = None) -> None:
        super().__init__("The conditional request failed", fields={"Item": item} if item is not None else None)


class DuplicateItemException(DynamoDBError):
    """A statement's new item has the key of one that is there."""

    type = "DuplicateItemException"

    def __init__(self) -> None:
        super().__init__("Duplicate primary key exists in table")


class TransactionCanceledException(DynamoDBError):
    """A transaction was cancelled. ``fields["CancellationReasons"]`` has one reason for each action, in
    order.
    """

    type = "TransactionCanceledException"

    def __init__(self, reasons: Sequence[Mapping[str, Any]]) -> None:
        codes = ", ".join(reason["Code"] for reason in reasons)
        super().__init__(
            f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
            fields={"CancellationReasons": [dict(reason) for reason in reasons]},
        )


class IdempotentParameterMismatchException(DynamoDBError):
    """A ClientRequestToken was used again with another request."""

    type = "IdempotentParameterMismatchException"


class ItemCollectionSizeLimitExceededException(DynamoDBError):
    """An item collection of a table with local indexes is over 10 GB."""

    type = "ItemCollectionSizeLimitExceededException"


class TransactionConflictException(DynamoDBError):
    """Another transaction is working on the item."""

    type = "TransactionConflictException"


ThrottlingReasons = Sequence[Mapping[str, str]]
"""Each with ``reason`` (``TableWriteKeyRangeThroughputExceeded``) and ``resource``, the ARN of a table or index."""


class ProvisionedThroughputExceededException(DynamoDBError):
    """More than the throughput of a provisioned table, of its indexes, or of a partition."""

    type = "ProvisionedThroughputExceededException"

    def __init__(self, message: str, reasons: ThrottlingReasons = ()) -> None:
        super().__init__(message, fields={"ThrottlingReasons": list(reasons)})


class ThrottlingException(DynamoDBError):
    """More than the throughput of a table on demand, of its indexes, or of a partition."""

    type = "ThrottlingException"

    def __init__(self, message: str, reasons: ThrottlingReasons = ()) -> None:
        super().__init__(message, fields={"throttlingReasons": list(reasons)})


class RequestLimitExceeded(DynamoDBError):
    """More than the account's quota."""

    type = "RequestLimitExceeded"

    def __init__(self, message: str, reasons: ThrottlingReasons = ()) -> None:
        super().__init__(message, fields={"ThrottlingReasons": list(reasons)})


THROTTLING = (ProvisionedThroughputExceededException, ThrottlingException, RequestLimitExceeded)
"""The errors that say: later."""
THROTTLING_TYPES = frozenset(error.type for error in THROTTLING)
PROVISIONED_THROUGHPUT_CODE = "ProvisionedThroughputExceeded"
THROTTLING_CODE = "ThrottlingError"
THROTTLING_CODES = frozenset({PROVISIONED_THROUGHPUT_CODE, THROTTLING_CODE})
"""What says the same of one action of a transaction, or of one statement of a batch."""


class ExpiredIteratorException(DynamoDBError):
    """An iterator of a shard that was given more than 15 minutes ago."""

    type = "ExpiredIteratorException"


class TrimmedDataAccessException(DynamoDBError):
    """Records of a stream that are older than a day."""

    type = "TrimmedDataAccessException"


class InternalServerError(DynamoDBError):
    """A fault of the store itself."""

    type = "InternalServerError"


def one_or_more(message: str) -> ValidationException:
    """``ValidationException`` in the words most of AWS's rules about values use."""
    return ValidationException(f"One or more parameter values were invalid: {message}")


def table_not_found(name: str | None = None) -> ResourceNotFoundException:
    """The error of a missing table. Table operations name the table, item operations don't."""
    detail = f": Table: {name} not found" if name is not None else ""
    return ResourceNotFoundException(f"Requested resource not found{detail}")
