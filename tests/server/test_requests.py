"""Requests are handled without sockets: complete responses are computed in the event loop or in a thread."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from keyplan.errors import StoreError
from keyplan.store import Engine
from keyplan.store.server import service
from keyplan.store.server.responses import unpacked
from keyplan.store.server.server_settings import Settings
from keyplan.store.server.service import Incoming, Regional, Service
from keyplan.store.server.worker_threads import AtOnce, Inline, WriterThread, Written
from tests.server.support import AUTHORIZATION, CREATE, TABLE, s

ORIGIN = b"http://localhost:3000"
SCAN = b'{"TableName": "orders"}'
PUT = b'{"TableName": "orders", "Item": {"pk": {"S": "b"}, "sk": {"S": "1"}}}'
_CHANGING = re.compile(rb"date: .{29}|x-amzn-requestid: [0-9A-Z]{52}")


def incoming(body: bytes = SCAN, method: bytes = b"POST", url: bytes = b"/", **headers: bytes | None) -> Incoming:
    """Return a request in which some headers are replaced or removed."""
    usual: dict[str, bytes | None] = {
        "x-amz-target": b"DynamoDB_20120810.Scan",
        "content-type": b"application/x-amz-json-1.0",
        "authorization": AUTHORIZATION.encode(),
    }
    given = {**usual, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return Incoming(method, url, {name.encode(): value for name, value in given.items() if value is not None}, body)


def target(name: str) -> bytes:
    return f"DynamoDB_20120810.{name}".encode()


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:", raw_items=True) as opened:
        opened.call("CreateTable", CREATE)
        opened.call("PutItem", {"TableName": TABLE, "Item": {"pk": s("a"), "sk": s("1")}})
        yield opened


def settings(**limits: int) -> Settings:
    plain = Settings(db=":memory:")
    return replace(plain, limits=replace(plain.limits, **{"body_bytes_max": 2000, **limits}))


def answer(handler: Service | Regional, request: Incoming) -> str:
    """Return the only response without the parts that vary, after checking its checksum."""
    replies: list[bytes] = []
    handler.handle(request, replies.append)
    (reply,) = replies
    head, end, body = reply.partition(b"\r\n\r\n")
    if request.method != b"HEAD":
        assert b"x-amz-crc32: %d\r\n" % zlib.crc32(body) in head + end
        assert b"content-length: %d\r\n" % len(body) in head + end
    kept = [line for line in head.split(b"\r\n") if not _CHANGING.fullmatch(line)]
    assert len(head.split(b"\r\n")) - len(kept) == 2
    return (b"\n".join(kept) + end.replace(b"\r", b"") + body).decode()


class KeptWrites(Inline):
    """A writer that keeps writes until the test completes them."""

    def __init__(self) -> None:
        self.done: list[Written] = []

    def submit(self, name: str, params: Any, done: Written) -> None:
        self.done.append(done)


class KeptWork(AtOnce):
    """An executor that keeps work until the test completes it."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    def submit(self, work: Any, done: Any) -> None:
        self.done.append(done)

    submit_body = submit_change = submit


@pytest.mark.parametrize("origin", [None, ORIGIN])
@pytest.mark.parametrize("kind", ["written", "changed", "large"])
def test_requests_over_the_buffer_limit_are_rejected(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, kind: str, origin: bytes | None
) -> None:
    """A request that fits in the buffer exactly is accepted."""
    body = PUT if kind == "written" else SCAN
    name = {"written": "PutItem", "changed": "UpdateTable", "large": "Scan"}[kind]
    if kind == "large":
        monkeypatch.setattr(service, "LARGE_BYTES_MIN", len(body) - 1)
    writes, works = KeptWrites(), KeptWork()
    tested = Service(engine, settings(buffered_bytes_max=2 * len(body)), writes, works)
    request = incoming(body, x_amz_target=target(name), origin=origin)
    replies: list[bytes] = []
    for count in (1, 2):
        tested.handle(request, replies.append)
        assert tested._pending_bytes == count * len(body)
    assert replies == []
    refused = answer(tested, replace(request, body=b" ")) if kind == "written" else answer(tested, request)
    assert refused.startswith("HTTP/1.1 503 Service Unavailable\n")
    assert ("access-control-allow-origin" in refused) == (origin is not None)
    assert "ServiceUnavailableException" in refused
    for done in writes.done:
        done({})
    for done in works.done:
        done(b"done")
    assert len(replies) == 2
    assert tested._pending_bytes == 0


@pytest.mark.parametrize(
    ("error", "message", "logged"),
    [
        (StoreError("The disk is full"), "The disk is full", [("The disk is full", False)]),
        (ZeroDivisionError(), "Internal server error", [("A request failed", True)]),
        (RecursionError(), "com.amazon.coral.service#SerializationException", []),
    ],
)
@pytest.mark.parametrize("large", [False, True])
def test_unexpected_errors_return_an_error_response_and_are_logged(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception, message: str,
    logged: list[tuple[str, bool]], large: bool,
) -> None:  # fmt: skip
    def fail(*_: object) -> Any:
        raise error

    monkeypatch.setattr(service, "LARGE_BYTES_MIN", -1 if large else 10_000)
    tested = Service(engine, settings())
    monkeypatch.setattr(tested, "_call", fail)
    monkeypatch.setattr(tested, "_call_briefly", fail)
    caplog.set_level(logging.DEBUG, "keyplan.server")
    shown = answer(tested, incoming())
    assert message in shown
    assert shown.startswith("HTTP/1.1 400" if not logged else "HTTP/1.1 500")
    assert [
        (record.getMessage().partition(" at ")[0].partition(" (")[0], bool(record.exc_info))
        for record in caplog.records
    ] == logged
    if large:
        assert error.__traceback__ is None


@pytest.mark.parametrize("size", [4095, 4096, 4097])
@pytest.mark.parametrize("in_thread", [False, True])
def test_large_responses_are_compressed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, size: int, in_thread: bool
) -> None:
    """Small responses are compressed in the event loop, and large ones in a thread. ``size`` is in bytes."""
    empty = len(b'{"Items":[{"pk":{"S":"a"},"sk":{"S":"1"},"x":{"S":""}}],"Count":1,"ScannedCount":1}')
    item = {"pk": s("a"), "sk": s("1"), "x": s("x" * (size - empty))}
    engine.call("PutItem", {"TableName": TABLE, "Item": item})
    monkeypatch.setattr(service, "PACKED_BYTES_MIN", 4096 if in_thread else 10_000)
    aside = Counted()
    tested = Service(engine, settings(), aside=aside)
    replies: list[bytes] = []
    tested.handle(incoming(accept_encoding=b"gzip", origin=ORIGIN), replies.append)
    head, _, body = replies[0].partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert (b"\r\ncontent-encoding: gzip\r\n" in head) == (size >= 4096)
    assert b"\r\naccess-control-allow-origin: %s\r\n" % ORIGIN in head
    complete = unpacked(body, b"gzip", 10_000) if size >= 4096 else body
    assert len(complete) == size
    assert json.loads(complete)["Items"] == [item]
    assert aside.count == (in_thread and size >= 4096)


class Counted(AtOnce):
    """An executor that runs work immediately and counts it."""

    count = 0

    def submit(self, work: Any, done: Any) -> None:
        self.count += 1
        super().submit(work, done)


def test_writes_run_directly_when_the_writer_thread_is_idle(engine: Engine) -> None:
    """If there is only one client, the writer thread runs only work that takes a long time."""

    async def run() -> list[list[str]]:
        alone = [False]
        writing = WriterThread(engine, asyncio.get_running_loop(), lambda: alone[0])
        made: list[list[str]] = []
        for rounds in (1, 3):
            outcomes: list[Any] = []
            alone[0] = False
            for number in range(rounds):
                item = {"pk": s("c"), "sk": s(number)}
                writing.submit("PutItem", {"TableName": TABLE, "Item": item}, outcomes.append)
            assert outcomes == []
            alone[0] = True
            while len(outcomes) < rounds:
                await asyncio.sleep(0)
            writing.submit("PutItem", {"TableName": TABLE, "Item": {"pk": s("c"), "sk": s("x")}}, outcomes.append)
            made.append([str(outcome) for outcome in outcomes])
        await asyncio.to_thread(writing.close)
        return made

    assert asyncio.run(run()) == [["{}"] * 2, ["{}"] * 4]
