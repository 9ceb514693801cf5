"""Hostile requests consume few resources: they are rejected before objects are built from them, and other requests are
handled meanwhile.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import sys
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock

import orjson
import pytest

from keyplan.errors import DynamoDBError
from keyplan.store import Engine
from keyplan.store.server.connection import Connection, Connections
from keyplan.store.server.server_settings import Limits
from keyplan.store.server.service import Incoming, Service
from tests.processes import PATIENCE_S
from tests.server.support import CREATE, TABLE, Answer, Server, request, s, serving

KEY = {"pk": s("a"), "sk": s("1")}
MEGABYTES = 16 * 1024 * 1024
SIZE = int(os.environ.get("KEYPLAN_HOSTILE_BYTES", "2_000_000"))
"""Body size in bytes; ``KEYPLAN_HOSTILE_BYTES=16777216`` sets the maximum."""


def body_of(start: bytes, member: bytes, end: bytes, size: int = SIZE) -> bytes:
    """Return a body with as many members as fit in ``size`` bytes."""
    count = (size - len(start) - len(end)) // (len(member) + 1)
    return start + b",".join([member] * count) + end


_KEY = json.dumps(KEY).encode()
BODIES: dict[str, tuple[str, bytes, str]] = {
    "keys": (
        "BatchGetItem",
        body_of(b'{"RequestItems":{"orders":{"Keys":[', _KEY, b"]}}}"),
        "Member must have length less than or equal to 100",
    ),
    "empty lists": (
        "BatchGetItem",
        body_of(b'{"RequestItems":{"orders":{"Keys":[', b"[]", b"]}}}", 1_000_000),
        "Member must have length less than or equal to 100",
    ),
    "actions": (
        "TransactWriteItems",
        body_of(b'{"TransactItems":[', b'{"Delete":{"TableName":"orders","Key":' + _KEY + b"}}", b"]}"),
        "Member must have length less than or equal to 100",
    ),
    "writes": (
        "BatchWriteItem",
        body_of(b'{"RequestItems":{"orders":[', b'{"DeleteRequest":{"Key":' + _KEY + b"}}", b"]}}"),
        "Member must have length less than or equal to 25",
    ),
    "small values": (
        "PutItem",
        body_of(
            b'{"TableName":"orders","Item":{"pk":{"S":"a"},"sk":{"S":"1"},"x":{"L":[', b'{"S":"xxxxxxxx"}', b"]}}}"
        ),
        "Item size has exceeded the maximum allowed size",
    ),
    "tags": (
        "TagResource",
        b'{"ResourceArn":"arn:aws:dynamodb:local:000000000000:table/orders","Tags":['
        + b",".join(b'{"Key":"k%d","Value":"v"}' % number for number in range(50_000))
        + b"]}",
        "",
    ),
}
_HEAD = b'{"TableName":"orders","Key":' + _KEY + b","
_TOO_MANY = 50_000


def members(start: bytes, member: bytes, end: bytes = b"}}", count: int = _TOO_MANY) -> bytes:
    """Return a body with ``count`` members, whose names are hexadecimal numbers."""
    return start + b",".join([member % b"%x" % number for number in range(count)]) + end


COUNTED: dict[str, tuple[str, bytes, str]] = {
    "Expected": ("PutItem", members(b'{"TableName":"orders","Item":' + _KEY + b',"Expected":{', b'"%s":{}'), "10000"),
    "Expected of UpdateItem": ("UpdateItem", members(_HEAD + b'"Expected":{', b'"%s":{"Exists":false}'), "10000"),
    "Expected of DeleteItem": ("DeleteItem", members(_HEAD + b'"Expected":{', b'"%s":{}'), "10000"),
    "AttributeUpdates": ("UpdateItem", members(_HEAD + b'"AttributeUpdates":{', b'"%s":{}'), "10000"),
    "AttributesToGet": ("GetItem", members(_HEAD + b'"AttributesToGet":[', b'"%s"', b"]}"), "10000"),
    "values of a condition": (
        "UpdateItem",
        members(_HEAD + b'"Expected":{"a":{"ComparisonOperator":"IN","AttributeValueList":[', b'{"S":"%s"}', b"]}}}"),
        "10000",
    ),
    **{
        f"{parameter} of {operation}": (
            operation,
            members(b'{"TableName":"orders","%s":{' % parameter.encode(), b'"%s":{"ComparisonOperator":"NULL"}'),
            "10000",
        )
        for operation, parameter in (("Query", "KeyConditions"), ("Query", "QueryFilter"), ("Scan", "ScanFilter"))
    },
    "ExpressionAttributeNames": (
        "UpdateItem",
        members(_HEAD + b'"UpdateExpression":"REMOVE #1","ExpressionAttributeNames":{', b'"#%s":"x"'),
        "8192",
    ),
    "ExpressionAttributeValues": (
        "UpdateItem",
        members(_HEAD + b'"UpdateExpression":"SET a=:1","ExpressionAttributeValues":{', b'":%s":{"S":"x"}'),
        "8192",
    ),
    "Parameters": (
        "ExecuteStatement",
        members(b'{"Statement":"SELECT * FROM orders WHERE pk=?","Parameters":[', b'{"S":"%s"}', b"]}"),
        "8192",
    ),
    "statements": ("BatchExecuteStatement", members(b'{"Statements":[', b'{"Statement":"%s"}', b"]}"), "25"),
    "tables": ("BatchGetItem", members(b'{"RequestItems":{', b'"%s":{"Keys":[]}'), "100"),
}


@pytest.mark.parametrize("name", COUNTED)
def test_number_of_members_is_validated_before_any_value_or_expression(name: str) -> None:
    operation, body, most = COUNTED[name]
    calls: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and "keyplan" in frame.f_code.co_filename:
            calls[frame.f_code.co_filename.rpartition("keyplan/")[2]] += 1

    with Engine.open(":memory:") as engine:
        engine.call("CreateTable", CREATE)
        params = orjson.loads(body)
        sys.setprofile(count)
        try:
            with pytest.raises(DynamoDBError) as refused:
                engine.call(operation, params)
        finally:
            sys.setprofile(None)
    assert refused.value.message.endswith(f"Member must have length less than or equal to {most}")
    assert len(refused.value.message) < 300
    # The shape may be checked, but no value, condition or expression.
    shape = sum(number for file, number in calls.items() if file.startswith("dynamodb/operations/"))
    assert sum(calls.values()) - shape < 200
    assert shape < (100 if name != "values of a condition" else 2 * _TOO_MANY)


@pytest.fixture(scope="module", params=[pytest.param("file", marks=pytest.mark.nightly), "memory"])
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    db = ":memory:" if request.param == "memory" else str(tmp_path_factory.mktemp("hostile") / "store.db")
    with serving(db, sync="normal") as server:
        server.call("CreateTable", CREATE)
        server.call("PutItem", {"TableName": TABLE, "Item": KEY})
        yield server


class Other(threading.Thread):
    """Another client, which reads and writes continuously and counts its responses."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self._raw = server.raw()
        self.ends = threading.Event()
        self.answered = 0

    def run(self) -> None:
        requests = [
            request("GetItem", {"TableName": TABLE, "Key": KEY}),
            request("PutItem", {"TableName": TABLE, "Item": {**KEY, "sk": s("2")}}),
        ]
        while not self.ends.is_set():
            for data in requests:
                assert self._raw.ask(data).status == 200
                self.answered += 1


@pytest.mark.parametrize("name", BODIES)
def test_other_clients_are_served_during_a_hostile_request(target: Server, name: str) -> None:
    """On a busy machine the other client may not run during a request, so that one of five requests is sufficient."""
    operation, body, text = BODIES[name]
    other = Other(target)
    other.start()
    meanwhile = 0
    try:
        for _ in range(5):
            with target.raw() as raw:
                before = other.answered
                raw.send(request(operation, body))
                answer = raw.answer()
                meanwhile = max(meanwhile, other.answered - before)
            assert answer.status == 400
            assert text in (answer.message or "")
            assert len(answer.body) < 20_000
            if meanwhile >= 3:  # two can be responses just before and after the request
                break
    finally:
        other.ends.set()
        other.join()
    assert meanwhile >= 3
    assert target.memory_mb() < 2500


def test_body_with_too_many_members_is_rejected(target: Server) -> None:
    with target.raw() as raw:
        answer = raw.ask(request("PutItem", body_of(b"[", b"1", b"]", 3_000_000)))
    assert (answer.status, answer.message) == (400, "A request can have at most 1000000 members")


@pytest.mark.parametrize("encoding", ["gzip", pytest.param("deflate", marks=pytest.mark.nightly)])
def test_compressed_body_whose_decompressed_size_is_too_large_is_rejected(target: Server, encoding: str) -> None:
    body = body_of(b'{"RequestItems":{"orders":{"Keys":[', _KEY, b"]}}}", MEGABYTES // 2)
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    with target.raw() as raw:
        answer = raw.ask(request("BatchGetItem", pack(body), content_encoding=encoding))
        assert answer.status == 400
        bomb = raw.ask(request("PutItem", pack(b" " * (MEGABYTES + 1)), content_encoding=encoding))
        assert bomb.status == 413


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc returns memory")
def test_server_releases_memory_after_large_request_bodies(tmp_path: Path) -> None:
    """Three clients send 10 MB of large strings and three others send a million numbers, three times each."""
    items = [{"PutRequest": {"Item": {"pk": s("a"), "sk": s(number), "x": s("x" * 380_000)}}} for number in range(25)]
    large = request("BatchWriteItem", {"RequestItems": {TABLE: items}})
    many = request("PutItem", b'{"x":[' + b"1," * 990_000 + b"1]}")

    def attack(server: Server, body: bytes) -> None:
        with server.raw() as raw:
            for _ in range(3):
                assert raw.ask(body).status in {200, 400}

    with serving(str(tmp_path / "store.db")) as server:
        server.call("CreateTable", CREATE)
        most_mb = server.memory_mb() + 40
        clients = [threading.Thread(target=attack, args=(server, body)) for body in (large, many) for _ in range(3)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        until = time.monotonic() + PATIENCE_S
        while server.memory_mb() > most_mb and time.monotonic() < until:
            server.call("ListTables", {})
            time.sleep(0.05)
        assert server.memory_mb() <= most_mb


def test_large_requests_within_the_limits_succeed(target: Server) -> None:
    """The requests have a few large values or many small values."""
    large = [{**KEY, "sk": s(f"large{number}"), "x": s("x" * 390_000)} for number in range(25)]
    many = {"x": {"L": [{"N": "1"}] * 40_000}, "y": {"M": {f"n{number}": s("é") for number in range(2000)}}}
    small = [{**KEY, "sk": s(f"small{number}"), **many} for number in range(8)]
    with target.raw() as raw:
        for items in (large, small):
            writes = [{"PutRequest": {"Item": item}} for item in items]
            answer = raw.ask(request("BatchWriteItem", {"RequestItems": {TABLE: writes}}))
            assert answer.status == 200, answer
            for item in items[:2]:
                got = raw.ask(request("GetItem", {"TableName": TABLE, "Key": {"pk": item["pk"], "sk": item["sk"]}}))
                assert got.json()["Item"] == item
        keys = [{"pk": item["pk"], "sk": item["sk"]} for item in large]
        packed: Answer = raw.ask(
            request("BatchGetItem", {"RequestItems": {TABLE: {"Keys": keys}}}, accept_encoding="gzip")
        )
        assert packed.headers["content-encoding"] == "gzip"
        assert len(packed.json()["Responses"][TABLE]) == 25


def test_pipelined_requests_of_one_connection_run_in_order(target: Server) -> None:
    large = {"TableName": TABLE, "Item": {**KEY, "sk": s("order"), "x": {"L": [{"N": "1"}] * 60_000}}}
    small = {"TableName": TABLE, "Key": {**KEY, "sk": s("order")}}
    with target.raw() as raw:
        raw.send(request("PutItem", large) + request("DeleteItem", small) + request("GetItem", small))
        assert [raw.answer().status for _ in range(2)] == [200, 200]
        assert raw.answer().json() == {}


def test_other_connections_are_served_between_pipelined_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Responses to pipelined requests are still sent in order."""
    now = 0.0
    asked: list[bytes] = []

    def handle(incoming: Incoming, reply: Callable[[bytes], None]) -> None:
        nonlocal now
        now += 0.004  # each takes 4 ms
        asked.append(bytes(incoming.body))
        reply(b"answer")

    async def talk() -> list[int]:
        service = cast("Service", SimpleNamespace(handle=handle))
        connection = Connection(Connections(service, Limits()))
        connection.connection_made(MagicMock())
        bodies = [b"%d" % number for number in range(50)]
        monkeypatch.setattr(time, "monotonic", lambda: now)
        connection.data_received(b"".join(request("GetItem", body) for body in bodies))
        turns = [len(asked)]
        while len(asked) < len(bodies):
            await asyncio.sleep(0)
            turns.append(len(asked) - sum(turns))
        assert asked == bodies
        return turns

    assert max(asyncio.run(talk())) <= 4
