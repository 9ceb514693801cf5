"""Contributor Insights of tables and global indexes: their status and mode."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import answer, create


def update(engine: Engine, action: str, **more: Any) -> dict[str, Any]:
    return engine.call(
        "UpdateContributorInsights", {"TableName": "orders", "ContributorInsightsAction": action, **more}
    )


def describe(engine: Engine, **more: Any) -> dict[str, Any]:
    return engine.call("DescribeContributorInsights", {"TableName": "orders", **more})


def test_contributor_insights_are_enabled_and_disabled(engine: Engine) -> None:
    create(engine)
    off = {"TableName": "orders", "ContributorInsightsStatus": "DISABLED"}
    assert describe(engine) == off
    assert update(engine, "DISABLE") == off
    assert engine.call("ListContributorInsights", {}) == {"ContributorInsightsSummaries": []}
    assert update(engine, "ENABLE")["ContributorInsightsStatus"] == "ENABLING"
    on = describe(engine)
    assert on["ContributorInsightsStatus"] == "ENABLED"
    assert on["ContributorInsightsMode"] == "ACCESSED_AND_THROTTLED_KEYS"
    assert len(on["ContributorInsightsRuleList"]) == 4
    assert update(engine, "ENABLE")["ContributorInsightsStatus"] == "ENABLED"
    assert update(engine, "DISABLE")["ContributorInsightsStatus"] == "DISABLING"
    assert describe(engine)["ContributorInsightsStatus"] == "DISABLED"


def test_contributor_insights_of_an_index_are_separate_from_those_of_its_table(engine: Engine) -> None:
    create(engine)
    assert update(engine, "ENABLE", IndexName="ByG", ContributorInsightsMode="THROTTLED_KEYS") == {
        "TableName": "orders",
        "IndexName": "ByG",
        "ContributorInsightsStatus": "ENABLING",
        "ContributorInsightsMode": "THROTTLED_KEYS",
    }
    assert describe(engine)["ContributorInsightsStatus"] == "DISABLED"
    assert len(describe(engine, IndexName="ByG")["ContributorInsightsRuleList"]) == 2
    assert update(engine, "ENABLE", IndexName="ByG")["ContributorInsightsMode"] == "ACCESSED_AND_THROTTLED_KEYS"
    refused = answer(engine, "DescribeContributorInsights", {"TableName": "orders", "IndexName": "Other"})
    assert refused["message"] == "Requested resource not found: Index: Other not found for table: orders"


def test_contributor_insights_are_listed_in_pages(engine: Engine) -> None:
    create(engine)
    create(engine, "others")
    update(engine, "ENABLE", IndexName="ByG")
    update(engine, "ENABLE")
    update(engine, "ENABLE", TableName="others")
    result: list[tuple[str, str | None]] = []
    token = None
    while True:
        page = engine.call("ListContributorInsights", {"MaxResults": 1, "NextToken": token})
        result += [(each["TableName"], each.get("IndexName")) for each in page["ContributorInsightsSummaries"]]
        token = page.get("NextToken")
        if token is None:
            break
    assert result == [("orders", None), ("orders", "ByG"), ("others", None)]
    element = engine.call("ListContributorInsights", {"TableName": "others"})
    assert [each["TableName"] for each in element["ContributorInsightsSummaries"]] == ["others"]
    missing = answer(engine, "ListContributorInsights", {"TableName": "missing"})
    assert missing["message"] == "Requested resource not found: Table: missing not found"


@pytest.mark.parametrize("token", ["x", "0" * 15, "g" * 16, "0" * 16 * 65])
def test_contributor_insights_reject_an_invalid_next_token(engine: Engine, token: str) -> None:
    create(engine)
    refused = answer(engine, "ListContributorInsights", {"NextToken": token})
    assert refused["message"] == f"Invalid Request: Provided nextToken is invalid: {token}"


def test_contributor_insights_reject_an_index_name_of_invalid_length(engine: Engine) -> None:
    request = {"TableName": "orders", "IndexName": ""}
    for refused in (
        answer(engine, "DescribeContributorInsights", request),
        answer(engine, "UpdateContributorInsights", {**request, "ContributorInsightsAction": "ENABLE"}),
    ):
        assert refused["message"] == "IndexName must be at least 3 characters long and at most 255 characters long"
