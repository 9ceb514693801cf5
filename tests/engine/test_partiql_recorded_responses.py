"""PartiQL statements have the responses recorded from DynamoDB in September 2026 (eu-west-2; decision 0011)."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import answer, create, n, put, s
from tests.engine.test_error_messages import engine

__all__ = ["engine"]

KEYED = "WHERE pk = 'a' AND sk = '1'"
OVERLAP = "Overlapping conditions with range keys are not supported in where clause"
MANY_READS = "Too many decomposed read operations for a given query."
KEY_TYPE = "Key attribute's data type should match its data type in table's schema: Key"
MISMATCH = "The provided key element does not match the schema"
INVALID = "One or more parameter values were invalid: "
DUPLICATES = f"{INVALID}Input collection [a, a] contains duplicates."
IN_TRANSACTION = "Validation failed in TransactStatements[0]: "


def run(engine: Engine, statement: str, *parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
    given = {"Parameters": list(parameters)} if parameters else {}
    return answer(engine, "ExecuteStatement", {"Statement": statement, **given, **more})


def transact(engine: Engine, *statements: str) -> dict[str, Any]:
    return answer(engine, "ExecuteTransaction", {"TransactStatements": [{"Statement": each} for each in statements]})


def listed(count: int) -> str:
    return ", ".join(f"'{number}'" for number in range(count))


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (f"SELECT l[-1] FROM orders {KEYED}", "List index is not within the allowable range; index: [-1] at 1:11:1"),
        (
            f"SELECT l[2147483648] FROM orders {KEYED}",
            "List index is not within the allowable range; index: [2147483648] at 1:10:10",
        ),
        (
            f"UPDATE orders SET n = set_add(n, <<2, 2.0>>) {KEYED}",
            f"{INVALID}Input collection [2, 2.0] contains duplicates! under root",
        ),
        (
            f"UPDATE orders SET d = {'[' * 32}1{']' * 32} {KEYED}",
            f"Nesting Levels have exceeded supported limits under root{'[0]' * 32}",
        ),
        (
            f"UPDATE orders SET d = {{'a': {'[' * 31}1{']' * 31}}} {KEYED}",
            f"Nesting Levels have exceeded supported limits under root.a{'[0]' * 31}",
        ),
        ("SELECT * FROM orders WHERE pk IN ['a', 'a']", OVERLAP),
        ("SELECT * FROM orders WHERE pk = 'a' OR pk = 'a'", OVERLAP),
        ("SELECT * FROM orders WHERE (pk = 'a' AND x = 1) OR (pk = 'a' AND x = 2)", OVERLAP),
        ("SELECT * FROM orders WHERE pk = 'a' AND (sk > '0' OR sk < '5')", OVERLAP),
        ("SELECT * FROM orders WHERE pk = 'a' AND (sk = '1' OR x = 2)", OVERLAP),
        ("SELECT * FROM orders WHERE pk = 1 OR pk = 'a'", f"{KEY_TYPE} pk"),
        ("SELECT * FROM orders WHERE pk = 'a' AND sk IN ['1', 2]", f"{KEY_TYPE} sk"),
        ("SELECT * FROM orders WHERE pk = 1", f"{INVALID}Condition parameter type does not match schema type"),
        (f"SELECT * FROM orders WHERE pk = 'a' AND sk IN [{listed(51)}]", MANY_READS),
        (f"SELECT * FROM orders WHERE pk IN [{listed(26)}] AND sk IN ['1', '2']", MANY_READS),
        (
            "SELECT * FROM orders WHERE pk IN ['a', 'b'] ORDER BY sk",
            "Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause.",
        ),
    ],
)
def test_invalid_statements_are_rejected(engine: Engine, statement: str, message: str) -> None:
    put(engine, "a", "1", n={"NS": ["1"]}, l={"L": [s("x")]})
    assert run(engine, statement) == {"error": "ValidationException", "message": message}


def test_parameters_are_validated_before_the_statement_and_rejected_in_literals(engine: Engine) -> None:
    twice = {"SS": ["a", "a"]}
    assert run(engine, "UPDATE orders SET WHERE", twice)["message"] == DUPLICATES
    before = "UPDATE orders SET x = ["
    message = f"Unsupported data type: Parameter under key root[0] at 1:{len(before) + 1}:1"
    assert run(engine, f"{before}?] {KEYED}", s("v"))["message"] == message
    before = "INSERT INTO orders VALUE {'pk': 'a', 'sk': '1', 'm': {'k': "
    message = f"Unsupported data type: Parameter under key root.k at 1:{len(before) + 1}:1"
    assert run(engine, f"{before}?}}}}", s("v"))["message"] == message
    assert run(engine, "INSERT INTO orders VALUE {'pk': ?, 'sk': '1', 'x': 1}", s("a")) == {"Items": []}
    assert run(engine, "SELECT x FROM orders WHERE pk = 'a' AND x IN [?, 2]", n(1)) == {"Items": [{"x": n(1)}]}


@pytest.mark.parametrize(
    ("condition", "is_shown"),
    [("x = - - 1", True), ("x > -/* c */-1", False), ("x BETWEEN - 2 AND +5 AND x IN [- 1, 1]", True)],
)
def test_signs_before_numbers_can_be_repeated_and_spaced(engine: Engine, condition: str, is_shown: bool) -> None:
    put(engine, "a", "1", x=n(1))
    assert run(engine, f"SELECT x FROM orders {KEYED} AND {condition}") == {"Items": [{"x": n(1)}] * is_shown}
    assert run(engine, f"SELECT x[-0] FROM orders {KEYED}") == {"Items": [{}]}


@pytest.mark.parametrize(
    ("condition", "shown"),
    [
        ("(sk = '2' OR sk = '1')", ["1", "2"]),
        ("(sk < '1' OR sk > '1' OR sk = '1')", ["1", "2", "3"]),
        ("(sk <> '1' OR sk = '1')", ["1", "2", "3"]),
        ("(sk = '3' OR (sk < '3' AND x = 1))", ["1", "3"]),
        ("(x = 1 OR x = 2)", ["1", "2"]),
    ],
)
def test_sort_key_ranges_joined_by_or_are_read_in_order(engine: Engine, condition: str, shown: list[str]) -> None:
    for number in (1, 2, 3):
        put(engine, "a", str(number), x=n(number))
    statement = f"SELECT sk FROM orders WHERE pk = 'a' AND {condition}"
    items = run(engine, statement)["Items"]
    assert [item["sk"]["S"] for item in items] == shown
    page = run(engine, statement, Limit=1)
    rest = run(engine, statement, NextToken=page["NextToken"])
    assert page["Items"] + rest["Items"] == items


def test_write_statement_can_repeat_its_key_condition(engine: Engine) -> None:
    put(engine, "a", "1")
    assert run(engine, f"UPDATE orders SET x = 1 {KEYED} AND pk = 'a'") == {"Items": []}
    refused = run(engine, f"UPDATE orders SET x = 1 {KEYED} AND pk = 'b'")
    assert refused["message"].startswith("Multiple conditions on same key pk.")


def test_descending_order_by_partition_key_alone_reverses_the_sort_keys(engine: Engine) -> None:
    for partition in ("a", "b"):
        for number in ("1", "2"):
            put(engine, partition, number)

    def order(clause: str) -> list[str]:
        items = run(engine, f"SELECT pk, sk FROM orders WHERE pk IN ['a', 'b'] {clause}")["Items"]
        return [item["pk"]["S"] + item["sk"]["S"] for item in items]

    assert order("") == ["a1", "a2", "b1", "b2"]
    assert order("ORDER BY pk DESC") == ["b2", "b1", "a2", "a1"]
    assert order("ORDER BY pk ASC") == ["a2", "a1", "b2", "b1"]
    assert order("ORDER BY pk DESC, sk ASC") == ["b1", "b2", "a1", "a2"]


def test_error_lists_unprojected_attributes_in_hash_table_order() -> None:
    with Engine.open(":memory:") as engine:
        parts = {"IndexName": "ByG", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}]}
        create(
            engine,
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "g")],
            GlobalSecondaryIndexes=[{**parts, "Projection": {"ProjectionType": "KEYS_ONLY"}}],
        )
        for condition, names in (
            ("b = '1' AND (a = '2' OR pk = '3')", "[a, b]"),
            ("(zz = '1' OR aa = '2' OR mm = '3')", "[zz, aa, mm]"),
        ):
            refused = run(engine, f"SELECT pk FROM orders.ByG WHERE g = 'y' AND {condition}")
            assert refused["message"].endswith(f"does not project one or more filter attributes: {names}")


# --- transactions -------------------------------------------------------------------------------------------


def reasons(result: dict[str, Any]) -> list[tuple[str, str | None]]:
    assert result["error"] == "TransactionCanceledException", result
    return [(reason["Code"], reason.get("Message")) for reason in result["CancellationReasons"]]


UPDATE = "UPDATE orders SET x = 1 WHERE"
NO_TABLE = ("ResourceNotFound", "Requested resource not found")


def test_statements_that_do_not_match_the_table_schema_cancel_a_transaction(engine: Engine) -> None:
    wrong = ("ValidationError", MISMATCH)
    writes = (f"{UPDATE} pk = 'a'", f"{UPDATE} pk IN ['a'] AND sk = '1'", f"{UPDATE} pk = 'a' AND sk = 1")
    assert reasons(transact(engine, *writes, f"{UPDATE} pk = 'a' AND sk = '1'")) == [wrong] * 3 + [("None", None)]
    assert reasons(transact(engine, "SELECT * FROM orders WHERE pk = 'a' AND sk = 1")) == [wrong]
    absent = f"SELECT * FROM absent {KEYED}"
    assert reasons(transact(engine, f"SELECT * FROM orders {KEYED}", absent)) == [("None", None), NO_TABLE]
    returning = f"UPDATE absent SET x = 1 {KEYED} RETURNING ALL NEW *"
    assert reasons(transact(engine, returning, f"DELETE FROM absent {KEYED}")) == [NO_TABLE] * 2


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (
            (f"UPDATE absent SET x = 1 {KEYED}", f"UPDATE orders SET x = 1 {KEYED} RETURNING ALL NEW *"),
            "Validation failed in TransactStatements[1]: RETURNING clause is not supported in ExecuteTransaction.",
        ),
        (
            (f"SELECT * FROM absent {KEYED}", f"SELECT * FROM orders.idx {KEYED}"),
            "Validation failed in TransactStatements[1]: Reads on indices are not supported within transactions.",
        ),
        (("INSERT INTO orders VALUE {'pk': 'a', 'sk': '1', 'x': [<<'a', 'a'>>]}",), f"{IN_TRANSACTION}{DUPLICATES}"),
        (("SELECT * FROM orders WHERE pk IN ['a', 'a'] AND sk = '1'",), f"{IN_TRANSACTION}{OVERLAP}"),
    ],
)
def test_invalid_statement_is_reported_instead_of_a_transaction_cancellation(
    engine: Engine, statements: tuple[str, ...], message: str
) -> None:
    assert transact(engine, *statements) == {"error": "ValidationException", "message": message}


# --- ADD and DELETE -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "value", "message"),
    [
        ("ADD x :v", {"BOOL": True}, "ADD, operand type: BOOL"),
        ("DELETE x :v", {"L": [s("m")]}, "DELETE, operand type: LIST"),
        ("DELETE x :v", n(1), "DELETE, operand type: NUMBER"),
    ],
)
def test_add_and_delete_reject_operands_of_unsupported_types(
    engine: Engine, expression: str, value: dict[str, Any], message: str
) -> None:
    update = {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("1")}, "UpdateExpression": expression}
    params = {**update, "ExpressionAttributeValues": {":v": value}}
    expected = (
        "Invalid UpdateExpression: Incorrect operand type for operator or function; "
        f"operator: {message}, typeSet: ALLOWED_FOR_ADD_OPERAND"
    )
    assert answer(engine, "UpdateItem", params)["message"] == f"1 validation error detected: {expected}"
    assert answer(engine, "TransactWriteItems", {"TransactItems": [{"Update": params}]})["message"] == expected
