"""A hostile request costs little: it is refused for what it says before anything is rendered, and while it is parsed
and judged, others are answered.
"""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import os
import random
import re
import sys
import threading
import time
import tracemalloc
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from types import FrameType, SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock

import orjson
import pytest

from keyplan.dynamodb.operations import json_requests as reading
from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.errors import DynamoDBError
from keyplan.store import Engine
from keyplan.store.server import body_parsing as parsing
from keyplan.store.server import responses as answers
from keyplan.store.server import worker_threads as aside
from keyplan.store.server.connection import Connection, Connections
from keyplan.store.server.server_settings import Limits
from keyplan.store.server.service import Incoming, Service
from tests.server.support import CREATE, TABLE, Answer, Server, request, s, serving

KEY = {"pk": s("a"), "sk": s("1")}
MEGABYTES = 16 * 1024 * 1024
SIZE = int(os.environ.get("KEYPLAN_HOSTILE_BYTES", "2_000_000"))
"""Of the bodies; ``KEYPLAN_HOSTILE_BYTES=16777216`` makes them as large as they may be."""


def body_of(start: bytes, member: bytes, end: bytes, size: int = SIZE) -> bytes:
    """A body of at most so many bytes with as many of these members as fit."""
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
        body_of(b'{"RequestItems":{"orders":{"Keys":[', b"[]", b"]}}}"),
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
    "no JSON at the end": ("PutItem", body_of(b"[", b"1", b"!"), ""),
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
    """A body with so many members; each is made of its number, in hexadecimal digits."""
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
def test_counts_are_refused_before_anything_is_made_of_them(name: str) -> None:
    """Whatever the members hold: what is done is no more than to count them."""
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
    # Its shape may be looked at; no value, no condition and no expression is.
    shape = sum(number for file, number in calls.items() if file.startswith("dynamodb/operations/"))
    assert sum(calls.values()) - shape < 20
    assert shape < (100 if name != "values of a condition" else 2 * _TOO_MANY)


@pytest.fixture(scope="module", params=["file", "memory"])
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    db = ":memory:" if request.param == "memory" else str(tmp_path_factory.mktemp("hostile") / "store.db")
    with serving(db, sync="normal") as server:
        server.call("CreateTable", CREATE)
        server.call("PutItem", {"TableName": TABLE, "Item": KEY})
        yield server


class Other(threading.Thread):
    """Another client, which reads and writes all the time; ``answered`` counts what was answered."""

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
def test_nobody_else_waits(target: Server, name: str) -> None:
    operation, body, text = BODIES[name]
    other = Other(target)
    other.start()
    try:
        with target.raw() as raw:
            raw.send(request(operation, body))
            before = other.answered
            answer = raw.answer()
            meanwhile = other.answered - before
    finally:
        other.ends.set()
        other.join()
    assert answer.status == 400
    assert text in (answer.message or "")
    assert len(answer.body) < 20_000
    # It was parsed and judged between the others' requests, in many short turns.
    assert meanwhile > 15
    assert target.memory_mb() < 2500


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_small_body_that_unpacks_to_a_large_one(target: Server, encoding: str) -> None:
    body = body_of(b'{"RequestItems":{"orders":{"Keys":[', _KEY, b"]}}}", MEGABYTES // 2)
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    with target.raw() as raw:
        answer = raw.ask(request("BatchGetItem", pack(body), content_encoding=encoding))
        assert answer.status == 400
        bomb = raw.ask(request("PutItem", pack(b" " * (MEGABYTES + 1)), content_encoding=encoding))
        assert bomb.status == 413


def test_large_requests_that_are_right(target: Server) -> None:
    """Few large values, and many small ones."""
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


def test_requests_of_one_connection_keep_their_order(target: Server) -> None:
    large = {"TableName": TABLE, "Item": {**KEY, "sk": s("order"), "x": {"L": [{"N": "1"}] * 60_000}}}
    small = {"TableName": TABLE, "Key": {**KEY, "sk": s("order")}}
    with target.raw() as raw:
        raw.send(request("PutItem", large) + request("DeleteItem", small) + request("GetItem", small))
        assert [raw.answer().status for _ in range(2)] == [200, 200]
        assert raw.answer().json() == {}


# --- parsing in pieces


def _value(chance: random.Random, depth: int) -> Any:
    kind = chance.randrange(9)
    if kind < 3 and depth < 5:
        names = ["a", "b", "é", '"', "x\\", f"k{chance.randrange(9)}"]
        return {chance.choice(names): _value(chance, depth + 1) for _ in range(chance.randrange(6))}
    if kind < 6 and depth < 5:
        return [_value(chance, depth + 1) for _ in range(chance.randrange(6))]
    texts = ['s,[]{}"\\', "", "éé", "x" * chance.randrange(30), '\\"' * chance.randrange(9)]
    return chance.choice([1, -2.5, None, True, *texts])


def _spoilt(chance: random.Random, body: bytes) -> bytes:
    start = chance.randrange(len(body))
    splice = chance.choice([b"", b",", b"]", b"[", b"{", b"}", b'"', b":", b" ", b"1", b",,", b"\xff"])
    return body[:start] + splice + body[start + chance.randrange(3) :]


@pytest.mark.parametrize("piece_bytes", [1, 5, 20, 100])
def test_pieces_make_what_the_whole_makes(monkeypatch: pytest.MonkeyPatch, piece_bytes: int) -> None:
    """Of what is JSON, and of what isn't."""
    monkeypatch.setattr(parsing, "_PIECE_BYTES", piece_bytes)
    if piece_bytes < 20:  # what is looked at in one go of a string is small, too
        token = parsing._TOKEN.pattern.replace(b"4096", b"3").replace(b"64", b"1")
        monkeypatch.setattr(parsing, "_TOKEN", re.compile(token, re.DOTALL))
        monkeypatch.setattr(parsing, "_LOOKED_AT_BYTES", piece_bytes)
    chance = random.Random(piece_bytes)
    for _ in range(3000):
        value = {"r": _value(chance, 0)} if chance.random() < 0.5 else [_value(chance, 0), _value(chance, 0)]
        body = orjson.dumps(value, option=chance.choice([None, orjson.OPT_INDENT_2]))
        if chance.random() < 0.6:
            body = _spoilt(chance, body)
        try:
            whole = orjson.loads(body)
        except orjson.JSONDecodeError:
            with pytest.raises(orjson.JSONDecodeError):
                parsing.parse_in_pieces(body)
            continue
        if isinstance(whole, (dict, list)):
            parsed = parsing.parse_in_pieces(body)
            assert parsed.value == whole, body
            parsed.forget()


def test_an_object_of_far_too_many_members_keeps_those_that_a_request_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many members, and they are all looked for in one go whenever their table of names grows."""
    monkeypatch.setattr(parsing, "_OBJECT_MEMBERS_MAX", 20_000)
    many = {f"{number:x}": 1 for number in range(120_000)}
    value = {"RequestItems": {"orders": {**many, "Keys": [KEY]}}, **many, "TableName": "orders", "M": {**many, "S": 1}}
    parsed = parsing.parse_in_pieces(orjson.dumps(value)).value
    kept = (parsed, parsed["RequestItems"]["orders"], parsed["M"])
    assert all(20_000 <= len(each) < 30_000 for each in kept)
    assert parsed["TableName"] == "orders"
    assert parsed["RequestItems"]["orders"]["Keys"] == [KEY]
    assert parsed["M"]["S"] == 1


def test_no_piece_is_large() -> None:
    """Of many small members none is parsed with many others, however they are nested."""
    for body in (b"[" + b"1," * 300_000 + b"1]", b'{"a":{"b":[' + b"[{},[]]," * 60_000 + b'1]},"c":[1]}'):
        assert parsing.is_many(body)
        parsed = parsing.parse_in_pieces(body)
        assert parsed.value == orjson.loads(body)
        assert max(len(orjson.dumps(piece)) for piece in parsed._pieces) < 70_000
    assert not parsing.is_many(b'"' + b"x" * MEGABYTES + b'"')


def test_a_long_string_is_looked_at_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among many members: an expression that goes over megabytes lets nobody else have a turn."""
    looked_at: list[int] = []
    string = parsing._STRING

    def match(body: bytes, start: int, end: int) -> re.Match[bytes] | None:
        looked_at.append(end - start)
        return string.match(body, start, end)

    monkeypatch.setattr(parsing, "_STRING", SimpleNamespace(match=match))
    for unit in (b"x", b'\\"', b"\\u0001"):
        body = b"[" + b"1," * 1000 + b'"' + unit * (1_000_000 // len(unit)) + b'",1]'
        tokens = [end - place for place, end in parsing._tokens(body)]
        assert len(tokens) == 1000 + 4
        assert max(tokens) > 900_000
        assert parsing.parse_in_pieces(body).value == orjson.loads(body)
    assert len(looked_at) > 90
    assert max(looked_at) < 100_000


# --- what comes together, and what is packed


def test_requests_that_come_together_are_answered_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the turns others have theirs, and the order stays."""
    now = 0.0
    asked: list[bytes] = []

    def handle(incoming: Incoming, reply: Callable[[bytes], None]) -> None:
        nonlocal now
        now += 0.004  # each takes so long
        asked.append(incoming.body)
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


@pytest.mark.parametrize("size", [0, 700, 5000])
def test_members_of_a_packed_body_are_looked_at_once(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """What follows a member isn't copied with each of them: a body may consist of a million."""
    chance = random.Random(size)
    member = gzip.compress(chance.randbytes(size))
    looked_at = 0

    class Counting:
        def __init__(self, window: int) -> None:
            self._unpacker = zlib.decompressobj(window)

        def decompress(self, data: bytes, length: int) -> bytes:
            nonlocal looked_at
            looked_at += len(data)
            return self._unpacker.decompress(data, length)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._unpacker, name)

    monkeypatch.setattr(answers, "zlib", SimpleNamespace(decompressobj=Counting, error=zlib.error))
    unpacked = answers.unpacked(member * 300, b"gzip", MEGABYTES)
    assert len(unpacked) == size * 300
    assert looked_at < 300 * (4 * len(member) + 1024)


def test_names_are_compared_once() -> None:
    """To look for each name in the whole list of 250,000 would take a day."""
    compared = 0

    class Name(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    definitions = [{"AttributeName": Name(f"{number:x}"), "AttributeType": "S"} for number in range(3000)]
    with Engine.open(":memory:") as engine, pytest.raises(DynamoDBError):
        engine.call("CreateTable", {**CREATE, "TableName": "other", "AttributeDefinitions": definitions})
    assert compared < 10 * len(definitions)


def test_keys_of_tags_are_counted_before_a_set_is_made_of_them() -> None:
    params = {
        "ResourceArn": "arn:aws:dynamodb:ddblocal:000000000000:table/orders",
        "TagKeys": [f"{number:x}" for number in range(200_000)],
    }
    with Engine.open(":memory:") as engine:
        engine.call("CreateTable", CREATE)
        tracemalloc.start()
        try:
            with pytest.raises(DynamoDBError, match="Number of Tags exceed"):
                engine.call("UntagResource", params)
            _, peak_bytes = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak_bytes < 1_000_000


@pytest.mark.parametrize("value", [["x"] * 30_000, {f"{number:x}": {"N": "1"} for number in range(30_000)}])
def test_where_a_fault_stands_is_counted_in_parts(monkeypatch: pytest.MonkeyPatch, value: Any) -> None:
    """SearchVectors tells the column: the text before it isn't written in one go."""
    written: list[int] = []

    def dumps(part: Any, **options: Any) -> bytes:
        written.append(len(part))
        return orjson.dumps(part, **options)

    monkeypatch.setattr(reading, "orjson", SimpleNamespace(dumps=dumps))
    member = "SearchVector" if isinstance(value, list) else "ExpressionAttributeValues"
    params = {member: value, "TopK": "x"}
    with Engine.open(":memory:") as engine, pytest.raises(DynamoDBError) as refused:
        engine.call("SearchVectors", params)
    column = len(orjson.dumps(params)) - 1
    assert refused.value.message.endswith(f"expected i32 at line 1 column {column}")
    assert max(written) <= 10_000
    assert len(written) >= 3


def test_as_many_old_members_are_taken_as_are_looked_at() -> None:
    """Each with the values that it lists."""
    put = OPERATIONS["PutItem"]
    listed: dict[str, Any] = {f"{number:x}": {"AttributeValueList": [s("x")]} for number in range(4999)}
    put.check_old_count({"Expected": {**listed, "last": {"AttributeValueList": [s("x")]}}})
    put.check_old_count({"Expected": {**listed, "last": {}, "exists": {"Exists": True}}})
    with pytest.raises(DynamoDBError, match="less than or equal to 10000"):
        put.check_old_count({"Expected": {**listed, "last": {"AttributeValueList": [s("x"), s("y")]}}})


def test_the_collector_rests_until_the_last_large_request_is_answered() -> None:
    usual_s = sys.getswitchinterval()
    with aside.resting:
        with aside.resting, aside.resting:
            assert (gc.isenabled(), sys.getswitchinterval() < usual_s) == (False, True)
        assert (gc.isenabled(), sys.getswitchinterval() < usual_s) == (False, True)
    assert (gc.isenabled(), sys.getswitchinterval()) == (True, usual_s)
    with aside.resting:
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_waits_for_a_thread_at_the_end_is_not_begun() -> None:
    """What was begun is finished."""
    going_on, begun = threading.Event(), 0

    def work() -> bytes:
        nonlocal begun
        begun += 1
        going_on.wait(60)
        return b""

    async def end() -> None:
        threads = aside.Threads(asyncio.get_running_loop())
        for _ in range(20):
            threads.submit(work, None, lambda _: None)
        threading.Timer(0.05, going_on.set).start()
        threads.close()

    asyncio.run(end())
    assert 0 < begun <= 3


def depth_of(value: Any) -> int:
    """How many containers lie in one another."""
    depth = 0
    while isinstance(value, (dict, list)):
        depth += 1
        value = value["a"] if isinstance(value, dict) else value[0]
    return depth


@pytest.mark.parametrize(("opened", "closed"), [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")])
def test_large_bodies_nest_as_deep_as_small_ones(opened: bytes, closed: bytes) -> None:
    """A body is parsed in pieces or by orjson, by its size: its depth is refused alike."""
    most = parsing.DEPTH_MAX // (opened.count(b"[") + opened.count(b"{"))
    deep, deeper = (opened * depth + b"1" + closed * depth for depth in (most, most + 1))
    assert depth_of(parsing.parse_in_pieces(deep).value) == depth_of(orjson.loads(deep)) == parsing.DEPTH_MAX
    for parse in (parsing.parse_in_pieces, orjson.loads):
        with pytest.raises(orjson.JSONDecodeError):
            parse(deeper)


def test_what_was_parsed_is_let_go_of_little_by_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Millions of members that are freed at once would hold others up for as long as they were parsed."""
    most = parsing.MEMBERS_MAX
    assert not parsing.is_many(b"[" + b"," * (most - 1) + b"x" * 10)
    assert parsing.is_many(b"[" + b"," * most)
    assert parsing.is_many(b"[" + b"{" * most)
    assert not parsing.is_many(b"x" * (most + 1) + b"," * most)
    body = (
        b'{"a":['
        + b"1," * 100_000
        + b'1],"b":{"c":['
        + b"[]," * 20_000
        + b'{}],"d":{'
        + (b",".join(b'"%d":{}' % number for number in range(20_000)) + b"}}}")
    )
    parsed = parsing.parse_in_pieces(body)
    assert parsed.value == orjson.loads(body)
    pieces, containers = parsed._pieces, parsed._containers
    assert len(pieces) > 5
    parsed.forget()
    assert (parsed.value, pieces, [len(container) for container in containers if container]) == (None, [], [])
    readings: list[Any] = []
    reading = parsing._Reading

    def kept(body: bytes) -> Any:
        readings.append(reading(body))
        return readings[-1]

    monkeypatch.setattr(parsing, "_Reading", kept)
    with pytest.raises(orjson.JSONDecodeError):
        parsing.parse_in_pieces(body[:-1] + b"!")
    assert readings[0].containers
    assert (readings[0].pieces, [each for each in readings[0].containers if each]) == ([], [])
