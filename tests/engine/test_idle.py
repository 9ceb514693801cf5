"""What is said and used by nothing, ARNs in place of names, and texts too long: as recorded of the service by ExtendDB
(August and September 2026).
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


@pytest.mark.parametrize("idle", [NAMES, VALUES, {**NAMES, **VALUES}])
def test_transactions_dont_mind_what_no_expression_can_use(engine: Engine, idle: dict[str, Any]) -> None:
    create(engine)
    engine.call("TransactWriteItems", {"TransactItems": [{"Put": {**TABLE, "Item": KEY, **idle}}]})
    if "ExpressionAttributeValues" not in idle:
        given = engine.call("TransactGetItems", {"TransactItems": [{"Get": {**TABLE, "Key": KEY, **idle}}]})
        assert given["Responses"] == [{"Item": KEY}]
    engine.call("TransactWriteItems", {"TransactItems": [{"Delete": {**TABLE, "Key": KEY, **idle}}]})
    assert "Item" not in engine.call("GetItem", {**TABLE, "Key": KEY})
    alone = answer(engine, "PutItem", {**TABLE, "Item": KEY, **idle})
    assert "can only be specified when using expressions" in alone["message"]


@pytest.mark.parametrize(
    ("idle", "told"),
    [
        ({"ExpressionAttributeNames": {}}, "ExpressionAttributeNames must not be empty"),
        ({"ConditionExpression": "pk = :v", **NAMES, **VALUES}, "unused in expressions: keys: {#n}"),
        ({"ExpressionAttributeValues": {":v": {}}}, "Supplied AttributeValue is empty"),
    ],
)
def test_but_what_is_wrong_with_it(engine: Engine, idle: dict[str, Any], told: str) -> None:
    create(engine)
    request = {"TransactItems": [{"Put": {**TABLE, "Item": KEY, **idle}}]}
    assert told in answer(engine, "TransactWriteItems", request)["message"]


LONG = "a" * 255
TOO_LONG = "The expression attribute map contains a key that is too long;"
SIZE = "Expression size has exceeded the maximum allowed size;"


@pytest.mark.parametrize(
    ("operation", "more", "told"),
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
def test_told(engine: Engine, operation: str, more: dict[str, Any], told: str) -> None:
    create(engine)
    assert answer(engine, operation, {**TABLE, **more})["message"] == told


@pytest.mark.parametrize("bad", [{"SS": ["a", None]}, {"L": [{"SS": ["a", None]}]}, {"M": {"k": {"SS": ["a", None]}}}])
def test_a_set_with_null_in_it(engine: Engine, bad: dict[str, Any]) -> None:
    create(engine)
    told = answer(engine, "PutItem", {**TABLE, "Item": {**KEY, "bad": bad}})["message"]
    assert told.endswith("invalid: An string set may not have a null string as a member")


def test_capacity_is_told_of_the_name_that_was_given(engine: Engine) -> None:
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
def test_an_arn_that_is_no_tables(engine: Engine, arn: str, rule: str) -> None:
    create(engine)
    told = answer(engine, "GetItem", {"TableName": arn, "Key": KEY})["message"]
    place = f"Value '{arn}' at 'tableName' failed to satisfy constraint: "
    assert told.startswith(f"1 validation error detected: {place}{rule}")


def test_a_table_that_is_named_twice_is_answered_once(engine: Engine) -> None:
    """By its name and by its ARN (measured by ExtendDB: the entries collapse)."""
    create(engine)
    for sort in "12":
        put(engine, "a", sort)
    first, second = ({"pk": s("a"), "sk": s(sort)} for sort in "12")
    asked = {ARN: {"Keys": [first]}, "orders": {"Keys": [first, second]}}
    answered = engine.call("BatchGetItem", {"RequestItems": asked, "ReturnConsumedCapacity": "TOTAL"})
    assert answered["Responses"] == {ARN: [first, second]}
    (consumed,) = answered["ConsumedCapacity"]
    assert consumed["CapacityUnits"] == 1.0
