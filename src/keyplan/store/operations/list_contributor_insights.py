"""ListContributorInsights: the tables and indexes with insights enabled, for one table or all tables."""

from __future__ import annotations

from keyplan.store.control_plane.table_settings import insights_of, named
from keyplan.store.database import Database
from keyplan.store.operations.common import page_answer
from keyplan.store.requests.request_expressions import Answer, Request

_RESULTS_MAX = 100


def list_contributor_insights(database: Database, request: Request) -> Answer:
    name = request.get("TableName")
    tables = database.all_tables() if name is None else [database.described_table(name)]
    summaries = [
        {**named(table, index), "ContributorInsightsStatus": kept["Status"], "ContributorInsightsMode": kept["Mode"]}
        for table in tables
        for index in (None, *(index.name for index in table.indexes))
        if (kept := insights_of(table, index)).get("Status") == "ENABLED"
    ]
    limit = min(max(1, request.get("MaxResults") or _RESULTS_MAX), _RESULTS_MAX)
    return page_answer("ContributorInsightsSummaries", summaries, limit, request.get("NextToken"))
