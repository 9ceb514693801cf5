"""DescribeContributorInsights: the status and mode of Contributor Insights for a table or a global secondary index."""

from __future__ import annotations

from keyplan.store.control_plane.table_settings import check_insights_index, insights_of, named, rules
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request


def describe_contributor_insights(database: Database, request: Request) -> Answer:
    table = database.described_table(request["TableName"])
    index: str | None = request.get("IndexName")
    check_insights_index(table, index)
    kept = insights_of(table, index)
    answer = named(table, index)
    if not kept:
        return {**answer, "ContributorInsightsStatus": "DISABLED"}
    if kept["Status"] == "ENABLED":
        answer["ContributorInsightsRuleList"] = rules(table, index)
    answer["ContributorInsightsStatus"] = kept["Status"]
    answer["LastUpdateDateTime"] = kept["At"]
    answer["ContributorInsightsMode"] = kept["Mode"]
    return answer
