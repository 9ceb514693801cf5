"""Requests of global tables version 2017.11.29 are rejected as by DynamoDB, and replicas have auto scaling settings."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.store import Engine, Regions
from tests.engine.support import answer, create, index

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
def test_operations_of_global_tables_version_2017_are_rejected(
    engine: Engine, operation: str, request_: dict[str, Any], message: str
) -> None:
    create(engine)
    assert answer(engine, operation, {"GlobalTableName": "orders", **request_})["message"] == message


def test_regional_table_rejects_settings_overrides(engine: Engine) -> None:
    create(engine)
    change = {"TableName": "orders", "GlobalTableSettingsReplicationMode": "DISABLED"}
    assert engine.call("UpdateTable", change)["TableDescription"]["GlobalTableSettingsReplicationMode"] == "DISABLED"
    refused = answer(engine, "UpdateTable", {**change, "GlobalTableSettingsReplicationMode": "ENABLED_WITH_OVERRIDES"})
    assert refused["message"] == (
        "Value 'ENABLED_WITH_OVERRIDES' at 'GlobalTableSettingsReplicationMode' failed to satisfy constraint: "
        "Only ENABLED and DISABLED settings replication are supported for a Regional Table."
    )


def test_list_global_tables_returns_an_empty_list(engine: Engine) -> None:
    assert engine.call("ListGlobalTables", {}) == {"GlobalTables": []}


@pytest.mark.parametrize("name", ["orders", "missing"])
@pytest.mark.parametrize("operation", ["DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling"])
def test_auto_scaling_of_a_table_without_replicas_is_rejected(engine: Engine, operation: str, name: str) -> None:
    create(engine)
    refused = answer(engine, operation, {"TableName": name})
    assert refused == {
        "error": "ResourceNotFoundException",
        "message": f"Global table with name: '{name}' does not exist.",
    }


@pytest.mark.parametrize(
    ("update", "message"),
    [
        ({"MinimumUnits": 1, "MaximumUnits": 5}, "Parameters 'ScalingPolicyUpdate' are required"),
        ({"MinimumUnits": 1}, "Parameters 'MaximumUnits' are required"),
    ],
)
def test_incomplete_auto_scaling_settings_are_reported_before_a_missing_table(
    update: dict[str, Any], message: str
) -> None:
    writes = {"ProvisionedWriteCapacityAutoScalingUpdate": update}
    reads = {"ReplicaProvisionedReadCapacityAutoScalingUpdate": update}
    places: list[dict[str, Any]] = [
        writes,
        {"GlobalSecondaryIndexUpdates": [{"IndexName": "ByG", **writes}]},
        {"ReplicaUpdates": [{"RegionName": "local", **reads}]},
    ]
    with Engine.open(":memory:") as engine:
        for place in places:
            result = answer(engine, "UpdateTableReplicaAutoScaling", {"TableName": "missing", **place})
            assert result["error"] == "ValidationException"
            assert f"{message} unless auto scaling is being disabled." in result["message"]


def test_auto_scaling_settings_require_existing_indexes_and_regions() -> None:
    policy = {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": 70.0}}
    update = {"MinimumUnits": 1, "MaximumUnits": 5, "ScalingPolicyUpdate": policy}
    writes = {"ProvisionedWriteCapacityAutoScalingUpdate": update}
    reads = {"ProvisionedReadCapacityAutoScalingUpdate": update}
    table = {"TableName": "orders"}
    with Regions.open(":memory:", ["us-east-1", "us-west-2"]) as regions:
        engine = regions.engines["us-east-1"]
        units: dict[str, Any] = {"ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}}
        create(
            engine,
            BillingMode="PROVISIONED",
            **units,
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "g")],
            LocalSecondaryIndexes=[index("ByLocal", "pk", "g")],
            GlobalSecondaryIndexes=[{**index("ByG", "g"), **units}],
        )
        engine.call("UpdateTable", {**table, "ReplicaUpdates": [{"Create": {"RegionName": "us-west-2"}}]})

        def updated(change: dict[str, Any]) -> dict[str, Any]:
            return answer(engine, "UpdateTableReplicaAutoScaling", {**table, **change})

        for name in ("none", "ByLocal"):
            of_a_replica = {
                "RegionName": "us-west-2",
                "ReplicaGlobalSecondaryIndexUpdates": [{"IndexName": name, **reads}],
            }
            for change in (
                {"GlobalSecondaryIndexUpdates": [{"IndexName": name, **writes}]},
                {"ReplicaUpdates": [of_a_replica]},
            ):
                refused = updated(change)
                assert refused["error"] == "ResourceNotFoundException"
                assert f"the global secondary indexes with names '{name}' do not exist" in refused["message"]
        elsewhere = {"RegionName": "eu-west-1", "ReplicaProvisionedReadCapacityAutoScalingUpdate": update}
        assert "a replica does not exist in regions: 'eu-west-1'" in updated({"ReplicaUpdates": [elsewhere]})["message"]
        made = updated({"GlobalSecondaryIndexUpdates": [{"IndexName": "ByG", **writes}]})
        shown = made["TableAutoScalingDescription"]["Replicas"]
        assert {each["RegionName"] for each in shown} == {"us-east-1", "us-west-2"}
        for each in shown:
            (index_shown,) = each["GlobalSecondaryIndexes"]
            settings = index_shown["ProvisionedWriteCapacityAutoScalingSettings"]
            assert (index_shown["IndexName"], settings["MinimumUnits"], settings["MaximumUnits"]) == ("ByG", 1, 5)
