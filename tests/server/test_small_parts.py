"""Parts of the server by themselves: strings over borders of pieces, turns, clocks, what is logged and forgotten."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from itertools import product
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from keyplan.errors import DynamoDBError
from keyplan.store import Engine
from keyplan.store.server import body_parsing as parsing
from keyplan.store.server import connection, service
from keyplan.store.server import writer_thread as writing
from keyplan.store.server.service import Service, outcome_of
from keyplan.store.server.signatures import SKEW, Verifier, query_of
from keyplan.store.server.writer_thread import Inline, WriterThread
from tests.server.support import request
from tests.server.test_connection import Played
from tests.server.test_requests import asked, settings

NOW = datetime(2026, 11, 23, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize("looked_at", [1, 2, 3, 5])
def test_where_a_string_ends_however_it_is_cut(monkeypatch: pytest.MonkeyPatch, looked_at: int) -> None:
    monkeypatch.setattr(parsing, "_LOOKED_AT_BYTES", looked_at)
    for length in range(7):
        for signs in product(b'a\\"', repeat=length):
            body = b'"' + bytes(signs)
            place = 1
            while place < len(body) and body[place : place + 1] != b'"':
                place += 2 if body[place : place + 1] == b"\\" else 1
            if place < len(body):
                assert parsing._string_end(body + b"x", 0) == place + 1
                assert parsing._string_end(b"xx" + body, 2) == place + 3
            else:
                with pytest.raises(orjson.JSONDecodeError):
                    parsing._string_end(body, 0)


@pytest.mark.parametrize("inner", [b'\\"' * 70, b"\\\\" * 200, b"a" * 9000, b"\\n" * 65 + b"b" * 4096, b'a\\"' * 300])
def test_long_strings_between_others(inner: bytes) -> None:
    body = b'{"a":["%s",1,"%s"],"%s":{"b":"%s"}}' % (inner, inner, inner, inner)
    assert parsing.parse_in_pieces(body).value == orjson.loads(body)
    with pytest.raises(orjson.JSONDecodeError):
        parsing.parse_in_pieces(body[:-4])


@pytest.mark.parametrize("begin", [b"1,", b"12,", b'"a",', b'"a":1,', b'"ab":12,', b"[],", b'"a":{},', b"true , "])
@pytest.mark.parametrize(
    "inner", [b"[1,2]", b'{"x":1,"y":2}', b"[[1,2],3]", b"[123456789012,3]", b'[{"x":"12345678","y":2}]']
)
@pytest.mark.parametrize("piece", [1, 5, 10])
def test_what_stands_before_what_is_parsed_by_itself(
    monkeypatch: pytest.MonkeyPatch, begin: bytes, inner: bytes, piece: int
) -> None:
    monkeypatch.setattr(parsing, "_PIECE_BYTES", piece)
    body = b'{%s"z":%s,"e":1}' % (begin, inner) if b":" in begin else b"[%s%s,1]" % (begin, inner)
    assert parsing.parse_in_pieces(body).value == orjson.loads(body)


@pytest.mark.parametrize("sign", [b",", b"{", b"["])
def test_how_many_members_are_many(sign: bytes) -> None:
    few = sign * parsing.MEMBERS_MAX
    assert not parsing.is_many(few)
    assert not parsing.is_many(few + b"x" * 10)
    assert parsing.is_many(few + sign)
    assert parsing.is_many(few + b"{")
    assert not parsing.is_many(b"x" * (parsing.MEMBERS_MAX + 10))
    assert not parsing.is_many(b"")


def test_what_was_parsed_is_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "_PIECE_BYTES", 1)
    monkeypatch.setattr(parsing, "_FREED_TOGETHER", 2)
    parsed = parsing.parse_in_pieces(b'{"a":[1,2,3,4,5],"b":{"c":1,"d":2}}')
    value = parsed.value
    inner = [value["a"], value["b"]]
    parsed.forget()
    assert (parsed.value, value, inner) == (None, {}, [[], {}])
    assert parsed._pieces == []


def test_a_body_in_pieces_is_let_go_of_when_it_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LARGE_BYTES_MIN", -1)
    monkeypatch.setattr(parsing, "is_many", lambda body: len(body) > 0)
    made: list[parsing.Parsed] = []
    parse = parsing.parse_in_pieces

    def kept(body: bytes) -> parsing.Parsed:
        made.append(parse(body))
        return made[-1]

    monkeypatch.setattr(parsing, "parse_in_pieces", kept)
    with Engine.open(":memory:", raw_items=True) as engine:
        replies: list[bytes] = []
        Service(engine, settings()).handle(
            asked(x_amz_target=b"DynamoDB_20120810.ListTables", body=b"{}"), replies.append
        )
    assert b'{"TableNames":[]}' in replies[0]
    (parsed,) = made
    assert parsed.value is None


def test_many_requests_are_answered_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others have theirs between; a turn ends when its time is over, and not before."""
    played = Played(monkeypatch, at_once=True)
    later: list[Any] = []
    loop = SimpleNamespace(call_soon=later.append)
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: loop)
    handle = played.all.service.handle

    def slow(*given: Any) -> None:
        played.now += 0.5 * connection._TURN_S
        handle(*given)

    played.all.service = cast("Service", SimpleNamespace(handle=slow))
    played.receive(b"".join(request("GetItem", b"%d" % number) for number in range(7)))
    counts = [len(played.asked)]
    while later:
        later.pop(0)()
        counts.append(len(played.asked))
    assert counts == [3, 6, 7]


@pytest.mark.parametrize("seconds", [0, 1, -1, 899, 900, 901, -899, -900, -901])
def test_a_clock_differs_by_fifteen_minutes_at_most(seconds: int) -> None:
    sent = (NOW + timedelta(seconds=seconds)).strftime("%Y%m%dT%H%M%SZ")
    verifier = Verifier({}, lambda: NOW)
    if abs(seconds) <= SKEW.total_seconds():
        assert verifier._check_date({"x-amz-date": sent}) == sent
        return
    with pytest.raises(DynamoDBError, match="15 min") as caught:
        verifier._check_date({"x-amz-date": sent})
    limit = "20261123T114500Z" if seconds < 0 else "20261123T121500Z"
    assert limit in str(caught.value)
    assert f"(20261123T120000Z {'-' if seconds < 0 else '+'} 15 min.)" in str(caught.value)


def test_the_parameters_of_a_query() -> None:
    assert query_of("/?a=b&c=&d=e%20f") == {"a": "b", "c": "", "d": "e f"}
    assert query_of("/") == query_of("/?") == {}


class Failing:
    """An engine whose work for itself fails."""

    def __init__(self, expired: int = 0, trimmed: int = 0) -> None:
        self.expired, self.trimmed = expired, trimmed
        self.asked: list[int] = []

    def expire(self, items_max: int) -> int:
        self.asked.append(items_max)
        if self.expired < 0:
            raise OSError("the disk is full")
        return self.expired

    def trim_streams(self) -> int:
        return self.trimmed

    def tidy(self) -> None:
        raise OSError("the disk is full")


@pytest.mark.parametrize(
    ("expired", "trimmed", "count"), [(0, 0, 0), (3, 0, 3), (2, 5, 5), (5, 2, 5), (0, 50, 9), (9, 9, 9)]
)
def test_how_much_has_been_removed(expired: int, trimmed: int, count: int, caplog: pytest.LogCaptureFixture) -> None:
    engine = Failing(expired, trimmed)
    counts: list[int] = []
    Inline(cast("Engine", engine)).sweep(9, counts.append)
    assert (counts, engine.asked) == ([count], [9])
    assert [record.getMessage() for record in caplog.records] == ["What is too old can't be removed: the disk is full"]


def test_what_can_not_be_removed_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    assert writing._swept(cast("Engine", Failing(-1)), 9) == 0
    (record,) = caplog.records
    assert record.getMessage() == "Expired items and records of streams can't be removed: the disk is full"


@pytest.mark.parametrize("waiting", [1, 2, 63, 64, 65, 130])
@pytest.mark.parametrize("end_at", [None, 0, 1, 63, 64])
def test_how_many_writes_go_together(monkeypatch: pytest.MonkeyPatch, waiting: int, end_at: int | None) -> None:
    """No more than 64, and nothing behind the end."""
    thread = WriterThread.__new__(WriterThread)
    thread._jobs = SimpleQueue()
    jobs: list[Any] = [("PutItem", {"n": number}, print) for number in range(waiting)]
    if end_at is not None and end_at < waiting:
        jobs.insert(end_at, None)
    for job in jobs:
        thread._jobs.put(job)
    until = len(jobs) if None not in jobs else jobs.index(None) + 1
    assert thread._take() == jobs[: min(64, until)]
    assert thread._jobs.qsize() == len(jobs) - min(64, until)


def test_what_an_operation_comes_to() -> None:
    error = ValueError("no")

    def fail(*_: object) -> Any:
        raise error

    assert outcome_of(fail, "GetItem", {}) is error
    assert outcome_of(lambda name, params: {name: params}, "GetItem", {"a": 1}) == {"GetItem": {"a": 1}}
