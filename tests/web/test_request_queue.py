"""What answers from a store in this process is carried out one after the other, and never waits for long."""

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
    """Counts how many calls of ``work`` are going on at a time."""

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


def test_one_after_the_other_in_the_order_in_which_they_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "WAIT_SECONDS", 60.0)
    beside = Beside()
    with Library.open(":memory:") as library:
        for _ in range(2):  # each event loop has turns of its own
            assert asyncio.run(_all(library, beside, 20)) == list(range(20))
    assert beside.most == 1
    assert beside.order == [*range(20), *range(20)]


def test_a_store_elsewhere_is_asked_by_all_at_a_time() -> None:
    together = threading.Barrier(5)
    beside = Beside(lambda: together.wait(30))
    elsewhere = cast("Design", SimpleNamespace(store=SimpleNamespace(backend=object())))
    assert asyncio.run(_all(elsewhere, beside, 5)) == list(range(5))
    assert beside.most == 5


def test_who_has_waited_for_long_begins_beside_the_others() -> None:
    """None of these ends before all have begun."""
    together = threading.Barrier(5)
    beside = Beside(lambda: together.wait(30))
    with Library.open(":memory:") as library:
        assert asyncio.run(_all(library, beside, 5)) == list(range(5))


def test_an_error_ends_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_one_who_goes_while_waiting_leaves_the_turn_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_turn_that_was_just_given_to_another_is_not_waited_for_longer() -> None:
    """A lock that was released is held by nobody for a moment, before the first of those who wait has it."""

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
