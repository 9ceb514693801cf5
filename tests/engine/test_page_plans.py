"""SQLite's query plans for pages, on a file and in memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keyplan.store.storage.key_layouts import Bounds, IndexLayout, TableLayout
from keyplan.store.storage.sql import page_values
from keyplan.store.storage.sqlite import Storage
from keyplan.store.storage.table_reads import StoredTable

LAYOUT = TableLayout(
    0, 1, "S", "S", (IndexLayout(1, ("S",), ("S",), sized=False), IndexLayout(2, ("S", "N"), (), sized=True))
)


@pytest.fixture
def table(storage: Storage) -> StoredTable:
    layout = storage.write(lambda writer: writer.create_table("t", "{}", LAYOUT))
    return storage.table(layout)


@pytest.mark.parametrize("index", [None, 1])
@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize(
    "bounds",
    [
        Bounds(("a",)),
        Bounds(("a",), equal=("b",)),
        Bounds(("a",), low=(">", "b"), high=("<", "c")),
        Bounds(("a",), after=("a", "b", "c", "d")),
        Bounds(("a",), low=(">", "b"), high=("<", "c"), after=("a", "b", "c", "d")),
        Bounds(after=("a", "b", "c", "d")),
        Bounds(),
    ],
)
def test_sqlite_reads_a_page_in_index_order_without_sorting(
    storage: Storage, table: StoredTable, index: int | None, forward: bool, bounds: Bounds
) -> None:
    """SQLite scans only rows within the bounds of the page."""
    after = bounds.after if bounds.after is None or index is not None else bounds.after[:2]
    page = replace(bounds, forward=forward, after=after)
    text, values = table.texts.page(index, page), page_values(page, 10)
    connection = storage.pool.take()
    steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", tuple(values))]
    storage.pool.give(connection)
    assert not any("TEMP B-TREE" in step for step in steps), steps
    assert steps[0].startswith("SCAN" if bounds == Bounds() and index is None else "SEARCH"), steps
    if index is not None:
        assert len(steps) == 2
        assert "INTEGER PRIMARY KEY" in steps[1], steps
    if after is not None:
        operator = ">" if forward else "<"
        assert f"sk){operator}(" in steps[0] or f"sk{operator}?" in steps[0], steps
