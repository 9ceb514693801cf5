"""Valid and invalid HTTP/1.1 responses are parsed, in whatever parts their bytes arrive."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan.client.transports import http1
from keyplan.client.transports.http1 import HEAD_BYTES_MAX, ProtocolViolation, Reply, ReplyReader

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Amz-Crc32:7\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n0003\r\nllo\r\n0\r\nTrailer: x\r\n\r\n"


def read(*parts: bytes) -> Reply | None:
    reader = ReplyReader()
    reply = None
    for part in parts:
        assert reply is None, "the response was complete before its last part"
        reply = reader.feed(part)
    return reply


def feed_all(reader: ReplyReader, part: bytes) -> None:
    for _ in range(40_000):
        reader.feed(part)


def divided(whole: bytes) -> st.SearchStrategy[list[bytes]]:
    """Return a strategy that divides the bytes into random parts."""
    cuts = st.lists(st.integers(1, len(whole) - 1), unique=True, max_size=len(whole)).map(sorted)
    return cuts.map(lambda at: [whole[start:end] for start, end in zip([0, *at], [*at, len(whole)], strict=True)])


@given(st.one_of(divided(PLAIN), divided(CHUNKED), divided(b"HTTP/1.1 100 Continue\r\n\r\n" + PLAIN)))
def test_response_split_into_any_parts_is_parsed(parts: list[bytes]) -> None:
    reply = read(*parts)
    assert reply is not None
    assert reply.body == b"hello"
    assert reply.keep


def test_informational_responses_are_skipped() -> None:
    """Each header section can have the maximum size, regardless of the number of previous responses."""
    assert (HEAD_BYTES_MAX, http1.CHUNK_LINE_BYTES_MAX, http1.BODY_BYTES_MAX) == (65_536, 4096, 67_108_864)
    early = b"HTTP/1.1 103 Early Hints\r\nLink: " + b"x" * (HEAD_BYTES_MAX - 100) + b"\r\n\r\n"
    reply = read(early * 2 + PLAIN[:20], PLAIN[20:])
    assert reply is not None
    assert reply.body == b"hello"
    with pytest.raises(ProtocolViolation):
        read(early + b"HTTP/1.1 200 OK\r\nLink: " + b"x" * HEAD_BYTES_MAX)


def test_status_and_headers_of_responses_are_parsed() -> None:
    """Header names are converted to lowercase, and white space around header values is removed."""
    reply = read(PLAIN)
    assert reply is not None
    assert (reply.status, reply.headers) == (200, {b"content-length": b"5", b"x-amz-crc32": b"7"})


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n",
    ],
)
def test_connection_is_not_reused_after_a_close_header_or_excess_bytes(head: bytes) -> None:
    reply = read(head)
    assert reply is not None
    assert not reply.keep


def test_bytes_after_the_declared_body_are_ignored_and_end_the_connection() -> None:
    """The body doesn't contain the excess bytes."""
    reply = read(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", b"l", b"loHTTP/1.1")
    assert reply is not None
    assert (reply.body, reply.keep) == (b"hello", False)


@pytest.mark.parametrize(
    "garbage",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x15\x03\x01\x00\x02\x02\x16",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 two OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Amz-Crc32: 1\r\nX-Amz-Crc32: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n",
    ],
)
def test_invalid_http_responses_raise_an_error(garbage: bytes) -> None:
    """A response without a known end is also rejected immediately."""
    with pytest.raises(ProtocolViolation):
        read(garbage)


@given(st.binary(max_size=200))
def test_random_response_bytes_raise_only_protocol_errors(data: bytes) -> None:
    reader = ReplyReader()
    try:
        for start in range(0, len(data), 7):
            if reader.feed(data[start : start + 7]) is not None:
                break
    except ProtocolViolation:
        pass


def test_responses_with_endless_headers_or_chunks_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http1, "BODY_BYTES_MAX", 100_000)
    for start, part in ((b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"), (CHUNKED[:48], b"1\r\nx\r\n")):
        reader = ReplyReader()
        reader.feed(start)
        with pytest.raises(ProtocolViolation):
            feed_all(reader, part)
