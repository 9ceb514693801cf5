"""DescribeImport: the status and result of an import."""

from __future__ import annotations

from keyplan.dynamodb.service_errors import ImportNotFoundException
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.transfer.table_imports import KIND
from keyplan.store.transfer.transfer_jobs import described_job


def describe_import(database: Database, request: Request) -> Answer:
    arn: str = request["ImportArn"]
    description = described_job(database, KIND, arn, "Import")
    if description is None:
        raise ImportNotFoundException(f"Import not found: {arn}")
    return {"ImportTableDescription": description}
