"""CancelBulkOperation: stop a bulk operation before it writes more items. Items already written aren't removed."""

from __future__ import annotations

from keyplan.dynamodb.service_errors import ValidationException
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.tables.resources import check_job_arn
from keyplan.store.transfer.bulk_operations import KIND
from keyplan.store.transfer.transfer_jobs import find_job, job_not_found, keep_job


def cancel_bulk_operation(database: Database, request: Request) -> Answer:
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
                f"The bulk operation can't be cancelled: its status is {description['BulkOperationStatus']}"
            )
        description["BulkOperationStatus"] = "CANCELLING"
        keep_job(writer, KIND, number, job, done_here=False)

    database.write(work)
    return {"BulkOperationArn": arn, "BulkOperationStatus": "CANCELLING"}
