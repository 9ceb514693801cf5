"""Exports of a table at a point in time, or of its changes in a period, in the service's file format.

An export consists of gzip data files, a manifest with the item count and checksums of each, and a summary ("DynamoDB
table export output format" in the developer guide). Items are written while they are read, so memory use is bounded.
"""

from __future__ import annotations

import gzip
import secrets
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import IO, Any, Literal, NamedTuple, cast

import orjson

from keyplan.dynamodb.values import key_value
from keyplan.store.database import Database
from keyplan.store.items.stored_items import decode
from keyplan.store.storage.key_layouts import StaleTableError
from keyplan.store.storage.storage_transactions import Reader
from keyplan.store.tables.table import Table
from keyplan.store.transfer.bucket_folder import Bucket, S3Error, md5_of
from keyplan.store.transfer.item_formats import Format, write_record
from keyplan.store.transfer.transfer_jobs import end_job, find_job

KIND: Literal["export"] = "export"
ITEMS_OF_FILE = 25_000
FULL, INCREMENTAL = "FULL_EXPORT", "INCREMENTAL_EXPORT"

Item = dict[str, Any]
Shown = Callable[[Item], Item | None]
"""The exported form of an item; None to omit it."""


class Span(NamedTuple):
    """The exported period: the table at ``until_us``, or the changes from ``from_us`` to ``until_us`` (exclusive)."""

    until_us: int
    from_us: int | None
    with_old: bool


def export(database: Database, number: str, table_name: str, span: Span, shown: Shown) -> None:
    try:
        description = _written(database, number, table_name, span, shown)
    except S3Error as error:
        fail_export(database, number, error.code, error.message)
        return
    end_job(database, KIND, number, ExportStatus="COMPLETED", **description)


def fail_export(database: Database, number: str, code: str, message: str) -> None:
    end_job(database, KIND, number, ExportStatus="FAILED", FailureCode=code, FailureMessage=message)


def _written(database: Database, number: str, table_name: str, span: Span, shown: Shown) -> dict[str, Any]:
    """Write all files; returns additional members of the export's description. Raises S3Error."""
    job = database.storage.read(lambda reader: find_job(reader, KIND, number))
    assert job is not None  # noqa: S101 - the job was stored before the work started
    description = job["Description"]
    bucket = Bucket(database.s3, description["S3Bucket"])
    prefix: str = description.get("S3Prefix") or ""
    root = f"{prefix.strip('/')}/AWSDynamoDB" if prefix.strip("/") else "AWSDynamoDB"
    place = f"{root}/{number}"
    bucket.put(f"{place}/_started", b"")
    data = f"{place}/data" if span.from_us is None else f"{root}/data"

    def work(reader: Reader) -> tuple[list[dict[str, Any]], int]:
        table = database.fresh(reader).get(table_name)
        if table is None or table.stored.layout.id != job["TableNumber"]:
            raise S3Error("TableNotFound", f"The table {table_name} was deleted before it was exported")
        records = _full(reader, table, span, shown) if span.from_us is None else _changes(reader, table, span, shown)
        return _write_files(bucket, data, records, description["ExportFormat"])

    try:
        files, size_bytes = database.storage.read(work)
    except StaleTableError:
        raise S3Error("InternalServerError", "The table's definition changed. Retry the export.") from None
    return _write_manifests(database, bucket, place, description, files, size_bytes)


def _full(reader: Reader, table: Table, span: Span, shown: Shown) -> Iterator[Mapping[str, Any]]:
    for _, _, _, body in reader.archives.items_at(table.stored, span.until_us):
        item = shown(decode(body))
        if item is not None:
            yield {"Item": item}


def _changes(reader: Reader, table: Table, span: Span, shown: Shown) -> Iterator[Mapping[str, Any]]:
    assert span.from_us is not None  # noqa: S101 - the export is incremental and has a start
    for changed in reader.archives.changed_between(table.stored, span.from_us, span.until_us):
        old, new = (None if row is None else shown(decode(row[1])) for row in (changed.before, changed.after))
        if old is None and new is None:
            continue
        keys = {key.name: key_value(text, key.type) for key, text in zip(table.keys, changed.key, strict=False)}
        record: dict[str, Any] = {"Metadata": {"WriteTimestampMicros": {"N": str(changed.made_us)}}, "Keys": keys}
        if new is not None:
            record["NewImage"] = new
        if old is not None and span.with_old:
            record["OldImage"] = old
        yield record


def _write_files(
    bucket: Bucket, place: str, records: Iterator[Mapping[str, Any]], format_: Format
) -> tuple[list[dict[str, Any]], int]:
    """Write records to at least one file; returns the files for the manifest, and the size of all lines."""
    files: list[dict[str, Any]] = []
    size_bytes = 0
    ending = "ion.gz" if format_ == "ION" else "json.gz"
    pending = next(records, None)
    while pending is not None or not files:
        key = f"{place}/{secrets.token_hex(13)}.{ending}"
        count = 0
        with (
            bucket.writing(key) as packed,
            gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=cast("IO[bytes]", packed), mtime=0) as file,
        ):
            while pending is not None and count < ITEMS_OF_FILE:
                line = write_record(pending, format_)
                file.write(line)
                count += 1
                size_bytes += len(line)
                pending = next(records, None)
        files.append({"itemCount": count, "md5Checksum": packed.md5, "etag": packed.etag, "dataFileS3Key": key})
    return files, size_bytes


def _write_manifests(
    database: Database,
    bucket: Bucket,
    place: str,
    description: Mapping[str, Any],
    files: list[dict[str, Any]],
    size_bytes: int,
) -> dict[str, Any]:
    lines = b"".join(orjson.dumps(file) + b"\n" for file in files)
    bucket.put(f"{place}/manifest-files.json", lines)
    bucket.put(f"{place}/manifest-files.checksum", md5_of(lines).encode())
    count = sum(file["itemCount"] for file in files)
    is_full = description.get("ExportType", FULL) == FULL
    incremental = description.get("IncrementalExportSpecification") or {}
    moments = (
        {"exportTime": _shown(description["ExportTime"])}
        if is_full
        else {
            "exportFromTime": _shown(incremental["ExportFromTime"]),
            "exportToTime": _shown(incremental["ExportToTime"]),
        }
    )
    summary: dict[str, Any] = {
        "version": "2020-06-30" if is_full else "2023-08-01",
        "exportArn": description["ExportArn"],
        "startTime": _shown(description["StartTime"]),
        "endTime": _shown(database.clock()),
        "tableArn": description["TableArn"],
        "tableId": description["TableId"],
        **moments,
        "s3Bucket": description["S3Bucket"],
        "s3Prefix": description.get("S3Prefix"),
        "s3SseAlgorithm": description["S3SseAlgorithm"],
        "s3SseKmsKeyId": description.get("S3SseKmsKeyId"),
        "manifestFilesS3Key": f"{place}/manifest-files.json",
        "billedSizeBytes": size_bytes,
        "itemCount": count,
        "outputFormat": description["ExportFormat"],
    }
    if not is_full:
        summary |= {"outputView": incremental["ExportViewType"], "exportType": INCREMENTAL}
    body = orjson.dumps(summary)
    bucket.put(f"{place}/manifest-summary.json", body)
    bucket.put(f"{place}/manifest-summary.checksum", md5_of(body).encode())
    return {"ItemCount": count, "BilledSizeBytes": size_bytes, "ExportManifest": f"{place}/manifest-summary.json"}


def _shown(moment_s: float) -> str:
    return datetime.fromtimestamp(moment_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
