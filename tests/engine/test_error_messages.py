"""DynamoDB's error messages that differ from those of DynamoDB Local (decision 0029): the wording of each operation,
the validation prefix, and which error is reported first.
"""

from __future__ import annotations

# ruff: noqa: ISC004 - some of DynamoDB's messages are long
from collections.abc import Iterator
from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.scenarios import attributes
from tests.engine.support import add_index, answer, create, index, keyed, n, s

ENVELOPE = "1 validation error detected: "
INVALID = "One or more parameter values were invalid: "
NOT_NUMERIC = "The parameter cannot be converted to a numeric value"
OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
TOO_PRECISE = "Attempting to store more than 38 significant digits in a Number"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
NESTING = (
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
)
EMPTY_KEY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string "
    "value. Key: pk"
)
LONG_NAME = "Attribute name is too large, must be less than 65536 bytes"
MISMATCH = "The provided key element does not match the schema"
TABLE = {"TableName": "orders"}
KEY = {"pk": s("a"), "sk": s("1")}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:") as engine:
        create(engine)
        create(engine, "flat", **keyed(pk="S"))
        yield engine


def message(engine: Engine, operation: str, params: dict[str, Any]) -> str:
    result = answer(engine, operation, params)
    assert result.get("error") == "ValidationException", result
    return str(result["message"])


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = s("leaf")
    for _ in range(levels):
        value = {"M": {"n": value}}
    return value


def requests(value: dict[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return requests by name, each with the value in another position. The first word of a name selects the expected
    message: with the prefix, in current wording, in older wording, or in older wording with the placeholder's name.
    """
    condition = {"ConditionExpression": "x = :v", "ExpressionAttributeValues": {":v": value}}
    update = {"UpdateExpression": "SET x = :v", "ExpressionAttributeValues": {":v": value}}
    wrong_key = {"pk": value, "sk": s("1")}
    scan = {"FilterExpression": "x = :v", "ExpressionAttributeValues": {":v": value}}
    query = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": s("a"), ":v": value}}
    return {
        "enveloped item": ("PutItem", {**TABLE, "Item": {**KEY, "x": value}}),
        "enveloped nested": ("PutItem", {**TABLE, "Item": {**KEY, "x": {"M": {"a": {"L": [value]}}}}}),
        "enveloped condition": ("PutItem", {**TABLE, "Item": KEY, **condition}),
        "enveloped update": ("UpdateItem", {**TABLE, "Key": KEY, **update}),
        "enveloped key": ("UpdateItem", {**TABLE, "Key": wrong_key}),
        "enveloped deletion": ("DeleteItem", {**TABLE, "Key": KEY, **condition}),
        "enveloped deleted": ("DeleteItem", {**TABLE, "Key": wrong_key}),
        "current key": ("GetItem", {**TABLE, "Key": wrong_key}),
        "current keys": ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [wrong_key]}}}),
        "current query": ("Query", {**TABLE, **query, "FilterExpression": "x = :v"}),
        "older item": ("BatchWriteItem", {"RequestItems": {"orders": [{"PutRequest": {"Item": {**KEY, "x": value}}}]}}),
        "older deleted": ("BatchWriteItem", {"RequestItems": {"orders": [{"DeleteRequest": {"Key": wrong_key}}]}}),
        "older put": ("TransactWriteItems", {"TransactItems": [{"Put": {**TABLE, "Item": {**KEY, "x": value}}}]}),
        "older get": ("TransactGetItems", {"TransactItems": [{"Get": {**TABLE, "Key": wrong_key}}]}),
        "named scan": ("Scan", {**TABLE, **scan}),
        "named update": ("TransactWriteItems", {"TransactItems": [{"Update": {**TABLE, "Key": KEY, **update}}]}),
        "named check": (
            "TransactWriteItems",
            {"TransactItems": [{"ConditionCheck": {**TABLE, "Key": KEY, **condition}}]},
        ),
    }


VALUES = [
    (n("abc"), f"{NOT_NUMERIC}: abc", f"{NOT_NUMERIC}: abc"),
    (n(""), f"{NOT_NUMERIC}: ", NOT_NUMERIC),
    (n("1e126"), OVERFLOW, OVERFLOW),
    (n("1e2147483647"), OVERFLOW, UNDERFLOW),
    # Java's BigDecimal takes exponents and scales of 32 bits each: the lowest exponent is one below the highest scale.
    (n("1e2147483648"), OVERFLOW, f"{NOT_NUMERIC}: 1e2147483648"),
    (n("0.1e2147483648"), OVERFLOW, f"{NOT_NUMERIC}: 0.1e2147483648"),
    (n("1e-2147483647"), UNDERFLOW, UNDERFLOW),
    (n("1e-2147483648"), UNDERFLOW, f"{NOT_NUMERIC}: 1e-2147483648"),
    (n("0.1e-2147483647"), UNDERFLOW, f"{NOT_NUMERIC}: 0.1e-2147483647"),
    (n("9" * 39 + "e87"), TOO_PRECISE, TOO_PRECISE),
    (n("1." + "9" * 38 + "e-130"), TOO_PRECISE, TOO_PRECISE),
    (n("0e126"), OVERFLOW, OVERFLOW),
    (n("0e-131"), UNDERFLOW, UNDERFLOW),
    (n("1e9223372036854775808"), f"{NOT_NUMERIC}: 1e9223372036854775808", f"{NOT_NUMERIC}: 1e9223372036854775808"),
    (
        {"SS": ["b", "a", "b"]},
        f'{INVALID}Input collection ["a", "b", "b"] contains duplicates.',
        f"{INVALID}Input collection [b, a, b] contains duplicates.",
    ),
    (
        {"BS": ["YQ==", "YQ=="]},
        f'{INVALID}Input collection ["YQ==","YQ=="]of type BS contains duplicates.',
        f"{INVALID}Input collection [YQ==, YQ==]of type BS contains duplicates.",
    ),
    (
        {"NS": ["2", "1", "2"]},
        f"{INVALID}Input collection contains duplicates.",
        "Input collection contains duplicates",
    ),
    ({"SS": []}, f"{INVALID}An string set  may not be empty", f"{INVALID}An string set  may not be empty"),
    ({"M": {"m": {"M": {"é" * 32_768: s("x")}}}}, LONG_NAME, LONG_NAME),
]


@pytest.mark.parametrize("place", requests({}))
@pytest.mark.parametrize(("value", "current", "older"), VALUES, ids=[str(each[0])[:40] for each in VALUES])
def test_error_message_for_an_invalid_value_depends_on_the_operation(
    engine: Engine, value: dict[str, Any], current: str, older: str, place: str
) -> None:
    complete = {
        "enveloped": f"{ENVELOPE}{current}",
        "current": current,
        "older": older,
        "named": f"ExpressionAttributeValues contains invalid value: {older} for key :v",
    }[place.split(maxsplit=1)[0]]
    assert message(engine, *requests(value)[place]) == complete


PUT = {**TABLE, "Item": KEY}
UPDATE = {**TABLE, "Key": KEY}
V: dict[str, Any] = {"ExpressionAttributeValues": {":v": s("x")}}
ONLY = "can only be specified when using expressions"


@pytest.mark.parametrize(
    ("operation", "params", "expected"),
    [
        ("PutItem", {**PUT, **V}, f"{ENVELOPE}ExpressionAttributeValues {ONLY}"),
        ("UpdateItem", {**UPDATE, **V}, f"{ENVELOPE}ExpressionAttributeValues {ONLY}"),
        (
            "DeleteItem",
            {**UPDATE, "ExpressionAttributeNames": {"#a": "a"}},
            f"{ENVELOPE}ExpressionAttributeNames {ONLY}",
        ),
        ("Scan", {**TABLE, **V}, f"ExpressionAttributeValues {ONLY}: FilterExpression is null"),
        ("GetItem", {**UPDATE, "ExpressionAttributeNames": {"#a": "a"}}, f"ExpressionAttributeNames {ONLY}"),
        (
            "DeleteItem",
            {**UPDATE, "ConditionExpression": "a = :v", "ExpressionAttributeValues": {}},
            f"{ENVELOPE}ExpressionAttributeValues must not be empty",
        ),
        (
            "PutItem",
            {**PUT, "ConditionExpression": ""},
            f"{ENVELOPE}Invalid ConditionExpression: The expression can not be empty;",
        ),
        (
            "UpdateItem",
            {**UPDATE, "UpdateExpression": "SET a = :v SET b = :v", **V},
            f'{ENVELOPE}Invalid UpdateExpression: The "SET" section can only be used once in an update expression;',
        ),
        (
            "UpdateItem",
            {**UPDATE, "UpdateExpression": "SET a = :v, a.b = :v", **V},
            f"{ENVELOPE}Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite "
            "one of these paths; path one: [a], path two: [a, b]",
        ),
        (
            "UpdateItem",
            {**UPDATE, "UpdateExpression": "SET b = :v", "ConditionExpression": "a = :w", **V},
            f"{ENVELOPE}Invalid ConditionExpression: An expression attribute value used in expression is not defined; "
            "attribute value: :w",
        ),
        (
            "UpdateItem",
            {**UPDATE, "UpdateExpression": "REMOVE b", "ExpressionAttributeNames": {"#a": "a"}},
            f"{ENVELOPE}Value provided in ExpressionAttributeNames unused in expressions: keys: {{#a}}",
        ),
        ("DeleteItem", {**UPDATE, "ReturnValues": "ALL_NEW"}, f"{ENVELOPE}ReturnValues can only be ALL_OLD or NONE"),
        (
            "UpdateItem",
            {**UPDATE, "UpdateExpression": "SET pk = :v", **V},
            f"{INVALID}Cannot update attribute pk. This attribute is part of the key",
        ),
        ("PutItem", {**TABLE, "Item": {**KEY, "pk": s("")}}, EMPTY_KEY),
        (
            "UpdateItem",
            {**UPDATE, "UpdateExpression": "SET a = b"},
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        (
            "Query",
            {**TABLE, "KeyConditionExpression": "pk = :v", **V, "Select": "SOME"},
            f"{ENVELOPE}Value 'SOME' at 'select' failed to satisfy constraint: Member must satisfy enum value set: "
            "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]",
        ),
        (
            "PutItem",
            {**PUT, "ConditionExpression": "a = :v", "ExpressionAttributeValues": {":v": deep(32)}},
            f"{ENVELOPE}{NESTING}",
        ),
        (
            "UpdateItem",
            {
                **UPDATE,
                "UpdateExpression": "SET a = :a",
                "ConditionExpression": "d = :v",
                "ExpressionAttributeValues": {":a": s("x"), ":v": deep(32)},
            },
            f"{ENVELOPE}{NESTING}",
        ),
        ("PutItem", {**TABLE, "Item": {**KEY, "": s("x")}}, f"{ENVELOPE}Empty attribute name"),
        ("PutItem", {**TABLE, "Item": {**KEY, "m": {"M": {"": s("x")}}}}, f"{ENVELOPE}Empty attribute name"),
        ("PutItem", {**TABLE, "Item": {**KEY, "x" * 65_536: s("x")}}, f"{ENVELOPE}{LONG_NAME}"),
        (
            "UpdateItem",
            {**UPDATE, "UpdateExpression": "SET #n = :v", "ExpressionAttributeNames": {"#n": "x" * 65_536}, **V},
            f"{ENVELOPE}{LONG_NAME}",
        ),
        (
            "Scan",
            {**TABLE, "ProjectionExpression": "#n", "ExpressionAttributeNames": {"#n": "x" * 65_536}},
            f"ExpressionAttributeNames contains invalid value: {LONG_NAME} for key #n",
        ),
    ],
)
def test_invalid_requests_are_rejected(engine: Engine, operation: str, params: dict[str, Any], expected: str) -> None:
    assert message(engine, operation, params) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"N": 123}, "NUMBER_VALUE cannot be converted to String"),
        ({"L": [{"M": {"a": {"S": True}}}]}, "TRUE_VALUE cannot be converted to String"),
        ({"BOOL": "true"}, "STRING_VALUE cannot be converted to Boolean"),
        ({"SS": "a"}, "Unexpected value type in payload"),
        ({"B": "abc"}, "Base64 encoded length is expected a multiple of 4 bytes but found: 3"),
        ({"B": "ab!="}, "Invalid Base64 character: '!'"),
        ({"BS": ["AA==", "A==="]}, "Invalid last non-pad Base64 character dectected"),
    ],
)
def test_malformed_value_is_reported_before_other_errors(engine: Engine, value: dict[str, Any], expected: str) -> None:
    error = {"error": "SerializationException", "message": expected}
    for operation, params in requests(value).values():
        assert answer(engine, operation, params) == error
    statement = {"Statement": "SELECT * FROM orders WHERE pk = ?", "Parameters": [value]}
    for operation, params in (
        ("ExecuteStatement", statement),
        ("BatchExecuteStatement", {"Statements": [{"Statement": "SELECT"}, statement]}),
        ("ExecuteTransaction", {"TransactStatements": [statement]}),
    ):
        assert answer(engine, operation, params) == error
    # Whatever else is invalid.
    both = {**PUT, "ConditionExpression": "(", "ExpressionAttributeValues": {":v": value}}
    assert answer(engine, "PutItem", both) == error


XOR = {"a": {"Exists": False}, "b": {"Exists": False}}
OLD_ENUM = (
    f"{ENVELOPE}Value 'XOR' at 'conditionalOperator' failed to satisfy constraint: "
    "Member must satisfy enum value set: [OR, AND]"
)


@pytest.mark.parametrize(
    ("levels", "xor", "returned", "nested"),
    [
        (
            62,
            f"{ENVELOPE}Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]",
            ENVELOPE,
            ENVELOPE,
        ),
        (63, OLD_ENUM, "", ""),
        (100, OLD_ENUM, "", ""),
    ],
)
def test_deeply_nested_requests_return_errors_in_the_older_dynamodb_wording(
    engine: Engine, levels: int, xor: str, returned: str, nested: str
) -> None:
    put = {**PUT, "Item": {**KEY, "d": deep(levels)}}
    assert message(engine, "PutItem", {**put, "Expected": XOR, "ConditionalOperator": "XOR"}) == xor
    assert message(engine, "PutItem", put) == f"{nested}{NESTING}"
    delete = {**UPDATE, "ConditionExpression": "a = :v", "ExpressionAttributeValues": {":v": deep(levels)}}
    expected = message(engine, "DeleteItem", {**delete, "ReturnValues": "UPDATED_NEW"})
    assert expected == f"{returned}ReturnValues can only be ALL_OLD or NONE"
    # A list element also adds two levels of JSON.
    value: dict[str, Any] = s("leaf")
    for _ in range(levels):
        value = {"L": [value]}
    assert message(engine, "PutItem", {**PUT, "Item": {**KEY, "d": value}}) == f"{nested}{NESTING}"


@pytest.mark.parametrize("number", [2**31, 2**63 - 1, 2**63, 2**64, -(2**31) - 1])
def test_integer_parameters_over_32_or_64_bits_are_rejected(engine: Engine, number: int) -> None:
    for operation, member in (("Scan", "Limit"), ("Query", "Limit"), ("Scan", "Segment"), ("ListTables", "Limit")):
        result = answer(engine, operation, {**TABLE, member: number})
        assert result == {"error": "SerializationException", "message": "NUMBER_VALUE cannot be converted to Integer"}
    units = {"ReadCapacityUnits": number, "WriteCapacityUnits": number}
    result = answer(engine, "UpdateTable", {**TABLE, "BillingMode": "PROVISIONED", "ProvisionedThroughput": units})
    wide = {"error": "SerializationException", "message": "NUMBER_VALUE cannot be converted to Long"}
    assert (result == wide) == (number >= 2**63)


# --- transactions -------------------------------------------------------------------------------------------


def transact(engine: Engine, *actions: dict[str, Any]) -> dict[str, Any]:
    return answer(engine, "TransactWriteItems", {"TransactItems": list(actions)})


def action(kind: str, key: dict[str, Any], table: str = "orders", **more: Any) -> dict[str, Any]:
    needed = {"Update": {"UpdateExpression": "SET x = y"}, "ConditionCheck": {"ConditionExpression": "a = b"}}
    member = "Item" if kind == "Put" else "Key"
    return {kind: {"TableName": table, member: key, **needed.get(kind, {}), **more}}


@pytest.mark.parametrize("kind", ["Put", "Update", "Delete", "ConditionCheck"])
def test_empty_table_key_in_a_transaction_is_a_validation_error(engine: Engine, kind: str) -> None:
    error = {"error": "ValidationException", "message": EMPTY_KEY}
    assert transact(engine, action("Put", KEY), action(kind, {"pk": s(""), "sk": s("1")})) == error
    get = {"Get": {**TABLE, "Key": {"pk": s(""), "sk": s("1")}}}
    assert answer(engine, "TransactGetItems", {"TransactItems": [get]}) == error


def test_transaction_stops_at_the_first_invalid_action(engine: Engine) -> None:
    wrong = action("Delete", {"pk": n(5), "sk": s("1")})
    failing = action("ConditionCheck", KEY, ConditionExpression="attribute_exists(pk)")
    for actions, reasons in (
        ((wrong, wrong, failing), ["ValidationError", "None", "None"]),
        ((failing, wrong, wrong), ["None", "ValidationError", "None"]),
    ):
        result = transact(engine, *actions)
        assert [reason["Code"] for reason in result["CancellationReasons"]] == reasons
        assert result["message"].endswith(f"[{', '.join(reasons)}]")
    gets = [{"Get": {**TABLE, "Key": {"pk": n(5), "sk": s("1")}}}] * 2
    result = answer(engine, "TransactGetItems", {"TransactItems": gets})
    assert [reason["Code"] for reason in result["CancellationReasons"]] == ["ValidationError", "None"]


SYNTAX = 'Invalid ConditionExpression: Syntax error; token: "=", near: "= = b"'
B = {"pk": s("b"), "sk": s("1")}
NO_VALUES, NO_NAMES = (f"ExpressionAttribute{kind} must not be empty" for kind in ("Values", "Names"))


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        ([action("Put", {**B, "d": deep(40)}), action("Put", {**KEY, "": s("x")})], NESTING),
        ([action("Put", {**KEY, "": s("x")}), action("Put", {**B, "d": deep(100)})], "Empty attribute name"),
        ([action("Put", {**KEY, "d": deep(100), "": s("x")})], "Empty attribute name"),
        ([action("Put", {**KEY, "d": deep(40), "m": {"M": {"": s("x")}}})], NESTING),
        ([action("Put", {**KEY, "m": {"M": {"": s("x")}}, "d": deep(40)})], NESTING),
        ([action("Put", {**KEY, "m": {"L": [{"M": {"": s("x")}}, n("abc")]}})], f"{NOT_NUMERIC}: abc"),
        ([action("Put", {**KEY, "m": {"L": [{"M": {"": s("x")}}]}})], "Empty attribute name"),
        ([action("Delete", {"pk": deep(40)}), action("Put", KEY, ConditionExpression="a = = b")], NESTING),
        ([action("Put", KEY, ConditionExpression="a = = b"), action("Delete", {"pk": deep(100)})], SYNTAX),
        ([action("Delete", {"pk": deep(100)}, ConditionExpression="a = = b")], SYNTAX),
        (
            [action("Delete", {"pk": deep(100)}, ConditionExpression="a = :v" + " AND a = :v" * 373, **V)],
            "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; expression size: 4109",
        ),
        (
            [
                action("Update", KEY, UpdateExpression="SET " + ", ".join(f"a{i} = :v" for i in range(500)), **V),
                action("ConditionCheck", {"pk": deep(100)}),
            ],
            "Invalid UpdateExpression: Expression size has exceeded the maximum allowed size;",
        ),
        ([action("Put", KEY, ConditionExpression="= b", ExpressionAttributeValues={})], NO_VALUES),
        ([action("Put", KEY, ConditionExpression="= b", ExpressionAttributeNames={})], NO_NAMES),
        (
            [action("Put", KEY), action("ConditionCheck", B, **V)],
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}",
        ),
    ],
)
def test_first_invalid_action_of_a_transaction_is_reported_before_a_missing_table(
    engine: Engine, actions: list[dict[str, Any]], expected: str
) -> None:
    absent = [{kind: {**each, "TableName": "absent"} for kind, each in element.items()} for element in actions]
    assert transact(engine, *absent) == {"error": "ValidationException", "message": expected}


@pytest.mark.parametrize(("levels", "named"), [(32, False), (33, False), (60, False), (61, True), (100, True)])
def test_values_nested_too_deeply_in_transactions_are_rejected(engine: Engine, levels: int, named: bool) -> None:
    """At 32 levels, no region returns a message with the placeholder's name (recorded in eu-west-2 in October 2026)."""
    expected = f"ExpressionAttributeValues contains invalid value: {NESTING} for key :v" if named else NESTING
    for kind in ("Put", "Update", "Delete", "ConditionCheck"):
        values = {":v": deep(levels)}
        result = transact(engine, action(kind, KEY, ConditionExpression="x = :v", ExpressionAttributeValues=values))
        assert result == {"error": "ValidationException", "message": expected}
    # Other errors of a value keep the older wording.
    wrong = action("Put", KEY, ConditionExpression="x = :v", ExpressionAttributeValues={":v": n("abc")})
    older = f"ExpressionAttributeValues contains invalid value: {NOT_NUMERIC}: abc for key :v"
    assert transact(engine, wrong) == {"error": "ValidationException", "message": older}


# --- effects ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expression", ["REMOVE x", "REMOVE x.y", "REMOVE x[0]", "DELETE x :v", "REMOVE a DELETE x :v"])
def test_update_that_only_removes_attributes_creates_no_item(engine: Engine, expression: str) -> None:
    values = {"ExpressionAttributeValues": {":v": {"SS": ["a"]}}} if ":v" in expression else {}
    params = {**UPDATE, "UpdateExpression": expression, **values, "ReturnConsumedCapacity": "TOTAL"}
    for returned in ("ALL_NEW", "UPDATED_NEW", "ALL_OLD", "NONE"):
        result = engine.call("UpdateItem", {**params, "ReturnValues": returned})
        assert result == {"ConsumedCapacity": {"TableName": "orders", "CapacityUnits": 1.0}}
    transact(engine, {"Update": {**UPDATE, "UpdateExpression": expression, **values}})
    assert engine.call("Scan", {**TABLE})["Count"] == 0
    # An update that sets something, or has no expression, creates it.
    engine.call("UpdateItem", UPDATE)
    assert engine.call("Scan", {**TABLE})["Count"] == 1


def test_query_of_an_index_needs_all_partition_key_attributes(engine: Engine) -> None:
    two = index("Two", "g", "h")
    two["KeySchema"][1]["KeyType"] = "HASH"
    create(engine, "two", GlobalSecondaryIndexes=[two])
    engine.call("PutItem", {"TableName": "two", "Item": {**KEY, "g": s("g"), "h": s("h")}})
    request = {"TableName": "two", "IndexName": "Two"}
    values = {"ExpressionAttributeValues": {":g": s("g"), ":h": s("h")}}
    result = engine.call("Query", {**request, "KeyConditionExpression": "g = :g AND h = :h", **values})
    assert result["Count"] == 1
    params = {**request, "KeyConditionExpression": "g = :g", "ExpressionAttributeValues": {":g": s("g")}}
    assert (
        message(engine, "Query", params) == "HASH key attributes h must have equality conditions specified in the query"
    )


def test_query_that_returns_at_most_one_item_rejects_a_start_key(engine: Engine) -> None:
    text = "The query can return at most one row and cannot be restarted"
    params = {"TableName": "flat", "KeyConditionExpression": "pk = :v", **V, "ExclusiveStartKey": {"pk": s("x")}}
    assert message(engine, "Query", params) == text
    params = {**TABLE, "KeyConditionExpression": "pk = :v AND sk > :v", **V}
    other = {**params, "ExclusiveStartKey": {"pk": s("other"), "sk": s("z")}}
    assert message(engine, "Query", other) == text
    before = {**params, "ExclusiveStartKey": {"pk": s("x"), "sk": s("a")}}
    assert message(engine, "Query", before) == "The provided starting key does not match the range key predicate"


@pytest.mark.parametrize("key", [{"pk": n(5), "sk": s("1")}, {"pk": {"L": []}, "sk": s("1")}, {"pk": s("a")}])
def test_batch_write_reports_every_invalid_key_with_the_same_message(engine: Engine, key: dict[str, Any]) -> None:
    for each in ({"PutRequest": {"Item": key}}, {"DeleteRequest": {"Key": key}}):
        assert message(engine, "BatchWriteItem", {"RequestItems": {"orders": [each]}}) == MISMATCH


def test_added_index_omits_items_with_oversized_keys(engine: Engine) -> None:
    for number, (k, m) in enumerate([("x" * 2048, "y" * 1024), ("x" * 2049, "y"), ("x", "y" * 1025), ("x", "é" * 513)]):
        engine.call("PutItem", {**TABLE, "Item": {"pk": s("a"), "sk": s(str(number)), "k": s(k), "m": s(m)}})
    add_index(engine, index("ByK", "k", "m"), k="S", m="S")
    result = engine.call("Scan", {**TABLE, "IndexName": "ByK"})["Items"]
    assert [item["sk"] for item in result] == [s("0")]
    assert engine.check() == []
    # These items can still be changed and deleted.
    for number in range(4):
        key = {"pk": s("a"), "sk": s(str(number))}
        engine.call("UpdateItem", {**TABLE, "Key": key, "UpdateExpression": "SET n = :v", **V})
        engine.call("DeleteItem", {**TABLE, "Key": key})
    assert engine.check() == []


def test_duplicate_projected_attributes_are_rejected(engine: Engine) -> None:
    projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a", "a"]}
    params = {
        "TableName": "other",
        **keyed(pk="S", g="S"),
        "GlobalSecondaryIndexes": [{**index("ByG", "g"), "Projection": projection}],
    }
    assert message(engine, "CreateTable", params) == f"{INVALID}Duplicate element in NonKeyAttributes: a"


def test_sum_with_more_than_38_digits_is_rejected(engine: Engine) -> None:
    engine.call("PutItem", {**TABLE, "Item": {**KEY, "x": n("1e50")}})
    params = {**UPDATE, "UpdateExpression": "SET x = x - :v", "ExpressionAttributeValues": {":v": n(1)}}
    assert message(engine, "UpdateItem", params) == OVERFLOW


BOTH = [
    {"IndexName": "Last", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}]},
    {"IndexName": "First", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}]},
]
UPDATES_G = {**UPDATE, "UpdateExpression": "SET g = :v", "ConditionExpression": "attribute_exists(pk)"}
OF_A_KEY = "The AttributeValue for a key attribute cannot contain an empty string value."
OF_AN_INDEX = "A value specified for a secondary index key is not supported."
OF_AN_UPDATE = "The update expression attempted to update a secondary index key to a value that is not supported."


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("Put", f"{OF_AN_INDEX} {OF_A_KEY} IndexName: First, IndexKey: g"), ("Update", f"{OF_AN_UPDATE} {OF_A_KEY}")],
)
def test_empty_index_key_value_in_a_transaction_is_a_validation_error(engine: Engine, kind: str, expected: str) -> None:
    two = [{**each, "Projection": {"ProjectionType": "ALL"}} for each in BOTH]
    create(engine, "two", GlobalSecondaryIndexes=two, AttributeDefinitions=attributes(pk="S", sk="S", g="S"))

    def writes(value: dict[str, Any]) -> dict[str, Any]:
        kinds: dict[str, dict[str, Any]] = {
            "Put": {"Item": {**KEY, "g": value}},
            "Update": {**UPDATES_G, "ExpressionAttributeValues": {":v": value}},
        }
        return {**kinds[kind], "TableName": "two"}

    complete = f"One or more parameter values are not valid. {expected}"
    assert message(engine, "TransactWriteItems", {"TransactItems": [{kind: writes(s(""))}]}) == complete
    assert message(engine, f"{kind}Item", writes(s(""))) == complete
    # A wrong type is a reason of its action, and names the first index by name.
    cancelled = answer(engine, "TransactWriteItems", {"TransactItems": [{kind: writes(n(1))}]})
    (reason,) = cancelled["CancellationReasons"]
    assert reason["Message"] == f"{INVALID}Type mismatch for Index Key g Expected: S Actual: N IndexName: First"
