"""Unused expression attributes, ARNs as table names, and length limits, as ExtendDB recorded them from DynamoDB (August
and September 2026).
"""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import answer, create, n, put, s

KEY = {"pk": s("a"), "sk": s("1")}
TABLE = {"TableName": "orders"}
ARN = "arn:aws:dynamodb:local:000000000000:table/orders"
NAMES = {"ExpressionAttributeNames": {"#n": "x"}}
VALUES = {"ExpressionAttributeValues": {":v": n(1)}}


@pytest.mark.parametrize("unused", [NAMES, VALUES, {**NAMES, **VALUES}])
def test_transactions_ignore_unused_names_and_values(engine: Engine, unused: dict[str, Any]) -> None:
    create(engine)
    engine.call("TransactWriteItems", {"TransactItems": [{"Put": {**TABLE, "Item": KEY, **unused}}]})
    if "ExpressionAttributeValues" not in unused:
        given = engine.call("TransactGetItems", {"TransactItems": [{"Get": {**TABLE, "Key": KEY, **unused}}]})
        assert given["Responses"] == [{"Item": KEY}]
    engine.call("TransactWriteItems", {"TransactItems": [{"Delete": {**TABLE, "Key": KEY, **unused}}]})
    assert "Item" not in engine.call("GetItem", {**TABLE, "Key": KEY})
    alone = answer(engine, "PutItem", {**TABLE, "Item": KEY, **unused})
    assert "can only be specified when using expressions" in alone["message"]


@pytest.mark.parametrize(
    ("unused", "message"),
    [
        ({"ExpressionAttributeNames": {}}, "ExpressionAttributeNames must not be empty"),
        ({"ConditionExpression": "pk = :v", **NAMES, **VALUES}, "unused in expressions: keys: {#n}"),
        ({"ExpressionAttributeValues": {":v": {}}}, "Supplied AttributeValue is empty"),
    ],
)
def test_transactions_reject_invalid_names_and_values(engine: Engine, unused: dict[str, Any], message: str) -> None:
    create(engine)
    request = {"TransactItems": [{"Put": {**TABLE, "Item": KEY, **unused}}]}
    assert message in answer(engine, "TransactWriteItems", request)["message"]


LONG = "a" * 255
TOO_LONG = "The expression attribute map contains a key that is too long;"
SIZE = "Expression size has exceeded the maximum allowed size;"


@pytest.mark.parametrize(
    ("operation", "more", "message"),
    [
        (
            "Scan",
            {"FilterExpression": "a = :v", "ExpressionAttributeValues": {f":{LONG}": s("x")}},
            f"ExpressionAttributeValues contains invalid key: {TOO_LONG}",
        ),
        (
            "Scan",
            {"ProjectionExpression": "#a", "ExpressionAttributeNames": {f"#{LONG}-x": "x"}},
            f"ExpressionAttributeNames contains invalid key: {TOO_LONG} size of key: 258",
        ),
        ("Scan", {"ProjectionExpression": "a" * 4097}, f"Invalid ProjectionExpression: {SIZE}"),
        (
            "Query",
            {"KeyConditionExpression": f"pk = :v AND {'a' * 4097} = :v", "ExpressionAttributeValues": {":v": s("a")}},
            f"Invalid KeyConditionExpression: {SIZE}",
        ),
        (
            "Scan",
            {"ConditionalOperator": "AND", "ScanFilter": {}},
            "ConditionalOperator cannot be used without Filter or Expected",
        ),
    ],
)
def test_names_and_expressions_over_the_length_limit_are_rejected(
    engine: Engine, operation: str, more: dict[str, Any], message: str
) -> None:
    create(engine)
    assert answer(engine, operation, {**TABLE, **more})["message"] == message


@pytest.mark.parametrize("bad", [{"SS": ["a", None]}, {"L": [{"SS": ["a", None]}]}, {"M": {"k": {"SS": ["a", None]}}}])
def test_set_with_a_null_member_is_rejected(engine: Engine, bad: dict[str, Any]) -> None:
    create(engine)
    message = answer(engine, "PutItem", {**TABLE, "Item": {**KEY, "bad": bad}})["message"]
    assert message.endswith("invalid: An string set may not have a null string as a member")


def test_consumed_capacity_reports_the_requested_table_name(engine: Engine) -> None:
    create(engine)
    asked = {"TableName": ARN, "ReturnConsumedCapacity": "TOTAL"}
    assert engine.call("PutItem", {**asked, "Item": KEY})["ConsumedCapacity"]["TableName"] == ARN
    assert engine.call("Scan", asked)["ConsumedCapacity"]["TableName"] == ARN


@pytest.mark.parametrize(
    ("arn", "rule"),
    [
        (f"{ARN}/index/ByG", "Valid ARN format is 'arn:<awsPartition>:<vendor>:<region>:<subscriber>:"),
        ("arn:aws:dynamodb", "Valid ARN format is"),
        (ARN.replace("table/", "stream/"), "Invalid resource type"),
        (ARN.removesuffix("ders"), "Table name of ARN must have length greater than or equal to 3"),
    ],
)
def test_arn_of_another_resource_is_rejected(engine: Engine, arn: str, rule: str) -> None:
    create(engine)
    message = answer(engine, "GetItem", {"TableName": arn, "Key": KEY})["message"]
    place = f"Value '{arn}' at 'tableName' failed to satisfy constraint: "
    assert message.startswith(f"1 validation error detected: {place}{rule}")


def test_batch_get_merges_a_table_requested_by_name_and_by_arn(engine: Engine) -> None:
    """ExtendDB recorded that DynamoDB merges the two entries of the table."""
    create(engine)
    for sort in "12":
        put(engine, "a", sort)
    first, second = ({"pk": s("a"), "sk": s(sort)} for sort in "12")
    asked = {ARN: {"Keys": [first]}, "orders": {"Keys": [first, second]}}
    answered = engine.call("BatchGetItem", {"RequestItems": asked, "ReturnConsumedCapacity": "TOTAL"})
    assert answered["Responses"] == {ARN: [first, second]}
    (consumed,) = answered["ConsumedCapacity"]
    assert consumed["CapacityUnits"] == 1.0
