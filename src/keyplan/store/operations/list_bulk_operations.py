"""ListBulkOperations: the bulk operations of the last 90 days, newest first."""

from __future__ import annotations

from keyplan.store.database import Database
from keyplan.store.operations.common import page_answer
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.transfer.bulk_operations import KIND
from keyplan.store.transfer.transfer_jobs import described_jobs

_RESULTS = 10
_SUMMARY = ("BulkOperationArn", "BulkOperationStatus", "StartTime", "EndTime")


def list_bulk_operations(database: Database, request: Request) -> Answer:
    result = described_jobs(database, KIND, "BulkOperationStatus")
    summaries = [{member: each[member] for member in _SUMMARY if member in each} for each in result]
    return page_answer(
        "BulkOperationsSummaryList", summaries, request.get("MaxResults") or _RESULTS, request.get("NextToken")
    )
