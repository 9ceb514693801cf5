"""Legacy conditional parameters have the same results as the equivalent expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import answer, create, n, s

ENVELOPE = "1 validation error detected: "
INVALID = "One or more parameter values were invalid: "
TABLE = {"TableName": "orders"}
KEY = {"pk": s("a"), "sk": s("1")}
ITEM: dict[str, Any] = {
    **KEY,
    "text": s("hello"),
    "number": n(5),
    "binary": {"B": "AQI="},
    "yes": {"BOOL": True},
    "nothing": {"NULL": True},
    "texts": {"SS": ["x", "y"]},
    "numbers": {"NS": ["1", "2"]},
    "list": {"L": [s("x"), n(1)]},
    "map": {"M": {"a": n(1)}},
}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:") as engine:
        create(engine)
        engine.call("PutItem", {**TABLE, "Item": ITEM})
        yield engine


def condition(operator: str, *values: Any) -> dict[str, Any]:
    return {"ComparisonOperator": operator, **({"AttributeValueList": list(values)} if values else {})}


CONDITIONS: list[tuple[str, dict[str, Any], bool]] = [
    ("text", condition("EQ", s("hello")), True),
    ("text", condition("EQ", s("other")), False),
    ("text", condition("EQ", n(5)), False),
    ("yes", condition("EQ", {"BOOL": True}), True),
    ("texts", condition("EQ", {"SS": ["y", "x"]}), True),
    ("list", condition("EQ", {"L": [s("x"), n("1.0")]}), True),
    ("map", condition("EQ", {"M": {"a": n(1)}}), True),
    ("missing", condition("EQ", s("x")), False),
    ("text", condition("NE", s("other")), True),
    ("text", condition("NE", n(5)), True),
    ("text", condition("NE", s("hello")), False),
    ("missing", condition("NE", s("x")), True),
    ("number", condition("LE", n(5)), True),
    ("number", condition("LT", n(5)), False),
    ("number", condition("GE", n("5.0")), True),
    ("number", condition("GT", n(-7)), True),
    ("text", condition("GT", n(1)), False),
    ("missing", condition("LT", n(1)), False),
    ("binary", condition("LT", {"B": "AQM="}), True),
    ("text", condition("NOT_NULL"), True),
    ("nothing", condition("NOT_NULL"), True),
    ("missing", condition("NOT_NULL"), False),
    ("missing", condition("NULL"), True),
    ("nothing", condition("NULL"), False),
    ("text", condition("CONTAINS", s("ell")), True),
    ("texts", condition("CONTAINS", s("x")), True),
    ("numbers", condition("CONTAINS", n("2.0")), True),
    ("list", condition("CONTAINS", n(1)), True),
    ("list", condition("CONTAINS", s("y")), False),
    ("missing", condition("CONTAINS", s("x")), False),
    ("text", condition("NOT_CONTAINS", s("ell")), False),
    ("texts", condition("NOT_CONTAINS", s("z")), True),
    ("missing", condition("NOT_CONTAINS", s("x")), False),
    ("text", condition("BEGINS_WITH", s("he")), True),
    ("binary", condition("BEGINS_WITH", {"B": "AQ=="}), True),
    ("number", condition("BEGINS_WITH", s("5")), False),
    ("text", condition("IN", s("a"), s("hello")), True),
    ("number", condition("IN", *(n(number) for number in range(200))), True),
    ("number", condition("IN", n(6)), False),
    ("number", condition("BETWEEN", n(1), n(5)), True),
    ("number", condition("BETWEEN", n(6), n(7)), False),
    ("text", condition("BETWEEN", s("h"), s("i")), True),
]


@pytest.mark.parametrize(("name", "given", "holds"), CONDITIONS)
def test_legacy_operators_are_supported_in_every_operation(
    engine: Engine, name: str, given: dict[str, Any], holds: bool
) -> None:
    result = engine.call("Scan", {**TABLE, "ScanFilter": {name: given}})
    assert (result["Count"], result["ScannedCount"]) == (int(holds), 1)
    keys = {"pk": condition("EQ", s("a"))}
    result = engine.call("Query", {**TABLE, "KeyConditions": keys, "QueryFilter": {name: given}})
    assert (result["Count"], result["ScannedCount"]) == (int(holds), 1)
    for operation, params in (
        ("UpdateItem", {"Key": KEY, "AttributeUpdates": {"done": {"Value": n(1)}}}),
        ("PutItem", {"Item": ITEM}),
        ("DeleteItem", {"Key": KEY}),
    ):
        outcome = answer(engine, operation, {**TABLE, **params, "Expected": {name: given}})
        assert outcome == (
            {} if holds else {"error": "ConditionalCheckFailedException", "message": "The conditional request failed"}
        )


@pytest.mark.parametrize(
    ("expected", "operator", "holds"),
    [
        ({"text": {"Value": s("hello")}}, None, True),
        ({"text": {"Exists": True, "Value": s("hello")}}, None, True),
        ({"text": {"Exists": True, "Value": s("other")}}, None, False),
        ({"text": {"Exists": False}}, None, False),
        ({"missing": {"Exists": False}}, None, True),
        ({"text": {"Value": s("h"), "ComparisonOperator": "BEGINS_WITH"}}, None, True),
        ({"missing": {"Exists": False}, "number": {"Value": n(5)}}, "AND", True),
        ({"missing": {"Exists": False}, "number": {"Value": n(6)}}, "AND", False),
        ({"missing": {"Exists": False}, "number": {"Value": n(6)}}, None, False),
        ({"text": {"Exists": False}, "number": {"Value": n(5)}}, "OR", True),
        ({"text": {"Exists": False}, "number": {"Value": n(6)}}, "OR", False),
        ({}, None, True),
    ],
)
def test_expected_conditions_are_evaluated(
    engine: Engine, expected: dict[str, Any], operator: str | None, holds: bool
) -> None:
    more = {} if operator is None else {"ConditionalOperator": operator}
    result = answer(engine, "PutItem", {**TABLE, "Item": ITEM, "Expected": expected, **more})
    assert ("error" not in result) is holds


def test_failed_expected_condition_returns_the_item_on_request(engine: Engine) -> None:
    params = {**TABLE, "Key": KEY, "Expected": {"text": {"Exists": False}}}
    result = answer(engine, "DeleteItem", {**params, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})
    assert result["Item"] == answer(engine, "GetItem", {**TABLE, "Key": KEY})["Item"]


@pytest.mark.parametrize(
    ("updates", "changed"),
    [
        ({"text": {"Action": "PUT", "Value": s("new")}}, {"text": s("new")}),
        ({"new": {"Value": s("PUT is the default")}}, {"new": s("PUT is the default")}),
        ({"text": {"Action": "DELETE"}}, {"text": None}),
        ({"missing": {"Action": "DELETE"}}, {}),
        ({"texts": {"Action": "DELETE", "Value": {"SS": ["x", "z"]}}}, {"texts": {"SS": ["y"]}}),
        ({"texts": {"Action": "DELETE", "Value": {"SS": ["x", "y"]}}}, {"texts": None}),
        ({"number": {"Action": "ADD", "Value": n("-0.5")}}, {"number": n("4.5")}),
        ({"new": {"Action": "ADD", "Value": n(3)}}, {"new": n(3)}),
        ({"numbers": {"Action": "ADD", "Value": {"NS": ["3", "1"]}}}, {"numbers": {"NS": ["1", "2", "3"]}}),
        ({"list": {"Action": "ADD", "Value": {"L": [s("z")]}}}, {"list": {"L": [s("x"), n(1), s("z")]}}),
        ({"new": {"Action": "ADD", "Value": {"L": [s("z")]}}}, {"new": {"L": [s("z")]}}),
        ({"#a": {"Value": n(1)}, "a.b": {"Value": n(2)}, ":v": {"Value": n(3)}}, {"#a": n(1), "a.b": n(2), ":v": n(3)}),
        ({"size": {"Value": n(1)}, "number": {"Action": "DELETE"}}, {"size": n(1), "number": None}),
        ({}, {}),
    ],
)
def test_attribute_updates_change_the_item(engine: Engine, updates: dict[str, Any], changed: dict[str, Any]) -> None:
    params = {**TABLE, "Key": KEY, "AttributeUpdates": updates, "ReturnValues": "ALL_NEW"}
    expected_item = {name: value for name, value in {**ITEM, **changed}.items() if value is not None}
    assert engine.call("UpdateItem", params)["Attributes"] == expected_item
    touched = engine.call(
        "UpdateItem", {**TABLE, "Key": KEY, "AttributeUpdates": updates, "ReturnValues": "UPDATED_NEW"}
    )
    assert touched.get("Attributes", {}).keys() <= updates.keys()


def test_attribute_updates_create_a_missing_item_unless_they_only_delete(engine: Engine) -> None:
    other = {"pk": s("a"), "sk": s("2")}

    def update(updates: dict[str, Any]) -> None:
        engine.call("UpdateItem", {**TABLE, "Key": other, "AttributeUpdates": updates})

    update({"x": {"Action": "DELETE"}, "y": {"Action": "DELETE", "Value": {"SS": ["a"]}}})
    assert "Item" not in engine.call("GetItem", {**TABLE, "Key": other})
    update({"x": {"Action": "DELETE"}, "y": {"Action": "ADD", "Value": n(1)}})
    assert engine.call("GetItem", {**TABLE, "Key": other})["Item"] == {**other, "y": n(1)}


def test_key_conditions_can_be_combined_with_filter_expressions(engine: Engine) -> None:
    engine.call("PutItem", {**TABLE, "Item": {"pk": s("a"), "sk": s("2"), "g": s("g"), "h": s("h")}})
    keys = {"pk": condition("EQ", s("a")), "sk": condition("BETWEEN", s("1"), s("2"))}
    result = engine.call(
        "Query", {**TABLE, "KeyConditions": keys, "ScanIndexForward": False, "AttributesToGet": ["sk"]}
    )
    assert result["Items"] == [{"sk": s("2")}, {"sk": s("1")}]
    more = {"FilterExpression": "g = :g", "ExpressionAttributeValues": {":g": s("g")}, "ProjectionExpression": "h"}
    assert engine.call("Query", {**TABLE, "KeyConditions": keys, **more})["Items"] == [{"h": s("h")}]
    by_index = {"g": condition("EQ", s("g")), "h": condition("BEGINS_WITH", s("h"))}
    assert engine.call("Query", {**TABLE, "IndexName": "ByG", "KeyConditions": by_index})["Count"] == 1


def test_attributes_to_get_returns_only_the_named_top_level_attributes(engine: Engine) -> None:
    expected_item = {"text": s("hello")}
    names = ["text", "missing", "map.a"]
    assert engine.call("GetItem", {**TABLE, "Key": KEY, "AttributesToGet": names})["Item"] == expected_item
    assert engine.call("Scan", {**TABLE, "AttributesToGet": names})["Items"] == [expected_item]
    requested = {"orders": {"Keys": [KEY], "AttributesToGet": names}}
    assert engine.call("BatchGetItem", {"RequestItems": requested})["Responses"] == {"orders": [expected_item]}
    names += ["", ""]
    for operation, params in (
        ("GetItem", {**TABLE, "Key": KEY, "AttributesToGet": names}),
        ("Scan", {"TableName": "missing", "AttributesToGet": names}),
        ("BatchGetItem", {"RequestItems": requested}),
    ):
        assert "Empty attribute name" in answer(engine, operation, params)["message"], operation


GET = {**TABLE, "Key": KEY}
PUT = {**TABLE, "Item": KEY}
EQ = condition("EQ", s("a"))
ABSENT = {"a": {"Exists": False}}
QUERY = {**TABLE, "KeyConditions": {"pk": EQ}}
MANY = "ConditionalOperator can only be used when Filter or Expected has two or more elements"
ENUM = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]"
UPDATE = {"a": {"Action": "PUT", "Value": s("x")}}
LENGTH = "failed to satisfy constraint: Member must have length greater than or equal to 1"
COUNT = "Invalid number of argument(s) for the {} ComparisonOperator"
TYPE = "ComparisonOperator {} is not valid for {} AttributeValue type"
TOGETHER = "cannot be used together for Attribute: a"


def mixed(legacy: Iterable[str], expressions: Iterable[str]) -> str:
    return (
        "Can not use both expression and non-expression parameters in the same request: "
        f"Non-expression parameters: {{{', '.join(legacy)}}} Expression parameters: {{{', '.join(expressions)}}}"
    )


@pytest.mark.parametrize(
    ("operation", "params", "legacy", "expressions"),
    [
        ("PutItem", PUT, {"Expected": ABSENT}, {"ConditionExpression": "a = b"}),
        ("UpdateItem", GET, {"AttributeUpdates": UPDATE, "Expected": {}}, {"UpdateExpression": "REMOVE a"}),
        ("GetItem", GET, {"AttributesToGet": ["a"]}, {"ProjectionExpression": "a"}),
        ("Query", QUERY, {"QueryFilter": {"x": EQ}}, {"ProjectionExpression": "a"}),
        ("Query", TABLE, {"KeyConditions": {"pk": EQ}}, {"KeyConditionExpression": "pk = :p"}),
        ("Scan", TABLE, {"ScanFilter": {"x": EQ}}, {"FilterExpression": "a = b"}),
    ],
)
def test_legacy_parameters_and_expressions_are_mutually_exclusive(
    engine: Engine, operation: str, params: dict[str, Any], legacy: dict[str, Any], expressions: dict[str, Any]
) -> None:
    result = answer(engine, operation, {**params, **legacy, **expressions})
    prefix = ENVELOPE if operation in {"PutItem", "UpdateItem"} else ""
    assert result == {"error": "ValidationException", "message": prefix + mixed(legacy, expressions)}


@pytest.mark.parametrize(
    "requested",
    [
        {"orders": {"Keys": [KEY], "AttributesToGet": ["a"], "ProjectionExpression": "a"}},
        {"orders": {"Keys": [KEY], "AttributesToGet": ["a"]}, "others": {"Keys": [KEY], "ProjectionExpression": "a"}},
    ],
)
def test_batch_get_rejects_legacy_parameters_with_expressions(engine: Engine, requested: dict[str, Any]) -> None:
    message = answer(engine, "BatchGetItem", {"RequestItems": requested})["message"]
    assert message == mixed(["AttributesToGet"], ["ProjectionExpression"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"Exists": True}, "Value must be provided when Exists is true for Attribute: a"),
        ({}, "Value must be provided when Exists is null for Attribute: a"),
        ({"Exists": False, "Value": s("x")}, "Value cannot be used when Exists is false for Attribute: a"),
        ({"Value": s("x"), **EQ}, f"Value and AttributeValueList {TOGETHER}"),
        (condition("EQ"), "Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a"),
        ({"Exists": True, **EQ}, f"Exists and ComparisonOperator {TOGETHER}"),
        (
            {"AttributeValueList": [s("x")]},
            "AttributeValueList can only be used with a ComparisonOperator for Attribute: a",
        ),
        (condition("BETWEEN", s("x")), COUNT.format("BETWEEN")),
        (condition("NULL", s("x")), COUNT.format("NULL")),
        ({"ComparisonOperator": "IN", "AttributeValueList": []}, COUNT.format("IN")),
        (condition("IN", s("x"), n(1)), "AttributeValues inside AttributeValueList must be of same type"),
        (condition("LT", {"BOOL": True}), TYPE.format("LT", "BOOL")),
        (condition("CONTAINS", {"SS": ["a"]}), TYPE.format("CONTAINS", "SS")),
        (condition("BEGINS_WITH", n(1)), TYPE.format("BEGINS_WITH", "N")),
    ],
)
@pytest.mark.parametrize(("operation", "params"), [("PutItem", PUT), ("DeleteItem", GET), ("UpdateItem", GET)])
def test_invalid_expected_conditions_are_rejected(
    engine: Engine, operation: str, params: dict[str, Any], given: dict[str, Any], message: str
) -> None:
    result = answer(engine, operation, {**params, "Expected": {"a": given}})
    assert result == {"error": "ValidationException", "message": f"{ENVELOPE}{INVALID}{message}"}


@pytest.mark.parametrize(
    ("operation", "params", "message"),
    [
        (
            "DeleteItem",
            {**GET, "Expected": ABSENT, "ExpressionAttributeNames": {"#a": "a"}},
            f"{ENVELOPE}ExpressionAttributeNames can only be specified when using expressions",
        ),
        # Lists of names.
        ("GetItem", {**GET, "AttributesToGet": []}, f"{ENVELOPE}Value at 'AttributesToGet' {LENGTH}"),
        ("Query", {**QUERY, "AttributesToGet": []}, f"{ENVELOPE}Value at 'AttributesToGet' {LENGTH}"),
        (
            "BatchGetItem",
            {"RequestItems": {"orders": {"Keys": [KEY], "AttributesToGet": []}}},
            f"{ENVELOPE}Value at 'RequestItems.orders.member.AttributesToGet' {LENGTH}",
        ),
        ("Scan", {**TABLE, "AttributesToGet": []}, f"{ENVELOPE}Value '[]' at 'attributesToGet' {LENGTH}"),
        ("GetItem", {**GET, "AttributesToGet": ["a", "a"]}, f"{INVALID}Duplicate value in attribute name: a"),
        (
            "Query",
            {**QUERY, "AttributesToGet": ["a"], "Select": "COUNT"},
            f"{ENVELOPE}Cannot specify the AttributesToGet when choosing to get only the Count",
        ),
        # Filters and Expected.
        (
            "Scan",
            {**TABLE, "ScanFilter": {"a": condition("BETWEEN", n(2), n(1))}},
            "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound",
        ),
        (
            "PutItem",
            {**PUT, "Expected": {"a": {"Value": n("abc")}}},
            f"{ENVELOPE}The parameter cannot be converted to a numeric value: abc",
        ),
        (
            "Scan",
            {**TABLE, "ScanFilter": {"a": condition("EQ", n(""))}},
            "The parameter cannot be converted to a numeric value",
        ),
        ("PutItem", {**PUT, "Expected": {"": {"Exists": False}}}, f"{ENVELOPE}Empty attribute name"),
        # ConditionalOperator.
        (
            "PutItem",
            {**PUT, "ConditionalOperator": "AND"},
            f"{ENVELOPE}ConditionalOperator cannot be used without Filter or Expected",
        ),
        ("PutItem", {**PUT, "Expected": ABSENT, "ConditionalOperator": "AND"}, ENVELOPE + MANY),
        ("Scan", {**TABLE, "ScanFilter": {"a": EQ}, "ConditionalOperator": "OR"}, MANY),
        (
            "PutItem",
            {**PUT, "Expected": {**ABSENT, "b": {"Exists": False}}, "ConditionalOperator": "XOR"},
            ENVELOPE + ENUM,
        ),
        (
            "Query",
            {**QUERY, "QueryFilter": {"b": condition("NULL"), "c": condition("NULL")}, "ConditionalOperator": "XOR"},
            ENUM,
        ),
        (
            "UpdateItem",
            {**TABLE, "AttributeUpdates": UPDATE, "ConditionalOperator": "XOR"},
            "2 validation errors detected: Value 'XOR' at 'conditionalOperator' failed to satisfy constraint: Member must satisfy enum value set: [OR, AND]; Value null at 'key' failed to satisfy constraint: Member must not be null",  # noqa: E501
        ),
        # AttributeUpdates.
        *[
            ("UpdateItem", {**GET, "AttributeUpdates": {"a": given}}, f"{ENVELOPE}{INVALID}{text}")
            for given, text in (
                ({"Action": "PUT"}, "Only DELETE action is allowed when no attribute value is specified"),
                ({"Action": "ADD"}, "Only DELETE action is allowed when no attribute value is specified"),
                ({}, "Only DELETE action is allowed when no attribute value is specified"),
                ({"Action": "ADD", "Value": s("x")}, "ADD action is not supported for the type S"),
                ({"Action": "DELETE", "Value": n(1)}, "DELETE action with value is not supported for the type N"),
            )
        ],
        (
            "UpdateItem",
            {**GET, "AttributeUpdates": {"pk": {"Value": s("x")}}},
            f"{INVALID}Cannot update attribute pk. This attribute is part of the key",
        ),
        *[
            ("UpdateItem", {**GET, "AttributeUpdates": {"text": update}}, "Type mismatch for attribute to update")
            for update in (
                {"Action": "ADD", "Value": n(1)},
                {"Action": "ADD", "Value": {"L": []}},
                {"Action": "DELETE", "Value": {"SS": ["a"]}},
            )
        ],
        # KeyConditions.
        ("Query", {**TABLE, "KeyConditions": {}}, "Conditions can be of length 1 or 2 only"),
        ("Query", {**TABLE, "KeyConditions": {"sk": EQ}}, "Query condition missed key schema element: pk"),
        ("Query", {**TABLE, "KeyConditions": {"pk": condition("LT", s("a"))}}, "Query key condition not supported"),
        (
            "Query",
            {**TABLE, "KeyConditions": {"pk": EQ, "sk": condition("CONTAINS", s("a"))}},
            "Attempted conditional constraint is not an indexable operation",
        ),
        (
            "Query",
            {**TABLE, "KeyConditions": {"pk": condition("EQ", n(1))}},
            f"{INVALID}Condition parameter type does not match schema type",
        ),
        (
            "Query",
            {**QUERY, "QueryFilter": {"sk": EQ}},
            "QueryFilter can only contain non-primary key attributes: Primary key attribute: sk",
        ),
        (
            "Query",
            TABLE,
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.",
        ),
    ],
)
def test_invalid_legacy_parameters_are_rejected(
    engine: Engine, operation: str, params: dict[str, Any], message: str
) -> None:
    assert answer(engine, operation, params) == {"error": "ValidationException", "message": message}
    assert engine.call("Scan", TABLE)["Items"] == [ITEM]
