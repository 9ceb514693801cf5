"""The direction, the key and several sets of values as a call gives them, on every store."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from keyplan.errors import CursorError
from keyplan.testing import verify
from tests.contract.asking import Asking, Job, Step, Watch
from tests.contract.stores import CALLERS, OPENERS, Caller
from tests.contract.test_patterns import paged

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(params=[(store, way) for store in OPENERS for way in CALLERS], ids="-".join)
def asking(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Caller]:
    """The design on an empty store."""
    store, way = request.param
    caller = CALLERS[way](OPENERS[store](Asking, tmp_path))
    yield caller
    caller.close()


def job(number: int, **more: Any) -> Job:
    given = {"team": "t", "rank": 9 - number, "started_at": NOON + timedelta(hours=number)}
    return Job(job_id=str(number), **{**given, **more})


def test_a_call_says_the_direction(asking: Caller) -> None:
    jobs = [asking.put(job(number)) for number in range(5)]
    steps = [asking.put(Step(job_id="1", number=number, text="")) for number in range(4)]
    assert paged(asking, "jobs", 2, team="t") == jobs[::-1]
    assert paged(asking, "jobs", 2, team="t", newest_first=False) == jobs
    assert paged(asking, "ranking", 2, team="t", newest_first=True) == jobs
    assert paged(asking, "ranking", 2, team="t", newest_first=False) == jobs[::-1]
    assert [asking.read("first", team="t"), asking.read("first", team="t", newest_first=True)] == [jobs[0], jobs[4]]
    assert asking.read("steps", job_id="1") == steps
    assert asking.read("steps", job_id="1", newest_first=True) == steps[::-1]
    assert asking.read("by_rank", team="t") == jobs[::-1]


def test_partitions_and_junctions_follow_the_direction(asking: Caller) -> None:
    jobs = [asking.put(job(number, team="ab"[number % 2])) for number in range(4)]
    for number in (0, 3, 1):
        asking.put(Watch(person="p", job_id=str(number), since=NOON + timedelta(days=number)))
        asking.put(Step(job_id=str(number), number=number, text=""))
    for number in (5, 7):
        asking.put(Step(job_id="3", number=number, text=""))
    assert paged(asking, "of_teams", 1, team=["a", "b"]) == jobs
    assert paged(asking, "of_teams", 3, team=["a", "b"], newest_first=True) == jobs[::-1]
    assert paged(asking, "watched", 2, person="p") == [jobs[3], jobs[1], jobs[0]]
    assert paged(asking, "watched", 1, person="p", newest_first=False) == [jobs[0], jobs[1], jobs[3]]
    newest = [one.number for one in paged(asking, "steps_watched", 2, person="p")]
    oldest = [one.number for one in paged(asking, "steps_watched", 2, person="p", newest_first=False)]
    assert (newest, oldest) == ([7, 5, 3, 1, 0], [0, 1, 3, 5, 7])


def test_a_cursor_holds_its_direction(asking: Caller) -> None:
    for number in range(3):
        asking.put(job(number))
    page = asking.read("jobs", team="t", limit=1, newest_first=False)
    with pytest.raises(CursorError):
        asking.read("jobs", team="t", limit=1, cursor=page.cursor)
    following = asking.read("jobs", team="t", limit=1, newest_first=False, cursor=page.cursor)
    assert [one.job_id for one in following] == ["1"]


@pytest.mark.parametrize(("store", "stores"), [("memory", 20), ("server", 6), ("dynamodb-local", 4)])
def test_generated_stores(store: str, stores: int, tmp_path: Path) -> None:
    """Every pattern against brute force, on each kind of store."""
    folders = (tmp_path / str(number) for number in itertools.count())
    verify(Asking, stores=stores, seed=1, open=lambda: OPENERS[store](Asking, next(folders)))
