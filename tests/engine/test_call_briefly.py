"""``call_briefly`` abandons a request that would take a long time, without any effect."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.errors import DynamoDBError
from keyplan.store import Engine, LongError
from tests.engine.support import answer, create, get, n, put, s

KEY = {"pk": s("a"), "sk": s("1")}
OF_KEY = {"TableName": "orders", "Key": KEY}
MEMBERS = {"L": [{"NULL": True}] * 80_000}
ADD = {"UpdateExpression": "ADD c :c", "ExpressionAttributeValues": {":c": n(1)}}
STATEMENT = "UPDATE orders SET c = c + 1 WHERE pk = 'a' AND sk = '1'"
WRITES: list[tuple[str, dict[str, Any]]] = [
    ("UpdateItem", {**OF_KEY, **ADD}),
    ("TransactWriteItems", {"TransactItems": [{"Update": {**OF_KEY, **ADD}}]}),
    ("ExecuteStatement", {"Statement": STATEMENT}),
    ("BatchExecuteStatement", {"Statements": [{"Statement": STATEMENT}]}),
    ("ExecuteTransaction", {"TransactStatements": [{"Statement": STATEMENT}]}),
]


def large(engine: Engine) -> None:
    create(engine)
    put(engine, "a", "1", c=n(0), x=MEMBERS)


def count_of(engine: Engine) -> Any:
    return (get(engine, "a", "1") or {})["c"]


@pytest.mark.parametrize(("name", "params"), WRITES)
def test_call_briefly_abandons_a_long_write(engine: Engine, name: str, params: dict[str, Any]) -> None:
    large(engine)
    with pytest.raises(LongError):
        engine.call_briefly(name, params)
    assert count_of(engine) == n(0)
    engine.call(name, params)
    assert count_of(engine) == n(1)
    put(engine, "a", "1", c=n(5))
    engine.call_briefly(name, params)
    assert count_of(engine) == n(6)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("GetItem", {**OF_KEY, "ProjectionExpression": "c"}),
        ("Scan", {"TableName": "orders", "FilterExpression": "c = c2"}),
        ("Scan", {"TableName": "orders", "ProjectionExpression": "c"}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [KEY], "ProjectionExpression": "c"}}}),
        ("TransactGetItems", {"TransactItems": [{"Get": OF_KEY}]}),
        ("ExecuteStatement", {"Statement": "SELECT c FROM orders WHERE pk = 'a' AND sk = '1'"}),
        ("BatchExecuteStatement", {"Statements": [{"Statement": "SELECT c FROM orders WHERE pk = 'a' AND sk = '1'"}]}),
    ],
)
def test_call_briefly_abandons_a_long_read(engine: Engine, name: str, params: dict[str, Any]) -> None:
    large(engine)
    with pytest.raises(LongError):
        engine.call_briefly(name, params)
    assert engine.call(name, params)
    put(engine, "a", "1", c=n(5))
    assert engine.call_briefly(name, params) == engine.call(name, params)


def test_group_commit_completes_a_write_that_takes_a_long_time(engine: Engine) -> None:
    large(engine)
    small = ("PutItem", {"TableName": "orders", "Item": {"pk": s("a"), "sk": s("2")}})
    condition = {"ConditionExpression": "c = :c", "ExpressionAttributeValues": {":c": n(9)}}
    outcomes = engine.call_together([small, WRITES[0], ("DeleteItem", {**OF_KEY, **condition}), small])
    assert outcomes[:2] + outcomes[3:] == [{}, {}, {}]
    assert isinstance(outcomes[2], DynamoDBError)
    assert count_of(engine) == n(1)


def test_large_set_with_duplicate_members_is_rejected(engine: Engine) -> None:
    create(engine)
    item = {**KEY, "x": {"SS": ["same"] * 100_000}}
    result = answer(engine, "PutItem", {"TableName": "orders", "Item": item})["message"]
    assert result.endswith("One or more parameter values were invalid: Input collection contains duplicates.")
