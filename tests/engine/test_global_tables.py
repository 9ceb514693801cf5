"""Global tables: the operations of 2017 answer as at AWS, where they are gone; one region has no replicas."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.store import Engine, Regions
from tests.engine.support import answer, create

INVALID = "One or more parameter values were invalid"
GONE = (
    f"{INVALID}: DynamoDB global tables version 2017.11.29 is not supported. We recommend using DynamoDB global tables "
    "version 2019.11.21, instead of version 2017.11.29 (Legacy)."
)
MISSING = "Global table with name: 'orders' does not exist."
LENGTH = "TableName must be at least 3 characters long and at most 255 characters long"


@pytest.mark.parametrize(
    ("operation", "request_", "message"),
    [
        ("CreateGlobalTable", {"ReplicationGroup": [{"RegionName": "eu-west-1"}]}, GONE),
        ("DescribeGlobalTable", {}, f"Global table not found: {MISSING}"),
        ("DescribeGlobalTable", {"GlobalTableName": ""}, LENGTH),
        ("DescribeGlobalTable", {"GlobalTableName": "x" * 256}, LENGTH),
        ("DescribeGlobalTableSettings", {}, MISSING),
        ("DescribeGlobalTableSettings", {"GlobalTableName": "ab"}, LENGTH),
        ("UpdateGlobalTable", {"ReplicaUpdates": []}, INVALID),
        ("UpdateGlobalTable", {"ReplicaUpdates": [{}]}, INVALID),
        ("UpdateGlobalTable", {"ReplicaUpdates": [{"Create": {"RegionName": "x"}}]}, GONE),
        (
            "UpdateGlobalTable",
            {"ReplicaUpdates": [{"Delete": {"RegionName": "x"}}]},
            f"Global table not found: {MISSING}",
        ),
        ("UpdateGlobalTableSettings", {}, MISSING),
    ],
)
def test_global_tables_of_2017_are_gone(engine: Engine, operation: str, request_: dict[str, Any], message: str) -> None:
    create(engine)
    assert answer(engine, operation, {"GlobalTableName": "orders", **request_})["message"] == message


def test_a_table_of_one_region_has_no_settings_to_override(engine: Engine) -> None:
    create(engine)
    change = {"TableName": "orders", "GlobalTableSettingsReplicationMode": "DISABLED"}
    assert engine.call("UpdateTable", change)["TableDescription"]["GlobalTableSettingsReplicationMode"] == "DISABLED"
    refused = answer(engine, "UpdateTable", {**change, "GlobalTableSettingsReplicationMode": "ENABLED_WITH_OVERRIDES"})
    assert refused["message"] == (
        "Value 'ENABLED_WITH_OVERRIDES' at 'GlobalTableSettingsReplicationMode' failed to satisfy constraint: "
        "Only ENABLED and DISABLED settings replication are supported for a Regional Table."
    )


def test_none_is_listed(engine: Engine) -> None:
    assert engine.call("ListGlobalTables", {}) == {"GlobalTables": []}


@pytest.mark.parametrize("name", ["orders", "missing"])
@pytest.mark.parametrize("operation", ["DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling"])
def test_a_table_without_replicas_has_no_auto_scaling_of_them(engine: Engine, operation: str, name: str) -> None:
    create(engine)
    refused = answer(engine, operation, {"TableName": name})
    assert refused == {
        "error": "ResourceNotFoundException",
        "message": f"Global table with name: '{name}' does not exist.",
    }


def test_auto_scaling_is_described_and_not_supported() -> None:
    table = {"TableName": "orders"}
    with Regions.open(":memory:", ["us-east-1", "us-west-2"]) as regions:
        engine = regions.engines["us-east-1"]
        create(engine)
        engine.call("UpdateTable", {**table, "ReplicaUpdates": [{"Create": {"RegionName": "us-west-2"}}]})
        shown = engine.call("DescribeTableReplicaAutoScaling", table)["TableAutoScalingDescription"]["Replicas"]
        assert [each["RegionName"] for each in shown] == ["us-east-1", "us-west-2"]
        for each in shown:
            settings = each["GlobalSecondaryIndexes"][0]["ProvisionedWriteCapacityAutoScalingSettings"]
            assert settings == {"AutoScalingDisabled": True, "ScalingPolicies": []}
        change = {"ProvisionedWriteCapacityAutoScalingUpdate": {"AutoScalingDisabled": True}}
        refused = answer(engine, "UpdateTableReplicaAutoScaling", {**table, **change})
        assert refused["message"].endswith("This store doesn't support auto scaling")
