"""ListExports: list the exports of the last 90 days, newest first, of all tables or of one existing table."""

from __future__ import annotations

from keyplan.store.database import Database
from keyplan.store.operations.common import page_answer
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.tables.resources import resource_of
from keyplan.store.tables.table_description import table_id
from keyplan.store.transfer.table_exports import FULL, KIND
from keyplan.store.transfer.transfer_jobs import described_jobs

_RESULTS_MAX = 25


def list_exports(database: Database, request: Request) -> Answer:
    result = described_jobs(database, KIND, "ExportStatus")
    arn = request.get("TableArn")
    if arn is not None:
        table = database.find(resource_of(arn).table)
        result = [] if table is None else [each for each in result if each["TableId"] == table_id(table)]
    summaries = [
        {
            "ExportArn": each["ExportArn"],
            "ExportStatus": each["ExportStatus"],
            "ExportType": each.get("ExportType", FULL),
        }
        for each in result
    ]
    return page_answer(
        "ExportSummaries", summaries, request.get("MaxResults") or _RESULTS_MAX, request.get("NextToken")
    )
