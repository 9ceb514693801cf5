"""PartiQL statements in BatchExecuteStatement and ExecuteTransaction."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import answer, create, index, n, put, s
from tests.engine.test_partiql import BAD, KEYED, engine

__all__ = ["engine"]


def test_batch_of_partiql_selects_returns_an_item_or_error_per_statement(engine: Engine) -> None:
    statements = [
        {"Statement": f"SELECT number FROM orders {KEYED}"},
        {"Statement": "SELECT * FROM orders WHERE pk = 'none' AND sk = '1'", "ConsistentRead": True},
        {"Statement": "SELECT * FROM orders WHERE pk = 'a'"},
        {"Statement": f"SELECT * FROM orders {KEYED} AND begins_with(text, 'h')"},
        {"Statement": "SELECT * FROM nowhere WHERE pk = 'a'"},
        {"Statement": "SELECT"},
    ]
    text = "Select statements within BatchExecuteStatement must specify the primary key in the where clause."
    answered = engine.call("BatchExecuteStatement", {"Statements": statements, "ReturnConsumedCapacity": "TOTAL"})
    assert answered["Responses"] == [
        {"TableName": "orders", "Item": {"number": n(5)}},
        {"TableName": "orders"},
        {"Error": {"Code": "ValidationError", "Message": text}},
        {"Error": {"Code": "ValidationError", "Message": text}},
        {"Error": {"Code": "ResourceNotFound", "Message": "Requested resource not found"}},
        {"Error": {"Code": "ValidationError", "Message": BAD + "Unexpected term"}},
    ]
    assert answered["ConsumedCapacity"] == [{"TableName": "orders", "CapacityUnits": 1.5}]


@pytest.mark.parametrize(
    ("condition", "is_read"),
    [
        ("pk = 'a'", True),
        ("(pk IN ['a'])", True),
        ("pk = 'b'", False),
        ("sk IN ['1', '2']", False),
        ("number = 5", False),
        ("number IN [5, 6]", False),
        ("(number = 4 OR NOT number = 7)", False),
        ("begins_with(text, 'h')", False),
        ("NOT begins_with(text, 'x')", False),
        ("(number = 5 OR (number = 6 AND begins_with(text, 'h')))", False),
        ("number IN [size(text), 5]", False),
        ("size(text) BETWEEN 0 AND 9", False),
        ("9 > size(text)", False),
    ],
)
def test_batch_select_rejects_conditions_other_than_the_key(engine: Engine, condition: str, is_read: bool) -> None:
    statement = {"Statement": f"SELECT number FROM orders {KEYED} AND {condition}"}
    (answered,) = engine.call("BatchExecuteStatement", {"Statements": [statement]})["Responses"]
    assert ("Item" in answered, "Error" in answered) == (is_read, not is_read)


def test_partiql_filter_on_an_index_supports_only_projected_attributes() -> None:
    with Engine.open(":memory:") as engine:
        create(engine, GlobalSecondaryIndexes=[index("ByG", "g", "h", projection="KEYS_ONLY")])
        put(engine, "a", "1", g=s("g"), h=s("h"), x=n(1))
        wanted = "SELECT * FROM orders.ByG WHERE g = 'g' AND h = 'h' AND pk = 'a' AND sk = '1'"
        (item,) = engine.call("ExecuteStatement", {"Statement": wanted})["Items"]
        assert item == {"pk": s("a"), "sk": s("1"), "g": s("g"), "h": s("h")}
        refused = answer(engine, "ExecuteStatement", {"Statement": f"{wanted} AND x = 1"})
        assert "does not project one or more filter attributes: [x]" in refused["message"]


def test_batch_of_partiql_writes_returns_a_result_per_statement(engine: Engine) -> None:
    statements = [
        {"Statement": "INSERT INTO orders VALUE {'pk': 'a', 'sk': '1'}"},
        {"Statement": "INSERT INTO orders VALUE {'pk': ?, 'sk': '1'}", "Parameters": [s("new")]},
        {"Statement": f"UPDATE orders SET number = 6 {KEYED} AND number = 7"},
        {"Statement": f"UPDATE orders SET number = 6 {KEYED} RETURNING MODIFIED NEW *"},
        {"Statement": "DELETE FROM orders WHERE pk = 'a'"},
    ]
    assert engine.call("BatchExecuteStatement", {"Statements": statements}) == {
        "Responses": [
            {
                "Error": {"Code": "DuplicateItem", "Message": "Duplicate primary key exists in table"},
                "TableName": "orders",
            },
            {"TableName": "orders"},
            {
                "Error": {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"},
                "TableName": "orders",
            },
            {"TableName": "orders", "Item": {"number": n(6)}},
            {
                "Error": {
                    "Code": "ValidationError",
                    "Message": "Where clause does not contain a mandatory equality on all key attributes",
                }
            },
        ]
    }
    mixed = {"Statements": [statements[0], {"Statement": f"SELECT * FROM orders {KEYED}"}]}
    assert answer(engine, "BatchExecuteStatement", mixed)["message"] == (
        "Read and write requests together in the same batch is not supported."
    )


def transact(engine: Engine, *statements: str, **more: Any) -> dict[str, Any]:
    given = [{"Statement": statement} for statement in statements]
    return answer(engine, "ExecuteTransaction", {"TransactStatements": given, **more})


def test_partiql_transactions_are_atomic_and_idempotent(engine: Engine) -> None:
    read = f"SELECT number FROM orders {KEYED}"
    missing = "SELECT * FROM orders WHERE pk='none' AND sk='1'"
    assert transact(engine, read, missing) == {"Responses": [{"Item": {"number": n(5)}}, {}]}
    insert = "INSERT INTO orders VALUE {'pk': 'new', 'sk': '1'}"
    check = f"EXISTS(SELECT * FROM orders {KEYED} AND number = 5)"
    more = {"ClientRequestToken": "t", "ReturnConsumedCapacity": "TOTAL"}
    first = transact(engine, insert, check, **more)
    assert first["Responses"] == []
    assert first["ConsumedCapacity"][0]["WriteCapacityUnits"] == 4.0
    again = transact(engine, insert, check, **more)
    assert again["Responses"] == []
    assert again["ConsumedCapacity"][0]["ReadCapacityUnits"] == 4.0
    assert transact(engine, insert, **more)["error"] == "IdempotentParameterMismatchException"
    failed = transact(engine, insert, check.replace("= 5", "= 6"))
    assert failed["CancellationReasons"] == [
        {"Code": "DuplicateItem", "Message": "Duplicate primary key exists in table"},
        {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"},
    ]


NEEDS_KEY = "Select statements within ExecuteTransaction must specify the primary key in the where clause."


@pytest.mark.parametrize(
    ("statements", "number", "message"),
    [
        (("SELECT",), 0, BAD + "Unexpected term"),
        (
            (f"DELETE FROM orders {KEYED}", f"DELETE FROM orders {KEYED} RETURNING ALL OLD *"),
            1,
            "RETURNING clause is not supported in ExecuteTransaction.",
        ),
        (("SELECT * FROM orders.ByG WHERE g='g1'",), 0, "Reads on indices are not supported within transactions."),
        (("SELECT * FROM orders WHERE pk='a'",), 0, NEEDS_KEY),
        ((f"SELECT * FROM orders {KEYED}", f"SELECT * FROM orders {KEYED} AND begins_with(text, 'h')"), 1, NEEDS_KEY),
        ((f"SELECT * FROM orders {KEYED} AND NOT (number = 6 OR contains(text, 'h'))",), 0, NEEDS_KEY),
        (
            (f"EXISTS(SELECT * FROM orders {KEYED})",),
            0,
            "EXISTS() must contain a single item read with additional condition",
        ),
        (
            (f"DELETE FROM orders {KEYED}", f"UPDATE orders SET x = 1 {KEYED}"),
            None,
            "Transaction request cannot include multiple operations on one item",
        ),
        (
            (f"SELECT * FROM orders {KEYED}", f"DELETE FROM orders {KEYED}"),
            None,
            "ExecuteTransaction API does not support both read and write operations in the same request.",
        ),
    ],
)
def test_invalid_partiql_transactions_are_rejected(
    engine: Engine, statements: tuple[str, ...], number: int | None, message: str
) -> None:
    prefix = "" if number is None else f"Validation failed in TransactStatements[{number}]: "
    assert transact(engine, *statements)["message"] == prefix + message


def test_canceled_partiql_transaction_returns_items_on_request(engine: Engine) -> None:
    failing = f"UPDATE orders SET number = 6 {KEYED} AND number = 9"
    for wanted, shown in (("ALL_OLD", True), ("NONE", False), (None, False)):
        more = {} if wanted is None else {"ReturnValuesOnConditionCheckFailure": wanted}
        reasons = answer(engine, "ExecuteTransaction", {"TransactStatements": [{"Statement": failing, **more}]})
        (reason,) = reasons["CancellationReasons"]
        assert (reason["Code"], "Item" in reason) == ("ConditionalCheckFailed", shown)
