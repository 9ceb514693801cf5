"""DescribeExport: the status and result of an export."""

from __future__ import annotations

from keyplan.dynamodb.service_errors import ExportNotFoundException
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.transfer.table_exports import KIND
from keyplan.store.transfer.transfer_jobs import described_job


def describe_export(database: Database, request: Request) -> Answer:
    arn: str = request["ExportArn"]
    description = described_job(database, KIND, arn, "Export")
    if description is None:
        raise ExportNotFoundException(f"Export not found: Export not found: {arn}")
    return {"ExportDescription": description}
