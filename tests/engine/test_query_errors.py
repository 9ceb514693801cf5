"""Errors of Query in key conditions, Select and start keys, and the order in which errors are detected."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.store import Engine, Regions
from tests.engine.support import add_index, answer, create, index, n, s
from tests.engine.test_error_messages import KEY, MISMATCH, TABLE, V, engine, message

__all__ = ["engine"]

ENVELOPE = "1 validation error detected: "
EMPTY = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"


@pytest.mark.parametrize(
    ("condition", "expected"),
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
def test_invalid_key_conditions_are_rejected(engine: Engine, condition: str, expected: str) -> None:
    assert message(engine, "Query", {**TABLE, "KeyConditionExpression": condition, **V}) == expected


@pytest.mark.parametrize("names", [{"#p": "pk", "#s": "sk"}, {"#p": "g", "#s": "h"}])
@pytest.mark.parametrize("condition", ["#s = :v", "#s < :v", "#s BETWEEN :v AND :v", "begins_with(#s, :v)", ""])
def test_key_conditions_with_too_long_values_are_rejected(
    engine: Engine, condition: str, names: dict[str, str]
) -> None:
    size, expected = (1024, "Aggregated size of all range keys") if condition else (2048, "Size of hashkey")
    request = {
        **TABLE,
        "KeyConditionExpression": f"#p = :p AND {condition}" if condition else "#p = :v",
        "ExpressionAttributeNames": names if condition else {"#p": names["#p"]},
        **({"IndexName": "ByG"} if "g" in names.values() else {}),
    }
    given = {":p": s("p")} if condition else {}
    for text in ("v", "v" * size):  # the first request caches the plan
        assert engine.call("Query", {**request, "ExpressionAttributeValues": {**given, ":v": s(text)}})["Items"] == []
    for text in ("v" * (size + 1), "é" * (size // 2 + 1)):
        request["ExpressionAttributeValues"] = {**given, ":v": s(text)}
        assert f"{expected} has exceeded the" in message(engine, "Query", request)


_ONE_KEY = "Invalid KeyConditionExpression: Invalid condition in KeyConditionExpression: "
_UNFIT = "Invalid KeyConditionExpression: KeyConditionExpressions "


@pytest.mark.parametrize("table", ["orders", "missing"])
@pytest.mark.parametrize(
    ("condition", "expected"),
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
def test_malformed_key_condition_is_reported_before_a_missing_table(
    engine: Engine, table: str, condition: str, expected: str
) -> None:
    params = {"TableName": table, "KeyConditionExpression": condition, **(V if ":v" in condition else {})}
    assert message(engine, "Query", params).startswith(expected)


def test_unused_names_are_reported_before_invalid_key_conditions(engine: Engine) -> None:
    """With few exceptions, DynamoDB reports unused names before invalid key conditions."""
    params = {**TABLE, "KeyConditionExpression": "#a = x", "ExpressionAttributeNames": {"#a": "pk", "#b": "b"}}
    expected = "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}"
    assert message(engine, "Query", params) == expected


@pytest.mark.parametrize(
    ("more", "expected"),
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
def test_invalid_select_parameter_is_rejected(engine: Engine, more: dict[str, Any], expected: str) -> None:
    query = {**TABLE, "KeyConditionExpression": "pk = :v", **V, **more}
    assert message(engine, "Query", query).startswith(f"1 validation error detected: {expected}")
    assert message(engine, "Scan", {**TABLE, **more}).startswith(expected)


_MIN = "failed to satisfy constraint: Member must have value greater than or equal to"
_SEGMENT = "The Segment parameter is zero-based and must be less than parameter TotalSegments"
_SELECT = "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"


@pytest.mark.parametrize(
    ("more", "current", "older"),
    [
        ({"Limit": 0}, f"{ENVELOPE}Value at 'Limit' {_MIN} 1", f"{ENVELOPE}Value '0' at 'limit' {_MIN} 1"),
        (
            {"Segment": -1, "TotalSegments": 4},
            f"{ENVELOPE}Value at 'Segment' {_MIN} 0",
            f"{ENVELOPE}Value '-1' at 'segment' {_MIN} 0",
        ),
        ({"Segment": 5, "TotalSegments": 5}, _SEGMENT, f"{_SEGMENT}: Segment: 5 is not less than TotalSegments: 5"),
        ({"Select": "SPECIFIC_ATTRIBUTES"}, f"{ENVELOPE}{_SELECT}", _SELECT),
        *(
            (
                {"ExclusiveStartKey": start},
                "The provided starting key is invalid",
                f"The provided starting key is invalid: {MISMATCH}",
            )
            for start in ({"bad": s("p")}, {"pk": s("x")}, {"pk": s("x"), "sk": s("x"), "more": s("x")})
        ),
        (
            {"ExclusiveStartKey": {"pk": s("x"), "sk": n(1)}},
            MISMATCH,
            f"The provided starting key is invalid: {MISMATCH}",
        ),
    ],
)
def test_wording_of_scan_errors_depends_on_the_region(more: dict[str, Any], current: str, older: str) -> None:
    """DynamoDB was tested in 33 regions in September 2026. Without a region, errors have the wording of us-east-1."""
    with Engine.open(":memory:") as engine, Regions.open(":memory:", ["us-east-1", "eu-west-2"]) as group:
        for store, expected in (
            (engine, older),
            (group.engines["us-east-1"], older),
            (group.engines["eu-west-2"], current),
        ):
            create(store)
            assert message(store, "Scan", {**TABLE, **more}) == expected


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ({"bad": s("p")}, "The provided starting key is invalid"),
        ({"pk": s("x")}, "The provided starting key is invalid"),
        ({"pk": s("x"), "sk": n(1)}, MISMATCH),
    ],
)
def test_query_rejects_invalid_start_keys(engine: Engine, start: dict[str, Any], expected: str) -> None:
    query = {**TABLE, "KeyConditionExpression": "pk = :v", **V, "ExclusiveStartKey": start}
    assert message(engine, "Query", query) == expected


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
def test_invalid_value_in_a_start_key_is_rejected(
    engine: Engine, value: dict[str, Any], current: str, older: str
) -> None:
    start = {"ExclusiveStartKey": {"pk": value, "sk": s("1")}}
    assert message(engine, "Query", {**TABLE, "KeyConditionExpression": "pk = :v", **V, **start}) == current
    assert message(engine, "Scan", {**TABLE, **start}) == older


@pytest.mark.parametrize("operation", ["Query", "Scan"])
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, EMPTY),
        ({"L": [{}]}, EMPTY),
        ({"SS": []}, "One or more parameter values were invalid: An string set  may not be empty"),
    ],
)
def test_empty_value_in_a_start_key_is_reported_before_a_missing_table(
    engine: Engine, operation: str, value: dict[str, Any], expected: str
) -> None:
    wrong = {"KeyConditionExpression" if operation == "Query" else "FilterExpression": ""}
    start = {"TableName": "missing", "ExclusiveStartKey": {"pk": value}}
    assert message(engine, operation, {**start, **wrong}) == f"The provided starting key is invalid: {expected}"


EQ_NO_VALUE = {"x": {"ComparisonOperator": "EQ"}}
ARGUMENTS = "One or more parameter values were invalid: Invalid number of argument(s) for the EQ ComparisonOperator"
PUT_WITHOUT_SORT_KEY = {"PutRequest": {"Item": {"pk": s("a")}}}
TWICE = "One or more parameter values were invalid: Duplicate value in attribute name: x"
SYNTAX = 'Invalid FilterExpression: Syntax error; token: "<EOF>", near: "="'


@pytest.mark.parametrize(
    ("operation", "request_", "expected"),
    [
        ("Query", {"QueryFilter": EQ_NO_VALUE, "AttributesToGet": ["x", "x"], "KeyConditions": {}}, ARGUMENTS),
        ("Query", {"AttributesToGet": ["x", "x"], "KeyConditions": EQ_NO_VALUE}, TWICE),
        ("Query", {"KeyConditions": EQ_NO_VALUE, "IndexName": "none"}, ARGUMENTS),
        ("Query", {"KeyConditionExpression": "pk = :v", "FilterExpression": "x =", **V, "IndexName": "none"}, SYNTAX),
        ("Query", {"KeyConditionExpression": "x = :v", **V, "ExclusiveStartKey": {"pk": n(1), "sk": s("1")}}, MISMATCH),
        ("Scan", {"ScanFilter": EQ_NO_VALUE, "AttributesToGet": ["x", "x"], "Segment": 1}, TWICE),
        ("Scan", {"ScanFilter": EQ_NO_VALUE, "Segment": 1}, ARGUMENTS),
        ("GetItem", {"Key": {"pk": {}}, "ProjectionExpression": ""}, EMPTY),
        ("GetItem", {"Key": {"pk": {}}, "AttributesToGet": ["x", "x"]}, EMPTY),
        (
            "BatchWriteItem",
            {"RequestItems": {"orders": [PUT_WITHOUT_SORT_KEY, {"DeleteRequest": {"Key": {"pk": {}}}}]}},
            EMPTY,
        ),
    ],
)
def test_only_the_first_of_several_errors_is_reported(
    engine: Engine, operation: str, request_: dict[str, Any], expected: str
) -> None:
    params = request_ if "RequestItems" in request_ else {**TABLE, **request_}
    assert message(engine, operation, params) == expected


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("PutItem", {"Item": {"pk": {}}, "ReturnValues": "ALL_NEW"}),
        ("DeleteItem", {"Key": {"pk": {}}}),
        ("UpdateItem", {"Key": {"pk": {}}}),
    ],
)
def test_unused_values_are_reported_before_key_errors(engine: Engine, operation: str, request_: dict[str, Any]) -> None:
    expected = "ExpressionAttributeValues can only be specified when using expressions"
    assert (
        message(engine, operation, {**TABLE, **request_, **V}).removeprefix("1 validation error detected: ") == expected
    )


def test_invalid_key_condition_operators_are_reported_after_a_missing_table(engine: Engine) -> None:
    null = {"ComparisonOperator": "NULL"}
    missing = answer(engine, "Query", {"TableName": "missing", "KeyConditions": {"x": null}})
    assert missing["error"] == "ResourceNotFoundException"
    missed = "Query condition missed key schema element: pk"
    assert message(engine, "Query", {**TABLE, "KeyConditions": {"x": null}}) == missed
    expected = "Attempted conditional constraint is not an indexable operation"
    assert message(engine, "Query", {**TABLE, "KeyConditions": {"pk": null}}) == expected


def test_filter_of_a_query_is_validated_before_the_key_condition(engine: Engine) -> None:
    condition = {"ComparisonOperator": "LT", "AttributeValueList": [{"BOOL": True}]}
    expected = (
        "One or more parameter values were invalid: ComparisonOperator LT is not valid for BOOL AttributeValue type"
    )
    assert message(engine, "Query", {**TABLE, "QueryFilter": {"x": condition}}) == expected


@pytest.mark.parametrize("operation", ["Query", "Scan"])
@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ({"g": s("g"), "pk": s("a")}, "The provided starting key is invalid"),
        ({"x": s("g"), "h": s("h"), "pk": s("a"), "sk": s("1")}, "The provided starting key is invalid"),
        ({"g": n(1), "h": s("h"), "pk": n(1), "x": s("1")}, MISMATCH),
        ({"g": s("g"), "h": s("h"), "pk": n(1), "sk": s("1")}, f"The provided starting key is invalid: {MISMATCH}"),
        ({"g": s("g"), "h": s("h"), "x": s("a"), "sk": s("1")}, f"The provided starting key is invalid: {MISMATCH}"),
    ],
)
def test_index_key_in_a_start_key_is_validated_before_the_table_key(
    engine: Engine, operation: str, start: dict[str, Any], expected: str
) -> None:
    query = {"KeyConditionExpression": "g = :v", **V} if operation == "Query" else {}
    params = {**TABLE, "IndexName": "ByG", "ExclusiveStartKey": start, **query}
    assert message(engine, operation, params) == expected


def test_overlapping_paths_are_reported_before_conflicting_paths(engine: Engine) -> None:
    expression = "REMOVE d[1], d.b, c[1].a, c"
    expected = (
        "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [c, [1], a], "
    )
    assert expected in message(engine, "UpdateItem", {**TABLE, "Key": KEY, "UpdateExpression": expression})


BY_G = {"IndexName": "ByG"}
MISSED = "Query condition missed key schema element: "
BETWEEN_X = {"KeyConditionExpression": "x BETWEEN :v AND :v", **V}


@pytest.mark.parametrize(
    ("request_", "start", "expected"),
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
def test_missing_key_condition_is_reported_after_some_errors_in_the_start_key(
    engine: Engine, request_: dict[str, Any], start: dict[str, Any], expected: str
) -> None:
    """A missing partition key condition is reported after errors in the size or partition key of the start key."""
    assert message(engine, "Query", {**TABLE, **request_, "ExclusiveStartKey": start}) == expected


def test_partition_key_in_a_start_key_is_validated_before_its_other_attributes(engine: Engine) -> None:
    query = {"KeyConditionExpression": "pk = :v", **V, "ExclusiveStartKey": {"pk": n(1), "x": s("1")}}
    assert message(engine, "Query", {**TABLE, **query}) == MISMATCH


def test_type_of_a_key_value_is_validated_before_the_key_condition_operator(engine: Engine) -> None:
    expected = "One or more parameter values were invalid: Condition parameter type does not match schema type"
    for condition in (":n > pk", "pk BETWEEN :n AND :n", "begins_with(pk, :n)"):
        values = {"ExpressionAttributeValues": {":n": n(1) if "begins" not in condition else {"B": "YQ=="}}}
        assert message(engine, "Query", {**TABLE, "KeyConditionExpression": condition, **values}) == expected


def test_index_projection_is_validated_after_the_attribute_count_of_a_start_key(engine: Engine) -> None:
    add_index(engine, index("Keys", "g", projection="KEYS_ONLY"), g="S")
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
