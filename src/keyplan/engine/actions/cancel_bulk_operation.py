"""CancelBulkOperation."""

from __future__ import annotations

from keyplan.engine.database import Database
from keyplan.engine.requests import Answer, Request
from keyplan.engine.resources import check_job_arn
from keyplan.engine.s3.bulk import KIND
from keyplan.engine.s3.jobs import find_job, job_not_found, keep_job
from keyplan.engine.storage.transactions import Writer
from keyplan.wire.errors import ValidationException


def cancel_bulk_operation(database: Database, request: Request) -> Answer:
    """Stop a bulk operation before its next items. Those that are written stay."""
    arn: str = request["BulkOperationArn"]
    check_job_arn(arn, KIND, "BulkOperation")
    number = arn.rpartition("/")[2]

    def work(writer: Writer) -> None:
        job = find_job(writer, KIND, number)
        if job is None:
            raise job_not_found(arn)
        description = job["Description"]
        if description["BulkOperationStatus"] == "CANCELLING":
            return
        if description["BulkOperationStatus"] != "IN_PROGRESS":
            raise ValidationException(
                f"The bulk operation can't be cancelled: it is {description['BulkOperationStatus']}"
            )
        description["BulkOperationStatus"] = "CANCELLING"
        keep_job(writer, KIND, number, job, done_here=False)

    database.write(work)
    return {"BulkOperationArn": arn, "BulkOperationStatus": "CANCELLING"}
