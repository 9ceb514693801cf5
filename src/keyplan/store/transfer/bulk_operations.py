"""Bulk operations: put the items of S3 objects into an existing table.

A record has an ``Item`` and, optionally, a ``ConditionExpression`` with ``ExpressionAttributeNames`` and
``ExpressionAttributeValues``. Failed items are logged, because the service doesn't document the form of its reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import orjson

from keyplan.dynamodb.capacity import Consumed
from keyplan.dynamodb.limits import WRITE_UNIT_BYTES
from keyplan.dynamodb.service_errors import ConditionalCheckFailedException
from keyplan.dynamodb.values import ValueFault
from keyplan.store.database import Database
from keyplan.store.items.item_writes import Outcome, add_units, perform
from keyplan.store.items.write_outcome import Write
from keyplan.store.requests import write_preparation as prepare
from keyplan.store.storage.key_layouts import StaleTableError
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.transfer.bucket_folder import Bucket, S3Error, log_error
from keyplan.store.transfer.item_formats import Csv, Fields, UnreadableError, read_records
from keyplan.store.transfer.table_imports import ITEM_FAULTS, TOGETHER, message_of
from keyplan.store.transfer.transfer_jobs import end_job, find_job, update_job

KIND: Literal["bulk-operation"] = "bulk-operation"
CSV = Csv({})
_CONDITION = ("ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues")


class CancelledError(Exception):
    """The operation was canceled."""


@dataclass
class Progress:
    """The progress of a bulk operation: the sizes of the objects, and the sizes of the writes in whole write units."""

    read_bytes: int = 0
    processed: int = 0
    failed: int = 0
    table_bytes: int = 0
    index_bytes: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    """By ``LocalSecondaryIndexes`` and ``GlobalSecondaryIndexes``, and by index name."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A put that waits for the next transaction, and its record."""

    record: Fields | UnreadableError
    place: Mapping[str, Any]
    write: Write


def end_bulk(database: Database, number: str, status: str, **members: Any) -> None:
    end_job(database, KIND, number, BulkOperationStatus=status, **members)


def fail_bulk(database: Database, number: str, code: str, message: str, **members: Any) -> None:
    end_bulk(database, number, "FAILED", FailureCode=code, FailureMessage=message, **members)


def put_objects(database: Database, number: str, request: Mapping[str, Any], name: str) -> None:
    progress = Progress()
    source = request["InputS3Configuration"]
    try:
        bucket = Bucket(database.s3, source["S3Bucket"])
        keys = bucket.keys(source.get("S3KeyPrefix") or "")
        update_job(database, KIND, number, TotalInputBytes=sum(size_bytes for _, size_bytes in keys))
        for key, size_bytes in keys:
            _put_object(database, number, progress, bucket, key, source, name)
            progress.read_bytes += size_bytes
    except CancelledError:
        reason = {"FailureCode": "UserCancelled", "FailureMessage": "The operation was cancelled"}
        end_bulk(database, number, "CANCELLED", **reason, **_counts(name, progress))
    except S3Error as error:
        fail_bulk(database, number, error.code, error.message, **_counts(name, progress))
    else:
        status = "COMPLETED_WITH_ERRORS" if progress.failed else "COMPLETED"
        end_bulk(database, number, status, **_counts(name, progress))


def _counts(name: str, progress: Progress) -> dict[str, Any]:
    total = progress.table_bytes + sum(sum(units.values()) for units in progress.index_bytes.values())
    usage: dict[str, Any] = {"TableName": name, "BulkPutBytes": total, "Table": {"BulkPutBytes": progress.table_bytes}}
    for member, units in progress.index_bytes.items():
        usage[member] = {index: {"BulkPutBytes": size_bytes} for index, size_bytes in units.items()}
    return {
        "ProcessedItemCount": progress.processed,
        "ProcessedInputBytes": progress.read_bytes,
        "FailedItemCount": progress.failed,
        "BulkOperationUsage": [usage],
    }


def _put_object(
    database: Database, number: str, progress: Progress, bucket: Bucket, key: str, source: Mapping[str, Any], name: str
) -> None:
    waiting: list[Waiting] = []
    with bucket.read(key, source.get("InputCompressionType") or "NONE") as file:
        for index, record in enumerate(read_records(file, source["InputFormat"], CSV)):
            progress.processed += 1
            place = {"bucket": bucket.name, "key": key, "itemIndex": index}
            try:
                waiting.append(Waiting(record, place, _write_of(database, name, record)))
            except ITEM_FAULTS as error:
                progress.failed += 1
                _log(database, number, place, message_of(error))
            if len(waiting) == TOGETHER:
                _write(database, number, progress, waiting)
        _write(database, number, progress, waiting)


def _log(database: Database, number: str, place: Mapping[str, Any], message: str) -> None:
    log_error(database.s3, "bulk-operations", number, orjson.dumps({**place, "errorMessage": message}))


def _write_of(database: Database, name: str, record: Fields | UnreadableError) -> Write:
    if isinstance(record, UnreadableError):
        raise record
    if not isinstance(record.get("Item"), dict):
        raise ValueFault("The record has no Item")
    condition = {member: record[member] for member in _CONDITION if member in record}
    for member, value in condition.items():
        if not isinstance(value, str if member == "ConditionExpression" else dict):
            raise ValueFault(f"{member} has an invalid type")
    return prepare.put(database, {"TableName": name, "Item": record["Item"], **condition})


def _write(database: Database, number: str, progress: Progress, waiting: list[Waiting]) -> None:
    """Write the queued items in one transaction. Raises CancelledError, or S3Error if the table was deleted."""
    if not waiting:
        return

    def work(writer: Writer) -> list[Outcome | ConditionalCheckFailedException]:
        job = find_job(writer, KIND, number)
        if job is None or job["Description"]["BulkOperationStatus"] == "CANCELLING":
            raise CancelledError
        return [_perform(writer, each.write) for each in waiting]

    try:
        results = database.write(work)
    except StaleTableError:
        database.refresh()
        try:
            waiting[:] = [
                replace(each, write=_write_of(database, each.write.table.name, each.record)) for each in waiting
            ]
        except ITEM_FAULTS as error:
            raise S3Error("TableNotFound", message_of(error)) from None
        results = database.write(work)
    for each, result in zip(waiting, results, strict=True):
        if isinstance(result, ConditionalCheckFailedException):
            _log(database, number, each.place, result.message)
        else:
            _count(progress, each.write, result)
    waiting.clear()


def _perform(writer: Writer, write: Write) -> Outcome | ConditionalCheckFailedException:
    try:
        return perform(writer, write)
    except ConditionalCheckFailedException as failed:
        return failed


def _count(progress: Progress, write: Write, outcome: Outcome) -> None:
    consumed = Consumed(write.table.name, "Write")
    add_units(consumed, write.table, outcome)
    progress.table_bytes += int(consumed.table_units) * WRITE_UNIT_BYTES
    for member, units in {
        "LocalSecondaryIndexes": consumed.local_units,
        "GlobalSecondaryIndexes": consumed.global_units,
    }.items():
        counts = progress.index_bytes.setdefault(member, {}) if units else {}
        for index, count in units.items():
            counts[index] = counts.get(index, 0) + int(count) * WRITE_UNIT_BYTES
