"""Requests are validated in AWS's words, and what is right passes."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.wire.errors import SerializationException, ValidationException
from keyplan.wire.operations import OPERATIONS

KEY = {"pk": {"S": "a"}}
GET = {"TableName": "orders", "Key": KEY}


def at(value: str, place: str, rule: str) -> str:
    return f"Value {value} at '{place}' failed to satisfy constraint: Member must {rule}"


def refused(operation: str, params: Any) -> str:
    with pytest.raises(ValidationException) as caught:
        OPERATIONS[operation].validate(params)
    return caught.value.message


@pytest.mark.parametrize(
    ("operation", "params", "faults"),
    [
        ("GetItem", {}, [at("null", "tableName", "not be null"), at("null", "key", "not be null")]),
        ("GetItem", {"TableName": None, "Key": KEY}, [at("null", "tableName", "not be null")]),
        (
            "GetItem",
            {**GET, "TableName": "ab"},
            [at("'ab'", "tableName", "have length greater than or equal to 3")],
        ),
        (
            "GetItem",
            {**GET, "TableName": "a;"},
            [
                at("'a;'", "tableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
                at("'a;'", "tableName", "have length greater than or equal to 3"),
            ],
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
        (
            "PutItem",
            {"TableName": "orders", "Item": {}, "ReturnValues": "ALL"},
            [
                at(
                    "'ALL'",
                    "returnValues",
                    "satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]",
                )
            ],
        ),
        (
            "Query",
            {"TableName": "orders", "Limit": 0},
            [at("'0'", "limit", "have value greater than or equal to 1")],
        ),
        (
            "Scan",
            {"TableName": "orders", "TotalSegments": 1_000_001},
            [at("'1000001'", "totalSegments", "have value less than or equal to 1000000")],
        ),
        (
            "TransactGetItems",
            {"TransactItems": [{}]},
            [at("null", "transactItems.1.member.get", "not be null")],
        ),
        (
            "TransactWriteItems",
            {"TransactItems": [{"Put": {"Item": {}}}, None]},
            [
                at("null", "transactItems.1.member.put.tableName", "not be null"),
                at("null", "transactItems.2.member", "not be null"),
            ],
        ),
        ("BatchGetItem", {"RequestItems": {}}, [at("'{}'", "requestItems", "have length greater than or equal to 1")]),
        (
            "BatchGetItem",
            {"RequestItems": {"orders": {"Keys": []}}},
            [at("'[]'", "requestItems.orders.member.keys", "have length greater than or equal to 1")],
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
def test_what_breaks_its_limits(operation: str, params: dict[str, Any], faults: list[str]) -> None:
    plural = "s" if len(faults) > 1 else ""
    assert sorted(refused(operation, params).split("detected: ")[1].split("; ")) == sorted(faults)
    assert refused(operation, params).startswith(f"{len(faults)} validation error{plural} detected: ")


def test_a_batch_of_too_many_writes() -> None:
    requests = [{"DeleteRequest": {"Key": KEY}}] * 26
    message = refused("BatchWriteItem", {"RequestItems": {"orders": requests}})
    assert message.endswith(
        "at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: "
        "[Member must have length less than or equal to 25, Member must have length greater than or equal to 1]"
    )
    assert len(message) < 1500


def test_ten_faults_are_enough() -> None:
    message = refused("TransactGetItems", {"TransactItems": [{}] * 20})
    assert message.startswith("10 validation errors detected")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({**GET, "TableName": 5}, "NUMBER_VALUE cannot be converted to String"),
        ({**GET, "TableName": True}, "TRUE_VALUE cannot be converted to String"),
        ({**GET, "TableName": 1.5}, "DECIMAL_VALUE cannot be converted to String"),
        ({**GET, "TableName": {}}, "Start of structure or map found where not expected"),
        ({**GET, "Key": "x"}, "Unexpected value type in payload"),
        ({**GET, "Key": []}, "Start of list found where not expected"),
        ({**GET, "ConsistentRead": "x"}, "STRING_VALUE cannot be converted to Boolean"),
        (None, "Unexpected value type in payload"),
        ([], "Start of list found where not expected"),
    ],
)
def test_wrong_json_types(params: Any, message: str) -> None:
    with pytest.raises(SerializationException) as caught:
        OPERATIONS["GetItem"].validate(params)
    assert caught.value.message == message


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
        ("Query", {"TableName": "orders", "AttributesToGet": []}),
    ],
)
def test_what_is_right_passes(operation: str, params: dict[str, Any]) -> None:
    OPERATIONS[operation].validate(params)


def test_legacy_parameters_are_refused() -> None:
    assert refused("GetItem", {**GET, "AttributesToGet": ["a"]}) == (
        "The legacy parameter AttributesToGet is not supported: use an expression"
    )
    assert refused("GetItem", {**GET, "AttributesToGet": ["a"], "ProjectionExpression": "a"}) == (
        "Can not use both expression and non-expression parameters in the same request: "
        "Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}"
    )
