"""Simulated delays: the status of tables and indexes during changes, and requests rejected during changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import Clock, answer, create, index, s

IN_USE = "Attempt to change a resource which is still in use: "
BY_X = index("ByX", "x")
TABLE = {"TableName": "orders"}
CREATE = {
    **TABLE,
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.fixture
def engine(clock: Clock) -> Iterator[Engine]:
    with Engine.open(":memory:", state_delay_s=10.0, clock=clock) as engine:
        yield engine


def refused(engine: Engine, operation: str, params: dict[str, Any]) -> str:
    result = answer(engine, operation, params)
    return f"{result['error']}: {result['message']}"


def described(engine: Engine) -> dict[str, Any]:
    table: dict[str, Any] = engine.call("DescribeTable", TABLE)["Table"]
    return table


def states(engine: Engine) -> tuple[str, dict[str, tuple[str, bool | None]]]:
    table = described(engine)
    indexes = table.get("GlobalSecondaryIndexes", [])
    return table["TableStatus"], {
        each["IndexName"]: (each["IndexStatus"], each.get("Backfilling"))
        for each in indexes
        if each["IndexName"] == "ByX"
    }


def settled(engine: Engine, clock: Clock) -> None:
    create(engine)
    clock.now_s += 20


def test_new_table_has_the_status_creating(engine: Engine, clock: Clock) -> None:
    made = create(engine)["TableDescription"]
    assert made["TableStatus"] == "CREATING"
    assert {each["IndexStatus"] for each in made["GlobalSecondaryIndexes"]} == {"CREATING"}
    assert engine.call("ListTables", {})["TableNames"] == ["orders"]
    for operation, params in (
        ("PutItem", {"Item": {"pk": s("a"), "sk": s("b")}}),
        ("GetItem", {"Key": {"pk": s("a"), "sk": s("b")}}),
        ("Scan", {}),
    ):
        assert refused(engine, operation, TABLE | params) == "ResourceNotFoundException: Requested resource not found"
    busy = f"ResourceInUseException: {IN_USE}Table is being created: orders"
    assert refused(engine, "CreateTable", CREATE) == busy
    assert refused(engine, "DeleteTable", TABLE) == busy
    assert refused(engine, "UpdateTable", TABLE | {"DeletionProtectionEnabled": True}) == busy
    assert refused(engine, "DescribeTimeToLive", TABLE) == (
        "ValidationException: Cannot describe time to live while table is in CREATING state: "
        "Current table state is CREATING"
    )
    clock.now_s += 10
    table = described(engine)
    assert table["TableStatus"] == "ACTIVE"
    assert {each["IndexStatus"] for each in table["GlobalSecondaryIndexes"]} == {"ACTIVE"}
    assert engine.call("PutItem", TABLE | {"Item": {"pk": s("a"), "sk": s("b")}}) == {}


def test_new_table_cannot_be_backed_up_for_some_seconds(engine: Engine, clock: Clock) -> None:
    """Recorded from DynamoDB: backups are rejected for some seconds after the table has become ACTIVE."""
    create(engine)
    on = TABLE | {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
    requests = (("CreateBackup", TABLE | {"BackupName": "early"}), ("UpdateContinuousBackups", on))
    for operation, params in requests:
        assert refused(engine, operation, params) == "TableNotFoundException: Table not found: orders"
    clock.now_s += 10
    assert described(engine)["TableStatus"] == "ACTIVE"
    for operation, params in requests:
        assert refused(engine, operation, params) == (
            "ContinuousBackupsUnavailableException: Backups are being enabled for the table: orders. Please retry later"
        )
    backups = engine.call("DescribeContinuousBackups", TABLE)["ContinuousBackupsDescription"]
    assert backups["ContinuousBackupsStatus"] == "DISABLED"
    clock.now_s += 10
    backups = engine.call("DescribeContinuousBackups", TABLE)["ContinuousBackupsDescription"]
    assert backups["ContinuousBackupsStatus"] == "ENABLED"
    for operation, params in requests:
        engine.call(operation, params)


def test_write_to_an_active_table_runs_no_extra_sql_statements(engine: Engine, clock: Clock) -> None:
    settled(engine, clock)
    put = TABLE | {"Item": {"pk": s("a"), "sk": s("b")}}
    engine.call("PutItem", put)
    before = engine.statements
    engine.call("PutItem", put)
    with Engine.open(":memory:") as plain:
        create(plain)
        plain.call("PutItem", put)
        start = plain.statements
        plain.call("PutItem", put)
        assert engine.statements - before == plain.statements - start


def test_new_index_is_first_in_creation_and_then_backfilled(engine: Engine, clock: Clock) -> None:
    settled(engine, clock)
    engine.call("PutItem", TABLE | {"Item": {"pk": s("a"), "sk": s("b"), "x": s("1")}})
    add = TABLE | {
        "AttributeDefinitions": [{"AttributeName": "x", "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": [{"Create": BY_X}],
    }
    engine.call("UpdateTable", add)
    drop = TABLE | {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "ByX"}}]}
    query = TABLE | {
        "IndexName": "ByX",
        "KeyConditionExpression": "x = :x",
        "ExpressionAttributeValues": {":x": s("1")},
    }
    assert states(engine) == ("UPDATING", {"ByX": ("CREATING", False)})
    assert refused(engine, "Query", query) == "ValidationException: The table does not have the specified index: ByX"
    assert "Index creation is in resource allocation phase" in refused(engine, "UpdateTable", drop)
    assert refused(engine, "DeleteTable", TABLE) == (
        f"ResourceInUseException: {IN_USE}Cannot delete table while indexes are being created, updated, or deleted."
    )
    other = {**BY_X, "IndexName": "ByY"}
    assert refused(engine, "UpdateTable", {**add, "GlobalSecondaryIndexUpdates": [{"Create": other}]}) == (
        "LimitExceededException: Subscriber limit exceeded: "
        "Only 1 online index can be created or deleted simultaneously per table"
    )
    # Items can be written meanwhile.
    engine.call("PutItem", TABLE | {"Item": {"pk": s("a"), "sk": s("c"), "x": s("1")}})
    clock.now_s += 10
    assert states(engine) == ("ACTIVE", {"ByX": ("CREATING", True)})
    assert refused(engine, "Query", query) == (
        "ValidationException: Cannot read from backfilling global secondary index: ByX"
    )
    clock.now_s += 10
    assert states(engine) == ("ACTIVE", {"ByX": ("ACTIVE", None)})
    assert engine.call("Query", query)["Count"] == 2
    engine.call("UpdateTable", drop)
    assert states(engine) == ("UPDATING", {"ByX": ("DELETING", None)})
    clock.now_s += 10
    assert states(engine) == ("ACTIVE", {})


def test_backfilling_index_can_be_deleted(engine: Engine, clock: Clock) -> None:
    settled(engine, clock)
    attributes = [{"AttributeName": "x", "AttributeType": "S"}]
    add = {"AttributeDefinitions": attributes, "GlobalSecondaryIndexUpdates": [{"Create": BY_X}]}
    engine.call("UpdateTable", TABLE | add)
    clock.now_s += 10
    engine.call("UpdateTable", TABLE | {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "ByX"}}]})
    assert states(engine) == ("UPDATING", {"ByX": ("DELETING", None)})


@pytest.mark.parametrize(
    ("change", "second", "message"),
    [
        (
            {"BillingMode": "PROVISIONED", "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}},
            {"BillingMode": "PROVISIONED", "ProvisionedThroughput": {"ReadCapacityUnits": 6, "WriteCapacityUnits": 5}},
            "Table IOPS are currently being updated. Table: orders",
        ),
        (
            {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}},
            {"GlobalSecondaryIndexUpdates": [{"Create": BY_X}]},
            "Can't create or delete an index when stream status is being updated.",
        ),
        (
            {"TableClass": "STANDARD_INFREQUENT_ACCESS"},
            {"GlobalSecondaryIndexUpdates": [{"Create": BY_X}]},
            "Can't create or delete an index when a table class update is in progress.",
        ),
    ],
)
def test_table_has_the_status_updating_during_a_change(
    engine: Engine, clock: Clock, change: dict[str, Any], second: dict[str, Any], message: str
) -> None:
    create(engine, GlobalSecondaryIndexes=None, AttributeDefinitions=PLAIN)
    clock.now_s += 10
    assert engine.call("UpdateTable", TABLE | change)["TableDescription"]["TableStatus"] == "UPDATING"
    assert engine.call("PutItem", TABLE | {"Item": {"pk": s("a"), "sk": s("b")}}) == {}
    assert refused(engine, "UpdateTable", TABLE | second) == f"ResourceInUseException: {IN_USE}{message}"
    deletion = (
        "Cannot delete table while stream is being enabled/disabled."
        if "StreamSpecification" in change
        else "Table: orders is in the process of being updated."
    )
    assert refused(engine, "DeleteTable", TABLE) == f"ResourceInUseException: {IN_USE}{deletion}"
    clock.now_s += 10
    assert described(engine)["TableStatus"] == "ACTIVE"


STREAM = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}}
CLASS = {"TableClass": "STANDARD_INFREQUENT_ACCESS"}
MAXIMUM = {"OnDemandThroughput": {"MaxReadRequestUnits": 100}}
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
PROVISIONED = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS}
ENCRYPTED = {"SSESpecification": {"Enabled": True}}
OF_STREAM = "Table: orders Stream: {label} Operation: ENABLE"
OF_CLASS = "TableClassUpdateInProgress: STANDARD_INFREQUENT_ACCESS"


@pytest.mark.parametrize(
    ("change", "second", "message"),
    [
        (STREAM, STREAM, f"A stream status change is currently in progress. {OF_STREAM}"),
        (STREAM, CLASS, f"Can't update table class when stream status is being updated. {OF_STREAM}"),
        (STREAM, MAXIMUM, "OnDemandThroughput cannot be updated while stream status update is in progress"),
        (STREAM, PROVISIONED, f"Can't change table IOPS when stream status is being updated. {OF_STREAM}"),
        (
            CLASS,
            {"TableClass": "STANDARD"},
            f"Can't update table class when a table class update is in progress. Table: orders {OF_CLASS}",
        ),
        (
            CLASS,
            STREAM,
            f"Can't change stream status when a table class update is in progress. Table: orders {OF_CLASS}",
        ),
        (CLASS, MAXIMUM, f"OnDemandThroughput cannot be updated while TableClass update is in progress. {OF_CLASS}"),
        (PROVISIONED, STREAM, "Can't enable or disable stream while table IOPS are being updated. Table: orders"),
        (PROVISIONED, MAXIMUM, "OnDemandThroughput cannot be updated while BillingMode update is in progress"),
        (ENCRYPTED, ENCRYPTED, "Server-Side Encryption is still being updated"),
    ],
)
def test_table_change_in_progress_blocks_other_changes(
    engine: Engine, clock: Clock, change: dict[str, Any], second: dict[str, Any], message: str
) -> None:
    create(engine, GlobalSecondaryIndexes=None, AttributeDefinitions=PLAIN)
    clock.now_s += 20
    engine.call("UpdateTable", TABLE | change)
    label = described(engine).get("LatestStreamLabel")
    assert refused(engine, "UpdateTable", TABLE | second) == (
        f"ResourceInUseException: {IN_USE}{message.format(label=label)}"
    )
    # A change with a status of its own is allowed.
    assert engine.call("UpdateTable", TABLE | {"WarmThroughput": {"ReadUnitsPerSecond": 13_000}})


def test_billing_mode_change_in_progress_blocks_the_reverse_change(engine: Engine, clock: Clock) -> None:
    create(engine, GlobalSecondaryIndexes=None, AttributeDefinitions=PLAIN)
    clock.now_s += 20
    # A repeated setting changes nothing.
    engine.call("UpdateTable", TABLE | {"BillingMode": "PAY_PER_REQUEST"})
    assert described(engine)["TableStatus"] == "ACTIVE"
    engine.call("UpdateTable", TABLE | PROVISIONED)
    # The reverse change is acknowledged and ignored.
    engine.call("UpdateTable", TABLE | {"BillingMode": "PAY_PER_REQUEST"})
    assert described(engine)["BillingModeSummary"]["BillingMode"] == "PROVISIONED"
    clock.now_s += 20
    engine.call("UpdateTable", TABLE | {"BillingMode": "PAY_PER_REQUEST"})
    busy = f"ResourceInUseException: {IN_USE}Table IOPS are currently being updated. Table: orders"
    for again in ({"BillingMode": "PAY_PER_REQUEST"}, PROVISIONED):
        assert refused(engine, "UpdateTable", TABLE | again) == busy
    assert "BillingMode is PROVISIONED" in refused(engine, "UpdateTable", TABLE | MAXIMUM)


def test_changes_to_a_table_that_is_being_created_are_rejected(engine: Engine) -> None:
    made = engine.call("CreateTable", CREATE)["TableDescription"]
    expiry = TABLE | {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "until"}}
    assert refused(engine, "UpdateTimeToLive", expiry) == (
        f"ResourceInUseException: {IN_USE}Table orders is being created"
    )
    assert refused(engine, "UpdateContributorInsights", TABLE | {"ContributorInsightsAction": "ENABLE"}) == (
        "ValidationException: Table or Index is not in a valid state to update Key Access Insights: "
        "TableStatus must be ACTIVE to enable ContributorInsights."
    )
    tags = {"ResourceArn": made["TableArn"], "Tags": [{"Key": "a", "Value": "b"}]}
    assert refused(engine, "TagResource", tags) == f"ResourceInUseException: {IN_USE}Table is being created: orders"


PLAIN = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")]


def test_encryption_and_warm_throughput_have_their_own_status(engine: Engine, clock: Clock) -> None:
    settled(engine, clock)
    engine.call("UpdateTable", TABLE | {"SSESpecification": {"Enabled": True}})
    engine.call("UpdateTable", TABLE | {"WarmThroughput": {"ReadUnitsPerSecond": 13_000}})
    table = described(engine)
    assert table["TableStatus"] == "ACTIVE"
    assert table["SSEDescription"]["Status"] == table["WarmThroughput"]["Status"] == "UPDATING"
    clock.now_s += 10
    table = described(engine)
    assert table["SSEDescription"]["Status"] == "ENABLED"
    warm = {"ReadUnitsPerSecond": 13_000, "WriteUnitsPerSecond": 4000}
    assert table["WarmThroughput"] == {**warm, "Status": "ACTIVE"}
    engine.call("UpdateTable", TABLE | {"WarmThroughput": warm})
    assert described(engine)["WarmThroughput"]["Status"] == "ACTIVE"  # a repeated setting changes nothing


def test_time_to_live_status_changes_after_the_simulated_delay(engine: Engine, clock: Clock) -> None:
    engine.call("CreateTable", CREATE)
    clock.now_s += 30

    def switch(enabled: bool, attribute: str = "until") -> dict[str, Any]:
        wanted = {"TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": attribute}}
        return answer(engine, "UpdateTimeToLive", TABLE | wanted)

    def status() -> dict[str, Any]:
        description: dict[str, Any] = engine.call("DescribeTimeToLive", TABLE)["TimeToLiveDescription"]
        return description

    for enabled, meanwhile, then in ((True, "ENABLING", "ENABLED"), (False, "DISABLING", "DISABLED")):
        switch(enabled)
        assert status() == {"TimeToLiveStatus": meanwhile, "AttributeName": "until"}
        assert switch(not enabled)["message"] == (
            "Time to live has been modified multiple times within a fixed interval"
        )
        engine.call("UpdateTable", TABLE | {"SSESpecification": {"Enabled": True}})
        assert status()["TimeToLiveStatus"] == meanwhile
        clock.now_s += 11
        assert status()["TimeToLiveStatus"] == then
    assert "Settling" not in engine.database.known_tables()[0].definition


def test_deleted_table_has_the_status_deleting(engine: Engine, clock: Clock) -> None:
    settled(engine, clock)
    engine.call("PutItem", TABLE | {"Item": {"pk": s("a"), "sk": s("b")}})
    assert engine.call("DeleteTable", TABLE)["TableDescription"]["TableStatus"] == "DELETING"
    assert described(engine)["TableStatus"] == "DELETING"
    assert engine.call("ListTables", {})["TableNames"] == ["orders"]
    busy = f"ResourceInUseException: {IN_USE}Table is being deleted: orders"
    assert refused(engine, "DeleteTable", TABLE) == busy
    assert refused(engine, "CreateTable", CREATE) == "ResourceInUseException: Table already exists: orders"
    assert "ResourceNotFoundException" in refused(engine, "Scan", TABLE)
    clock.now_s += 10
    gone = "ResourceNotFoundException: Requested resource not found: Table: orders not found"
    assert refused(engine, "DescribeTable", TABLE) == gone
    assert engine.call("ListTables", {})["TableNames"] == []
    create(engine)
    clock.now_s += 10
    assert engine.call("Scan", TABLE)["Count"] == 0


def test_table_statuses_are_shared_between_engines_and_kept_after_a_restart(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "store.db"
    with Engine.open(path, state_delay_s=10.0, clock=clock) as engine, Engine.open(path, clock=clock) as other:
        create(engine)
        assert described(other)["TableStatus"] == "CREATING"
    clock.now_s += 10
    with Engine.open(path, clock=clock) as engine:
        assert described(engine)["TableStatus"] == "ACTIVE"
        assert engine.check() == []


def test_table_statuses_change_immediately_if_no_delay_is_set() -> None:
    with Engine.open(":memory:") as engine:
        assert create(engine)["TableDescription"]["TableStatus"] == "ACTIVE"
        engine.call("DeleteTable", TABLE)
        assert engine.call("ListTables", {})["TableNames"] == []


def test_restored_table_has_the_status_creating(engine: Engine, clock: Clock) -> None:
    """The responses during the restore are recorded from DynamoDB."""
    settled(engine, clock)
    engine.call("PutItem", TABLE | {"Item": {"pk": s("a"), "sk": s("b")}})
    arn = engine.call("CreateBackup", TABLE | {"BackupName": "first"})["BackupDetails"]["BackupArn"]
    copy = {"TableName": "copy"}
    restore = {"BackupArn": arn, "TargetTableName": "copy"}
    made = engine.call("RestoreTableFromBackup", restore)["TableDescription"]
    shown = engine.call("DescribeTable", copy)["Table"]
    assert shown["TableStatus"] == made["TableStatus"] == "CREATING"
    assert shown["RestoreSummary"] == made["RestoreSummary"]
    missing = "ResourceNotFoundException: Requested resource not found: Table: copy not found"
    tag = {"ResourceArn": shown["TableArn"], "Tags": [{"Key": "a", "Value": "b"}]}
    for operation, params, message in (
        ("Scan", copy, "ResourceNotFoundException: Requested resource not found"),
        ("UpdateTable", copy | {"DeletionProtectionEnabled": True}, missing),
        ("DescribeTimeToLive", copy, missing),
        ("UpdateTimeToLive", copy | {"TimeToLiveSpecification": {"AttributeName": "t", "Enabled": True}}, missing),
        ("GetResourcePolicy", {"ResourceArn": shown["TableArn"]}, missing),
        ("DescribeContributorInsights", copy, missing),
        ("CreateBackup", copy | {"BackupName": "early"}, "TableNotFoundException: Table not found: copy"),
        ("DescribeContinuousBackups", copy, "TableNotFoundException: Table not found: copy"),
        ("DeleteTable", copy, f"ResourceInUseException: {IN_USE}Table is being created: copy"),
        ("CreateTable", CREATE | copy, "ResourceInUseException: Table is being used: copy"),
        (
            "RestoreTableFromBackup",
            restore,
            f"TableInUseException: Table: copy is already being restored from backup: {arn}",
        ),
        (
            "RestoreTableFromBackup",
            restore | {"TargetTableName": "other"},
            f"BackupInUseException: Backup is being used to restore another table: {arn}",
        ),
        ("DeleteBackup", {"BackupArn": arn}, f"BackupInUseException: Backup is being used to restore table: {arn}"),
    ):
        assert refused(engine, operation, params) == message
    assert answer(engine, "TagResource", tag)["error"] == "ResourceNotFoundException"
    assert answer(engine, "ListTagsOfResource", {"ResourceArn": shown["TableArn"]})["error"] == (
        "ResourceNotFoundException"
    )
    clock.now_s += 10
    shown = engine.call("DescribeTable", copy)["Table"]
    assert (shown["TableStatus"], "RestoreSummary" in shown) == ("ACTIVE", False)
    assert engine.call("Scan", copy)["Count"] == 1
    engine.call("TagResource", tag)
    clock.now_s += 10
    # The name of a deleted table is free, even if no request followed.
    engine.call("DeleteTable", copy)
    assert answer(engine, "RestoreTableFromBackup", restore)["error"] == "TableAlreadyExistsException"
    clock.now_s += 10
    engine.call("RestoreTableFromBackup", restore)
    clock.now_s += 20
    engine.call("DeleteBackup", {"BackupArn": arn})
    assert engine.check() == []
