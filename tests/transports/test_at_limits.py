"""What holds exactly at a limit, one before it and one behind it: heads, bodies, chunks, pauses, quotas, statuses."""

from __future__ import annotations

import time
from typing import Any

import pytest

from keyplan.client.transports import http1, proxies, retries
from keyplan.client.transports.http1 import ProtocolViolation, Reply, ReplyReader
from keyplan.client.transports.proxies import Proxy, ProxyRefusedError, Tunnel, proxy_for
from keyplan.client.transports.responses import Failure, Kind
from keyplan.client.transports.retries import Attempts, Quota, repeatable
from keyplan.client.transports.urls import parse_url
from keyplan.dynamodb.service_errors import ConditionalCheckFailedException, ThrottlingException
from keyplan.errors import StoreError

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def is_refused(*parts: bytes) -> bool:
    reader = ReplyReader()
    try:
        for part in parts:
            assert reader.feed(part) is None
    except ProtocolViolation:
        return True
    return False


def test_how_much_is_held_of_an_answer() -> None:
    """A head of 64 KiB, a body of 64 MiB, a chunk's first line of 4 KiB; none is longer by a byte."""
    for early in (b"", b"HTTP/1.1 100 Continue\r\n\r\n"):
        assert not is_refused(early + OK.ljust(65536, b"x"))
        assert is_refused(early + OK.ljust(65537, b"x"))
    assert not is_refused(OK + b"Content-Length: 67108864\r\n\r\n")
    assert is_refused(OK + b"Content-Length: 67108865\r\n\r\n")
    assert not is_refused(CHUNKED + b"4000000\r\n")
    assert is_refused(CHUNKED + b"4000001\r\n")
    assert not is_refused(CHUNKED + b"1;".ljust(4096, b"x"))
    assert is_refused(CHUNKED + b"1;".ljust(4097, b"x"))
    assert not is_refused(CHUNKED + b"1\r\na\r\n" + b"1;".ljust(4096, b"x"))
    assert is_refused(CHUNKED + b"1\r\na\r\n" + b"1;".ljust(4097, b"x"))


def test_a_chunks_line_may_be_so_long() -> None:
    """The line's end lies within what is looked at."""
    for length, refused in ((4094, False), (4096, True)):
        line = b"1;".ljust(length, b"x") + b"\r\n"
        whole = CHUNKED + line + b"a\r\n0\r\n\r\n"
        if refused:
            assert is_refused(whole)
        else:
            assert ReplyReader().feed(whole) == Reply(200, {b"transfer-encoding": b"chunked"}, b"a", keep=True)


def test_how_much_is_held_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that comes in chunks is no longer than one whose length is said, with a head."""
    monkeypatch.setattr(http1, "BODY_BYTES_MAX", 500)
    monkeypatch.setattr(http1, "HEAD_BYTES_MAX", 100)
    whole = CHUNKED + b"1\r\na\r\n" * 80
    rest = b"64;".ljust(600 - len(whole), b"x")
    assert not is_refused(whole, rest)
    assert is_refused(whole, rest, b"x")


ANSWERS = [
    OK + b"Content-Length: 5\r\nX-Amz-Crc32:7\r\n\r\nhello",
    OK + b"Content-Length:0\r\nX: y\r\n\r\n",
    b"HTTP/1.1 103 Early\r\nA: b\r\n\r\n" + CHUNKED + b"a;x\r\n0123456789\r\n0\r\nTrailer: x\r\nY: z\r\n\r\n",
    b"HTTP/1.1 500 No\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\nx\r\n00\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
    b"HTTP/1.0 204 \r\nContent-Length: 2\r\n\r\nxy",
    b"HTTP/1.1 199 Early\r\n\r\n" + OK + b"Content-Length: 2\r\nA:1\r\nA: 2 \r\n\r\nxy",
]


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("behind", [b"", b"H"])
def test_an_answer_is_the_same_wherever_it_is_cut(answer: bytes, behind: bytes) -> None:
    """Status, headers, body, and whether the connection stays: at every place, and byte by byte."""
    whole = ReplyReader().feed(answer + behind)
    assert whole is not None
    for cut in range(1, len(answer)):
        reader = ReplyReader()
        assert reader.feed(answer[:cut]) is None
        assert reader.feed(answer[cut:] + behind) == whole
    reader = ReplyReader()
    for at in range(len(answer) - 1):
        assert reader.feed(answer[at : at + 1]) is None
    assert reader.feed(answer[-1:] + behind) == whole


@pytest.mark.parametrize(
    "start", [b"H", b"HTTP/1", b"HTTP/1.1 200", b"HTTP/1.1 20", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 X\r\n\r\n"]
)
def test_what_may_be_the_beginning_of_an_answer(start: bytes) -> None:
    assert not is_refused(start)


@pytest.mark.parametrize(
    "garbage",
    [
        b"h",
        b"HTTQ",
        b"HTTP/2",
        b"HTTP/1.1\t200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/2.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 x00 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.x 200 OK\r\nContent-Length: 0\r\n\r\n",
        OK + b"Content-Length: 0\r\nno colon\r\n\r\n",
        CHUNKED + b"\r\n",
        CHUNKED + b"0x1\r\n",
        CHUNKED + b"1g\r\n",
        CHUNKED + b"1\r\nab\r",
        CHUNKED + b"1\r\na\rx",
    ],
)
def test_what_is_no_answer(garbage: bytes) -> None:
    assert is_refused(garbage)


# Proxies


def tunnel(host: str = "far") -> Tunnel:
    return Tunnel(Proxy("proxy", 3128), parse_url(f"dynamodb+https://{host}:4430/notes", "notes", {}))


@pytest.mark.parametrize("status", [b"HTTP/1.1 200 Connected", b"HTTP/1.0 299", b"HTTP/1.1 2"])
def test_a_tunnel_stands(status: bytes) -> None:
    whole = status + b"\r\nVia: x\r\n\r\n"
    for cut in range(1, len(whole)):
        made = tunnel()
        assert not made.feed(whole[:cut])
        assert made.feed(whole[cut:])


@pytest.mark.parametrize(
    "status", [b"HTTP/1.1 300", b"HTTP/1.1 100", b"HTTP/2.1 200", b"HTTP/1.1  200", b"HTTP/1.12200", b"SSH", b"x" * 70]
)
def test_a_tunnel_is_refused(status: bytes) -> None:
    """With the first sixty letters of what was answered."""
    with pytest.raises(ProxyRefusedError) as raised:
        tunnel().feed(status + b"\r\n\r\n")
    assert str(raised.value) == f"the proxy proxy:3128 answered {status[:60].decode()!r}"


def test_a_proxys_head_has_an_end() -> None:
    made = tunnel()
    assert not made.feed(b"HTTP/1.1 200 x".ljust(65535, b"x"))
    assert made.feed(b"x")
    assert proxies.HEAD_BYTES_MAX == 65536
    made = tunnel()
    assert not made.feed(b"HTTP")
    with pytest.raises(ProxyRefusedError, match="closed the connection"):
        made.feed(b"")
    assert tunnel("[::2]").request == b"CONNECT [::2]:4430 HTTP/1.1\r\nHost: [::2]:4430\r\n\r\n"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://proxy", Proxy("proxy", 80)),
        ("proxy:8080", Proxy("proxy", 8080)),
        ("http://me@proxy", Proxy("proxy", 80, "bWU6")),
        ("http://m%40e:a%3Ab@proxy:1", Proxy("proxy", 1, "bUBlOmE6Yg==")),
        ("http://:x@proxy", Proxy("proxy", 80, "Ong=")),
    ],
)
def test_what_a_proxys_address_says(address: str, expected: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", address)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert proxy_for(parse_url("dynamodb://eu-west-1/notes", "notes", {})) == expected


# Retries


class Midway:
    """What is drawn is always half."""

    def random(self) -> float:
        return 0.5


@pytest.fixture
def midway(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "random", Midway())
    monkeypatch.setattr(retries, "time", Clock())


class Clock:
    """A clock that stands at a hundred seconds."""

    def monotonic(self) -> float:
        return 100.0


TRANSIENT = Failure(StoreError("no connection"), Kind.TRANSIENT)
THROTTLED = Failure(ThrottlingException("slow down"), Kind.THROTTLED)


@pytest.mark.usefixtures("midway")
def test_pauses_double_up_to_twenty_seconds() -> None:
    for failure, expected in (
        (TRANSIENT, [0.0125 * 2**at for at in range(10)] + [10.0] * 2),
        (THROTTLED, [0.5, 1, 2, 4, 8, 10, 10]),
    ):
        element = Attempts("GetItem", {}, Quota(), 40, 1e9)
        assert [element.after(failure) for _ in expected] == [min(10.0, pause) for pause in expected]
        assert element.count == len(expected) + 1
        assert not element.lost


@pytest.mark.usefixtures("midway")
@pytest.mark.parametrize(("deadline", "goes_on"), [(100.0125, False), (100.013, True)])
def test_a_pause_that_ends_with_the_time_of_the_call(deadline: float, goes_on: bool) -> None:
    quota = Quota()
    element = Attempts("GetItem", {}, quota, 4, deadline)
    if goes_on:
        assert element.after(TRANSIENT) == 0.0125
        assert quota.left == 500 - 14
    else:
        with pytest.raises(StoreError, match="no connection"):
            element.after(TRANSIENT)
        assert quota.left == 500  # nothing was tried, and nothing is paid


def test_what_a_quota_gives_and_takes() -> None:
    quota = Quota(10)
    assert not quota.take(11)
    assert quota.left == 10
    assert quota.take(10)
    assert quota.left == 0
    assert not quota.take(1)
    quota.give()
    assert quota.left == 1
    assert quota.take(1)
    quota.give(9)
    assert quota.left == 9
    quota.give(5)
    assert quota.left == 10
    quota.give(5)
    assert quota.left == 10
    assert Quota().left == 500


@pytest.mark.usefixtures("midway")
def test_what_helped_is_given_back() -> None:
    """The price of the last retry; a call that was healed without one gives 1, as any."""
    for failures, left in (
        ([TRANSIENT], 100),
        ([THROTTLED, TRANSIENT], 95),
        ([TRANSIENT, THROTTLED], 86),
        ([Failure(StoreError("expired"), Kind.EXPIRED)], 100),
    ):
        quota = Quota(100)
        element = Attempts("GetItem", {}, quota, 9, 1e9)
        for failure in failures:
            element.after(failure)
        element.succeeded()
        assert quota.left == left
    quota = Quota(100)
    quota.take(50)
    element = Attempts("GetItem", {}, quota, 9, 1e9)
    element.after(Failure(StoreError("expired"), Kind.EXPIRED))
    element.succeeded()
    assert quota.left == 51


TOKEN = {
    "ConditionExpression": "attribute_exists(#k) AND NOT contains(#t, :t)",
    "UpdateExpression": "SET #v = #v + :n ADD #t :s",
    "ExpressionAttributeNames": {"#t": "tokens", "#v": "views", "#k": "pk"},
    "ExpressionAttributeValues": {":t": {"S": "once"}, ":s": {"SS": ["once"]}, ":n": {"N": "1"}},
}
TOKENS: list[tuple[str, dict[str, Any], bool]] = [
    ("as it is written", {}, True),
    ("alone", {"ConditionExpression": "NOT contains(#t, :t)"}, True),
    ("beside another name", {"UpdateExpression": "SET #v = #v + :n ADD #v :n, #t :s"}, True),
    ("no condition", {"ConditionExpression": "attribute_exists(#k)"}, False),
    ("or something else", {"ConditionExpression": "#v = :n OR #k = :n AND NOT contains(#t, :t)"}, False),
    ("an or in parentheses", {"ConditionExpression": "(#v = :n OR (#k = :n)) AND NOT contains(#t, :t)"}, True),
    ("not the last", {"ConditionExpression": "NOT contains(#t, :t) AND #v = :n"}, False),
    ("another attribute is added to", {"UpdateExpression": "SET #v = #v + :n ADD #v :s"}, False),
    ("another token is added", {"ExpressionAttributeValues": {":t": {"S": "a"}, ":s": {"SS": ["b"]}}}, False),
    ("a number is added", {"ExpressionAttributeValues": {":t": {"S": "a"}, ":s": {"N": "1"}}}, False),
    ("nothing is added", {"UpdateExpression": "SET #v = #v + :n"}, False),
    ("another placeholder of its name", {
        "UpdateExpression": "SET #v = #v + :n ADD #u :s",
        "ExpressionAttributeNames": {"#t": "tokens", "#u": "tokens", "#v": "views"},
    }, True),
]  # fmt: skip


@pytest.mark.parametrize(("says", "other", "expected"), TOKENS, ids=[case[0] for case in TOKENS])
def test_what_is_known_as_a_token(says: str, other: dict[str, Any], expected: bool) -> None:
    """What is counted with one may be sent twice: the item itself says whether it was carried out."""
    parameters = {**TOKEN, **other}
    assert repeatable("UpdateItem", parameters) is expected
    element = Attempts("UpdateItem", parameters, Quota(), 4, time.monotonic() + 99)
    element.lost = True
    error = element._last(ConditionalCheckFailedException())
    assert isinstance(error, ConditionalCheckFailedException) is expected
    again = element._last(StoreError("the connection broke"))
    assert again.hint == ("call it again, with the same token" if expected else "read the item, and decide anew")


@pytest.mark.parametrize(
    ("operation", "parameters", "expected"),
    [
        ("PutItem", {"ReturnValues": "ALL_OLD"}, False),
        ("UpdateItem", {"ReturnValues": "ALL_OLD"}, False),
        ("DeleteItem", {"ReturnValues": "ALL_OLD"}, True),
        ("PutItem", {"ReturnValues": "ALL_NEW"}, True),
        ("UpdateItem", {}, True),
        ("UpdateItem", {"UpdateExpression": "SET #a = LIST_APPEND(#a, :b)"}, False),
        ("UpdateItem", {"UpdateExpression": "SET #a = :a - :b"}, False),
        ("UpdateItem", {"UpdateExpression": "add #a :b", "ExpressionAttributeValues": {":b": {"N": "1"}}}, False),
        ("UpdateItem", {"UpdateExpression": "ADD #a :b", "ExpressionAttributeValues": {":b": {"SS": ["1"]}}}, True),
        ("UpdateItem", {"UpdateExpression": "SET #a = :b", "ExpressionAttributeValues": {":b": {"N": "1"}}}, True),
    ],
)
def test_what_may_be_sent_twice(operation: str, parameters: dict[str, Any], expected: bool) -> None:
    assert repeatable(operation, parameters) is expected


@pytest.mark.parametrize("kind", [Kind.CLOCK, Kind.EXPIRED])
def test_what_could_not_be_healed_was_not_carried_out(kind: Kind) -> None:
    element = Attempts("PutItem", {}, Quota(), 4, 1e9)
    error = StoreError("no credentials")
    assert element.after(Failure(error, kind)) == 0.0
    with pytest.raises(StoreError) as raised:
        element.after(Failure(error, kind))
    assert raised.value is error


def test_a_failure_says_what_its_error_says() -> None:
    failure = Failure(StoreError("no", hint="write yes"))
    assert (str(failure), failure.kind, failure.lost) == (str(failure.error), Kind.FINAL, False)


# What replies mean
