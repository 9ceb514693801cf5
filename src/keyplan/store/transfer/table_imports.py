"""Imports: a new table filled with the items of S3 objects, a few hundred per transaction, so that other writers run in
between. Invalid items are counted, and logged next to the buckets.

The sources are "Amazon S3 import formats" and "Import format quotas and validation" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from keyplan.dynamodb.expressions import ExpressionFault
from keyplan.dynamodb.service_errors import ResourceInUseException
from keyplan.dynamodb.values import ValueFault, check_item
from keyplan.errors import DynamoDBError
from keyplan.store.database import Database
from keyplan.store.items.item_writes import perform
from keyplan.store.items.write_outcome import Write, prepare_put
from keyplan.store.state_delays import is_imported_by
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.tables.item_keys import check_names, key_of_item
from keyplan.store.tables.resources import forget_note
from keyplan.store.tables.table import Table
from keyplan.store.transfer.bucket_folder import Bucket, S3Error, log_error
from keyplan.store.transfer.item_formats import Csv, Fields, UnreadableError, read_records
from keyplan.store.transfer.transfer_jobs import find_job, keep_job

KIND: Literal["import"] = "import"
TOGETHER = 500
ITEM_FAULTS = (DynamoDBError, ValueFault, ExpressionFault, UnicodeEncodeError, UnreadableError)

_FAULTY = (
    "Some of the items failed validation checks and were not imported. "
    "Please check CloudWatch error logs for more details."
)


@dataclass
class ImportCounts:
    """The progress of an import. ``size_bytes`` is the decompressed size."""

    size_bytes: int = 0
    processed: int = 0
    imported: int = 0
    errors: int = 0
    waiting: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


def fail_import(database: Database, number: str, code: str, message: str, **more: Any) -> None:
    _end(database, number, ImportStatus="FAILED", FailureCode=code, FailureMessage=message, **more)


def _end(database: Database, number: str, **members: Any) -> None:
    def work(writer: Writer) -> None:
        job = find_job(writer, KIND, number)
        if job is None:
            return
        job["Description"].update(members, EndTime=round(database.clock(), 3))
        keep_job(writer, KIND, number, job)
        table = database.fresh(writer).get(job["Description"]["TableCreationParameters"]["TableName"])
        if table is not None and is_imported_by(table.definition, number):
            forget_note(writer, table)

    database.write(work)
    database.refresh()


def import_objects(
    database: Database, number: str, request: Mapping[str, Any], bucket: Bucket, name: str, how: Csv
) -> None:
    """Fill the empty table with the items of the request's objects."""
    counts = ImportCounts()
    arn: str = request["_ImportArn"]
    source = request["S3BucketSource"]
    try:
        for key, _ in bucket.keys(source.get("S3KeyPrefix") or ""):
            _import_object(database, counts, bucket, key, request, arn, name, how)
        _write(database, counts, name)
    except S3Error as error:
        fail_import(database, number, error.code, error.message, **_counts(counts))
        return
    if counts.errors:
        fail_import(database, number, "ItemValidationError", _FAULTY, **_counts(counts))
    else:
        _end(database, number, ImportStatus="COMPLETED", **_counts(counts))


def _counts(counts: ImportCounts) -> dict[str, int]:
    return {
        "ErrorCount": counts.errors,
        "ProcessedSizeBytes": counts.size_bytes,
        "ProcessedItemCount": counts.processed,
        "ImportedItemCount": counts.imported,
    }


def _import_object(
    database: Database,
    counts: ImportCounts,
    bucket: Bucket,
    key: str,
    request: Mapping[str, Any],
    arn: str,
    name: str,
    how: Csv,
) -> None:
    def fault(message: str, index: int) -> None:
        counts.errors += 1
        pointer = {"bucket": bucket.name, "key": key, "itemIndex": index}
        line = orjson.dumps({"itemS3Pointer": pointer, "importArn": arn, "errorMessages": [message]})
        log_error(database.s3, "imports", arn.rpartition("/")[2], line)

    table = database.described_table(name)
    with bucket.read(key, request.get("InputCompressionType") or "NONE") as file:
        for index, record in enumerate(read_records(file, request["InputFormat"], how)):
            counts.processed += 1
            try:
                counts.waiting.append(_item_of(table, record))
            except ITEM_FAULTS as error:
                fault(message_of(error), index)
                if isinstance(error, UnreadableError):
                    break
            if len(counts.waiting) == TOGETHER:
                _write(database, counts, name)
        counts.size_bytes += file.tell()


def _item_of(table: Table, record: Fields | UnreadableError) -> dict[str, Any]:
    """The item of a record, validated as by PutItem. Raises one of ``ITEM_FAULTS``."""
    if isinstance(record, UnreadableError):
        raise record
    if "ErrorDetail" in record:
        raise ValueFault(record["ErrorDetail"])
    if not isinstance(record.get("Item"), dict):
        raise UnreadableError("The record has no Item")
    item = check_item(record["Item"])
    check_names(item)
    key_of_item(table, item)
    prepare_put(table, item)
    return item


def message_of(error: Exception) -> str:
    return str(getattr(error, "message", error))


def _write(database: Database, counts: ImportCounts, name: str) -> None:
    """Write the queued items in one transaction. Raises S3Error if the table was deleted."""
    items = counts.waiting
    if not items:
        return

    def work(writer: Writer) -> None:
        table = database.fresh(writer).get(name)
        if table is None:
            raise S3Error("TableNotFound", f"The table {name} was deleted while it was imported")
        for item in items:
            perform(writer, Write(table, key_of_item(table, item), put=prepare_put(table, item)))

    database.write(work)
    counts.imported += len(items)
    counts.waiting = []


def table_exists(name: str) -> ResourceInUseException:
    return ResourceInUseException(f"Table already exists: {name}")
