"""How long locks are waited for, and how far snapshots of lagging indexes are apart: at the very moment, too."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest

from keyplan.store import Engine
from keyplan.store.simulation.index_lag import SNAPSHOTS_MAX, IndexLag
from keyplan.store.storage import connections
from keyplan.store.storage.connections import BusyWait
from keyplan.store.storage.sqlite import Storage
from tests.engine.support import create, put

SECOND = 1 / 128
"""Of which sums are exact."""


class Time:
    """Stands until it is set, or slept."""

    def __init__(self) -> None:
        self.now_s = 64.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds


@pytest.fixture
def stands(monkeypatch: pytest.MonkeyPatch) -> Time:
    stands = Time()
    monkeypatch.setattr(time, "monotonic", stands)
    monkeypatch.setattr(time, "sleep", stands.sleep)
    return stands


def test_a_lock_is_waited_for_until_the_time_is_over(stands: Time) -> None:
    wait = BusyWait(1.0)
    assert wait(0)
    for now_s, again in ((64.5, True), (65.0 - SECOND, True), (65.0, False), (65.0 + SECOND, False)):
        stands.now_s = now_s
        assert wait(1) is again
    assert wait(0)  # the next lock has its own time
    assert not BusyWait(0.0)(0)


def test_a_lock_is_waited_for_until_a_moment(stands: Time) -> None:
    wait = BusyWait(100.0)
    wait.until(66.0)
    assert wait(0)
    stands.now_s = 66.0 - SECOND
    assert wait(0)
    stands.now_s = 66.0
    assert not wait(1)
    assert not wait(0)
    wait.until(None)
    assert wait(0)
    stands.now_s = 165.0
    assert wait(7)
    stands.now_s = 166.0
    assert not wait(8)


def test_pauses_grow_up_to_a_bound(stands: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    bounds: list[tuple[float, float]] = []

    def uniform(low: float, high: float) -> float:
        bounds.append((low, high))
        return high

    monkeypatch.setattr(random, "uniform", uniform)
    wait = BusyWait(1000.0)
    for tries in range(200):
        assert wait(tries)
    least, most = connections._POLL_S_MIN, connections._POLL_S_MAX
    assert bounds == [(least, min(most, least * (tries + 2))) for tries in range(200)]
    assert bounds[0][1] == 2 * least
    assert bounds[-1] == (least, most)
    assert stands.slept == [high for _, high in bounds]


def test_snapshots_are_as_far_apart_as_they_may_be(tmp_path: Path) -> None:
    """And dropped when the next one is old enough, at that moment."""
    storage = Storage.file(str(tmp_path / "store.db"))
    stands = Time()
    lag = IndexLag(storage, stands, SNAPSHOTS_MAX * 1.0)

    def remembered() -> list[float]:
        lag.remember()
        return [at_s - 64 for at_s, _ in lag._snapshots]

    assert remembered() == [0]
    stands.now_s += 1 - SECOND
    assert remembered() == [0]
    stands.now_s += SECOND
    assert remembered() == [0, 1]
    assert remembered() == [0, 1]
    stands.now_s = 64.0 + SNAPSHOTS_MAX + 1 - SECOND
    assert remembered() == [0, 1, SNAPSHOTS_MAX + 1 - SECOND]
    stands.now_s += SECOND
    assert remembered() == [1, SNAPSHOTS_MAX + 1 - SECOND]
    lag.forget()
    assert not lag._snapshots
    storage.close()


def test_connections_are_taken_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked later opens no more connections than what was asked first."""
    with Engine.open(tmp_path / "store.db") as engine:
        create(engine)
        pool: Any = engine._storage.pool
        opened: list[int] = []
        open_ = pool._open

        def counted(flags: int) -> Any:
            opened.append(flags)
            return open_(flags)

        monkeypatch.setattr(pool, "_open", counted)
        for number in range(4):
            put(engine, "a", str(number))
            engine.call("Scan", {"TableName": "orders"})
        assert opened == []
