"""StartBulkPutItems: put the items of S3 objects into an existing table, and log those that failed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from keyplan.dynamodb import service_errors
from keyplan.store.background_work import has_ended
from keyplan.store.database import Database, plain_name
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.tables.table import Table
from keyplan.store.tables.table_description import table_id
from keyplan.store.transfer.bulk_operations import KIND, fail_bulk, put_objects
from keyplan.store.transfer.transfer_jobs import Job, all_jobs, digest_of, keep_job, new_number, repeated, run_job

_CONFLICT = "Request parameters do not match the previous request with the same idempotency token"
_GOES_ON = frozenset(("IN_PROGRESS", "CANCELLING"))


def start_bulk_put_items(database: Database, request: Request) -> Answer:
    if not request["OutputS3Configuration"]["OutputType"]:
        raise service_errors.ValidationException("OutputType must have at least one value")
    name = plain_name(request["TableName"])
    number = new_number(database.clock())

    def work(writer: Writer) -> tuple[Answer, Callable[[], None] | None]:
        known = repeated(
            writer, database, KIND, request, service_errors.IdempotentParameterMismatchException(_CONFLICT)
        )
        if known is not None:
            return known, None
        table = database.fresh(writer).get(name)
        if table is None:
            raise service_errors.table_not_found(name)
        for job in all_jobs(writer, KIND):
            other = job["Description"]
            is_same = other["TableDetails"][0]["TableName"] == name
            if is_same and other["BulkOperationStatus"] in _GOES_ON and not has_ended(job):
                raise service_errors.ResourceInUseException(f"A bulk operation is in progress on the table: {name}")
        description = _description(database, request, table, number)
        job = Job(Description=description, Digest=digest_of(request))
        keep_job(writer, KIND, number, job)
        return description, partial(put_objects, database, number, request, name)

    description, begin = database.write(work)
    if begin is not None:
        run_job(database, begin, lambda error: fail_bulk(database, number, "InternalServerError", str(error)))
    return {"BulkOperationDescription": description}


def _description(database: Database, request: Request, table: Table, number: str) -> Answer:
    description: Answer = {
        "BulkOperationArn": f"{table.arn()}/{KIND}/{number}",
        "BulkOperationStatus": "IN_PROGRESS",
        "TableDetails": [{"TableName": table.name, "TableId": table_id(table)}],
        "InputS3Configuration": {"InputCompressionType": "NONE", **request["InputS3Configuration"]},
        "OutputS3Configuration": request["OutputS3Configuration"],
        "StartTime": round(database.clock(), 3),
        "ProcessedItemCount": 0,
        "ProcessedInputBytes": 0,
        "FailedItemCount": 0,
        "PerformanceTier": request.get("PerformanceTier") or "STANDARD",
    }
    for member in ("ClientToken", "MaxWriteRequestUnits"):
        if request.get(member) is not None:
            description[member] = request[member]
    return description
