"""Invalid requests are rejected with DynamoDB's messages, and valid requests are accepted."""

from __future__ import annotations

# ruff: noqa: ISC004 - some of DynamoDB's messages are long
from typing import Any

import pytest

from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.dynamodb.service_errors import ValidationException

KEY = {"pk": {"S": "a"}}
GET = {"TableName": "orders", "Key": KEY}


def at(value: str, place: str, rule: str) -> str:
    return f"Value {value} at '{place}' failed to satisfy constraint: Member must {rule}"


def by_name(place: str, rule: str) -> str:
    return f"Value at '{place}' failed to satisfy constraint: Member must {rule}"


CAPACITY = at("'some'", "returnConsumedCapacity", "satisfy enum value set: [INDEXES, TOTAL, NONE]")
RETURN_VALUES = (
    "Failed to satisfy constraint: Member must satisfy enum value set: "
    "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
)
EMPTY_NAME = by_name("TableName", "have length greater than or equal to 1")
MAP_KEYS = (
    "Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have length "
    "greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
)
INDEX = {"KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}


def refused(operation: str, params: Any) -> str:
    with pytest.raises(ValidationException) as caught:
        OPERATIONS[operation].validate(params)
    return caught.value.message


@pytest.mark.parametrize(
    ("operation", "params", "messages"),
    [
        ("GetItem", {}, [at("null", "tableName", "not be null"), at("null", "key", "not be null")]),
        ("GetItem", {"TableName": None, "Key": KEY}, [at("null", "tableName", "not be null")]),
        ("GetItem", {**GET, "TableName": "ab"}, [at("'ab'", "tableName", "have length greater than or equal to 3")]),
        (
            "GetItem",
            {**GET, "TableName": "a;"},
            [
                at("'a;'", "tableName", "have length greater than or equal to 3"),
                at("'a;'", "tableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
            ],
        ),
        *(
            (
                operation,
                {"TableName": "", **more},
                [
                    at("''", "tableName", "have length greater than or equal to 3"),
                    at("''", "tableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
                ],
            )
            for operation, more in (
                ("DescribeTable", {}),
                ("CreateTable", {"AttributeDefinitions": [], "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}]}),
            )
        ),
        (
            "GetItem",
            {**GET, "TableName": "x" * 256},
            [at(f"'{'x' * 256}'", "tableName", "have length less than or equal to 255")],
        ),
        (
            "GetItem",
            {**GET, "ReturnConsumedCapacity": "some"},
            [at("'some'", "returnConsumedCapacity", "satisfy enum value set: [INDEXES, TOTAL, NONE]")],
        ),
        ("PutItem", {"TableName": "orders", "Item": {}, "ReturnValues": "ALL"}, [RETURN_VALUES]),
        ("Query", {"TableName": "orders", "Limit": 0}, [by_name("Limit", "have value greater than or equal to 1")]),
        ("Scan", {"TableName": "orders", "Limit": 0}, [at("'0'", "limit", "have value greater than or equal to 1")]),
        (
            "PutItem",
            {
                "TableName": "orders",
                "Item": {},
                "ReturnValues": "ALL",
                "ReturnConsumedCapacity": "some",
                "ReturnItemCollectionMetrics": "some",
            },
            [CAPACITY, RETURN_VALUES, "ReturnItemCollectionMetrics can only be SIZE or NONE"],
        ),
        ("DeleteItem", {**GET, "ReturnValues": "ALL", "ReturnConsumedCapacity": "some"}, [CAPACITY, RETURN_VALUES]),
        ("UpdateItem", {**GET, "ReturnValues": "ALL", "ReturnConsumedCapacity": "some"}, [RETURN_VALUES]),
        *[
            (operation, {**GET, "Item": {}, "TableName": "", "ReturnConsumedCapacity": "some"}, [EMPTY_NAME])
            for operation in ("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query")
        ],
        (
            "Scan",
            {"TableName": "", "ReturnConsumedCapacity": "some"},
            [at("''", "tableName", "have length greater than or equal to 1"), CAPACITY],
        ),
        (
            "UpdateItem",
            {"TableName": "", "ReturnConsumedCapacity": "some", "ReturnValues": "ALL"},
            [
                CAPACITY,
                at("''", "tableName", "have length greater than or equal to 1"),
                at(
                    "'ALL'",
                    "returnValues",
                    "satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]",
                ),
                at("null", "key", "not be null"),
            ],
        ),
        (
            "TransactWriteItems",
            {"TransactItems": [{}], "ClientRequestToken": "x" * 37, "ReturnConsumedCapacity": "some"},
            [by_name("ClientRequestToken", "have length less than or equal to 36")],
        ),
        (
            "TransactWriteItems",
            {"TransactItems": [], "ReturnConsumedCapacity": "some"},
            [by_name("TransactItems", "have length greater than or equal to 1")],
        ),
        (
            "TransactGetItems",
            {"TransactItems": [{}] * 101},
            [by_name("TransactItems", "have length less than or equal to 100")],
        ),
        ("BatchWriteItem", {"RequestItems": {}}, [by_name("RequestItems", "have length greater than or equal to 1")]),
        (
            "BatchWriteItem",
            {"RequestItems": {"orders": []}},
            [
                at("'{orders=[]}'", "requestItems", "").removesuffix("Member must ")
                + "Map value must satisfy constraint: [Member must have length less than or equal to 25, "
                "Member must have length greater than or equal to 1]"
            ],
        ),
        (
            "BatchWriteItem",
            {"RequestItems": {"a!b": []}, "ReturnConsumedCapacity": "some"},
            [
                at("'{a!b=[]}'", "requestItems", "").removesuffix("Member must ")
                + "Map value must satisfy constraint: [Member must have length less than or equal to 25, "
                "Member must have length greater than or equal to 1]",
                CAPACITY,
            ],
        ),
        (
            "BatchWriteItem",
            {"RequestItems": {"a!b": [{"PutRequest": {"Item": KEY}}]}, "ReturnConsumedCapacity": "some"},
            [CAPACITY],
        ),
        (
            "BatchWriteItem",
            {"RequestItems": {"a!b": [{"PutRequest": {"Item": KEY}}]}},
            [
                "Value '{a!b=[WriteRequest(putRequest=PutRequest(item={pk=AttributeValue(s=a, n=null, b=null, "
                "iNT=null, dECIMAL=null, dOUBLE=null, sS=null, nS=null, bS=null, iNTSET=null, dECIMALSET=null, "
                "dOUBLESET=null, m=null, l=null, nULL=null, bOOL=null)}, workloadProfileName=null), "
                "deleteRequest=null)]}' at "
                f"'requestItems' failed to satisfy constraint: {MAP_KEYS}"
            ],
        ),
        (
            "BatchGetItem",
            {"RequestItems": {"a!b": {"Keys": [KEY]}}, "ReturnConsumedCapacity": "some"},
            [
                """Value '{"a!b":{"Keys":[{"pk":{"S":"a"}}]}}' at 'requestItems' failed to satisfy constraint: """
                + MAP_KEYS,
                CAPACITY,
            ],
        ),
        (
            "CreateTable",
            {
                "TableName": "orders",
                "AttributeDefinitions": [],
                "KeySchema": [{"AttributeName": name, "KeyType": "HASH"} for name in "abc"],
            },
            [
                at(
                    "'[KeySchemaElement(attributeName=a, keyType=HASH), "
                    "KeySchemaElement(attributeName=b, keyType=HASH), "
                    "KeySchemaElement(attributeName=c, keyType=HASH)]'",
                    "keySchema",
                    "have length less than or equal to 2",
                )
            ],
        ),
        (
            "CreateTable",
            {
                "TableName": "orders",
                "AttributeDefinitions": [],
                "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
                "LocalSecondaryIndexes": [{**INDEX, "IndexName": "aa"}],
                "GlobalSecondaryIndexes": [{**INDEX, "IndexName": "zz"}],
            },
            [
                at("'zz'", "globalSecondaryIndexes.1.member.indexName", "have length greater than or equal to 3"),
                at("'aa'", "localSecondaryIndexes.1.member.indexName", "have length greater than or equal to 3"),
            ],
        ),
        (
            "Scan",
            {"TableName": "orders", "TotalSegments": 1_000_001},
            [at("'1000001'", "totalSegments", "have value less than or equal to 1000000")],
        ),
        ("TransactGetItems", {"TransactItems": [{}]}, [at("null", "transactItems.1.member.get", "not be null")]),
        (
            "TransactWriteItems",
            {"TransactItems": [{"Put": {"Item": {}}}, None]},
            [
                at("null", "transactItems.1.member.put.tableName", "not be null"),
                at("null", "transactItems.2.member", "not be null"),
            ],
        ),
        ("BatchGetItem", {"RequestItems": {}}, [by_name("RequestItems", "have length greater than or equal to 1")]),
        (
            "BatchGetItem",
            {"RequestItems": {"orders": {"Keys": []}}},
            [by_name("RequestItems.orders.member.Keys", "have length greater than or equal to 1")],
        ),
        (
            "CreateTable",
            {
                "TableName": "orders",
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "SS"}],
                "KeySchema": [],
            },
            [
                at("'SS'", "attributeDefinitions.1.member.attributeType", "satisfy enum value set: [B, N, S]"),
                at("'[]'", "keySchema", "have length greater than or equal to 1"),
            ],
        ),
    ],
)
def test_invalid_dynamodb_requests_are_rejected(operation: str, params: dict[str, Any], messages: list[str]) -> None:
    plural = "s" if len(messages) > 1 else ""
    assert refused(operation, params).split("detected: ")[1].split("; ") == messages
    assert refused(operation, params).startswith(f"{len(messages)} validation error{plural} detected: ")


def test_a_batch_of_26_writes_is_rejected() -> None:
    requests = [{"DeleteRequest": {"Key": KEY}}] * 26
    message = by_name("RequestItems.orders.member", "have length less than or equal to 25")
    assert (
        refused("BatchWriteItem", {"RequestItems": {"orders": requests}}) == f"1 validation error detected: {message}"
    )


def test_an_error_omits_a_value_that_is_too_long_to_repeat() -> None:
    keys: Any = {"orders": [{"DeleteRequest": {"Key": {"pk": {"S": "x" * 20_000}}}}], "a!b": [{}]}
    message = refused("BatchWriteItem", {"RequestItems": keys})
    assert message == f"1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: {MAP_KEYS}"
    deep: Any = {"S": "x"}
    for _ in range(3000):
        deep = {"L": [deep]}
    deep_requests: list[tuple[str, Any]] = [
        ("BatchWriteItem", {"a!b": [{"PutRequest": {"Item": {"deep": deep}}}]}),
        ("BatchGetItem", {"a!b": {"Keys": [{"deep": deep}]}}),
    ]
    for operation, keys in deep_requests:
        assert refused(operation, {"RequestItems": keys}) == message


@pytest.mark.parametrize("operation", ["CreateTable", "DescribeTable", "UpdateTable", "DeleteTable"])
def test_a_request_without_a_table_name_is_rejected(operation: str) -> None:
    assert refused(operation, {}) == "The parameter 'TableName' is required but was not present in the request"


def test_at_most_ten_validation_errors_are_listed() -> None:
    message = refused("TransactGetItems", {"TransactItems": [{}] * 20})
    assert message.startswith("10 validation errors detected")


@pytest.mark.parametrize(
    ("operation", "params"),
    [
        ("GetItem", GET),
        ("GetItem", {**GET, "ProjectionExpression": None, "ConsistentRead": False}),
        ("GetItem", {**GET, "Unknown": 1}),
        ("GetItem", {**GET, "TableName": "arn:aws:dynamodb:eu-west-1:000000000000:table/orders"}),
        ("ListTables", {}),
        ("ListTables", {"Limit": 100}),
        ("PutItem", {"TableName": "orders", "Item": {}, "Expected": None}),
        ("Query", {"TableName": "orders", "AttributesToGet": ["a"]}),
    ],
)
def test_valid_requests_are_accepted(operation: str, params: dict[str, Any]) -> None:
    OPERATIONS[operation].validate(params)


def test_fractional_integers_are_truncated_before_limits_are_checked() -> None:
    """Integers in lists are truncated, too."""
    units = {"ReadCapacityUnits": 1.9, "WriteCapacityUnits": 2.0}
    index = {
        "IndexName": "ByG",
        "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
        "ProvisionedThroughput": units,
    }
    request: dict[str, Any] = {
        "TableName": "orders",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "GlobalSecondaryIndexes": [index],
    }
    OPERATIONS["CreateTable"].validate(request)
    assert units == {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2}
    units["ReadCapacityUnits"] = 0.9
    with pytest.raises(ValidationException) as caught:
        OPERATIONS["CreateTable"].validate(request)
    assert "Value '0' at 'globalSecondaryIndexes.1.member.provisionedThroughput.readCapacityUnits'" in str(caught.value)
