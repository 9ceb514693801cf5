"""Table requests with missing or empty members have the responses recorded from DynamoDB in October 2026."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.scenarios import attributes
from tests.engine.support import answer, create, index

ARN = "arn:aws:dynamodb:local:000000000000:table/orders"
INVALID = "One or more parameter values were invalid: "
NO_INDEX = "Invalid resource arn provided, only table or stream is accepted. "
HASH = [{"AttributeName": "pk", "KeyType": "HASH"}]
NEW: dict[str, Any] = {
    "TableName": "others",
    "AttributeDefinitions": attributes(pk="S"),
    "KeySchema": HASH,
    "BillingMode": "PAY_PER_REQUEST",
}
UNITS = {"ReadCapacityUnits": 10**12 + 1, "WriteCapacityUnits": 10**12 + 2}


def null(path: str) -> str:
    return f"Value null at '{path}' failed to satisfy constraint: Member must not be null"


def short(path: str, least: int = 3) -> str:
    return (
        f"Value '' at '{path}' failed to satisfy constraint: Member must have length greater than or equal to {least}"
    )


def no_name(path: str) -> str:
    return (
        f"Value '' at '{path}' failed to satisfy constraint: "
        "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
    )


def none_of(path: str, *values: str) -> str:
    rule = f"Member must satisfy enum value set: [{', '.join(values)}]"
    return f"Value '' at '{path}' failed to satisfy constraint: {rule}"


def errors(*messages: str) -> str:
    return f"{len(messages)} validation error{'s' if len(messages) > 1 else ''} detected: {'; '.join(messages)}"


@pytest.mark.parametrize(
    ("operation", "params", "message"),
    [
        (
            "CreateTable",
            {**NEW, "AttributeDefinitions": [{}]},
            errors(
                null("attributeDefinitions.1.member.attributeType"), null("attributeDefinitions.1.member.attributeName")
            ),
        ),
        (
            "CreateTable",
            {**NEW, "KeySchema": [{}]},
            errors(null("keySchema.1.member.attributeName"), null("keySchema.1.member.keyType")),
        ),
        (
            "CreateTable",
            {**NEW, "LocalSecondaryIndexes": [{}], "GlobalSecondaryIndexes": [{}]},
            errors(
                *(
                    null(f"{kind}SecondaryIndexes.1.member.{member}")
                    for kind in ("global", "local")
                    for member in ("indexName", "keySchema", "projection")
                )
            ),
        ),
        (
            "CreateTable",
            {**NEW, "SSESpecification": {"Enabled": True, "KMSMasterKeyId": ""}},
            errors(short("sSESpecification.kMSMasterKeyId", 1)),
        ),
        (
            "CreateTable",
            {**NEW, "StreamSpecification": {"StreamEnabled": True, "StreamViewType": ""}},
            errors(
                none_of(
                    "streamSpecification.streamViewType", *("OLD_IMAGE", "KEYS_ONLY", "NEW_AND_OLD_IMAGES", "NEW_IMAGE")
                )
            ),
        ),
        (
            "CreateTable",
            {**NEW, "GlobalSecondaryIndexes": [index("", "pk")]},
            errors(
                short("globalSecondaryIndexes.1.member.indexName"), no_name("globalSecondaryIndexes.1.member.indexName")
            ),
        ),
        (
            "CreateTable",
            {**NEW, "BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS},
            f"Given value {10**12 + 1} for ReadCapacityUnits is out of bounds",
        ),
        (
            "UpdateTable",
            {"TableName": "none", "ProvisionedThroughput": {**UNITS, "ReadCapacityUnits": 1}},
            f"Given value {10**12 + 2} for WriteCapacityUnits is out of bounds",
        ),
        (
            "UpdateTable",
            {
                "TableName": "orders",
                "GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "ByG", "ProvisionedThroughput": {}}}],
            },
            errors(
                *(
                    null(f"globalSecondaryIndexUpdates.1.member.update.provisionedThroughput.{name}")
                    for name in ("writeCapacityUnits", "readCapacityUnits")
                )
            ),
        ),
        (
            "ListTables",
            {"ExclusiveStartTableName": ""},
            errors(no_name("exclusiveStartTableName"), short("exclusiveStartTableName")),
        ),
        ("CreateBackup", {"TableName": "orders", "BackupName": ""}, errors(no_name("backupName"), short("backupName"))),
        ("DescribeBackup", {"BackupArn": ""}, "Invalid Backup ARN"),
        (
            "UpdateTimeToLive",
            {"TableName": "orders", "TimeToLiveSpecification": {}},
            errors(null("timeToLiveSpecification.attributeName"), null("timeToLiveSpecification.enabled")),
        ),
        (
            "UpdateContinuousBackups",
            {
                "TableName": "orders",
                "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": False, "RecoveryPeriodInDays": 7},
            },
            "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.",
        ),
        (
            "UpdateContributorInsights",
            {"TableName": "orders", "ContributorInsightsAction": "ENABLE", "ContributorInsightsMode": ""},
            errors(none_of("contributorInsightsMode", "THROTTLED_KEYS", "ACCESSED_AND_THROTTLED_KEYS")),
        ),
        (
            "ListTagsOfResource",
            {"ResourceArn": f"{ARN}/index/ByG"},
            f"{INVALID}{NO_INDEX}Provided resource arn: {ARN}/index/ByG",
        ),
        (
            "ListTagsOfResource",
            {"ResourceArn": f"{ARN}/backup/01489602797149-73d8d5bc"},
            f"{INVALID}Provided Arn is not a DynamoDB resource arn: {ARN}/backup/01489602797149-73d8d5bc",
        ),
    ],
)
def test_incomplete_table_requests_are_rejected(
    engine: Engine, operation: str, params: dict[str, Any], message: str
) -> None:
    create(engine)
    assert answer(engine, operation, params) == {"error": "ValidationException", "message": message}


def test_listing_the_tags_of_a_stream_raises_resource_not_found(engine: Engine) -> None:
    create(engine)
    arn = f"{ARN}/stream/2026-10-08T00:00:00.000"
    assert answer(engine, "ListTagsOfResource", {"ResourceArn": arn})["error"] == "ResourceNotFoundException"


@pytest.mark.parametrize(
    "change",
    [
        {"WarmThroughput": {}, "TableClass": "STANDARD"},
        {"WarmThroughput": {}, "DeletionProtectionEnabled": False},
        {"OnDemandThroughput": {}, "BillingMode": "PAY_PER_REQUEST"},
    ],
)
def test_update_table_ignores_an_empty_setting_if_another_is_valid(engine: Engine, change: dict[str, Any]) -> None:
    create(engine)
    assert "error" not in answer(engine, "UpdateTable", {"TableName": "orders", **change})


def test_unknown_members_of_table_requests_are_ignored(engine: Engine) -> None:
    unknown = {"Unknown": 1}
    create(
        engine,
        "other",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH", **unknown}],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S", **unknown} for name in ("pk", "g")],
        GlobalSecondaryIndexes=[{**index("ByG", "g"), **unknown}],
        OnDemandThroughput=unknown,
    )
    engine.call("UpdateTable", {"TableName": "other", "OnDemandThroughput": {"MaxReadRequestUnits": 5, **unknown}})
    for setting in ({"WarmThroughput": unknown}, {"GlobalTableWitnessUpdates": [unknown]}):
        assert answer(engine, "UpdateTable", {"TableName": "other", **setting})["error"] == "ValidationException"
    table = engine.call("DescribeTable", {"TableName": "other"})["Table"]
    assert "Unknown" not in str(table)
    assert table["OnDemandThroughput"] == {"MaxReadRequestUnits": 5}
