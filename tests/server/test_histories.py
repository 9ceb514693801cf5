"""Concurrent conditional writes and transactions, of several client processes on several workers, are serialisable."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from keyplan.store import check_file
from tests.processes import outputs
from tests.server.histories import Operation, error_details_of
from tests.server.history_client import ACCOUNTS, BALANCE, KEYS, listed, place
from tests.server.support import CREATE, ROOT, TABLE, Server, serving

OPERATIONS = int(os.environ.get("KEYPLAN_HISTORY", "120"))
"""Of each thread of each client."""
PROCESSES, THREADS = "ABC", 3


def final(server: Server, begin_s: float) -> Operation:
    """All lists at the end."""
    reads = {key: listed(server.call("GetItem", place(key)).get("Item")) for key in KEYS}
    return Operation("the end", begin_s, time.monotonic(), reads=reads)


@pytest.mark.parametrize("workers", [1, 3])
def test_histories(tmp_path: Path, workers: int) -> None:
    db = str(tmp_path / "store.db")
    with serving(db, workers=workers, sync="normal") as server:
        server.call("CreateTable", CREATE)
        for account in ACCOUNTS:
            item = {**place(account)["Key"], "b": {"N": str(BALANCE)}}
            server.call("PutItem", {"TableName": TABLE, "Item": item})
        arguments = [str(server.port), "", str(OPERATIONS), str(THREADS)]
        program = [sys.executable, "-m", "tests.server.history_client", arguments[0]]
        printed = outputs([[*program, name, *arguments[2:]] for name in PROCESSES], cwd=ROOT)
        result: list[dict[str, Any]] = [json.loads(each) for each in printed]
        history = [Operation(**each) for element in result for each in element["history"]]
        history.append(final(server, time.monotonic()))
    assert error_details_of(history) == []
    assert {total for element in result for total in element["sums"]} == {BALANCE * len(ACCOUNTS)}
    done = [each for each in history if each.is_done]
    assert sum(len(each.appends) > 1 for each in done) > 50
    assert len(done) < len(history)  # some were refused
    assert overlapping(history) > OPERATIONS
    assert check_file(db) == []


def overlapping(history: list[Operation]) -> int:
    """How many operations began before another had ended."""
    count, until_s = 0, 0.0
    for operation in sorted(history, key=lambda each: each.begin_s):
        count += operation.begin_s < until_s
        until_s = max(until_s, operation.end_s)
    return count


def at(name: str, begin_s: float, **seen: Any) -> Operation:
    return Operation(name, begin_s, begin_s + 0.5, **seen)


END = {"x": [1, 2], "y": [3]}
GOOD = [
    at("A", 0, appends={"x": 1}),
    at("B", 1, appends={"x": 2, "y": 3}, reads={"x": [1]}),
    at("C", 2, reads={"x": [1, 2], "y": [3]}),
    at("end", 9, reads=END),
]


def test_the_checker_passes_what_is_good() -> None:
    assert error_details_of(GOOD) == []
    assert (
        error_details_of([Operation("E", 0, 8, reads={"x": [1], "y": []}), *GOOD]) == []
    )  # at once with all the others
    assert error_details_of([at("F", 3, is_done=False, appends={"x": 7}, lengths={"x": 1}), *GOOD]) == []


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ([at("L", 3, appends={"x": 9})], "L appended 9 to x 1 times, it is there 0 times"),
        ([at("R", 3, is_done=False, appends={"x": 2})], "R appended 2 to x 0 times, it is there 1 times"),
        ([at("P", 3, reads={"x": [2]})], "P read [2] of x"),
        ([at("S", 3, reads={"x": [1]})], "no serial order"),  # after B was done: stale
        ([Operation("T", 0, 8, reads={"x": [1], "y": [3]})], "no serial order"),  # half of a transaction
        ([Operation("U", 0, 8, lengths={"x": 5})], "U saw 5 values of x"),
    ],
)
def test_the_checker_finds_what_is_wrong(wrong: list[Operation], fault: str) -> None:
    assert any(fault in each for each in error_details_of([*GOOD, *wrong]))


def test_the_checker_finds_write_skew() -> None:
    """Each saw that the other's list was empty, and wrote to its own."""
    skew = [
        Operation("A", 0, 8, appends={"x": 1}, lengths={"y": 0}),
        Operation("B", 0, 8, appends={"y": 2}, lengths={"x": 0}),
        at("end", 9, reads={"x": [1], "y": [2]}),
    ]
    assert "no serial order" in error_details_of(skew)[0]
