"""Ctrl-C at any SQL statement is raised unchanged, and an SQLite failure at any statement as a store error. No write is
partial, and the store remains usable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import pytest

from keyplan.errors import StoreError
from keyplan.store import Engine
from tests.engine.support import create, put, s

Step = Callable[[Engine], object]


class Interrupted(apsw.Connection):
    """A connection that raises an error before or after the statement with a given number."""

    number = 0
    after = False
    seen = 0
    many = 1
    kind: type[BaseException] = KeyboardInterrupt
    open = 0

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        Interrupted.open += 1

    def close(self, *given: Any, **named: Any) -> None:
        Interrupted.open -= 1
        super().close(*given, **named)

    def execute(self, *given: Any, **named: Any) -> apsw.Cursor:
        Interrupted.seen += 1
        now = Interrupted.number <= Interrupted.seen < Interrupted.number + Interrupted.many
        if now and not Interrupted.after:
            raise Interrupted.kind
        answer = super().execute(*given, **named)
        if now:
            raise Interrupted.kind
        return answer

    @classmethod
    def arm(cls, number: int, *, after: bool, many: int = 1, kind: type[BaseException] = KeyboardInterrupt) -> None:
        """Let ``many`` statements, starting with this number, raise this kind of exception."""
        cls.seen, cls.number, cls.after, cls.many, cls.kind = 0, number, after, many, kind


@pytest.fixture(autouse=True)
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(apsw, "Connection", Interrupted)
    yield
    Interrupted.arm(0, after=False)


def interrupts(work: Callable[[], object]) -> Iterator[bool]:
    """Repeat the work, interrupted one statement later each time. Yield whether the work was interrupted."""
    for after in (False, True):
        number = 0
        happened = True
        while happened:
            number += 1
            Interrupted.arm(number, after=after)
            with suppress(KeyboardInterrupt):
                work()
            happened = Interrupted.seen >= number
            Interrupted.arm(0, after=False)
            yield happened
        assert number > 2


def test_opening_a_new_file_can_be_interrupted(path: str) -> None:
    def work() -> None:
        for end in ("", "-wal", "-shm"):
            Path(path + end).unlink(missing_ok=True)
        Engine.open(path).close()

    before = Interrupted.open
    for _ in interrupts(work):
        assert Interrupted.open == before
        with Engine.open(path) as engine:  # the file is empty or complete
            create(engine)


STEPS: dict[str, Step] = {
    "a table": lambda engine: create(engine, "another"),
    "a write": lambda engine: put(engine, "a", "1", g=s("g"), h=s("h")),
    "a transaction": lambda engine: engine.call(
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": "orders", "Item": {"pk": s("a"), "sk": s(each), "g": s("g"), "h": s("h")}}}
                for each in "12"
            ]
        },
    ),
}


@pytest.mark.parametrize("place", ["file", ":memory:"])
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_interrupted_write_is_stored_completely_or_not_at_all(path: str, place: str, step: Step) -> None:
    where = path if place == "file" else place
    with Engine.open(where) as engine:
        create(engine)
        for _ in interrupts(lambda: step(engine)):
            assert engine.call("Scan", {"TableName": "orders"})["Count"] in {0, 1, 2}
            put(engine, "b", "1")
            engine.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s("b"), "sk": s("1")}})
            written = [item["sk"]["S"] for item in engine.call("Scan", {"TableName": "orders"})["Items"]]
            assert written in ([], ["1"], ["1", "2"])
            for sk in written:
                engine.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s("a"), "sk": s(sk)}})
            if "another" in engine.call("ListTables", {})["TableNames"]:
                engine.call("DeleteTable", {"TableName": "another"})
        if place == "file":
            assert engine.check() == []


INDEX_QUERY = {
    "TableName": "orders",
    "IndexName": "ByG",
    "KeyConditionExpression": "g = :g",
    "ExpressionAttributeValues": {":g": s("g")},
}
KEY = {"pk": s("b"), "sk": s("1")}
FAILING: dict[str, Step] = {
    **STEPS,
    "a query": lambda engine: engine.call("Query", INDEX_QUERY),
    "a get": lambda engine: engine.call("GetItem", {"TableName": "orders", "Key": KEY}),
    "gets": lambda engine: engine.call("BatchGetItem", {"RequestItems": {"orders": {"Keys": [KEY]}}}),
    "gets together": lambda engine: engine.call(
        "TransactGetItems", {"TransactItems": [{"Get": {"TableName": "orders", "Key": KEY}}]}
    ),
    "the tables": lambda engine: engine.call("ListTables", {}),
    "a check": lambda engine: engine.check(),
}
FAILURES = [*((many, apsw.FullError) for many in (1, 2, 3)), *((many, KeyboardInterrupt) for many in (2, 3))]
"""How many statements fail, one after another: the step's own, then those that roll it back."""


@pytest.mark.parametrize("place", ["file", ":memory:", "a file whose indexes lag"])
@pytest.mark.parametrize("step", FAILING.values(), ids=FAILING)
def test_sqlite_failure_at_any_statement_raises_a_store_error(path: str, place: str, step: Step) -> None:
    """If the rollback also fails, the connection is closed, so no connection leaks."""
    times = count(1_000_000_000, 1_000)
    now = next(times)
    where, lag_ms = (place, 0.0) if place == ":memory:" else (path, 60_000.0 if "lag" in place else 0.0)
    with Engine.open(where, index_lag_ms=lag_ms, clock=lambda: now) as engine:
        create(engine)
        put(engine, "b", "1")
        most = Interrupted.open
        for many, kind in FAILURES:
            number, happened = 0, True
            while happened:
                number, now = number + 1, next(times)
                Interrupted.arm(number, after=False, many=many, kind=kind)
                with suppress(StoreError, KeyboardInterrupt):
                    step(engine)
                happened = Interrupted.seen >= number
                Interrupted.arm(0, after=False)
                put(engine, "b", "1")
                assert Interrupted.open <= most
                if "another" in engine.call("ListTables", {})["TableNames"]:
                    engine.call("DeleteTable", {"TableName": "another"})
            assert number > 1
        assert engine.check() == []
