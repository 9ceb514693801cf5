"""ListImports: list the imports of the last 90 days, newest first, into all tables or into one table."""

from __future__ import annotations

from keyplan.store.database import Database
from keyplan.store.operations.common import page_answer
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.tables.resources import resource_of
from keyplan.store.transfer.table_imports import KIND
from keyplan.store.transfer.transfer_jobs import described_jobs

_RESULTS = 10
_TOKEN_GROUPS = 7
"""The API's model requires at least 112 digits in a token of imports."""
_SUMMARY = (
    "ImportArn",
    "ImportStatus",
    "TableArn",
    "S3BucketSource",
    "CloudWatchLogGroupArn",
    "InputFormat",
    "StartTime",
    "EndTime",
)


def list_imports(database: Database, request: Request) -> Answer:
    result = described_jobs(database, KIND, "ImportStatus")
    arn = request.get("TableArn")
    if arn is not None:
        name = resource_of(arn).table
        result = [each for each in result if each["TableCreationParameters"]["TableName"] == name]
    summaries = [{member: each[member] for member in _SUMMARY if member in each} for each in result]
    return page_answer(
        "ImportSummaryList",
        summaries,
        request.get("PageSize") or _RESULTS,
        request.get("NextToken"),
        groups=_TOKEN_GROUPS,
    )
