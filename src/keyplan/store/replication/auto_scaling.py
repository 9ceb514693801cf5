"""Auto scaling settings of global tables, which are stored and described for each region, but have no effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keyplan.dynamodb.service_errors import ResourceNotFoundException, ValidationException
from keyplan.store.control_plane.table_settings import Members, change_definition
from keyplan.store.database import Database, plain_name
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.tables.resources import MEMBER, no_replicas, replication_of
from keyplan.store.tables.table import Table

Settings = dict[str, Any]

_ROLE = (
    "arn:aws:iam::000000000000:role/aws-service-role/dynamodb.application-autoscaling.amazonaws.com/"
    "AWSServiceRoleForApplicationAutoScaling_DynamoDBTable"
)


def describe_scaling(database: Database, name: str) -> Answer:
    table = database.find(name)
    replication = None if table is None else replication_of(table)
    if table is None or replication is None:
        raise no_replicas(plain_name(name))
    indexes = [index.name for index in table.indexes if not index.is_local]
    kept = replication.get("Scaling", {})
    return {
        "TableName": table.name,
        "TableStatus": "ACTIVE",
        "Replicas": [_replica(region, indexes, kept.get(region, {})) for region in replication["Regions"]],
    }


def _replica(region: str, indexes: list[str], kept: dict[str, dict[str, Any]]) -> Answer:
    return {
        "RegionName": region,
        "GlobalSecondaryIndexes": [
            {"IndexName": index, "IndexStatus": "ACTIVE", **_settings("Provisioned", kept.get(index, {}))}
            for index in indexes
        ],
        **_settings("ReplicaProvisioned", kept.get("", {})),
        "ReplicaStatus": "ACTIVE",
    }


def _settings(prefix: str, kept: dict[str, Settings]) -> Answer:
    return {
        f"{prefix}{direction}CapacityAutoScalingSettings": kept.get(
            direction, {"AutoScalingDisabled": True, "ScalingPolicies": []}
        )
        for direction in ("Read", "Write")
    }


def change_scaling(database: Database, request: Request) -> None:
    name = plain_name(request["TableName"])
    updates = list(_updates(request))
    for *_, update in updates:
        _check_complete(name, update)

    def change(table: Table) -> Members:
        replication = replication_of(table)
        if replication is None:
            raise no_replicas(name)
        regions = replication["Regions"]
        for region, index, _, _ in updates:
            _check_exists(table, regions, region, index)
        kept = {region: dict(entries) for region, entries in replication.get("Scaling", {}).items()}
        for region, index, direction, update in updates:
            for each in regions if region is None else [region]:
                if update is not None:
                    entries = kept.setdefault(each, {})
                    before = entries.get(index or "", {})
                    entries[index or ""] = {**before, direction: _scaled(table, index, direction, update)}
        return {MEMBER: {**replication, "Scaling": kept}}

    change_definition(database, name, change, no_replicas)


def _updates(request: Request) -> Iterator[tuple[str | None, str | None, str, Settings | None]]:
    """The region (None for all), the index (None for the table), the direction and the settings of each update."""
    yield None, None, "Write", request.get("ProvisionedWriteCapacityAutoScalingUpdate")
    for each in request.get("GlobalSecondaryIndexUpdates") or []:
        yield None, each.get("IndexName"), "Write", each.get("ProvisionedWriteCapacityAutoScalingUpdate")
    for each in request.get("ReplicaUpdates") or []:
        region = each["RegionName"]
        yield region, None, "Read", each.get("ReplicaProvisionedReadCapacityAutoScalingUpdate")
        for inner in each.get("ReplicaGlobalSecondaryIndexUpdates") or []:
            yield region, inner.get("IndexName"), "Read", inner.get("ProvisionedReadCapacityAutoScalingUpdate")


def _check_exists(table: Table, regions: list[str], region: str | None, index: str | None) -> None:
    if region is not None and region not in regions:
        raise ResourceNotFoundException(
            f"{_failed(table.name)} because a replica does not exist in regions: '{region}'"
        )
    if index is not None and (index not in table.index_by_name or table.index_by_name[index].is_local):
        raise ResourceNotFoundException(
            f"{_failed(table.name)} because the global secondary indexes with names '{index}' do not exist"
        )


def _check_complete(name: str, update: Settings | None) -> None:
    """Reject incomplete or superfluous settings, before the table is looked up, as in the service."""
    if update is None:
        return
    if update.get("AutoScalingDisabled"):
        if "MinimumUnits" in update or "MaximumUnits" in update:
            raise ValidationException(
                f"{_failed(name)}: Parameters 'MaximumUnits', 'MinimumUnits' can't be given "
                "when auto scaling is being disabled."
            )
        return
    missing = [member for member in ("MaximumUnits", "MinimumUnits") if update.get(member) is None]
    if not missing and update.get("ScalingPolicyUpdate") is None:
        missing = ["ScalingPolicyUpdate"]
    if missing:
        names = ", ".join(f"'{member}'" for member in missing)
        raise ValidationException(
            f"{_failed(name)}: Parameters {names} are required unless auto scaling is being disabled."
        )


def _scaled(table: Table, index: str | None, direction: str, update: Settings) -> Settings:
    if update.get("AutoScalingDisabled"):
        return {"AutoScalingDisabled": True, "ScalingPolicies": []}
    if table.definition["BillingMode"] == "PAY_PER_REQUEST":
        raise ValidationException(f"{_failed(table.name)}: The table is in PAY_PER_REQUEST mode.")
    policy = update["ScalingPolicyUpdate"]
    resource = f"table/{table.name}" + (f"/index/{index}" if index else "")
    name = policy.get("PolicyName") or f"DynamoDB{direction}CapacityUtilization:{resource}"
    return {
        "MinimumUnits": update["MinimumUnits"],
        "MaximumUnits": update["MaximumUnits"],
        "AutoScalingDisabled": False,
        "AutoScalingRoleArn": update.get("AutoScalingRoleArn") or _ROLE,
        "ScalingPolicies": [
            {
                "PolicyName": name,
                "TargetTrackingScalingPolicyConfiguration": policy["TargetTrackingScalingPolicyConfiguration"],
            }
        ],
    }


def _failed(name: str) -> str:
    return f"Failed to update settings for global table with name: ‘{name}’"
