"""Hooks receive requests with their access pattern and cost. ``Usage`` sums the costs and finds hot keys."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan import (
    CallRecord,
    Create,
    Cursor,
    Design,
    Each,
    Entity,
    Index,
    Key,
    Page,
    PatternRecord,
    Put,
    Table,
    Usage,
    Writes,
    read,
    write,
)
from keyplan.errors import ItemNotFound, StoreError

# mypy: disable-error-code="empty-body"

BY_AUTHOR = Index("BY_AUTHOR", "author_pk", "author_sk")


class Note(Entity):
    name: str
    author: str
    text: str = ""

    primary = Key("NOTE#{name}", "META")
    by_author = Key("AUTHOR#{author}", "{name}", index=BY_AUTHOR)


class Notes(Design):
    table = Table("notes", indexes=[BY_AUTHOR])

    @read("N1")
    def note(self, name: str) -> Note: ...

    @read("N2")
    def by_author(self, author: str, limit: int = 5, cursor: Cursor | None = None) -> Page[Note]: ...

    @read("N3")
    def scan_index(self, author: str) -> Iterator[Note]: ...

    @read("N4")
    def of_authors(self, author: Each[str], limit: int = 5) -> list[Note]: ...

    @write("N5")
    def add(self, note: Note) -> Writes[Note]:
        yield Create(note)
        return note


@pytest.fixture
def notes() -> Iterator[Notes]:
    with Notes.open(":memory:") as design:
        yield design


def test_hooks_receive_each_request_with_its_pattern_and_units(notes: Notes) -> None:
    records: list[CallRecord] = []
    notes.store.on_call = records.append
    notes.add(Note(name="a", author="ada"))
    notes.note("a")
    notes.get(Note, name="a")
    notes.store.on_call = None
    notes.note("a")
    assert [(record.pattern, record.operation, record.read_units, record.write_units) for record in records] == [
        ("Notes.add", "PutItem", 0, 2),
        ("Notes.note", "GetItem", 0.5, 0),
        ("Notes.get", "GetItem", 0.5, 0),
    ]
    assert records[1].parameters["Key"] == {"pk": {"S": "NOTE#a"}, "sk": {"S": "META"}}


def test_hooks_receive_a_call_when_it_ends(notes: Notes) -> None:
    records: list[PatternRecord] = []
    notes.store.watch(records.append)
    with pytest.raises(ItemNotFound):
        notes.note("nowhere")
    notes.of_authors(["ada", "ben", "cai"])
    notes.call("by_author", {"author": "ada"})
    notes.store.unwatch(records.append)
    notes.by_author("ada")
    told_of = [(record.pattern, record.requests, record.error) for record in records]
    assert told_of == [("Notes.note", 1, "ItemNotFound"), ("Notes.of_authors", 3, None), ("Notes.by_author", 1, None)]


def test_hooks_receive_the_latencies_of_calls_and_requests(notes: Notes) -> None:
    """The latency of an iterator's call excludes the time that the caller spends between items."""
    calls: list[CallRecord] = []
    patterns: list[PatternRecord] = []
    notes.store.on_call = calls.append
    notes.store.watch(patterns.append)
    began, began_ns = time.monotonic(), time.time_ns()
    notes.add(Note(name="a", author="ada"))
    notes.add(Note(name="b", author="ada"))
    notes.of_authors(["ada", "ben"])
    for _ in notes.scan_index("ada"):
        time.sleep(0.02)
    ended_ns, spent_ms = time.time_ns(), (time.monotonic() - began) * 1000
    assert [record.pattern for record in patterns] == ["Notes.add", "Notes.add", "Notes.of_authors", "Notes.scan_index"]
    assert sum(call.latency_ms for call in patterns) <= spent_ms - 40
    records: list[CallRecord | PatternRecord] = [*calls, *patterns]
    for record in records:
        assert 0 < record.latency_ms <= spent_ms
        assert began_ns <= record.started_ns <= ended_ns
    assert sum(record.latency_ms for record in calls) <= spent_ms
    assert sorted(call.started_ns for record in patterns for call in record.calls) == sorted(
        call.started_ns for call in calls
    )


def test_calls_of_concurrent_tasks_are_recorded_separately(notes: Notes) -> None:
    records: list[PatternRecord] = []
    notes.store.watch(records.append)

    async def all_at_once() -> None:
        await asyncio.gather(
            *(notes.of_authors.aio([f"{n}", f"{n}b"][: 1 + n % 2]) for n in range(20)), notes.aio.put(NOTE)
        )

    asyncio.run(all_at_once())
    assert sorted(record.requests for record in records if record.pattern == "Notes.of_authors") == [1] * 10 + [2] * 10
    assert [record.write_units for record in records if record.pattern == "Notes.put"] == [2]


def test_calls_of_concurrent_threads_are_recorded_separately(notes: Notes) -> None:
    records: list[PatternRecord] = []
    notes.store.watch(records.append)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: notes.of_authors([f"{n}", f"{n}b"][: 1 + n % 2]), range(20)))
    assert sorted(record.requests for record in records) == [1] * 10 + [2] * 10


NOTE = Note(name="a", author="ada")


@pytest.mark.parametrize("awaited", [False, True])
def test_all_requests_of_an_iterator_are_recorded_as_one_call(notes: Notes, *, awaited: bool) -> None:
    notes.batch([_put(n) for n in range(250)])
    records: list[PatternRecord] = []
    notes.store.watch(records.append)

    async def count() -> int:
        return len([note async for note in notes.scan_index.aio("ada")])

    assert (asyncio.run(count()) if awaited else len(list(notes.scan_index("ada")))) == 250
    assert [(record.pattern, record.requests) for record in records] == [("Notes.scan_index", 3)]


@pytest.mark.parametrize("awaited", [False, True])
def test_errors_that_hooks_raise_are_logged(notes: Notes, caplog: pytest.LogCaptureFixture, *, awaited: bool) -> None:
    """An error of a hook doesn't make a completed write fail, and doesn't replace an error of the write."""
    records: list[PatternRecord] = []

    def fails(record: object) -> None:
        raise LookupError(record)

    notes.store.on_call = fails
    notes.store.watch(fails)
    notes.store.watch(records.append)
    asyncio.run(notes.aio.put(NOTE)) if awaited else notes.put(NOTE)
    with pytest.raises(ItemNotFound):
        asyncio.run(notes.note.aio("nowhere")) if awaited else notes.note("nowhere")
    assert [pattern_record.pattern for pattern_record in records] == ["Notes.put", "Notes.note"]
    assert [log_record.name for log_record in caplog.records] == ["keyplan.hooks"] * 4


def test_the_call_of_an_abandoned_iterator_is_recorded_without_an_error(notes: Notes) -> None:
    """The record contains only the requests for the pages that were read."""
    notes.batch([_put(n) for n in range(250)])
    records: list[PatternRecord] = []
    notes.store.watch(records.append)

    async def some() -> None:
        async for note in notes.scan_index.aio("ada"):
            if note.name == "2":
                break
        gc.collect()
        await asyncio.sleep(0.01)

    asyncio.run(some())
    for note in notes.scan_index("ada"):
        if note.name == "2":
            break
    gc.collect()
    assert [(record.requests, record.error) for record in records] == [(2, None), (2, None)]


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_calls_with_hooks_do_not_hang_in_a_forked_process_or_after_closing(notes: Notes) -> None:
    """A forked process lacks its parent's threads, and closing the design stops these threads."""
    notes.put(NOTE)
    asyncio.run(_get(notes))
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends the child where it hangs
        asyncio.run(_get(notes))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    notes.close()
    with pytest.raises(StoreError, match="closed"):
        asyncio.run(_get(notes))


async def _get(notes: Notes) -> None:
    await notes.note.aio("a")


def test_the_usage_report_sums_units_by_access_pattern(notes: Notes) -> None:
    usage = notes.store.watch(Usage(Notes.table))
    for _ in range(3):
        notes.by_author("ada")
    with pytest.raises(ItemNotFound):
        notes.note("nowhere")
    pattern_usage = usage.patterns["Notes.by_author"]
    assert (pattern_usage.calls, pattern_usage.errors, pattern_usage.requests, pattern_usage.read_units) == (
        3,
        0,
        3,
        1.5,
    )
    assert usage.patterns["Notes.note"].errors == 1
    assert pattern_usage.latency_ms >= pattern_usage.latency_ms_max > 0


def test_the_usage_report_lists_the_hottest_keys_of_table_and_indexes(notes: Notes) -> None:
    usage = notes.store.watch(Usage(Notes.table))
    notes.batch([_put(n) for n in range(10)])
    for _ in range(5):
        notes.by_author("ada")
    notes.update(NOTE.model_copy(update={"name": "3"}), text="new")
    first, second = usage.hottest(2)
    assert (first.place, first.key, first.read_units, first.write_units) == ("BY_AUTHOR", "AUTHOR#ada", 2.5, 10)
    assert (second.place, second.key, second.write_units) == (None, "NOTE#3", 2)
    assert len(usage.hottest(100)) == 11


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(1, 9), st.sampled_from(["GetItem", "DeleteItem"])), max_size=120)
)
def test_the_usage_report_includes_every_key_with_a_large_share_of_the_units(taken: list[tuple[int, int, str]]) -> None:
    usage = Usage(Notes.table, keys=4)
    true: dict[str, float] = {}
    for number, units, operation in taken:
        asked = {"pk": {"S": str(number)}, "sk": {"S": ""}}
        call = CallRecord(operation, 1, 0, 0, 0, {"CapacityUnits": units}, parameters={"Key": asked})
        usage(PatternRecord("p", 1, 0, (call,)))
        true[str(number)] = true.get(str(number), 0) + units
    result = {hot_key.key: hot_key for hot_key in usage.hottest(100)}
    assert len(result) <= 4
    assert set(result) >= {key for key, units in true.items() if units > sum(true.values()) / 4}
    for key, hot_key in result.items():
        total = hot_key.read_units + hot_key.write_units
        assert total - hot_key.over <= true[key] <= total


def _put(number: int) -> Put:
    return Put(Note(name=f"{number}", author="ada"))


def test_hooks_receive_read_and_write_units_separately() -> None:
    """A write transaction has read and write units; a read has only read units."""
    units = {"CapacityUnits": 7.0, "ReadCapacityUnits": 2.0, "WriteCapacityUnits": 5.0}
    for operation, capacity, expected in (
        ("Query", {"CapacityUnits": 2.5}, (2.5, 0)),
        ("TransactGetItems", [{"CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}, {"CapacityUnits": 1.0}], (3, 0)),
        ("PutItem", {"CapacityUnits": 3.0}, (0, 3)),
        ("TransactWriteItems", units, (2, 5)),
        ("ExecuteTransaction", [units, units], (4, 10)),
        ("PutItem", None, (0, 0)),
    ):
        record = CallRecord(operation, 1.0, 0, 0, 0, capacity)
        assert (record.read_units, record.write_units) == expected, operation
