"""How Query words what is wrong with its key condition, its Select and its position, and in which order it tells it."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import answer, index, n, s
from tests.engine.test_wording import KEY, MISMATCH, TABLE, V, engine, message

__all__ = ["engine"]

EMPTY = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        (
            "pk = :v AND sk > :v AND x = :v",
            "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)",
        ),
        (
            "pk = :v AND sk > :v AND sk < :v",
            "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
        ),
        (
            "pk.a = :v",
            "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes",
        ),
        ("x = :v", "Query condition missed key schema element: pk"),
    ],
)
def test_key_conditions(engine: Engine, condition: str, told: str) -> None:
    assert message(engine, "Query", {**TABLE, "KeyConditionExpression": condition, **V}) == told


_ONE_KEY = "Invalid KeyConditionExpression: Invalid condition in KeyConditionExpression: "
_UNFIT = "Invalid KeyConditionExpression: KeyConditionExpressions "


@pytest.mark.parametrize("table", ["orders", "missing"])
@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("NOT pk = x", "Invalid KeyConditionExpression: Invalid operator used in KeyConditionExpression: NOT"),
        (
            "contains(pk.a, x)",
            "Invalid KeyConditionExpression: Invalid operator used in KeyConditionExpression: contains",
        ),
        ("pk > x.a", f"{_ONE_KEY}Multiple attribute names used in one condition"),
        ("pk BETWEEN x AND size(a)", f"{_ONE_KEY}Multiple attribute names used in one condition"),
        ("pk.a > x.a", f"{_UNFIT}cannot have conditions on nested attributes"),
        ("pk > size(x)", f"{_UNFIT}cannot contain nested operations"),
        (":v BETWEEN size(a) AND size(x) AND x > :v", f"{_ONE_KEY}BETWEEN operator must have the key attribute as its"),
        (":v > :v AND x > :v", f"{_ONE_KEY}No key attribute specified"),
    ],
)
def test_what_no_key_can_be_asked_is_told_of_its_first_operand_and_before_the_table(
    engine: Engine, table: str, condition: str, told: str
) -> None:
    params = {"TableName": table, "KeyConditionExpression": condition, **(V if ":v" in condition else {})}
    assert message(engine, "Query", params).startswith(told)


def test_what_nothing_uses_is_told_before_what_no_key_can_be_asked(engine: Engine) -> None:
    """As the service nearly always does (recorded)."""
    params = {**TABLE, "KeyConditionExpression": "#a = x", "ExpressionAttributeNames": {"#a": "pk", "#b": "b"}}
    told = "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}"
    assert message(engine, "Query", params) == told


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (
            {"Select": "SPECIFIC_ATTRIBUTES"},
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get",
        ),
        (
            {"Select": "COUNT", "ProjectionExpression": "x"},
            "Cannot specify the ProjectionExpression when choosing to get",
        ),
        (
            {"Select": "ALL_PROJECTED_ATTRIBUTES"},
            "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an Index",
        ),
    ],
)
def test_what_is_wrong_with_select_is_within_the_envelope(engine: Engine, more: dict[str, Any], told: str) -> None:
    query = {**TABLE, "KeyConditionExpression": "pk = :v", **V, **more}
    assert message(engine, "Query", query).startswith(f"1 validation error detected: {told}")
    assert message(engine, "Scan", {**TABLE, **more}).startswith(f"1 validation error detected: {told}")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (
            {"Limit": 0},
            "Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
        ),
        (
            {"Segment": -1, "TotalSegments": 4},
            "Value at 'Segment' failed to satisfy constraint: Member must have value greater than or equal to 0",
        ),
        (
            {"Segment": 0, "TotalSegments": 0},
            "Value at 'TotalSegments' failed to satisfy constraint: Member must have value greater than or equal to 1",
        ),
    ],
)
def test_bounds_of_a_scan_are_told_by_name_since_october(engine: Engine, more: dict[str, Any], told: str) -> None:
    assert message(engine, "Scan", {**TABLE, **more}) == f"1 validation error detected: {told}"


@pytest.mark.parametrize(
    ("start", "told"),
    [
        ({"bad": s("p")}, "The provided starting key is invalid"),
        ({"pk": s("x")}, "The provided starting key is invalid"),
        ({"pk": s("x"), "sk": n(1)}, MISMATCH),
    ],
)
def test_query_and_scan_word_a_position_of_a_table_alike(engine: Engine, start: dict[str, Any], told: str) -> None:
    query = {**TABLE, "KeyConditionExpression": "pk = :v", **V, "ExclusiveStartKey": start}
    assert message(engine, "Query", query) == told
    assert message(engine, "Scan", {**TABLE, "ExclusiveStartKey": start}) == told


@pytest.mark.parametrize(
    ("value", "current", "older"),
    [
        (
            {"SS": ["b", "a", "b"]},
            'One or more parameter values were invalid: Input collection ["a", "b", "b"] contains duplicates.',
            "One or more parameter values were invalid: Input collection [b, a, b] contains duplicates.",
        ),
        (
            n(""),
            "The parameter cannot be converted to a numeric value: ",
            "The parameter cannot be converted to a numeric value",
        ),
    ],
)
def test_a_wrong_value_in_a_position_is_told_as_anywhere_else(
    engine: Engine, value: dict[str, Any], current: str, older: str
) -> None:
    start = {"ExclusiveStartKey": {"pk": value, "sk": s("1")}}
    assert message(engine, "Query", {**TABLE, "KeyConditionExpression": "pk = :v", **V, **start}) == current
    assert message(engine, "Scan", {**TABLE, **start}) == older


@pytest.mark.parametrize("operation", ["Query", "Scan"])
@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({}, EMPTY),
        ({"L": [{}]}, EMPTY),
        ({"SS": []}, "One or more parameter values were invalid: An string set  may not be empty"),
    ],
)
def test_a_value_that_is_none_is_told_as_one_of_the_position_before_expressions_and_the_table(
    engine: Engine, operation: str, value: dict[str, Any], told: str
) -> None:
    wrong = {"KeyConditionExpression" if operation == "Query" else "FilterExpression": ""}
    start = {"TableName": "missing", "ExclusiveStartKey": {"pk": value}}
    assert message(engine, operation, {**start, **wrong}) == f"The provided starting key is invalid: {told}"


EQ_NONE = {"x": {"ComparisonOperator": "EQ"}}
ARGUMENTS = "One or more parameter values were invalid: Invalid number of argument(s) for the EQ ComparisonOperator"
PUT_OF_HALF_A_KEY = {"PutRequest": {"Item": {"pk": s("a")}}}
TWICE = "One or more parameter values were invalid: Duplicate value in attribute name: x"
SYNTAX = 'Invalid FilterExpression: Syntax error; token: "<EOF>", near: "="'


@pytest.mark.parametrize(
    ("operation", "request_", "told"),
    [
        ("Query", {"QueryFilter": EQ_NONE, "AttributesToGet": ["x", "x"], "KeyConditions": {}}, ARGUMENTS),
        ("Query", {"AttributesToGet": ["x", "x"], "KeyConditions": EQ_NONE}, TWICE),
        ("Query", {"KeyConditions": EQ_NONE, "IndexName": "none"}, ARGUMENTS),
        ("Query", {"KeyConditionExpression": "pk = :v", "FilterExpression": "x =", **V, "IndexName": "none"}, SYNTAX),
        ("Query", {"KeyConditionExpression": "x = :v", **V, "ExclusiveStartKey": {"pk": n(1), "sk": s("1")}}, MISMATCH),
        ("Scan", {"ScanFilter": EQ_NONE, "AttributesToGet": ["x", "x"], "Segment": 1}, TWICE),
        ("Scan", {"ScanFilter": EQ_NONE, "Segment": 1}, ARGUMENTS),
        ("GetItem", {"Key": {"pk": {}}, "ProjectionExpression": ""}, EMPTY),
        ("GetItem", {"Key": {"pk": {}}, "AttributesToGet": ["x", "x"]}, EMPTY),
        (
            "BatchWriteItem",
            {"RequestItems": {"orders": [PUT_OF_HALF_A_KEY, {"DeleteRequest": {"Key": {"pk": {}}}}]}},
            EMPTY,
        ),
    ],
)
def test_of_several_faults_the_service_tells_this_first(
    engine: Engine, operation: str, request_: dict[str, Any], told: str
) -> None:
    asked = request_ if "RequestItems" in request_ else {**TABLE, **request_}
    assert message(engine, operation, asked) == told


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("PutItem", {"Item": {"pk": {}}, "ReturnValues": "ALL_NEW"}),
        ("DeleteItem", {"Key": {"pk": {}}}),
        ("UpdateItem", {"Key": {"pk": {}}}),
    ],
)
def test_values_that_no_expression_could_use_are_told_before_those_of_the_item(
    engine: Engine, operation: str, request_: dict[str, Any]
) -> None:
    told = "ExpressionAttributeValues can only be specified when using expressions"
    assert message(engine, operation, {**TABLE, **request_, **V}).removeprefix("1 validation error detected: ") == told


def test_operators_that_find_no_key_are_told_after_the_table_and_its_names(engine: Engine) -> None:
    null = {"ComparisonOperator": "NULL"}
    missing = answer(engine, "Query", {"TableName": "missing", "KeyConditions": {"x": null}})
    assert missing["error"] == "ResourceNotFoundException"
    missed = "Query condition missed key schema element: pk"
    assert message(engine, "Query", {**TABLE, "KeyConditions": {"x": null}}) == missed
    told = "Attempted conditional constraint is not an indexable operation"
    assert message(engine, "Query", {**TABLE, "KeyConditions": {"pk": null}}) == told


def test_an_old_filter_is_judged_before_a_key_condition_is_missed(engine: Engine) -> None:
    condition = {"ComparisonOperator": "LT", "AttributeValueList": [{"BOOL": True}]}
    told = "One or more parameter values were invalid: ComparisonOperator LT is not valid for BOOL AttributeValue type"
    assert message(engine, "Query", {**TABLE, "QueryFilter": {"x": condition}}) == told


@pytest.mark.parametrize("operation", ["Query", "Scan"])
@pytest.mark.parametrize(
    ("start", "told"),
    [
        ({"g": s("g"), "pk": s("a")}, "The provided starting key is invalid"),
        ({"x": s("g"), "h": s("h"), "pk": s("a"), "sk": s("1")}, "The provided starting key is invalid"),
        ({"g": n(1), "h": s("h"), "pk": n(1), "x": s("1")}, MISMATCH),
        ({"g": s("g"), "h": s("h"), "pk": n(1), "sk": s("1")}, f"The provided starting key is invalid: {MISMATCH}"),
        ({"g": s("g"), "h": s("h"), "x": s("a"), "sk": s("1")}, f"The provided starting key is invalid: {MISMATCH}"),
    ],
)
def test_of_a_position_in_an_index_its_own_key_is_told_first(
    engine: Engine, operation: str, start: dict[str, Any], told: str
) -> None:
    query = {"KeyConditionExpression": "g = :v", **V} if operation == "Query" else {}
    asked = {**TABLE, "IndexName": "ByG", "ExclusiveStartKey": start, **query}
    assert message(engine, operation, asked) == told


def test_paths_that_hold_each_other_are_told_before_those_of_two_kinds(engine: Engine) -> None:
    expression = "REMOVE d[1], d.b, c[1].a, c"
    told = (
        "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [c, [1], a], "
    )
    assert told in message(engine, "UpdateItem", {**TABLE, "Key": KEY, "UpdateExpression": expression})


BY_G = {"IndexName": "ByG"}
MISSED = "Query condition missed key schema element: "
BETWEEN_X = {"KeyConditionExpression": "x BETWEEN :v AND :v", **V}


@pytest.mark.parametrize(
    ("request_", "start", "told"),
    [
        (BETWEEN_X, {"pk": s("a"), "x": n(1)}, f"{MISSED}pk"),
        (BETWEEN_X, {"pk": s("a"), "sk": n(1)}, f"{MISSED}pk"),
        (BETWEEN_X, {"pk": n(1), "x": s("a")}, MISMATCH),
        (BETWEEN_X, {"pk": s("a")}, "The provided starting key is invalid"),
        ({**BETWEEN_X, **BY_G}, {"g": s("g"), "x": n(1), "pk": n(1), "sk": s("1")}, f"{MISSED}g"),
        (
            {"KeyConditionExpression": "pk = :v AND x = :v", **V},
            {"pk": s("a"), "x": s("a")},
            "The provided starting key is invalid",
        ),
    ],
)
def test_a_position_is_judged_before_and_after_what_the_key_condition_lacks(
    engine: Engine, request_: dict[str, Any], start: dict[str, Any], told: str
) -> None:
    """Its count and its partition come before a condition without the partition key, the rest after it."""
    assert message(engine, "Query", {**TABLE, **request_, "ExclusiveStartKey": start}) == told


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_the_partition_of_a_position_is_judged_before_the_rest_of_it(engine: Engine, operation: str) -> None:
    query = {"KeyConditionExpression": "pk = :v", **V} if operation == "Query" else {}
    start = {"ExclusiveStartKey": {"pk": n(1), "x": s("1")}}
    assert message(engine, operation, {**TABLE, **start, **query}) == MISMATCH


def test_a_value_of_another_type_is_told_before_an_operator_that_no_partition_has(engine: Engine) -> None:
    told = "One or more parameter values were invalid: Condition parameter type does not match schema type"
    for condition in (":n > pk", "pk BETWEEN :n AND :n", "begins_with(pk, :n)"):
        values = {"ExpressionAttributeValues": {":n": n(1) if "begins" not in condition else {"B": "YQ=="}}}
        assert message(engine, "Query", {**TABLE, "KeyConditionExpression": condition, **values}) == told


def test_what_an_index_does_not_hold_stands_between_the_two_parts_of_a_position(engine: Engine) -> None:
    engine.call(
        "UpdateTable",
        {
            "TableName": "orders",
            "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [{"Create": index("Keys", "g", projection="KEYS_ONLY")}],
        },
    )
    all_ = {**TABLE, "IndexName": "Keys", "Select": "ALL_ATTRIBUTES"}
    unsupported = (
        "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary "
        "index Keys because its projection type is not ALL"
    )
    assert (
        message(engine, "Scan", {**all_, "ExclusiveStartKey": {"g": s("g")}}) == "The provided starting key is invalid"
    )
    assert message(engine, "Scan", {**all_, "ExclusiveStartKey": {"g": s("g"), "x": n(1), "y": n(1)}}) == unsupported
    nested = {"KeyConditionExpression": "g = :v", "FilterExpression": "pk.a = :v", **V}
    assert message(engine, "Query", {**all_, **nested}) == unsupported
