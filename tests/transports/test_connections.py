"""Connections: reuse, limits, parallel requests, cancellation, threads, forks and event loops."""

from __future__ import annotations

import asyncio
import gc
import gzip
import os
import signal
import threading
import time
import weakref
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import orjson
import pytest

from keyplan import Put
from keyplan.client.call_records import CallRecord
from keyplan.client.transports.http_sync import IDLE_SECONDS_MAX
from keyplan.errors import KeyplanError, StoreError
from tests.transports.calls import Note, Notes
from tests.transports.faulty import FaultyStore, Loop, reply

pytestmark = pytest.mark.usefixtures("impatient")
MANY = [{"book": "b", "number": number} for number in range(450)]


@pytest.fixture
def notes(store: FaultyStore) -> Iterator[Notes]:
    with Notes.open(store.url("connections=4&parallel=4&total_seconds=20"), create=True) as opened:
        opened.put(Note(book="b", number=1))
        yield opened


def test_consecutive_calls_reuse_one_connection(notes: Notes, store: FaultyStore) -> None:
    for _ in range(20):
        notes.note("b", 1)
    assert store.connections == 1


def test_requests_of_one_call_run_in_parallel_up_to_the_connection_limit(notes: Notes, store: FaultyStore) -> None:
    """Reading 450 keys takes five requests over four connections, and the results are in the order of the keys."""
    store.delay_seconds = 0.2
    result = notes.get_many(Note, MANY)
    assert [note is not None for note in result] == [number == 1 for number in range(450)]
    assert store.open_max == 4
    result = asyncio.run(_get_many(notes))
    assert [note is not None for note in result] == [number == 1 for number in range(450)]


async def _get_many(notes: Notes) -> list[Note | None]:
    return await notes.aio.get_many(Note, MANY)


def test_failure_of_a_parallel_request_is_raised_after_all_requests_ended(notes: Notes, store: FaultyStore) -> None:
    """When the error is raised, no request is running."""
    store.respond = lambda operation, body: reply(400, b'{"__type":"x#ValidationException","message":"no"}')
    calls: list[Callable[[], object]] = [lambda: notes.get_many(Note, MANY), lambda: asyncio.run(_get_many(notes))]
    for call in calls:
        with pytest.raises(KeyplanError, match="no"):
            call()
        before = store.received["BatchGetItem"]
        time.sleep(0.05)
        assert store.received["BatchGetItem"] == before


def test_threads_share_the_connections_of_a_store(notes: Notes, store: FaultyStore) -> None:
    """Eight threads use at most four connections, and each thread gets its own results."""
    for number in range(40):
        notes.put(Note(book="b", number=number))
    with ThreadPoolExecutor(8) as pool:
        result = list(pool.map(lambda number: notes.note("b", number % 40), range(400)))
    assert [note and note.number for note in result] == [number % 40 for number in range(400)]
    assert store.open_max <= 4


def test_waiting_for_a_busy_connection_times_out(store: FaultyStore) -> None:
    """If all connections are busy until the call's timeout, the error contains this reason."""
    Notes.open(store.url(), create=True).close()
    with Notes.open(store.url("connections=1&total_seconds=0.4")) as notes:
        store.delay_seconds = 1.0
        errors: list[str] = []

        def call() -> None:
            try:
                notes.note("b", 1)
            except StoreError as error:
                errors.append(error.message)

        threads = [threading.Thread(target=call) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        assert len(errors) == 2
        assert any("all 1 connections were busy" in text or "no complete response within" in text for text in errors)

        async def awaited() -> list[object]:
            return await asyncio.gather(*(notes.note.aio("b", 1) for _ in range(2)), return_exceptions=True)

        assert all(isinstance(value, StoreError) for value in asyncio.run(awaited()))


def test_canceled_call_closes_its_connection(notes: Notes, store: FaultyStore) -> None:
    """The next call uses a new connection and gets its own response."""

    async def run() -> None:
        await notes.note.aio("b", 1)
        store.delay_seconds = 0.3
        task = asyncio.create_task(notes.note.aio("b", 7))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        store.delay_seconds = 0.0
        for _ in range(5):
            note = await notes.note.aio("b", 1)
            assert note is not None
        await asyncio.sleep(0.3)  # the store notices the closed connection when it responds
        assert store.open_connections <= 2

    asyncio.run(run())


def test_asyncio_timeout_cancels_calls(notes: Notes, store: FaultyStore) -> None:
    """asyncio.timeout cancels calls that are running and calls that wait for a connection."""

    async def run() -> None:
        store.delay_seconds = 5
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await asyncio.gather(*(notes.note.aio("b", 1) for _ in range(9)))
        store.delay_seconds = 0
        assert len(await asyncio.gather(*(notes.note.aio("b", 1) for _ in range(9)))) == 9

    asyncio.run(run())


def test_slow_response_does_not_extend_the_timeout(store: FaultyStore, loop: Loop) -> None:
    """The timeout also applies to a server that sends a byte from time to time."""
    Notes.open(store.url(), create=True).close()
    with Notes.open(store.url("answer_seconds=0.2&total_seconds=0.5")) as notes:
        store.respond = lambda operation, body: b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"
        dripping = threading.Event()

        def drip() -> None:
            while not dripping.wait(0.02):
                loop.loop.call_soon_threadsafe(_drip, store)

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            started = time.monotonic()
            with pytest.raises(StoreError, match="no complete response within"):
                notes.note("b", 1)
            with pytest.raises(StoreError, match="no complete response within"):
                asyncio.run(_one(notes))
            assert time.monotonic() - started < 30
        finally:
            dripping.set()
            thread.join()


def _drip(store: FaultyStore) -> None:
    for writer in store._writers:
        writer.write(b" ")


async def _one(notes: Notes) -> None:
    await notes.note.aio("b", 1)


@pytest.mark.nightly
def test_store_supports_calls_from_several_event_loops(notes: Notes, store: FaultyStore) -> None:
    """Each event loop has its own connections, which are closed when the event loop ends."""
    for _ in range(3):
        asyncio.run(_one(notes))
    deadline = time.monotonic() + 10
    while store.open_connections > 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert store.open_connections == 1  # the synchronous one

    loops: list[weakref.ref[asyncio.AbstractEventLoop]] = []

    async def known() -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        await asyncio.gather(*(_one(notes) for _ in range(9)))  # more than there are connections

    for _ in range(4):
        asyncio.run(known())
    gc.collect()
    assert [loop() for loop in loops[:-1]] == [None] * 3

    threads = [threading.Thread(target=asyncio.run, args=(_one(notes),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_closing_a_design_closes_all_connections(store: FaultyStore) -> None:
    """Later calls of the design raise an error. A design can also be closed within an event loop."""
    notes = Notes.open(store.url(), create=True)
    notes.note("b", 1)

    async def run() -> None:
        async with notes:
            await notes.note.aio("b", 1)
        with pytest.raises(StoreError, match="was closed"):
            await notes.note.aio("b", 1)

    asyncio.run(run())
    with pytest.raises(StoreError, match="was closed"):
        notes.note("b", 1)
    notes.close()
    deadline = time.monotonic() + 10
    while store.open_connections and time.monotonic() < deadline:
        time.sleep(0.01)
    assert store.open_connections == 0


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_forked_process_opens_its_own_connections(notes: Notes, store: FaultyStore) -> None:
    """Processes that share a connection would read each other's responses."""
    notes.note("b", 1)
    before = store.connections
    child = os.fork()
    if child == 0:
        os._exit(0 if notes.note("b", 1) is not None else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.connections == before + 1
    assert notes.note("b", 1) is not None


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_forked_process_starts_its_own_threads(notes: Notes) -> None:
    """The parent's threads don't exist in the forked process, so waiting for them would never end."""
    notes.batch([Put(Note(book="b", number=number)) for number in range(250)])
    assert len(notes.get_many(Note, MANY)) == 450
    assert len(list(notes.scan_index("b"))) == 250
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends the child where it hangs
        os._exit(0 if len(notes.get_many(Note, MANY)) == 450 and len(list(notes.scan_index("b"))) == 250 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_iterators_and_calls_of_a_closed_design_raise_an_error(notes: Notes, store: FaultyStore) -> None:
    """The iterator and later calls, both synchronous and asynchronous, raise the error."""
    notes.batch([Put(Note(book="b", number=number)) for number in range(250)])
    items = notes.scan_index("b")
    assert [next(items).number for _ in range(60)] == list(range(60))
    notes.close()
    calls: list[Callable[[], object]] = [
        lambda: list(items),
        lambda: notes.get_many(Note, MANY),
        lambda: list(notes.scan_index("b")),
        lambda: asyncio.run(_get_many(notes)),
    ]
    for call in calls:
        with pytest.raises(StoreError, match="was closed"):
            call()


def test_closing_a_design_keeps_a_connection_open_until_its_response_arrives(notes: Notes, store: FaultyStore) -> None:
    store.delay_seconds = 0.3
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(notes.note, "b", 1)
        time.sleep(0.1)
        notes.close()
        assert future.result() is not None
    deadline = time.monotonic() + 10
    while store.open_connections and time.monotonic() < deadline:
        time.sleep(0.01)
    assert store.open_connections == 0


def test_compressed_responses_are_decompressed_and_their_checksums_verified(store: FaultyStore) -> None:
    """Compression is optional. The CRC covers the compressed bytes. Corrupt and oversized bodies are rejected."""
    Notes.open(store.url(), create=True).close()
    with Notes.open(store.url("gzip=true")) as notes:
        assert b"Accept-Encoding: gzip" in store.heads[-1]
        item = orjson.dumps(
            {"Item": {"pk": {"S": "BOOK#b"}, "sk": {"S": "0001"}, "book": {"S": "b"}, "number": {"N": "1"}}}
        )
        packed = gzip.compress(item)
        store.respond = lambda operation, body: _packed(packed)
        note = notes.note("b", 1)
        assert note is not None
        for broken in (packed[:-9], b"not gzip", packed[:20] + b"\0" + packed[21:]):
            store.respond = lambda operation, body, broken=broken: _packed(broken)
            with pytest.raises(StoreError, match="the gzip data"):
                notes.note("b", 1)
    assert b"Accept-Encoding: gzip" in store.heads[-1]


def _packed(body: bytes) -> bytes:
    return (
        f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nx-amz-crc32: {zlib.crc32(body)}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def test_idle_connection_closed_by_the_store_is_replaced(notes: Notes, store: FaultyStore, loop: Loop) -> None:
    """The client detects the closed connection before it sends a request, so no attempt is lost."""
    port = int(store.address.rpartition(":")[2])
    records: list[CallRecord] = []
    notes.store.on_call = records.append
    notes.note("b", 1)
    _restart(store, loop, port)
    time.sleep(0.05)
    notes.note("b", 1)

    async def run() -> None:
        await _one(notes)
        await asyncio.to_thread(_restart, store, loop, port)
        await asyncio.sleep(0.05)
        await _one(notes)

    asyncio.run(run())
    assert [record.retries for record in records] == [0, 0, 0, 0]


def _restart(store: FaultyStore, loop: Loop, port: int) -> None:
    loop.run(store.stop())
    loop.run(store.start(port))


def test_retries_of_failing_calls_are_limited_by_a_quota(notes: Notes, store: FaultyStore) -> None:
    """The quota applies to the retries of all calls together."""
    store.respond = lambda operation, body: reply(500, b'{"__type":"x#InternalServerError","message":"no"}')
    before = store.received["GetItem"]
    for _ in range(100):
        with pytest.raises(KeyplanError):
            notes.note("b", 1)
    assert store.received["GetItem"] - before <= 100 + 500 // 14


@pytest.mark.parametrize("idle_seconds", [54.0, 56.0])
def test_long_idle_connections_are_not_reused(
    notes: Notes, store: FaultyStore, monkeypatch: pytest.MonkeyPatch, idle_seconds: float
) -> None:
    """A network device may have dropped an idle connection silently, so that a request on it would time out."""
    shift = 0.0
    clock = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: clock() + shift)
    wanted = 0 if idle_seconds < IDLE_SECONDS_MAX else 1
    notes.note("b", 1)
    before = store.connections
    shift += idle_seconds
    notes.note("b", 1)
    assert store.connections - before == wanted

    async def run() -> int:
        nonlocal shift
        await _one(notes)
        before = store.connections
        shift += idle_seconds
        await _one(notes)
        return store.connections - before

    assert asyncio.run(run()) == wanted
