"""UpdateContributorInsights: change insights of a table or a global secondary index, or return the current status."""

from __future__ import annotations

from keyplan.store.control_plane import table_settings
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.state_delays import check_insights_change
from keyplan.store.tables.table import Table


def update_contributor_insights(database: Database, request: Request) -> Answer:
    index: str | None = request.get("IndexName")
    enables = request["ContributorInsightsAction"] == "ENABLE"
    wanted: str | None = request.get("ContributorInsightsMode")
    answer: Answer = {}

    def change(table: Table) -> table_settings.Members:
        table_settings.check_insights_index(table, index)
        if enables:
            check_insights_change(database.states(table), index)
        answer.update(table_settings.named(table, index))
        kept = table_settings.insights_of(table, index)
        status: str = kept.get("Status", "DISABLED")
        mode = wanted or table_settings.DEFAULT_MODE
        if not enables:
            mode = kept.get("Mode", mode)
        after = "ENABLED" if enables else "DISABLED"
        if status == after and (not enables or mode == kept["Mode"]):
            answer["ContributorInsightsStatus"] = status
            if kept:
                answer["ContributorInsightsMode"] = kept["Mode"]
            return {}
        answer["ContributorInsightsStatus"] = "ENABLING" if enables else "DISABLING"
        answer["ContributorInsightsMode"] = mode
        entry = {"Status": after, "Mode": mode, "At": database.clock()}
        return {table_settings.MEMBER: {**table.definition.get(table_settings.MEMBER, {}), index or "": entry}}

    table_settings.change_definition(database, request["TableName"], change)
    return answer
