"""Calls to an in-process store run one after the other, unless they have waited too long."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from keyplan import Design
from keyplan.web import request_queue as turns
from keyplan.web.request_queue import in_turn
from tests.web.library import Library


class Beside:
    """A callable ``work`` that records how many of its calls run concurrently."""

    def __init__(self, wait_for: Callable[[], object] = lambda: None) -> None:
        self._guard = threading.Lock()
        self._wait_for = wait_for
        self.now = 0
        self.most = 0
        self.order: list[int] = []

    def work(self, number: int) -> int:
        with self._guard:
            self.now += 1
            self.most = max(self.most, self.now)
            self.order.append(number)
        self._wait_for()
        with self._guard:
            self.now -= 1
        return number


async def _all(design: Design, beside: Beside, count: int) -> list[int]:
    return await asyncio.gather(*(in_turn(design, beside.work, number) for number in range(count)))


def test_calls_to_an_in_process_store_run_in_order_of_arrival(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "WAIT_SECONDS", 60.0)
    beside = Beside()
    with Library.open(":memory:") as library:
        for _ in range(2):  # each event loop has its own queue
            assert asyncio.run(_all(library, beside, 20)) == list(range(20))
    assert beside.most == 1
    assert beside.order == [*range(20), *range(20)]


def test_calls_to_a_remote_store_run_concurrently() -> None:
    together = threading.Barrier(5)
    beside = Beside(lambda: together.wait(30))
    elsewhere = cast("Design", SimpleNamespace(store=SimpleNamespace(backend=object())))
    assert asyncio.run(_all(elsewhere, beside, 5)) == list(range(5))
    assert beside.most == 5


def test_a_call_that_waited_too_long_runs_concurrently() -> None:
    """All five calls start before any of them ends."""
    together = threading.Barrier(5)
    beside = Beside(lambda: together.wait(30))
    with Library.open(":memory:") as library:
        assert asyncio.run(_all(library, beside, 5)) == list(range(5))


def test_a_failed_call_releases_the_request_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "WAIT_SECONDS", 60.0)

    def fail(_: Any) -> None:
        raise KeyError("nothing")

    async def both(design: Design) -> list[Any]:
        calls = [in_turn(design, fail, 0), in_turn(design, Beside().work, 1)]
        return await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 30)

    with Library.open(":memory:") as library:
        failed, answer = asyncio.run(both(library))
    assert isinstance(failed, KeyError)
    assert answer == 1


def test_a_canceled_call_releases_the_request_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "WAIT_SECONDS", 60.0)
    begun, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        go_on.wait(30)

    async def three(design: Design) -> int:
        first = asyncio.create_task(in_turn(design, hold))
        await asyncio.to_thread(begun.wait, 30)
        second = asyncio.create_task(in_turn(design, Beside().work, 2))
        third = asyncio.create_task(in_turn(design, Beside().work, 3))
        await asyncio.sleep(0)
        second.cancel()
        go_on.set()
        await first
        return await asyncio.wait_for(third, 30)

    with Library.open(":memory:") as library:
        assert asyncio.run(three(library)) == 3


def test_the_time_limit_applies_while_a_released_lock_is_handed_over() -> None:
    """After a release, the lock has no owner until the first waiting task runs."""

    async def newcomer() -> bool:
        turn = asyncio.Lock()
        await turn.acquire()
        first = asyncio.create_task(turn.acquire())
        await asyncio.sleep(0)
        turn.release()
        assert not turn.locked()
        async with asyncio.timeout(30):
            result = await turns.taken(turn)
        assert await first
        return result

    assert not asyncio.run(newcomer())
