"""DescribeExport."""

from __future__ import annotations

from keyplan.engine.database import Database
from keyplan.engine.requests import Answer, Request
from keyplan.engine.s3.exports import KIND
from keyplan.engine.s3.jobs import described_job
from keyplan.wire.errors import ExportNotFoundException


def describe_export(database: Database, request: Request) -> Answer:
    """How far an export is, and what it came to."""
    arn: str = request["ExportArn"]
    description = described_job(database, KIND, arn, "Export")
    if description is None:
        raise ExportNotFoundException(f"Export not found: Export not found: {arn}")
    return {"ExportDescription": description}
