"""Bulk operations: put the items of S3 objects into an existing table, with optional conditions per record, and report
failures.

A record has an ``Item`` and, optionally, a ``ConditionExpression`` with ``ExpressionAttributeNames`` and
``ExpressionAttributeValues``, as in PutItem. The service doesn't document the form of a report; here it is one line of
JSON per item, and a manifest with the file names.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import IO, Any, Literal

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
from keyplan.store.transfer.bucket_folder import Bucket, S3Error, Written
from keyplan.store.transfer.item_formats import Csv, UnreadableError, read_records
from keyplan.store.transfer.table_imports import ITEM_FAULTS, TOGETHER, message_of
from keyplan.store.transfer.transfer_jobs import find_job, update_job

KIND: Literal["bulk-operation"] = "bulk-operation"
CSV = Csv({})
_CONDITION = ("ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues")

ReportType = Literal["ERROR", "CONDITION_CHECK_FAILURE"]
_FILES: Mapping[ReportType, str] = {"ERROR": "errors", "CONDITION_CHECK_FAILURE": "condition-check-failures"}


class CancelledError(Exception):
    """The operation was canceled."""


@dataclass
class Progress:
    """The progress of a bulk operation. Bytes are those of the objects, and of writes in units."""

    read_bytes: int = 0
    processed: int = 0
    failed: int = 0
    table_bytes: int = 0
    index_bytes: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    """By ``LocalSecondaryIndexes`` and ``GlobalSecondaryIndexes``, and by index name."""


class Reports:
    """The report files, created with their first line."""

    def __init__(self, database: Database, request: Mapping[str, Any], number: str) -> None:
        output = request["OutputS3Configuration"]
        self._bucket = Bucket(database.s3, output.get("S3Bucket") or request["InputS3Configuration"]["S3Bucket"])
        prefix: str = (output.get("S3KeyPrefix") or "").strip("/")
        self.place = f"{prefix}/AWSDynamoDB/{number}" if prefix else f"AWSDynamoDB/{number}"
        self._wanted: set[str] = set(output["OutputType"])
        self._stack = ExitStack()
        self._files: dict[ReportType, tuple[str, IO[bytes], list[Written]]] = {}
        self._counts: dict[ReportType, int] = {}

    def add(self, kind: ReportType, line: Mapping[str, Any]) -> None:
        """Report one item, if reports of its kind are enabled."""
        if kind not in self._wanted:
            return
        if kind not in self._files:
            key = f"{self.place}/data/{_FILES[kind]}.json.gz"
            written: list[Written] = []
            self._files[kind] = key, self._stack.enter_context(self._bucket.writing(key, written, packed=True)), written
        self._files[kind][1].write(orjson.dumps(line) + b"\n")
        self._counts[kind] = self._counts.get(kind, 0) + 1

    def close(self, description: Mapping[str, Any]) -> None:
        """Close the files and write the manifest."""
        self._stack.close()
        manifest = {
            "bulkOperationArn": description["BulkOperationArn"],
            "tableName": description["TableDetails"][0]["TableName"],
            "files": [
                {
                    "outputType": kind,
                    "itemCount": self._counts[kind],
                    "dataFileS3Key": key,
                    "md5Checksum": written[0].md5,
                    "etag": written[0].etag,
                }
                for kind, (key, _, written) in self._files.items()
            ],
        }
        self._bucket.put(f"{self.place}/manifest.json", orjson.dumps(manifest))


def end_bulk(database: Database, number: str, status: str, **members: Any) -> None:
    """Store the final status of a bulk operation."""
    update_job(database, KIND, number, BulkOperationStatus=status, EndTime=round(database.clock(), 3), **members)


def fail_bulk(database: Database, number: str, code: str, message: str) -> None:
    """Store the failure of a bulk operation."""
    end_bulk(database, number, "FAILED", FailureCode=code, FailureMessage=message)


def put_objects(database: Database, number: str, request: Mapping[str, Any], description: Mapping[str, Any]) -> None:
    """Execute a bulk operation whose record is already stored."""
    progress = Progress()
    source = request["InputS3Configuration"]
    name: str = description["TableDetails"][0]["TableName"]
    try:
        bucket = Bucket(database.s3, source["S3Bucket"])
        reports = Reports(database, request, number)
        keys = bucket.keys(source.get("S3KeyPrefix") or "")
        update_job(database, KIND, number, TotalInputBytes=sum(size_bytes for _, size_bytes in keys))
        for key, size_bytes in keys:
            _put_object(database, number, progress, reports, bucket, key, source, name)
            progress.read_bytes += size_bytes
        reports.close(description)
    except CancelledError:
        reason = {"FailureCode": "UserCancelled", "FailureMessage": "The operation was cancelled"}
        end_bulk(database, number, "CANCELLED", **reason, **_counts(name, progress))
        return
    except S3Error as error:
        end_bulk(
            database, number, "FAILED", FailureCode=error.code, FailureMessage=error.message, **_counts(name, progress)
        )
        return
    end_bulk(database, number, "COMPLETED_WITH_ERRORS" if progress.failed else "COMPLETED", **_counts(name, progress))


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
    database: Database,
    number: str,
    progress: Progress,
    reports: Reports,
    bucket: Bucket,
    key: str,
    source: Mapping[str, Any],
    name: str,
) -> None:
    def fault(message: str, index: int, item: Any = None) -> None:
        progress.failed += 1
        line = {"bucket": bucket.name, "key": key, "itemIndex": index, "errorMessage": message}
        reports.add("ERROR", line if item is None else {**line, "Item": item})

    waiting: list[tuple[int, Write]] = []
    index = -1
    with bucket.read(key, source.get("InputCompressionType") or "NONE") as file:
        try:
            for index, record in enumerate(read_records(file, source["InputFormat"], CSV)):
                progress.processed += 1
                try:
                    waiting.append((index, _write_of(database, name, record)))
                except ITEM_FAULTS as error:
                    fault(message_of(error), index, record.get("Item"))
                if len(waiting) == TOGETHER:
                    _write(database, number, progress, reports, waiting)
        except UnreadableError as error:
            progress.processed += 1
            fault(str(error), index + 1)
        _write(database, number, progress, reports, waiting)


def _write_of(database: Database, name: str, record: Mapping[str, Any]) -> Write:
    """The write of a record: a PutItem with its condition. Raises DynamoDBError, ValueFault, ExpressionFault."""
    if not isinstance(record.get("Item"), dict):
        raise ValueFault("The record has no Item")
    condition = {member: record[member] for member in _CONDITION if member in record}
    for member, value in condition.items():
        if not isinstance(value, str if member == "ConditionExpression" else dict):
            raise ValueFault(f"{member} is of another type")
    request = {"TableName": name, "Item": record["Item"], **condition}
    return prepare.put(database, {**request, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})


def _write(
    database: Database, number: str, progress: Progress, reports: Reports, waiting: list[tuple[int, Write]]
) -> None:
    """Write the queued items in one transaction, unless the operation was canceled.

    Raises:
        CancelledError: it was canceled.
        S3Error: the table was deleted, or has another key.
    """
    if not waiting:
        return

    def work(writer: Writer) -> list[tuple[Write, Outcome | ConditionalCheckFailedException]]:
        job = find_job(writer, KIND, number)
        if job is None or job["Description"]["BulkOperationStatus"] == "CANCELLING":
            raise CancelledError
        return [(write, _perform(writer, write)) for _, write in waiting]

    try:
        results = database.write(work)
    except StaleTableError:
        database.refresh()
        _prepare_again(database, waiting)
        results = database.write(work)
    for write, result in results:
        assert write.put is not None  # noqa: S101 - all are puts
        if isinstance(result, ConditionalCheckFailedException):
            line: dict[str, Any] = {"Item": write.put.item, "errorMessage": result.message}
            existing = result.fields.get("Item")
            reports.add("CONDITION_CHECK_FAILURE", line if existing is None else {**line, "ExistingItem": existing})
        else:
            _count(progress, write, result)
    waiting.clear()


def _prepare_again(database: Database, waiting: list[tuple[int, Write]]) -> None:
    """Prepare writes again after a change of the table's indexes."""
    for place, (index, write) in enumerate(waiting):
        assert write.put is not None  # noqa: S101 - all are puts
        request = {"TableName": write.table.name, "Item": write.put.item}
        try:
            again = prepare.put(database, request)
        except ITEM_FAULTS as error:
            raise S3Error("TableNotFound", message_of(error)) from None
        waiting[place] = (
            index,
            Write(again.table, again.key, write.condition, put=again.put, tells_item=write.tells_item),
        )


def _perform(writer: Writer, write: Write) -> Outcome | ConditionalCheckFailedException:
    try:
        return perform(writer, write)
    except ConditionalCheckFailedException as failed:
        return failed


def _count(progress: Progress, write: Write, outcome: Outcome) -> None:
    """Count the units of a put on the table and on each changed index."""
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
