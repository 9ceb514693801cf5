"""The server responds to any input with DynamoDB's errors, never with status 500, and keeps running."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.dynamodb.operations.shapes import Flag, ListOf, MapOf, Real, Shape, Structure, Text, Value, Whole
from tests.seeds import examples
from tests.server.support import CREATE, TABLE, Raw, Server, request, s, serving

NAMES = st.sampled_from([TABLE, "pk", "sk", "g", "ByG", "#n", ":v", "nothing", "", "x" * 300])
KEYS = st.builds(lambda pk, sk: {"pk": s(pk), "sk": s(sk)}, st.sampled_from("ab"), st.sampled_from("12"))
EXPRESSIONS = st.sampled_from(
    [
        "pk = :v",
        "SET g = :v",
        "attribute_exists(pk)",
        "g = :v AND size(#n) > :v",
        "REMOVE #n.a[0]",
        "((((",
        "ADD n :v DELETE m :v",
        "",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | NAMES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES | st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
TAGS = st.sampled_from(["S", "N", "B", "SS", "NS", "BS", "L", "M", "BOOL", "NULL", "X"])
NUMBERS = st.sampled_from(["1", "-0", "1e125", "1e400", "9" * 39, "nan", "0x1", " 1", "１"])
VALUES = st.builds(lambda text: {"S": text}, NAMES) | st.builds(lambda text: {"N": text}, NUMBERS)
VALUES |= st.dictionaries(TAGS, JSON, max_size=2)


def of(shape: Shape) -> st.SearchStrategy[Any]:
    """Generate values that usually match a shape, and sometimes any value."""
    match shape:
        case Text():
            fitting: st.SearchStrategy[Any] = NAMES | EXPRESSIONS
            if shape.enum:
                fitting = st.sampled_from(shape.enum)
        case Whole():
            fitting = st.integers(-1, 3)
        case Real():
            fitting = st.integers(-1, 2**40) | st.floats(allow_nan=False, allow_infinity=False)
        case Flag():
            fitting = st.booleans()
        case Value():
            fitting = VALUES
        case ListOf():
            fitting = st.lists(of(shape.of), max_size=3)
        case MapOf():
            fitting = st.dictionaries(NAMES, of(shape.of), max_size=3)
            if isinstance(shape.of, Value):
                fitting |= KEYS | KEYS
        case Structure():
            return structures(shape)
    return st.integers(0, 19).flatmap(lambda chance: JSON if chance == 0 else fitting)


def structures(shape: Structure) -> st.SearchStrategy[Any]:
    members = {name: of(member) for name, member in shape.members.items()}
    required = {name: members[name] for name in shape.required}
    if "TableName" in required:
        required["TableName"] = st.just(TABLE)
    optional = {name: member for name, member in members.items() if name not in required}
    return st.fixed_dictionaries(required, optional=optional)


REQUESTS = st.sampled_from([name for name in OPERATIONS if name != "CreateTable"]).flatmap(
    lambda name: st.tuples(st.just(name), of(OPERATIONS[name].request) | JSON)
)


@pytest.fixture(scope="module")
def target() -> Iterator[Server]:
    """A server with an in-memory store, whose contents the requests may change."""
    with serving(":memory:") as server:
        yield server


def restore(raw: Raw) -> None:
    """Create the table again if a request has deleted it."""
    assert raw.ask(request("CreateTable", CREATE)).status in {200, 400}


def contents(raw: Raw) -> list[Any]:
    """Return all stored items by table."""
    names = raw.ask(request("ListTables")).json()["TableNames"]
    return [(name, raw.ask(request("Scan", {"TableName": name})).json()["Items"]) for name in names]


@settings(max_examples=examples(80, 400), deadline=None, suppress_health_check=list(HealthCheck))
@given(requests=st.lists(REQUESTS, min_size=1, max_size=4))
def test_rejected_random_requests_have_no_effect(target: Server, requests: list[tuple[str, Any]]) -> None:
    with target.raw() as raw:
        before = contents(raw)
        for name, body in requests:
            answer = raw.ask(request(name, json.dumps(body).encode()))
            answer.assert_sound()
            assert answer.status in {200, 400}, (name, body, answer)
            after = contents(raw)
            if answer.status == 400:
                assert answer.type.partition("#")[2].endswith(("Exception", "Exceeded"))
                assert after == before  # a rejected request has written nothing
            before = after
        restore(raw)


GOOD_BODIES = [
    ("PutItem", {"TableName": TABLE, "Item": {"pk": s("a"), "sk": s("1"), "n": {"N": "12"}, "b": {"B": "AAEC"}}}),
    ("UpdateItem", {
        "TableName": TABLE, "Key": {"pk": s("a"), "sk": s("é")}, "UpdateExpression": "SET x = :x",
        "ExpressionAttributeValues": {":x": {"L": [{"M": {"k": {"NS": ["1", "2"]}}}]}},
    }),
    ("BatchWriteItem", {"RequestItems": {TABLE: [{"PutRequest": {"Item": {"pk": s("b"), "sk": s("1")}}}]}}),
    ("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": TABLE, "Item": {"pk": s("b"), "sk": s("2")}}}]}),
]  # fmt: skip
SPLICES = st.sampled_from(
    [
        *(b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"\x00", b"\xef\xbb\xbf", b"\n", b'"', b","),
        *(b"9" * 400, b"1e999999", b"-", b"NaN", b"null", b"true", b"{", b"}", b":", b"[" * 2000, b"/*"),
    ]
)


@settings(max_examples=examples(80, 400), deadline=None, suppress_health_check=list(HealthCheck))
@given(good=st.sampled_from(GOOD_BODIES), cuts=st.lists(st.tuples(st.integers(0, 300), st.integers(0, 9), SPLICES)))
def test_rejected_corrupted_bodies_have_no_effect(
    target: Server, good: tuple[str, Any], cuts: list[tuple[int, int, bytes]]
) -> None:
    name, params = good
    body = json.dumps(params, ensure_ascii=False).encode()
    for start, length, splice in cuts:
        body = body[:start] + splice + body[start + length :]
    with target.raw() as raw:
        restore(raw)
        before = contents(raw)
        answer = raw.ask(request(name, body))
        answer.assert_sound()
        assert answer.status in {200, 400}, (body, answer)
        if answer.status == 400:
            assert contents(raw) == before


PIECES = st.sampled_from(
    [
        b"POST / HTTP/1.1\r\n",
        b"GET /x?y=z HTTP/1.0\r\n",
        b"Host: x\r\n",
        b"Content-Length: 5\r\n",
        b"Content-Length: 99999999999999999999\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Content-Encoding: gzip\r\n",
        b"Connection: Upgrade\r\nUpgrade: h2c\r\n",
        b"Expect: 100-continue\r\n",
        b"Authorization: AWS4-HMAC-SHA256 x\r\n",
        b"X-Amz-Target: DynamoDB_20120810.ListTables\r\n",
        b"Content-Type: application/x-amz-json-1.0\r\n",
        b"\r\n",
        b"{}",
        b"5\r\nhello\r\n",
        b"0\r\n\r\n",
        b"ffffffffffffffff\r\n",
        request("ListTables"),
        request("GetItem", {"TableName": TABLE, "Key": {"pk": s("a"), "sk": s("1")}}, chunks=True),
    ]
)


@settings(max_examples=examples(60, 300), deadline=None, suppress_health_check=list(HealthCheck))
@given(pieces=st.lists(PIECES | st.binary(max_size=30), max_size=12), cut=st.integers(0, 40))
def test_server_returns_expected_statuses_for_random_bytes(target: Server, pieces: list[bytes], cut: int) -> None:
    data = b"".join(pieces)
    with target.raw() as raw:
        try:
            raw.send(data[: len(data) - cut] if cut < len(data) else data)
            raw.socket.shutdown(socket.SHUT_WR)
            while True:
                answer = raw.answer()
                # DynamoDB returns 500 for a body that doesn't match its content encoding.
                is_encoding = answer.status == 500 and b"service#InternalFailure" in answer.body
                assert answer.status in {100, 200, 400, 404, 413, 431} or is_encoding
        except (EOFError, BrokenPipeError, ConnectionResetError):
            pass
    with target.raw() as raw:
        assert raw.ask(request("ListTables")).status == 200


def test_server_keeps_running_with_bounded_memory_after_random_requests(target: Server) -> None:
    """When the server exits, the fixture checks its standard error."""
    assert target.process.poll() is None
    assert target.memory_mb() < 300
