"""Stores that designs share: identity, hooks, closing, and the comparison with the table when a design is opened."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from keyplan import CallRecord, PatternRecord
from keyplan.client.call_records import RunningCall
from keyplan.client.transports.workers import Workers
from keyplan.errors import ErrorDetail, StoreError
from keyplan.session.stores import Store
from keyplan.systems import FAULTS_KEPT, LoadReport


class Backend:
    """A backend that counts calls of its close method."""

    def __init__(self) -> None:
        self.transport: Any = object()
        self.async_transport: Any = object()
        self.ahead = None
        self.on_call: Any = None
        self.closed = 0

    def close(self) -> None:
        self.closed += 1

    async def aclose(self) -> None:
        self.closed += 1


def store(url: str, backend: Any = None) -> Store:
    return Store(backend or Backend(), url, "notes")


def listens(one: Store) -> bool:
    return one.watched


def test_different_urls_of_the_same_store_are_recognized(tmp_path: Path) -> None:
    (tmp_path / "a.db").touch()
    (tmp_path / "linked.db").symlink_to(tmp_path / "a.db")
    urls = [
        str(tmp_path / "a.db"), str(tmp_path / "linked.db"), str(tmp_path / "." / "a.db"), str(tmp_path / "b.db"),
        ":memory:", "dynamodb://eu-west-1/aaa", "dynamodb://eu-west-1/bbb", "dynamodb://eu-west-2/aaa",
        "dynamodb://eu-west-1/aaa?profile=p", "dynamodb+http://local:8000/aaa", "dynamodb+http://local:8000/bbb",
        "dynamodb+http://local:8001/aaa", "dynamodb+http://other:8000/aaa", "dynamodb+https://local:8000/aaa",
        "dynamodb+http://local:8000/aaa?region=eu-west-1",
    ]  # fmt: skip
    same: set[tuple[str, str]] = set()
    for one, other in product(urls, urls):
        is_same = store(one).is_beside(store(other))
        assert is_same is store(other).is_beside(store(one))
        if is_same and one < other:
            same.add((one, other))
    assert (urls[4], urls[0]) not in same
    assert tuple(sorted(urls[:2])) in same
    first = store(":memory:")
    assert first.is_beside(first.beside("other"))
    assert first.beside("other").table_name == "other"


def test_a_backend_keeps_its_hook_until_no_shared_store_uses_it() -> None:
    """The backend has a hook until its last store with a hook is closed."""
    backend = Backend()
    first = store(":memory:", backend)
    second = first.beside("other")
    calls: list[CallRecord] = []
    patterns: list[PatternRecord] = []
    assert (first.watched, second.watched, backend.on_call) == (False, False, None)
    assert second.watch(patterns.append) is not None
    assert (first.watched, second.watched) == (False, True)
    assert backend.on_call is not None
    first.on_call = calls.append
    assert first.on_call is not None
    assert listens(first)
    record = RunningCall.finished_request("GetItem", 0.0, (1, 2), 3, {}, {})
    backend.on_call(record)
    assert calls == [record]
    with first.counting("Here"):
        pass
    assert patterns == []
    with second.counting("There"):
        pass
    with pytest.raises(StoreError), second.counting("There"):
        raise StoreError("no")
    with pytest.raises(GeneratorExit), second.counting("There"):
        raise GeneratorExit
    assert [(each.pattern, each.error) for each in patterns] == [
        ("There", None), ("There", StoreError.code), ("There", None)
    ]  # fmt: skip
    watcher = patterns.append
    second.watch(watcher)
    second.unwatch(watcher)
    assert not listens(second)
    assert backend.on_call is not None
    first.on_call = None
    assert not listens(first)
    assert backend.on_call is None


def test_closing_the_first_shared_store_closes_the_backend() -> None:
    """Closing any other store only removes the hook of that store."""
    backend = Backend()
    first = store(":memory:", backend)
    second, third = first.beside("b"), first.beside("c")
    third.watch(lambda record: None)
    assert backend.on_call is not None
    third.close()
    assert backend.on_call is None
    third.close()
    second.close()
    assert backend.closed == 0
    first.close()
    assert backend.closed == 1


def test_a_load_report_keeps_at_most_1000_errors() -> None:
    report = LoadReport()
    for number in range(FAULTS_KEPT + 2):
        report.fault(ErrorDetail(f"line {number}", "wrong"))
    assert (FAULTS_KEPT, len(report.errors), report.more_faults) == (1000, 1000, 2)


def test_worker_threads_reject_new_functions_after_shutdown() -> None:
    """This includes workers that have never run a function."""
    idle, used = Workers(1, "idle"), Workers(1, "used")
    assert used.submit(int, "3").result() == 3
    for workers in (idle, used):
        workers.shutdown()
        with pytest.raises(StoreError, match="the design was closed"):
            workers.submit(int, "3")
