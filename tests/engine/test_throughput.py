# ruff: noqa: E501 - messages are on one line, as DynamoDB returns them
"""Throughput, encryption and table class: descriptions and rejected changes, recorded from DynamoDB in October 2026."""

from __future__ import annotations

import re
from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.scenarios import attributes
from tests.engine.support import Clock, answer, create, index

TABLE = {"TableName": "orders"}
INVALID = "One or more parameter values were invalid: "
INITIAL = (
    "is lower than initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/"
    "developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
)
LOWER = "is lower than current WarmThroughput, decreasing WarmThroughput is not supported"
NO_UNITS = "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: {} when BillingMode is PAY_PER_REQUEST"
ONLY_UPDATES = "The only Updates for index: ByG when TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput"
ON_DEMAND = {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 4000, "Status": "ACTIVE"}


def units(read: int, write: int) -> dict[str, int]:
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def provisioned(engine: Engine) -> None:
    create(
        engine,
        BillingMode="PROVISIONED",
        ProvisionedThroughput=units(1, 1),
        GlobalSecondaryIndexes=[{**index("ByG", "g", "h"), "ProvisionedThroughput": units(2, 2)}],
    )


def update(engine: Engine, **members: Any) -> dict[str, Any]:
    return engine.call("UpdateTable", {**TABLE, **members})


def described(engine: Engine) -> dict[str, Any]:
    table: dict[str, Any] = engine.call("DescribeTable", TABLE)["Table"]
    return table


def refused(engine: Engine, operation: str, **members: Any) -> str:
    result = answer(engine, operation, {**TABLE, **members})
    return f"{result['error']}: {result['message']}"


def test_describe_table_describes_a_new_on_demand_table(engine: Engine) -> None:
    create(engine)
    table = described(engine)
    assert table["WarmThroughput"] == table["GlobalSecondaryIndexes"][0]["WarmThroughput"] == ON_DEMAND
    assert table["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **units(0, 0)}
    assert table["BillingModeSummary"]["LastUpdateToPayPerRequestDateTime"] == table["CreationDateTime"]
    assert not table.keys() & {"OnDemandThroughput", "SSEDescription", "TableClassSummary", "RestoreSummary"}


def test_warm_throughput_keeps_its_highest_past_value(engine: Engine) -> None:
    provisioned(engine)
    table = described(engine)
    assert table["WarmThroughput"] == {"ReadUnitsPerSecond": 1, "WriteUnitsPerSecond": 1, "Status": "ACTIVE"}
    assert table["GlobalSecondaryIndexes"][0]["WarmThroughput"]["ReadUnitsPerSecond"] == 2
    assert "BillingModeSummary" not in table
    update(engine, ProvisionedThroughput=units(3, 3))
    update(engine, ProvisionedThroughput=units(1, 1))
    assert described(engine)["WarmThroughput"]["ReadUnitsPerSecond"] == 3
    update(engine, BillingMode="PAY_PER_REQUEST")
    assert described(engine)["WarmThroughput"] == ON_DEMAND
    by_g = {"Update": {"IndexName": "ByG", "ProvisionedThroughput": units(1, 1)}}
    update(engine, BillingMode="PROVISIONED", ProvisionedThroughput=units(1, 1), GlobalSecondaryIndexUpdates=[by_g])
    table = described(engine)
    assert table["WarmThroughput"] == table["GlobalSecondaryIndexes"][0]["WarmThroughput"] == ON_DEMAND
    assert table["BillingModeSummary"]["BillingMode"] == "PROVISIONED"


def test_times_of_throughput_changes_are_in_the_table_description(engine: Engine, clock: Clock) -> None:
    provisioned(engine)
    clock.now_s += 5
    update(engine, ProvisionedThroughput=units(5, 5))
    raised_s = clock.now_s
    clock.now_s += 5
    update(engine, ProvisionedThroughput=units(6, 4))
    assert described(engine)["ProvisionedThroughput"] == {
        **units(6, 4),
        "NumberOfDecreasesToday": 1,
        "LastIncreaseDateTime": raised_s + 5,
        "LastDecreaseDateTime": raised_s + 5,
    }
    clock.now_s += 86_400
    assert described(engine)["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0


def test_warm_throughput_of_reads_and_writes_is_raised_separately(engine: Engine) -> None:
    create(engine)
    update(engine, WarmThroughput={"ReadUnitsPerSecond": 12_001})
    assert described(engine)["WarmThroughput"] == {**ON_DEMAND, "ReadUnitsPerSecond": 12_001}
    update(engine, WarmThroughput={"ReadUnitsPerSecond": 12_001, "WriteUnitsPerSecond": 4000})
    by_g = {"Update": {"IndexName": "ByG", "WarmThroughput": {"WriteUnitsPerSecond": 4001}}}
    update(engine, GlobalSecondaryIndexUpdates=[by_g])
    assert described(engine)["GlobalSecondaryIndexes"][0]["WarmThroughput"]["WriteUnitsPerSecond"] == 4001


def test_on_demand_read_and_write_maximums_are_changed_and_removed_separately(engine: Engine) -> None:
    create(engine, OnDemandThroughput={"MaxReadRequestUnits": 100})
    assert described(engine)["OnDemandThroughput"] == {"MaxReadRequestUnits": 100}
    update(engine, OnDemandThroughput={"MaxWriteRequestUnits": 50})
    assert described(engine)["OnDemandThroughput"] == {"MaxReadRequestUnits": 100, "MaxWriteRequestUnits": 50}
    removed = {"MaxReadRequestUnits": -1}
    answer = engine.call("UpdateTable", {"TableName": "orders", "OnDemandThroughput": removed})["TableDescription"]
    # The response repeats the removed value.
    assert answer["OnDemandThroughput"] == {"MaxReadRequestUnits": -1, "MaxWriteRequestUnits": 50}
    assert described(engine)["OnDemandThroughput"] == {"MaxWriteRequestUnits": 50}
    update(engine, OnDemandThroughput={"MaxReadRequestUnits": -1, "MaxWriteRequestUnits": -1})
    assert "OnDemandThroughput" not in described(engine)


def test_throughput_limits_of_the_account_are_enforced(engine: Engine) -> None:
    limit = "LimitExceededException: "
    per = "is above the per {0} maximum for the account in local. Per {0} maximum: 40000."
    exceeds = "exceeds TableMaxReadCapacityUnits of the account in region local"
    by_g = {**index("ByG", "g", "h"), "ProvisionedThroughput": units(40_001, 1)}
    for members, message in (
        ({"ProvisionedThroughput": units(40_001, 1), "GlobalSecondaryIndexes": None, "AttributeDefinitions": attributes(pk="S", sk="S")}, f"The requested ReadCapacityUnits, 40001, {per.format('table')}"),
        ({"ProvisionedThroughput": units(1, 1), "GlobalSecondaryIndexes": [by_g]}, f"The requested ReadCapacityUnits for index ByG, 40001, {per.format('index')}"),
    ):  # fmt: skip
        with pytest.raises(Exception, match="LimitExceeded") as raised:
            create(engine, BillingMode="PROVISIONED", **members)
        assert str(raised.value).startswith(limit + message)
    create(engine)
    requested = f"{limit}Subscriber limit exceeded: Requested "
    for changes, message in (
        ({"OnDemandThroughput": {"MaxReadRequestUnits": 40_001}}, f"MaxReadRequestUnits for OnDemandThroughput for table {exceeds}"),
        ({"WarmThroughput": {"ReadUnitsPerSecond": 40_001}}, f"ReadUnitsPerSecond for WarmThroughput for table {exceeds}"),
        ({"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "ByG", "OnDemandThroughput": {"MaxReadRequestUnits": 40_001}}}]}, f"MaxReadRequestUnits for OnDemandThroughput for index : ByG {exceeds}"),
        ({"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "ByG", "WarmThroughput": {"ReadUnitsPerSecond": 40_001}}}]}, f"ReadUnitsPerSecond for WarmThroughput for index ByG {exceeds}"),
    ):  # fmt: skip
        assert refused(engine, "UpdateTable", **changes) == requested + message


def test_encryption_and_table_class_can_be_changed(engine: Engine, clock: Clock) -> None:
    create(engine, TableClass="STANDARD", SSESpecification={"Enabled": True})
    table = described(engine)
    assert table["TableClassSummary"] == {"TableClass": "STANDARD"}
    assert table["SSEDescription"]["KMSMasterKeyArn"].startswith("arn:aws:kms:")
    clock.now_s += 5
    update(engine, TableClass="STANDARD_INFREQUENT_ACCESS")
    assert described(engine)["TableClassSummary"]["LastUpdateDateTime"] == clock.now_s
    key = "arn:aws:kms:eu-west-1:111111111111:key/1234"
    update(engine, SSESpecification={"SSEType": "KMS", "KMSMasterKeyId": key})
    assert described(engine)["SSEDescription"] == {"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": key}
    assert refused(engine, "UpdateTable", SSESpecification={"SSEType": "KMS", "KMSMasterKeyId": key}) == (
        f"ValidationException: {INVALID}Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId "
        "parameter if you want to change Master Key"
    )
    update(engine, SSESpecification={"Enabled": False})
    assert "SSEDescription" not in described(engine)


@pytest.mark.parametrize(
    ("given", "key"),
    [
        (None, r"arn:aws:kms:local:\d{12}:key/[0-9a-f-]{36}"),
        ("alias/mine", r"arn:aws:kms:local:\d{12}:key/[0-9a-f-]{36}"),
        ("1234abcd-12ab-34cd-56ef-1234567890ab", r"arn:aws:kms:local:\d{12}:key/1234abcd-12ab-34cd-56ef-1234567890ab"),
        ("arn:aws:kms:eu-west-1:111111111111:key/9", "arn:aws:kms:eu-west-1:111111111111:key/9"),
    ],
)
def test_encryption_key_is_described_by_its_arn(engine: Engine, given: str | None, key: str) -> None:
    create(
        engine,
        SSESpecification={"Enabled": True, **({} if given is None else {"SSEType": "KMS", "KMSMasterKeyId": given})},
    )
    description = described(engine)["SSEDescription"]
    assert (description["Status"], description["SSEType"]) == ("ENABLED", "KMS")
    assert re.fullmatch(key, description["KMSMasterKeyArn"])


def test_billing_and_table_class_summaries_appear_only_after_a_change(engine: Engine) -> None:
    create(engine, GlobalSecondaryIndexes=None, AttributeDefinitions=attributes(pk="S", sk="S"))
    update(engine, TableClass="STANDARD")
    assert "TableClassSummary" not in described(engine)
    since = described(engine)["CreationDateTime"]
    update(engine, BillingMode="PROVISIONED", ProvisionedThroughput=units(1, 1))
    summary = {"BillingMode": "PROVISIONED", "LastUpdateToPayPerRequestDateTime": since}
    assert described(engine)["BillingModeSummary"] == summary


def test_table_description_lists_attributes_and_indexes_in_sorted_order(engine: Engine) -> None:
    wide = {**index("Wide", "g", projection="INCLUDE"), "Projection": {}}
    wide["Projection"] = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["z", "a"]}
    create(engine, GlobalSecondaryIndexes=[index("ByG", "g", "h"), wide])
    table = described(engine)
    assert [each["AttributeName"] for each in table["AttributeDefinitions"]] == ["g", "h", "pk", "sk"]
    assert [each["IndexName"] for each in table["GlobalSecondaryIndexes"]] == ["ByG", "Wide"]
    assert table["GlobalSecondaryIndexes"][1]["Projection"]["NonKeyAttributes"] == ["a", "z"]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"OnDemandThroughput": {"MaxReadRequestUnits": 0}}, "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range"),
        ({"OnDemandThroughput": {"MaxReadRequestUnits": -1}}, "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range"),
        ({"WarmThroughput": {"ReadUnitsPerSecond": 11_999}}, f"Requested ReadUnitsPerSecond for WarmThroughput for table {INITIAL}"),
        ({"WarmThroughput": {"WriteUnitsPerSecond": 1}}, f"Requested WriteUnitsPerSecond for WarmThroughput for table {INITIAL}"),
        (
            {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units(10, 10), "GlobalSecondaryIndexes": None, "WarmThroughput": {"ReadUnitsPerSecond": 5}},
            "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than ReadCapacityUnits of ProvisionedThroughput",
        ),
        (
            {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units(10, 10), "GlobalSecondaryIndexes": None, "OnDemandThroughput": {"MaxReadRequestUnits": 5}},
            "MaxReadRequestUnits for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED.",
        ),
        ({"SSESpecification": {"Enabled": False, "SSEType": "KMS"}}, "SSEType can not be specified if Enabled is false"),
        ({"SSESpecification": {"Enabled": True, "SSEType": "AES256"}}, "SSEType AES256 is not supported"),
        ({"SSESpecification": {"KMSMasterKeyId": "alias/own"}}, "SSEType KMS is required if KMSMasterKeyId is specified"),
        ({"SSESpecification": {"Enabled": True, "KMSMasterKeyId": "alias/mine"}}, "SSEType KMS is required if KMSMasterKeyId is specified"),
        (
            {"GlobalSecondaryIndexes": [{**index("ByG", "g", "h"), "OnDemandThroughput": {"MaxReadRequestUnits": 0}}]},
            "Requested MaxReadRequestUnits for OnDemandThroughput for index : ByG is outside of valid range",
        ),
    ],
)  # fmt: skip
def test_invalid_settings_of_a_new_table_are_rejected(engine: Engine, members: dict[str, Any], message: str) -> None:
    with pytest.raises(Exception, match="ValidationException") as raised:
        create(engine, **members)
    assert str(raised.value) == f"ValidationException: {INVALID}{message}"


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({}, "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"),
        ({"TableClass": "junk"}, "Invalid table-class parameter provided. Please try again with a valid table-class value: [STANDARD, STANDARD_INFREQUENT_ACCESS]."),
        ({"WarmThroughput": {"ReadUnitsPerSecond": 11_999}}, f"{INVALID}Requested ReadUnitsPerSecond for WarmThroughput for table {LOWER}"),
        ({"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "ByG", "WarmThroughput": {"WriteUnitsPerSecond": 1}}}]}, f"{INVALID}Requested WriteUnitsPerSecond for WarmThroughput for index ByG {LOWER}"),
        ({"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "ByG", "ProvisionedThroughput": units(1, 1)}}]}, f"{INVALID}{ONLY_UPDATES}"),
        ({"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "ByG"}}]}, f"{INVALID}{ONLY_UPDATES}"),
        ({"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "ByG", "WarmThroughput": {}}}]}, f"{INVALID}WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified for index: ByG"),
        ({"GlobalSecondaryIndexUpdates": [], "DeletionProtectionEnabled": True}, f"{INVALID}List of GlobalSecondaryIndexUpdates is empty"),
        ({"GlobalSecondaryIndexUpdates": [{"Create": {**index("ByX", "x"), "ProvisionedThroughput": units(1, 1)}}], "AttributeDefinitions": attributes(x="S")}, f"{INVALID}{NO_UNITS.format('ByX')}"),
        ({"GlobalSecondaryIndexUpdates": [{"Create": index("ByX", "x")}]}, f"{INVALID}AttributeDefinitions is not specified for index: ByX"),
        ({"GlobalSecondaryIndexUpdates": [{"Create": index("ByX", "x")}], "WarmThroughput": {"ReadUnitsPerSecond": 13_000}}, f"{INVALID}Create global secondary index cannot be specified when updating WarmThroughput"),
        ({"MultiRegionConsistency": "STRONG"}, "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"),
        ({"WarmThroughput": {"ReadUnitsPerSecond": 13_000}, "OnDemandThroughput": {"MaxReadRequestUnits": 5}}, f"{INVALID}OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"),
        ({"OnDemandThroughput": {"MaxReadRequestUnits": 0}}, f"{INVALID}Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range"),
        ({"SSESpecification": {}}, f"{INVALID}Table is already encrypted by default"),
        ({"SSESpecification": {"Enabled": True}, "TableClass": "STANDARD"}, f"{INVALID}Server-Side Encryption modification must be the only operation in the request"),
        ({"TableClass": "STANDARD", "BillingMode": "PAY_PER_REQUEST"}, f"{INVALID}TableClass modification must be the only operation in the request"),
        ({"DeletionProtectionEnabled": True, "BillingMode": "PAY_PER_REQUEST"}, f"{INVALID}DeletionProtection modification must be the only operation in the request"),
        ({"WarmThroughput": {"ReadUnitsPerSecond": 13_000}, "BillingMode": "PAY_PER_REQUEST"}, f"{INVALID}WarmThroughput must be the only operation in the request"),
        ({"OnDemandThroughput": {"MaxReadRequestUnits": 5}, "StreamSpecification": {"StreamEnabled": False}}, f"{INVALID}OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"),
    ],
)  # fmt: skip
def test_invalid_changes_of_an_on_demand_table_are_rejected(
    engine: Engine, members: dict[str, Any], message: str
) -> None:
    create(engine)
    assert refused(engine, "UpdateTable", **members) == f"ValidationException: {message}"


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"BillingMode": "PROVISIONED"}, f"{INVALID}ProvisionedThroughput must be specified when BillingMode is PROVISIONED"),
        ({"OnDemandThroughput": {"MaxReadRequestUnits": 5}}, f"{INVALID}MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED"),
        ({"ProvisionedThroughput": units(3, 3), "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "ByG"}}]}, f"{INVALID}You cannot create or delete index while updating table IOPS"),
        ({"ProvisionedThroughput": units(3, 3), "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}}, f"{INVALID}You cannot modify stream status while updating table IOPS"),
        ({"GlobalSecondaryIndexUpdates": [{"Create": index("ByX", "x")}], "AttributeDefinitions": attributes(x="S")}, f"{INVALID}Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: ByX"),
        ({"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "ByG", "OnDemandThroughput": {"MaxReadRequestUnits": 5}}}]}, f"{INVALID}MaxReadRequestUnits for OnDemandThroughput for index : ByG cannot be specified when the table BillingMode is PROVISIONED"),
        ({"WarmThroughput": {"ReadUnitsPerSecond": 0}}, f"{INVALID}Requested ReadUnitsPerSecond for WarmThroughput for table {LOWER}"),
        (
            {"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "ByG", "ProvisionedThroughput": units(2, 2)}}]},
            "The provisioned throughput for the index ByG will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for index ByG: 2. Requested ReadCapacityUnits: 2. Current WriteCapacityUnits provisioned for index ByG: 2. Requested WriteCapacityUnits: 2. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.",
        ),
    ],
)  # fmt: skip
def test_invalid_changes_of_a_provisioned_table_are_rejected(
    engine: Engine, members: dict[str, Any], message: str
) -> None:
    provisioned(engine)
    assert refused(engine, "UpdateTable", **members) == f"ValidationException: {message}"


def test_throughput_changes_of_missing_indexes_are_rejected(engine: Engine) -> None:
    local = {**index("ByL", "pk", "h"), "Projection": {"ProjectionType": "ALL"}}
    create(engine, LocalSecondaryIndexes=[local])
    for verb, members in (("update", {"WarmThroughput": {"ReadUnitsPerSecond": 13_000}}), ("delete", {})):
        for name, message in (
            ("Gone", "ResourceNotFoundException: Requested resource not found: Index Gone for table orders"),
            ("ByL", f"ValidationException: Cannot {verb} an index that is not a GlobalSecondaryIndex: ByL"),
        ):
            change = {verb.capitalize(): {"IndexName": name, **members}}
            assert refused(engine, "UpdateTable", GlobalSecondaryIndexUpdates=[change]) == message


def test_global_index_limit_is_20_per_table(engine: Engine) -> None:
    create(engine, GlobalSecondaryIndexes=[index(f"Index{number}", "g", "h") for number in range(20)])
    message = refused(
        engine,
        "UpdateTable",
        AttributeDefinitions=[{"AttributeName": "g", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[{"Create": index("More", "g")}],
    )
    assert message == (
        "LimitExceededException: Subscriber limit exceeded: "
        "Number of global secondary indexes exceeds per-table limit of 20"
    )


@pytest.mark.parametrize(
    ("members", "encrypted"),
    [
        ({"Enabled": True}, True),
        ({"SSEType": "KMS"}, True),
        ({"SSEType": "KMS", "KMSMasterKeyId": "alias/own"}, True),
        ({"Enabled": False}, False),
        ({}, False),
    ],
)
def test_encryption_is_described_if_any_sse_setting_enables_it(
    engine: Engine, members: dict[str, Any], encrypted: bool
) -> None:
    create(engine, SSESpecification=members)
    assert ("SSEDescription" in described(engine)) == encrypted
