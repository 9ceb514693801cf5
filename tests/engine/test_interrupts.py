"""Ctrl-C before or behind any statement: it comes out as itself, nothing is half written, and the store works on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import pytest

from keyplan.engine import Engine
from tests.engine.support import create, put, s

Step = Callable[[Engine], object]


class Interrupted(apsw.Connection):
    """A connection that is interrupted once: before or behind the statement of a number, of all its kind's."""

    number = 0
    behind = False
    seen = 0

    def execute(self, *given: Any, **named: Any) -> apsw.Cursor:
        Interrupted.seen += 1
        now = Interrupted.seen == Interrupted.number
        if now and not Interrupted.behind:
            raise KeyboardInterrupt
        answer = super().execute(*given, **named)
        if now:
            raise KeyboardInterrupt
        return answer

    @classmethod
    def arm(cls, number: int, *, behind: bool) -> None:
        cls.seen, cls.number, cls.behind = 0, number, behind


@pytest.fixture(autouse=True)
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(apsw, "Connection", Interrupted)
    yield
    Interrupted.arm(0, behind=False)


def interrupts(work: Callable[[], object]) -> Iterator[bool]:
    """Do it again and again, interrupted one statement later each time; gives whether it was, until it isn't."""
    for behind in (False, True):
        number = 0
        happened = True
        while happened:
            number += 1
            Interrupted.arm(number, behind=behind)
            with suppress(KeyboardInterrupt):
                work()
            happened = Interrupted.seen >= number
            Interrupted.arm(0, behind=False)
            yield happened
        assert number > 2


def test_opening_a_new_file(path: str) -> None:
    def work() -> None:
        for end in ("", "-wal", "-shm"):
            Path(path + end).unlink(missing_ok=True)
        Engine.open(path).close()

    for _ in interrupts(work):
        with Engine.open(path) as engine:  # an interrupt leaves an empty file, or a whole store
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
def test_work_in_a_store(path: str, place: str, step: Step) -> None:
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
