"""HTTP/1.1's answers, read from bytes: the little of it that DynamoDB's protocol needs, strictly, and without I/O.

An answer has a length or comes in chunks; anything else is garbage, since its end couldn't be told from a cut.
Source: RFC 9112.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["ProtocolViolation", "Reply", "ReplyReader"]

_STATUS_LINE = re.compile(rb"HTTP/1\.[0-9] (?P<status>[0-9]{3})(?: |$)")
_UNIQUE = frozenset({b"content-length", b"content-encoding", b"transfer-encoding", b"x-amz-crc32"})
_HEX = b"0123456789abcdefABCDEF"
HEAD_BYTES_MAX = 64 * 1024
CHUNK_LINE_BYTES_MAX = 4096
LENGTH_DIGITS_MAX = 20
BODY_BYTES_MAX = 64 * 1024 * 1024
"""Well over the 16 MB of DynamoDB's largest answers, and little enough to be held."""


class ProtocolViolation(Exception):
    """What came isn't an answer in HTTP/1.1."""


class Reply(NamedTuple):
    """One answer: its status, its headers (names in lower case), its body as sent, and whether the connection stays."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes
    keep: bool


class ReplyReader:
    """Reads one answer: ``feed`` it bytes until it gives the answer. Raises ProtocolViolation."""

    __slots__ = ("_bytes", "_chunks", "_headers", "_keep", "_length", "_missing", "_start", "_status")

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._headers: dict[bytes, bytes] | None = None
        self._status: int
        self._start = 0
        self._length: int | None = None
        self._keep: bool
        self._chunks: list[bytes] = []
        self._missing = 0
        """Bytes of a body of known length that are still to come. Its parts are joined when all are there."""

    def feed(self, data: bytes) -> Reply | None:
        """The answer, once it is whole."""
        if self._missing:
            return self._part(data)
        held: bytes | bytearray = data
        if self._bytes:
            self._bytes += data
            held = self._bytes
        if self._headers is not None or self._head(held):
            result = self._body(held)
            if result is not None:
                body, end = result
                # More than the answer was sent: whatever that is, the next answer doesn't begin with it.
                return Reply(self._status, self._headers or {}, body, keep=self._keep and end == len(held))
            if self._length is not None:
                self._missing = self._start + self._length - len(held)
                self._chunks.append(bytes(memoryview(held)[self._start :]))
                return None
        if not self._bytes:
            self._bytes += data
        if len(self._bytes) > BODY_BYTES_MAX + HEAD_BYTES_MAX:
            raise ProtocolViolation(f"the answer is over {BODY_BYTES_MAX:,} bytes")
        return None

    def _part(self, data: bytes) -> Reply | None:
        """The answer, if this is the last part of its body."""
        self._chunks.append(data)
        self._missing -= len(data)
        if self._missing > 0:
            return None
        body = b"".join(self._chunks)
        if self._missing == 0:
            return Reply(self._status, self._headers or {}, body, keep=self._keep)
        return Reply(self._status, self._headers or {}, body[: self._length], keep=False)

    def _body(self, held: bytes | bytearray) -> tuple[bytes, int] | None:
        """The body and where it ends, once it is whole."""
        if self._length is None:
            return self._unchunk(held)
        end = self._start + self._length
        return (bytes(memoryview(held)[self._start : end]), end) if len(held) >= end else None

    def _head(self, held: bytes | bytearray) -> bool:
        """Read the status line and the headers, once they are there. Informational answers are passed over."""
        while True:
            end = held.find(b"\r\n\r\n", self._start)
            if end == -1:
                if len(held) - self._start > HEAD_BYTES_MAX or not held.startswith(b"HTTP/1."[: len(held)]):
                    raise ProtocolViolation(f"the answer isn't HTTP: {bytes(held[:60])!r}")
                return False
            lines = bytes(held[self._start : end]).split(b"\r\n")
            first = lines[0]
            match = _STATUS_LINE.match(first)
            if match is None:
                raise ProtocolViolation(f"the answer isn't HTTP: {first[:60]!r}")
            self._status = int(match["status"])
            self._start = end + 4
            if self._status >= 200:
                break
        headers: dict[bytes, bytes] = {}
        for line in lines[1:]:
            name, colon, value = line.partition(b":")
            if not colon:
                raise ProtocolViolation(f"a header of the answer isn't one: {line[:60]!r}")
            name, value = name.lower(), value.strip()
            if name in _UNIQUE and headers.get(name, value) != value:
                raise ProtocolViolation(f"the answer has two different headers {name.decode()}")
            headers[name] = value
        self._keep = first.startswith(b"HTTP/1.1") and headers.get(b"connection", b"").lower() != b"close"
        self._measure(headers)
        self._headers = headers
        return True

    def _measure(self, headers: dict[bytes, bytes]) -> None:
        length = headers.get(b"content-length")
        if b"transfer-encoding" in headers:
            if headers[b"transfer-encoding"].lower() != b"chunked" or length is not None:
                raise ProtocolViolation("the answer's length is given in a way that can't be relied on")
        elif length is None or not length.isdigit() or len(length) > LENGTH_DIGITS_MAX or int(length) > BODY_BYTES_MAX:
            raise ProtocolViolation(
                f"the answer's length is {'missing' if length is None else length.decode('latin-1')[:30]}"
            )
        else:
            self._length = int(length)

    def _unchunk(self, held: bytes | bytearray) -> tuple[bytes, int] | None:
        """The body of chunks and where it ends, once it is whole. Chunks that were read aren't read again."""
        while True:
            end = held.find(b"\r\n", self._start, self._start + CHUNK_LINE_BYTES_MAX)
            if end == -1:
                if len(held) - self._start > CHUNK_LINE_BYTES_MAX:
                    raise ProtocolViolation("a chunk of the answer doesn't say its length")
                return None
            size_text = bytes(held[self._start : end]).partition(b";")[0].strip()
            if not size_text.isalnum() or size_text.strip(_HEX):
                raise ProtocolViolation(f"a chunk of the answer has the length {size_text[:30]!r}")
            size = int(size_text, 16)
            if size > BODY_BYTES_MAX:
                raise ProtocolViolation(f"a chunk of the answer has the length {size_text[:30]!r}")
            start = end + 2
            if size == 0:
                return self._trailers(held, start)
            if len(held) < start + size + 2:
                return None
            if held[start + size : start + size + 2] != b"\r\n":
                raise ProtocolViolation("a chunk of the answer doesn't end where it says")
            self._chunks.append(bytes(memoryview(held)[start : start + size]))
            self._start = start + size + 2

    def _trailers(self, held: bytes | bytearray, start: int) -> tuple[bytes, int] | None:
        """The end of a body of chunks: fields that nobody wants, and an empty line."""
        if held[start : start + 2] == b"\r\n":
            return b"".join(self._chunks), start + 2
        end = held.find(b"\r\n\r\n", start)
        return None if end == -1 else (b"".join(self._chunks), end + 4)
