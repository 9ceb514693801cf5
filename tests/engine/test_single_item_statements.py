"""PartiQL UPDATE and DELETE of one item have the same results with a cached plan as with the general code path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from keyplan.store import Engine
from keyplan.store.statements import single_item_statements as statement_changes
from keyplan.store.statements import statement_plans as statements
from tests.engine.support import answer, create, keyed, n, put, s

KEYED = "WHERE pk = 'a' AND sk = '1'"
BY_PARAMETER = "WHERE sk = ? AND pk = ?"
CHANGES: list[tuple[str, list[Any]]] = [
    (f"UPDATE orders SET x = ? {KEYED}", [n("1.50")]),
    (f"UPDATE orders SET x = ? SET y = ? REMOVE g {BY_PARAMETER}", [n(2), {"L": [n(1)]}, s("1"), s("a")]),
    (f"UPDATE orders SET number = number + ?, list = list_append(list, ?) {KEYED}", [n(2), {"L": [s("z")]}]),
    (f'UPDATE "orders" SET map."deep" = if_not_exists(map."deep", ?) {KEYED} RETURNING MODIFIED NEW *', [s("new")]),
    (f"UPDATE orders SET number = 9 {KEYED} RETURNING ALL OLD *", []),
    (f"UPDATE orders SET number = ? {KEYED} RETURNING ALL NEW *", [n(7)]),
    (f"UPDATE orders REMOVE number {BY_PARAMETER} RETURNING MODIFIED OLD *", [s("1"), s("a")]),
    (f"UPDATE orders SET g = ? {KEYED}", [s("other")]),
    (f"UPDATE orders SET tags = set_add(tags, <<'b'>>) {KEYED} RETURNING ALL NEW *", []),
    (f"FROM orders {KEYED} SET number = ?", [n(3)]),
    (f"DELETE FROM orders {KEYED}", []),
    (f"DELETE FROM orders {BY_PARAMETER} RETURNING ALL OLD *", [s("1"), s("a")]),
    (f"DELETE FROM orders {BY_PARAMETER}", [s("none"), s("a")]),
]
GENERAL: list[tuple[str, list[Any]]] = [
    (f"UPDATE orders SET x = 1 {KEYED} AND number = ?", [n(5)]),
    (f"UPDATE orders SET x = ? {KEYED} AND number > ? RETURNING ALL NEW *", [s("x"), n(4)]),
    (f"UPDATE orders SET x = ? {KEYED} AND number > ?", [s("x"), n(5)]),
    (f"UPDATE orders SET x = ? {KEYED} AND begins_with(g, ?)", [s("x"), n(5)]),
    (f"UPDATE orders SET x = ? {BY_PARAMETER} AND number IN [?, ?]", [s("x"), s("1"), s("a"), n(4), n(5)]),
    (f"DELETE FROM orders {KEYED} AND number > ?", [n(4)]),
    (f"DELETE FROM orders {KEYED} AND number > ?", [n(5)]),
    (f"UPDATE orders SET x = [?] {KEYED}", [n(5)]),
    (f"UPDATE orders SET tags = set_add(tags, ?) {KEYED}", [{"SS": ["c"]}]),
    (f"UPDATE orders SET tags = set_add(tags, ?) {KEYED}", [s("c")]),
    ("UPDATE orders SET x = 1 WHERE pk = 'a' AND sk = '1' AND pk = 'b'", []),
    ("UPDATE orders SET x = 1 WHERE pk = 'a' AND sk > '0'", []),
    ("UPDATE orders SET x = 1", []),
    (f"DELETE FROM orders {KEYED} OR pk = 'b'", []),
]
REJECTED: list[tuple[str, list[Any]]] = [
    (f'DELETE FROM orders."ByG" {KEYED}', []),
    (f"DELETE FROM orders {KEYED} RETURNING MODIFIED OLD *", []),
    (f"UPDATE orders SET pk = ? {KEYED}", [s("b")]),
    (f"UPDATE orders SET x = 1 {BY_PARAMETER}", [n(1), s("a")]),
    (f"UPDATE orders SET x = 1 {BY_PARAMETER}", [s(""), s("a")]),
    (f"UPDATE orders SET x = 1 {BY_PARAMETER}", [s("1")]),
    (f"UPDATE orders SET x = 1 {BY_PARAMETER}", [s("9"), s("a")]),
    (f"UPDATE orders SET x = ? {KEYED}", [{"SS": []}]),
    (f"UPDATE orders SET x = ?, x.y = 1 {KEYED}", [n(1)]),
    (f"UPDATE orders SET x = ? + 1 {KEYED}", [s("text")]),
    (f"UPDATE orders SET number = number + ? {KEYED}", [s("text")]),
    (f"UPDATE orders SET none.deep = 1 {KEYED}", []),
    (f"UPDATE orders SET g = ? {KEYED}", [n(1)]),
    (f'UPDATE orders SET "{"x" * 65_536}" = 1 {KEYED}'[:8192], []),
    ("UPDATE orders SET x = 1 WHERE pk = 'a'", []),
    ("UPDATE orders SET x = 1 WHERE pk = 'a' AND sk = '1' AND other = ?", [s("y")]),
    (f"UPDATE nowhere SET x = 1 {KEYED}", []),
    ("DELETE FROM orders WHERE pk = 'a' AND sk = 1", []),
]


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:") as engine:
        create(engine)
        yield engine
        assert engine.check() == []


def run(engine: Engine, statement: str, parameters: list[Any]) -> list[Any]:
    """Run the statement alone, in a batch and in a transaction. Return each response and the items after it."""
    given = {"Statement": statement, **({"Parameters": parameters} if parameters else {})}
    answers: list[Any] = []
    for operation, request in (
        ("ExecuteStatement", {**given, "ReturnConsumedCapacity": "INDEXES"}),
        ("BatchExecuteStatement", {"Statements": [given]}),
        ("ExecuteTransaction", {"TransactStatements": [{**given, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}]}),
    ):
        parts: dict[str, Any] = {
            "list": {"L": [s("x")]},
            "map": {"M": {}},
            "tags": {"SS": ["a"]},
            "g": s("g"),
            "h": s("h"),
        }
        put(engine, "a", "1", number=n(5), **parts)
        answers += [answer(engine, operation, request), engine.call("Scan", {"TableName": "orders"})["Items"]]
    return answers


@pytest.mark.parametrize(("statement", "parameters"), CHANGES + GENERAL + REJECTED)
def test_partiql_statement_returns_the_same_result_with_and_without_a_cached_plan(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, statement: str, parameters: list[Any]
) -> None:
    result = run(engine, statement, parameters)
    monkeypatch.setattr(statement_changes, "change_of", lambda _: None)
    assert result == run(engine, statement, parameters)
    monkeypatch.setattr(statements, "plan_of", lambda _: None)
    assert result == run(engine, statement, parameters)


def test_cached_partiql_plan_detects_a_recreated_table(engine: Engine) -> None:
    statement = f"UPDATE orders SET x = 1 {KEYED}"
    put(engine, "a", "1")
    assert answer(engine, "ExecuteStatement", {"Statement": statement}) == {"Items": []}
    engine.call("DeleteTable", {"TableName": "orders"})
    assert answer(engine, "ExecuteStatement", {"Statement": statement})["error"] == "ResourceNotFoundException"
    create(engine, **keyed(pk="S", other="S"))
    assert "mandatory equality on all key" in answer(engine, "ExecuteStatement", {"Statement": statement})["message"]
