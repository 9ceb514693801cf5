"""DescribeBulkOperation: the status and result of a bulk operation."""

from __future__ import annotations

from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.transfer.bulk_operations import KIND
from keyplan.store.transfer.transfer_jobs import described_job, job_not_found


def describe_bulk_operation(database: Database, request: Request) -> Answer:
    arn: str = request["BulkOperationArn"]
    description = described_job(database, KIND, arn, "BulkOperation")
    if description is None:
        raise job_not_found(arn)
    return {"BulkOperationDescription": description}
