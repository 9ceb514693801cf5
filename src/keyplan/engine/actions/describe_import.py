"""DescribeImport."""

from __future__ import annotations

from keyplan.engine.database import Database
from keyplan.engine.requests import Answer, Request
from keyplan.engine.s3.imports import KIND
from keyplan.engine.s3.jobs import described_job
from keyplan.wire.errors import ImportNotFoundException


def describe_import(database: Database, request: Request) -> Answer:
    """How far an import is, and what it came to."""
    arn: str = request["ImportArn"]
    description = described_job(database, KIND, arn, "Import")
    if description is None:
        raise ImportNotFoundException(f"Import not found: {arn}")
    return {"ImportTableDescription": description}
