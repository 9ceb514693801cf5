"""What requests cost, in the smallest pieces: blocks of 4 KB, pages and their ends, averages, and calls that fail."""

from __future__ import annotations

from typing import Any

from keyplan import Index
from keyplan.analysis.cost import simulated_layout as layout
from keyplan.analysis.cost import simulated_responses as answering
from keyplan.analysis.cost import unit_counts as units
from keyplan.analysis.cost.read_ranges import ExpectedItem, ExpectedRange
from keyplan.analysis.cost.unit_counts import Line, Request
from tests.rehearsal.kennels import BY_NAME

LOCAL = Index("beside", "pk", "lsk", local=True)


def test_units_are_summed_by_target_and_direction() -> None:
    requests = [
        Request("A", (Line("read", "", 1, ""), Line("write", "", 2, ""), Line("write", "x", 4, ""))),
        Request("B", (Line("write", "", 8, ""), Line("read", "x", 16, ""))),
    ]
    assert units.total_units(requests, "read") == {"": 1, "x": 16}
    assert units.total_units(requests, "write") == {"": 10, "x": 4}
    assert [request.units("write") for request in requests] == [6, 8]


def _partition(*sizes: int, closed: bool = False, index: Index | None = None, is_sorted: bool = True) -> Any:
    met = [ExpectedItem(size, "Dog", (at,)) for at, size in enumerate(sizes)]
    texts = [f"{at:09d}" for at in range(len(sizes))]
    stretch = ExpectedRange(met, closed=closed)
    return layout.Partition("x", index, stretch, texts, [f"id {text}" for text in texts], {}, is_sorted)


def test_what_is_known_to_be_the_last() -> None:
    is_last = answering.Answering._is_last
    three = (1, 1, 1)
    assert not is_last("Query", _partition(*three), 2, None)
    assert is_last("Query", _partition(*three, closed=True), 2, None)
    assert not is_last("Query", _partition(*three, closed=True), 1, None)
    assert is_last("Query", _partition(*three), 1, "000000001")
    assert not is_last("Query", _partition(*three), 1, "000000002")
    assert is_last("Query", _partition(*three, is_sorted=False), 0, None)
    assert not is_last("Query", _partition(*three, closed=True, index=BY_NAME), 2, None)
    assert not is_last("Scan", _partition(*three, closed=True), 2, "000000002")


def test_where_reading_goes_on() -> None:
    table = _partition(1, 1, 1)
    assert [table.behind(table.key(at)) for at in range(3)] == [1, 2, 3]
    assert _partition(1, 1, 1, is_sorted=False).behind({"pk": {"S": "x"}}) == 3
    for index in (BY_NAME, LOCAL):
        entries = _partition(1, 1, 1, index=index)
        assert [entries.behind(entries.key(at)) for at in range(3)] == [1, 2, 3]
    assert table.key(1) == {"pk": {"S": "x"}, "sk": {"S": "000000001"}}
    assert _partition(1, is_sorted=False).key(0) == {"pk": {"S": "x"}}
    assert set(_partition(1, index=LOCAL).key(0)) == {"pk", "sk", "index_sk0"}
    assert set(_partition(1, index=BY_NAME).key(0)) == {"pk", "sk", "index_pk", "index_sk0"}
