"""Concurrent threads and processes lose no write and leave no index incomplete."""

from __future__ import annotations

import contextlib
import multiprocessing
import threading
from collections.abc import Callable
from typing import Any

import pytest

from keyplan.dynamodb.service_errors import ConditionalCheckFailedException, TransactionCanceledException
from keyplan.errors import DynamoDBError
from keyplan.store import Engine
from tests.engine.support import create, get, index, n, pages, put, s

CONTEXT = multiprocessing.get_context("spawn")


def run_together(works: list[Callable[[], None]]) -> None:
    errors: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - reported by the assertion below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def run_processes(work: Callable[..., None], *args: Any) -> None:
    processes = [CONTEXT.Process(target=work, args=args) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4


def count_up(engine: Engine, times: int) -> None:
    for _ in range(times):
        engine.call(
            "UpdateItem",
            {
                "TableName": "orders",
                "Key": {"pk": s("counter"), "sk": s("0")},
                "UpdateExpression": "ADD c :one SET g = :g",
                "ExpressionAttributeValues": {":one": n(1), ":g": s("g")},
            },
        )


def test_concurrent_counter_updates_are_all_applied(engine: Engine) -> None:
    create(engine)
    run_together([lambda: count_up(engine, 20)] * 20)
    item = get(engine, "counter", "0")
    assert item is not None
    assert item["c"] == n(400)


def in_process(path: str, times: int) -> None:
    """Increment the counter in five threads of a separate process."""
    with Engine.open(path) as engine:
        run_together([lambda: count_up(engine, times)] * 5)


@pytest.mark.nightly
def test_counter_updates_by_several_processes_are_all_applied(path: str) -> None:
    with Engine.open(path) as engine:
        create(engine)
        run_processes(in_process, path, 30)
        item = get(engine, "counter", "0")
        assert item is not None
        assert item["c"] == n(600)
        assert engine.check() == []


def test_exactly_one_of_several_concurrent_conditional_puts_succeeds(engine: Engine) -> None:
    create(engine)
    won: list[int] = []

    def attempt(number: int) -> None:
        try:
            engine.call(
                "PutItem",
                {
                    "TableName": "orders",
                    "Item": {"pk": s("a"), "sk": s("1"), "by": n(number)},
                    "ConditionExpression": "attribute_not_exists(pk)",
                },
            )
        except ConditionalCheckFailedException:
            return
        won.append(number)

    run_together([lambda number=number: attempt(number) for number in range(20)])  # type: ignore[misc]
    assert len(won) == 1
    item = get(engine, "a", "1")
    assert item is not None
    assert item["by"] == n(won[0])


def test_concurrent_transfers_in_transactions_keep_the_total_balance(engine: Engine) -> None:
    create(engine)
    for account in range(4):
        put(engine, "account", str(account), balance=n(100))

    def transfer(source: int, target: int) -> None:
        for _ in range(10):
            changes = [
                {
                    "Update": {
                        "TableName": "orders",
                        "Key": {"pk": s("account"), "sk": s(str(account))},
                        "UpdateExpression": "SET balance = balance + :d",
                        "ConditionExpression": "balance >= :least",
                        "ExpressionAttributeValues": {":d": n(change), ":least": n(max(0, -change))},
                    }
                }
                for account, change in ((source, -30), (target, 30))
            ]
            with contextlib.suppress(TransactionCanceledException):
                engine.call("TransactWriteItems", {"TransactItems": changes})

    run_together([lambda source=source: transfer(source, (source + 1) % 4) for source in range(4)])  # type: ignore[misc]
    answered = engine.call(
        "TransactGetItems",
        {
            "TransactItems": [
                {"Get": {"TableName": "orders", "Key": {"pk": s("account"), "sk": s(str(a))}}} for a in range(4)
            ]
        },
    )
    assert sum(int(response["Item"]["balance"]["N"]) for response in answered["Responses"]) == 400


def test_engine_uses_indexes_that_another_engine_created(path: str) -> None:
    with Engine.open(path) as first, Engine.open(path) as second:
        create(first)
        put(first, "a", "1", g=s("g"), h=s("h"), k=s("k"))
        assert get(second, "a", "1") is not None
        change_index(first, {"Create": index("ByK", "k")})
        put(second, "a", "2", g=s("g"), h=s("h"), k=s("k"))
        result = pages(
            second,
            "Query",
            {
                "TableName": "orders",
                "IndexName": "ByK",
                "KeyConditionExpression": "k = :k",
                "ExpressionAttributeValues": {":k": s("k")},
            },
        )
        assert [item["sk"] for item in result] == [s("1"), s("2")]
        change_index(first, {"Delete": {"IndexName": "ByK"}})
        put(second, "a", "3", k={"L": []})
        second.call("DeleteTable", {"TableName": "orders"})
        create(second)
        put(first, "a", "1")
        assert first.check() == second.check() == []


def change_index(engine: Engine, change: dict[str, object]) -> None:
    engine.call(
        "UpdateTable",
        {
            "TableName": "orders",
            "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [change],
        },
    )


def test_index_created_during_concurrent_writes_is_complete(engine: Engine) -> None:
    create(engine)

    def write(number: int) -> None:
        for turn in range(30):
            put(engine, f"p{number}", f"{turn}", g=s("g"), h=s("h"), k=s("k"))

    def change() -> None:
        for _ in range(6):
            change_index(engine, {"Create": index("ByK", "k")})
            change_index(engine, {"Delete": {"IndexName": "ByK"}})
        change_index(engine, {"Create": index("ByK", "k")})

    run_together([change, *[lambda number=number: write(number) for number in range(4)]])
    assert engine.check() == []
    assert engine.call("Scan", {"TableName": "orders", "IndexName": "ByK", "Select": "COUNT"})["Count"] == 120


def test_scan_of_an_index_that_another_engine_deleted_is_rejected(path: str) -> None:
    with Engine.open(path) as engine, Engine.open(path) as other:
        create(engine)
        scan = {"TableName": "orders", "IndexName": "ByG"}
        assert engine.call("Scan", scan)["Count"] == 0
        remove = [{"Delete": {"IndexName": "ByG"}}]
        other.call("UpdateTable", {"TableName": "orders", "GlobalSecondaryIndexUpdates": remove})
        with pytest.raises(DynamoDBError, match="does not have the specified index"):
            engine.call("Scan", scan)
