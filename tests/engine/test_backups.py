"""Backups and point-in-time recovery."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import Clock, answer, create, get, index, n, pages, put, s

START_S = Clock().now_s


def back_up(engine: Engine, name: str = "first", table: str = "orders") -> str:
    made = engine.call("CreateBackup", {"TableName": table, "BackupName": name})["BackupDetails"]
    assert made["BackupStatus"] == "CREATING"
    arn: str = made["BackupArn"]
    return arn


def keep_history(engine: Engine, *, enabled: bool = True, **more: Any) -> dict[str, Any]:
    specification = {"PointInTimeRecoveryEnabled": enabled, **more}
    answered = engine.call(
        "UpdateContinuousBackups", {"TableName": "orders", "PointInTimeRecoverySpecification": specification}
    )
    description: dict[str, Any] = answered["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    return description


def items(engine: Engine, table: str, **more: Any) -> list[dict[str, Any]]:
    result = pages(engine, "Scan", {"TableName": table, **more})
    return sorted(result, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))


# --- backups ----------------------------------------------------------------------------------------------


def test_a_backup_is_described_listed_restored_and_deleted(engine: Engine) -> None:
    local = index("ByPlace", "pk", "h", projection="KEYS_ONLY")
    create(engine, DeletionProtectionEnabled=False, Tags=[{"Key": "a", "Value": "b"}], LocalSecondaryIndexes=[local])
    for number in range(5):
        put(engine, "a", str(number), g=s("g"), h=s(str(number)))
    arn = back_up(engine)
    put(engine, "a", "0", g=s("later"))
    put(engine, "b", "1")
    described = engine.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"]
    assert described["BackupDetails"]["BackupStatus"] == "AVAILABLE"
    assert described["BackupDetails"]["BackupType"] == "USER"
    assert "BackupExpiryDateTime" not in described["BackupDetails"]
    assert described["SourceTableDetails"]["ItemCount"] == 5
    features = described["SourceTableFeatureDetails"]
    assert [each["IndexName"] for each in features["GlobalSecondaryIndexes"]] == ["ByG"]
    assert features["LocalSecondaryIndexes"] == [local]
    restored = engine.call("RestoreTableFromBackup", {"TargetTableName": "again", "BackupArn": arn})
    assert restored["TableDescription"]["TableStatus"] == "CREATING"
    assert restored["TableDescription"]["RestoreSummary"]["SourceBackupArn"] == arn
    assert restored["TableDescription"]["RestoreSummary"]["RestoreInProgress"] is True
    assert "RestoreSummary" not in engine.call("DescribeTable", {"TableName": "again"})["Table"]
    assert [item["sk"] for item in items(engine, "again")] == [s(str(number)) for number in range(5)]
    assert len(items(engine, "again", IndexName="ByG")) == 5
    arn_of_copy = restored["TableDescription"]["TableArn"]
    assert engine.call("ListTagsOfResource", {"ResourceArn": arn_of_copy})["Tags"] == []
    assert engine.check() == []
    deleted = engine.call("DeleteBackup", {"BackupArn": arn})["BackupDescription"]
    assert deleted["BackupDetails"]["BackupStatus"] == "DELETED"
    for operation in ("DescribeBackup", "DeleteBackup"):
        assert answer(engine, operation, {"BackupArn": arn}) == {
            "error": "BackupNotFoundException",
            "message": f"Backup not found: {arn}",
        }
    gone = answer(engine, "RestoreTableFromBackup", {"TargetTableName": "third", "BackupArn": arn})
    assert gone["error"] == "BackupNotFoundException"


def test_backup_is_kept_after_its_table_is_deleted(engine: Engine) -> None:
    create(engine)
    put(engine, "a", "1")
    arn = back_up(engine)
    engine.call("DeleteTable", {"TableName": "orders"})
    assert len(engine.call("ListBackups", {"TableName": "orders"})["BackupSummaries"]) == 1
    engine.call("RestoreTableFromBackup", {"TargetTableName": "orders", "BackupArn": arn})
    assert get(engine, "a", "1") == {"pk": s("a"), "sk": s("1")}


def test_backups_are_listed_by_table_time_type_and_page(engine: Engine, clock: Clock) -> None:
    create(engine)
    create(engine, "others")
    arns: list[str] = []
    for name in ("one", "two", "two"):
        arns.append(back_up(engine, name))
        clock.now_s += 1
    arns.append(back_up(engine, "four", "others"))

    def listed(**request: Any) -> list[str]:
        result = engine.call("ListBackups", request)
        return [each["BackupArn"] for each in result["BackupSummaries"]]

    assert listed() == arns
    assert listed(TableName="orders") == arns[:3]
    assert listed(TableName="missing") == []
    assert listed(TimeRangeLowerBound=START_S + 1, TimeRangeUpperBound=START_S + 2) == [arns[1]]
    assert listed(BackupType="SYSTEM") == listed(BackupType="AWS_BACKUP") == []
    assert listed(BackupType="ALL") == arns
    paged = engine.call("ListBackups", {"Limit": 2})
    assert paged["LastEvaluatedBackupArn"] == arns[1]
    rest = engine.call("ListBackups", {"Limit": 2, "ExclusiveStartBackupArn": arns[1]})
    assert [each["BackupArn"] for each in rest["BackupSummaries"]] == arns[2:]
    assert "LastEvaluatedBackupArn" not in rest
    refused = answer(engine, "ListBackups", {"TimeRangeLowerBound": 2, "TimeRangeUpperBound": 1})
    assert refused["message"] == "Time range lower bound must be less than or equal to upper bound"


def test_billing_mode_and_indexes_can_be_overridden_in_a_restore(engine: Engine) -> None:
    create(engine)
    put(engine, "a", "1", g=s("g"), h=s("h"))
    arn = back_up(engine)

    def restore(name: str, **overrides: Any) -> dict[str, Any]:
        return answer(engine, "RestoreTableFromBackup", {"TargetTableName": name, "BackupArn": arn, **overrides})

    provisioned = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}
    restore("provisioned", BillingModeOverride="PROVISIONED", ProvisionedThroughputOverride=provisioned)
    table = engine.call("DescribeTable", {"TableName": "provisioned"})["Table"]
    assert table["ProvisionedThroughput"]["WriteCapacityUnits"] == 4
    restore("bare", GlobalSecondaryIndexOverride=[])
    table = engine.call("DescribeTable", {"TableName": "bare"})["Table"]
    assert "GlobalSecondaryIndexes" not in table
    assert [each["AttributeName"] for each in table["AttributeDefinitions"]] == ["pk", "sk"]
    restore("renamed", GlobalSecondaryIndexOverride=[index("Other", "g", "h")])
    assert len(items(engine, "renamed", IndexName="Other")) == 1
    assert restore("bare")["error"] == "TableAlreadyExistsException"
    of_g, billed = index("ByG", "g", "h"), {"ProvisionedThroughput": provisioned}
    on_demand = {"BillingModeOverride": "PAY_PER_REQUEST"}
    made_provisioned = {"BillingModeOverride": "PROVISIONED", "ProvisionedThroughputOverride": provisioned}
    refused: list[tuple[dict[str, Any], str]] = [
        (
            {"GlobalSecondaryIndexOverride": [index("Other", "h")]},
            "Index Other does not match a secondary index that existed in the source table and cannot be created during the restore operation",  # noqa: E501
        ),
        (
            {"ProvisionedThroughputOverride": provisioned},
            "Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED",
        ),
        (
            {"ProvisionedThroughputOverride": provisioned, **on_demand},
            "Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST",
        ),
        (
            {"BillingModeOverride": "PROVISIONED"},
            "Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED",
        ),
        (
            {"OnDemandThroughputOverride": {"MaxReadRequestUnits": 0}},
            "Requested MaxReadRequestUnits for OnDemandThroughput is outside of valid range",
        ),
        (
            {"OnDemandThroughputOverride": {"MaxReadRequestUnits": 9}, **made_provisioned},
            "Cannot override MaxReadRequestUnits for OnDemandThroughput unless BillingModeOverride is PAY_PER_REQUEST",
        ),
        (
            {"GlobalSecondaryIndexOverride": [of_g], **made_provisioned},
            "Must specify provisioned throughput for index ByG",
        ),
        (
            {"GlobalSecondaryIndexOverride": [{**of_g, **billed}], **on_demand},
            "Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST for index ByG",
        ),
    ]
    for overrides, message in refused:
        assert restore("refused", **overrides)["message"] == f"Invalid Request: {message}"
    assert restore("")["message"] == "TableName must be at least 3 characters long and at most 255 characters long"
    assert engine.check() == []


def test_invalid_backup_arn_and_missing_table_are_rejected(engine: Engine) -> None:
    create(engine)
    arn = "arn:aws:dynamodb:local:000000000000:table/orders"
    assert answer(engine, "DescribeBackup", {"BackupArn": arn})["message"] == "Invalid Backup ARN"
    missing = answer(engine, "CreateBackup", {"TableName": "missing", "BackupName": "one"})
    assert missing == {"error": "TableNotFoundException", "message": "Table not found: missing"}


# --- histories --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fraction", [0.0, 0.0001234, 0.1239876, 0.9999])
def test_a_table_can_be_restored_to_the_reported_times(engine: Engine, clock: Clock, fraction: float) -> None:
    """Reported times are rounded to milliseconds, but all are within the recorded history."""
    create(engine)
    clock.now_s += fraction
    keep_history(engine)
    clock.now_s += 10
    described = engine.call("DescribeContinuousBackups", {"TableName": "orders"})["ContinuousBackupsDescription"]
    recovery = described["PointInTimeRecoveryDescription"]
    for number, member in enumerate(("EarliestRestorableDateTime", "LatestRestorableDateTime")):
        names = {"SourceTableName": "orders", "TargetTableName": f"restored{number}"}
        engine.call("RestoreTableToPointInTime", {**names, "RestoreDateTime": recovery[member]})
        assert recovery[member] == round(recovery[member], 3)
    assert 9.998 < recovery["LatestRestorableDateTime"] - recovery["EarliestRestorableDateTime"] <= 10


def test_point_in_time_recovery_is_enabled_and_disabled(engine: Engine, clock: Clock) -> None:
    create(engine)
    described = engine.call("DescribeContinuousBackups", {"TableName": "orders"})["ContinuousBackupsDescription"]
    assert described == {
        "ContinuousBackupsStatus": "ENABLED",
        "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"},
    }
    assert keep_history(engine)["RecoveryPeriodInDays"] == 35
    clock.now_s += 10 * 86_400
    shorter = keep_history(engine, RecoveryPeriodInDays=2)
    assert shorter["EarliestRestorableDateTime"] == clock.now_s - 2 * 86_400
    assert shorter["LatestRestorableDateTime"] == clock.now_s
    assert keep_history(engine, enabled=False) == {"PointInTimeRecoveryStatus": "DISABLED"}
    assert keep_history(engine)["EarliestRestorableDateTime"] == clock.now_s
    refused = answer(
        engine,
        "UpdateContinuousBackups",
        {
            "TableName": "orders",
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": False, "RecoveryPeriodInDays": 3},
        },
    )
    assert refused["error"] == "ValidationException"


def write_at_random(engine: Engine, chance: random.Random) -> None:
    """Write one to three items with a random operation."""
    key = {"pk": s(chance.choice("ab")), "sk": s(chance.choice("123"))}
    item = {**key, "g": s(chance.choice("gh")), "h": s("h"), "value": n(chance.randrange(1000))}
    kind = chance.randrange(5)
    if kind == 0:
        engine.call("PutItem", {"TableName": "orders", "Item": item})
    elif kind == 1:
        engine.call("DeleteItem", {"TableName": "orders", "Key": key})
    elif kind == 2:
        values = {":v": n(chance.randrange(1000))}
        update = {"UpdateExpression": "SET x = :v", "ExpressionAttributeValues": values}
        engine.call("UpdateItem", {"TableName": "orders", "Key": key, **update})
    elif kind == 3:
        requests = [{"PutRequest": {"Item": item}}, {"DeleteRequest": {"Key": {"pk": s("c"), "sk": s("1")}}}]
        engine.call("BatchWriteItem", {"RequestItems": {"orders": requests}})
    else:
        actions = [
            {"Put": {"TableName": "orders", "Item": {**item, "pk": s("c")}}},
            {"Delete": {"TableName": "orders", "Key": key}},
        ]
        engine.call("TransactWriteItems", {"TransactItems": actions})


@pytest.mark.parametrize("seed", range(3))
def test_a_table_can_be_restored_to_every_point_in_time(engine: Engine, clock: Clock, seed: int) -> None:
    chance = random.Random(seed)
    create(engine)
    for number in range(4):
        put(engine, "a", str(number))
    keep_history(engine)
    was = {clock.now_s: items(engine, "orders")}
    for step in range(40):
        clock.now_s += chance.choice([0, 1, 60])
        if step == 20:
            change = {"Delete": {"IndexName": "ByG"}}
            engine.call("UpdateTable", {"TableName": "orders", "GlobalSecondaryIndexUpdates": [change]})
        write_at_random(engine, chance)
        was[clock.now_s] = items(engine, "orders")
    for number, (moment_s, expected) in enumerate(was.items()):
        name = f"was{number}"
        request = {"SourceTableName": "orders", "TargetTableName": name, "RestoreDateTime": moment_s}
        engine.call("RestoreTableToPointInTime", request)
        assert items(engine, name) == expected, moment_s
        engine.call("DeleteTable", {"TableName": name})
    assert engine.check() == []


def test_restore_times_outside_the_recovery_window_are_rejected(engine: Engine, clock: Clock) -> None:
    create(engine)
    request: dict[str, Any] = {"SourceTableName": "orders", "TargetTableName": "again"}

    def restore(**more: Any) -> dict[str, Any]:
        return answer(engine, "RestoreTableToPointInTime", {**request, **more})

    off = restore(UseLatestRestorableTime=True)
    assert off["error"] == "PointInTimeRecoveryUnavailableException"
    assert off["message"] == "Point in time recovery is not enabled for table 'orders'"
    keep_history(engine, RecoveryPeriodInDays=1)
    clock.now_s += 3 * 86_400
    for moment_s in (0, START_S, START_S + 86_400, clock.now_s + 1):
        assert restore(RestoreDateTime=moment_s)["error"] == "InvalidRestoreTimeException"
    assert (
        restore()["error"] == restore(RestoreDateTime=1, UseLatestRestorableTime=True)["error"] == "ValidationException"
    )
    assert restore(SourceTableArn="arn:aws:x", UseLatestRestorableTime=True)["error"] == "ValidationException"
    assert restore(SourceTableName=None, SourceTableArn="orders", UseLatestRestorableTime=True)["message"] == (
        "One or more parameter values were invalid: sourceTableArn is not a valid ARN"
    )
    missing = restore(SourceTableName="missing", UseLatestRestorableTime=True)
    assert missing == {"error": "TableNotFoundException", "message": "Table not found: missing"}
    assert restore(TargetTableName="orders", UseLatestRestorableTime=True)["error"] == "TableAlreadyExistsException"
    assert "error" not in restore(RestoreDateTime=clock.now_s - 100)


def test_recovery_history_outside_the_recovery_window_is_deleted(engine: Engine, clock: Clock) -> None:
    create(engine)
    keep_history(engine, RecoveryPeriodInDays=1)
    for day in range(4):
        put(engine, "a", "1", day=n(day))
        clock.now_s += 86_400
    put(engine, "a", "1", day=n(4))
    before = engine.statements
    engine.sweep()
    first = engine.statements - before
    before = engine.statements
    engine.sweep()
    assert engine.statements - before < first
    request = {"SourceTableName": "orders", "TargetTableName": "again", "RestoreDateTime": clock.now_s - 1}
    engine.call("RestoreTableToPointInTime", request)
    assert items(engine, "again")[0]["day"] == n(3)


def test_another_process_records_history_after_point_in_time_recovery_is_enabled(tmp_path: Path) -> None:
    """The writing process cached the table definition before recovery was enabled."""
    path = tmp_path / "store.db"
    with Engine.open(path) as engine, Engine.open(path) as other:
        create(engine)
        put(engine, "a", "1", value=n(1))
        put(other, "b", "1")
        keep_history(engine)
        moment_s = engine.call("DescribeContinuousBackups", {"TableName": "orders"})["ContinuousBackupsDescription"][
            "PointInTimeRecoveryDescription"
        ]["LatestRestorableDateTime"]
        time.sleep(0.01)  # recovery times are whole milliseconds
        put(other, "a", "1", value=n(2))
        request = {"SourceTableName": "orders", "TargetTableName": "again", "RestoreDateTime": moment_s}
        engine.call("RestoreTableToPointInTime", request)
        assert items(engine, "again")[0]["value"] == n(1)


def test_restorable_times_reported_in_the_first_millisecond_are_restorable(engine: Engine, clock: Clock) -> None:
    create(engine)
    clock.now_s = START_S + 0.0004
    description = keep_history(engine)
    clock.now_s = START_S + 0.001
    for number, end in enumerate(("EarliestRestorableDateTime", "LatestRestorableDateTime")):
        request = {"SourceTableName": "orders", "TargetTableName": f"again{number}"}
        engine.call("RestoreTableToPointInTime", {**request, "RestoreDateTime": description[end]})


def test_deleting_a_table_with_point_in_time_recovery_creates_a_system_backup(engine: Engine, clock: Clock) -> None:
    create(engine)
    put(engine, "a", "1")
    keep_history(engine)
    engine.call("DeleteTable", {"TableName": "orders"})
    (left,) = engine.call("ListBackups", {"BackupType": "SYSTEM"})["BackupSummaries"]
    assert left["BackupName"] == "orders$DeletedTableBackup"
    assert left["BackupExpiryDateTime"] == START_S + 35 * 86_400
    assert answer(engine, "DeleteBackup", {"BackupArn": left["BackupArn"]}) == {
        "error": "ValidationException",
        "message": f"Invalid Request: User is not allowed to delete the system backup with arn {left['BackupArn']}. "
        "It will automatically expire on 2027-02-19T08:00:00Z",
    }
    engine.call("RestoreTableFromBackup", {"TargetTableName": "orders", "BackupArn": left["BackupArn"]})
    assert get(engine, "a", "1") is not None
    clock.now_s += 36 * 86_400
    engine.sweep()
    assert engine.call("ListBackups", {"BackupType": "ALL"})["BackupSummaries"] == []
