"""What would hold up the event loop is done beside it: in which threads, how many at a time, what rests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from keyplan.store.server.worker_threads import AtOnce, Threads, Work

USUAL_S = 0.125


@pytest.mark.parametrize(
    ("work", "slow", "expected"),
    [
        (lambda: b"at once", lambda: b"slowly", [b"at once"]),
        (lambda: b"", lambda: b"slowly", [b""]),
        (lambda: None, lambda: b"slowly", [b"slowly"]),
        (lambda: None, lambda: None, []),
        (lambda: None, None, []),
    ],
)
def test_what_is_slow_is_done_once_it_is_known_to_be(work: Work, slow: Work | None, expected: list[bytes]) -> None:
    """The same with an event loop, on which the answer is then given, and without."""
    answers: list[bytes] = []
    AtOnce().submit(work, slow, answers.append)
    assert answers == expected
    threads: list[int] = []

    def done(answer: bytes) -> None:
        threads.append(threading.get_ident())
        answers.append(answer)

    async def beside() -> None:
        aside = Threads(asyncio.get_running_loop())
        ended = asyncio.Event()
        aside.submit(work, slow, done)
        if expected:
            while len(answers) < 2:
                await asyncio.sleep(0.001)
        else:
            aside.submit(lambda: b"last", None, lambda _: ended.set())
            await ended.wait()
        aside.close()

    asyncio.run(beside())
    assert answers == [*expected, *expected]
    assert threads == [threading.get_ident()] * len(expected)


class _Gate:
    """Work that waits until it is let through, and that knows how much of it waits."""

    def __init__(self) -> None:
        self._opened = threading.Event()
        self.begun = 0
        self.names: set[str] = set()
        self._guard = threading.Lock()

    def work(self) -> bytes:
        """Wait."""
        with self._guard:
            self.begun += 1
            self.names.add(threading.current_thread().name.rpartition("_")[0])
        self._opened.wait()
        return b"done"

    def open(self) -> None:
        """Let all of it through."""
        self._opened.set()


def _slow(aside: Threads, work: Work, done: Callable[[bytes], None]) -> None:
    aside.submit(lambda: None, work, done)


def _large(aside: Threads, work: Work, done: Callable[[bytes], None]) -> None:
    aside.submit(work, None, done)


@pytest.mark.parametrize(
    ("submit", "name", "at_a_time", "others"),
    [
        (_large, "keyplan-large", 3, [Threads.submit_change]),
        (_slow, "keyplan-slow", 1, [_large, Threads.submit_change]),
        (Threads.submit_change, "keyplan-tables", 8, [_large, _slow]),
    ],
)
def test_how_many_are_worked_on_at_a_time(
    submit: Callable[..., None], name: str, at_a_time: int, others: list[Callable[..., None]]
) -> None:
    """Of one kind so many, while other kinds go on: what is slow is begun as what is large."""
    gate, answers = _Gate(), list[bytes]()

    async def crowd() -> None:
        aside = Threads(asyncio.get_running_loop())
        for _ in range(at_a_time + 2):
            submit(aside, gate.work, answers.append)
        while gate.begun < at_a_time:
            await asyncio.sleep(0.001)
        passing = list[bytes]()
        for other in others:
            other(aside, lambda: b"other", passing.append)
        while len(passing) < len(others):
            await asyncio.sleep(0.001)
        assert (gate.begun, answers) == (at_a_time, [])
        gate.open()
        while len(answers) < at_a_time + 2:
            await asyncio.sleep(0.001)
        aside.close()

    asyncio.run(crowd())
    assert gate.begun == at_a_time + 2
    assert gate.names == {name}


@pytest.mark.parametrize("submit", [_large, _slow, Threads.submit_change])
def test_at_the_end_what_was_begun_is_finished_and_nothing_else_begun(submit: Callable[..., None]) -> None:
    gate = _Gate()

    async def crowd() -> tuple[int, int]:
        aside = Threads(asyncio.get_running_loop())
        for _ in range(20):
            submit(aside, gate.work, lambda _: None)
        while not gate.begun:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.01)
        asyncio.get_running_loop().run_in_executor(None, _open_later)
        aside.close()
        begun, running = gate.begun, sum(thread.name.startswith("keyplan-") for thread in threading.enumerate())
        await asyncio.sleep(0)
        return begun, running

    def _open_later() -> None:
        threading.Event().wait(0.05)
        gate.open()

    begun, running = asyncio.run(crowd())
    assert 1 <= begun <= 8
    assert (gate.begun, running) == (begun, 0)
