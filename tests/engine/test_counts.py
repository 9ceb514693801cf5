"""How many items a table has: counted each time while that is quick, and remembered where it isn't."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from keyplan.store import Engine
from keyplan.store.tables import table_description as describe
from tests.engine.support import create, put, s

LIFETIME_S = 6 * 3600.0


def counts(engine: Engine) -> list[int]:
    """Items and bytes of the table, then of its index."""
    table = engine.call("DescribeTable", {"TableName": "orders"})["Table"]
    (by_g,) = table["GlobalSecondaryIndexes"]
    return [each[name] for each, name in ((table, "ItemCount"), (table, "TableSizeBytes"), (by_g, "ItemCount"))]


def test_what_a_large_table_holds_is_remembered_for_six_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(describe, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(describe, "COUNTED_ROWS_MAX", 3)
    with Engine.open(":memory:") as engine:
        create(engine)
        for number in range(3):
            put(engine, "a", str(number), g=s("g"), h=s("h"))
            assert counts(engine) == [number + 1, 10 * (number + 1), number + 1]
        put(engine, "a", "3")
        table = engine._database.table("orders")
        assert describe.Counts(engine._storage).of(table, None) == (4, 36)
        assert counts(engine) == [4, 36, 3]
        put(engine, "a", "4")
        now[0] += LIFETIME_S - 1
        assert counts(engine) == [4, 36, 3]
        now[0] += 1
        assert counts(engine) == [5, 42, 3]
