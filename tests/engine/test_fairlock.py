"""The lock of those who write: one holds it, and who waits longest is next."""

from __future__ import annotations

import threading
import time

from keyplan.store.storage.sqlite import FairLock


def test_one_holds_it() -> None:
    lock = FairLock()
    assert lock.acquire_at_once()
    assert not lock.acquire_at_once()
    assert not lock.acquire(0.0)
    assert not lock.acquire(0.001)
    lock.release()
    assert lock.acquire(0.0)
    assert not lock.acquire_at_once()
    lock.release()
    assert lock.acquire_at_once()


def test_who_waits_longest_is_next() -> None:
    lock = FairLock()
    assert lock.acquire_at_once()
    got: list[int] = []

    def wait(number: int) -> None:
        assert lock.acquire(60)
        got.append(number)
        lock.release()

    threads = [threading.Thread(target=wait, args=(number,)) for number in range(4)]
    for number, thread in enumerate(threads, 1):
        thread.start()
        while len(lock._waiting) < number:
            time.sleep(0.001)
    assert not lock.acquire_at_once()
    lock.release()
    for thread in threads:
        thread.join()
    assert got == [0, 1, 2, 3]
    assert lock.acquire_at_once()
