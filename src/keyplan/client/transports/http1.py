"""Parses HTTP/1.1 responses (the strict subset that DynamoDB's protocol needs) without I/O. A response must have a
length or be chunked; other responses are rejected, because truncation couldn't be detected. Source: RFC 9112.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_STATUS_LINE = re.compile(rb"HTTP/1\.[0-9] (?P<status>[0-9]{3})(?: |$)")
_UNIQUE = frozenset({b"content-length", b"content-encoding", b"transfer-encoding", b"x-amz-crc32"})
_HEX = b"0123456789abcdefABCDEF"
HEAD_BYTES_MAX = 64 * 1024
CHUNK_LINE_BYTES_MAX = 4096
LENGTH_DIGITS_MAX = 20
BODY_BYTES_MAX = 64 * 1024 * 1024
"""Maximum size of a response: above DynamoDB's maximum of 16 MB, and small enough for memory."""


class ProtocolViolation(Exception):
    """The data isn't a valid HTTP/1.1 response."""


class Reply(NamedTuple):
    """One response: status, headers (lowercase names), body as sent, and whether the connection can be reused."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes
    keep: bool


class ReplyReader:
    """Parses one response. Call ``feed`` with bytes until ``feed`` returns the response. Raises ProtocolViolation."""

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
        """Number of missing bytes of a body with Content-Length, whose parts are joined at the end."""

    def feed(self, data: bytes) -> Reply | None:
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
                # Data after the response is invalid, so the connection isn't reused.
                return Reply(self._status, self._headers or {}, body, keep=self._keep and end == len(held))
            if self._length is not None:
                self._missing = self._start + self._length - len(held)
                self._chunks.append(bytes(memoryview(held)[self._start :]))
                return None
        if not self._bytes:
            self._bytes += data
        if len(self._bytes) > BODY_BYTES_MAX + HEAD_BYTES_MAX:
            raise ProtocolViolation(f"the response exceeds {BODY_BYTES_MAX:,} bytes")
        return None

    def _part(self, data: bytes) -> Reply | None:
        self._chunks.append(data)
        self._missing -= len(data)
        if self._missing > 0:
            return None
        body = b"".join(self._chunks)
        if self._missing == 0:
            return Reply(self._status, self._headers or {}, body, keep=self._keep)
        return Reply(self._status, self._headers or {}, body[: self._length], keep=False)

    def _body(self, held: bytes | bytearray) -> tuple[bytes, int] | None:
        if self._length is None:
            return self._unchunk(held)
        end = self._start + self._length
        return (bytes(memoryview(held)[self._start : end]), end) if len(held) >= end else None

    def _head(self, held: bytes | bytearray) -> bool:
        """Parse the status line and the headers, once they are complete. Informational responses are skipped."""
        while True:
            end = held.find(b"\r\n\r\n", self._start)
            if end == -1:
                if len(held) - self._start > HEAD_BYTES_MAX or not held.startswith(b"HTTP/1."[: len(held)]):
                    raise ProtocolViolation(f"the response isn't HTTP: {bytes(held[:60])!r}")
                return False
            lines = bytes(held[self._start : end]).split(b"\r\n")
            first = lines[0]
            match = _STATUS_LINE.match(first)
            if match is None:
                raise ProtocolViolation(f"the response isn't HTTP: {first[:60]!r}")
            self._status = int(match["status"])
            self._start = end + 4
            if self._status >= 200:
                break
        headers: dict[bytes, bytes] = {}
        for line in lines[1:]:
            name, colon, value = line.partition(b":")
            if not colon:
                raise ProtocolViolation(f"the response has an invalid header: {line[:60]!r}")
            name, value = name.lower(), value.strip()
            if name in _UNIQUE and headers.get(name, value) != value:
                raise ProtocolViolation(f"the response has two different {name.decode()} headers")
            headers[name] = value
        self._keep = first.startswith(b"HTTP/1.1") and headers.get(b"connection", b"").lower() != b"close"
        self._measure(headers)
        self._headers = headers
        return True

    def _measure(self, headers: dict[bytes, bytes]) -> None:
        length = headers.get(b"content-length")
        if b"transfer-encoding" in headers:
            if headers[b"transfer-encoding"].lower() != b"chunked" or length is not None:
                raise ProtocolViolation("the Transfer-Encoding isn't chunked, or the response also has Content-Length")
        elif length is None or not length.isdigit() or len(length) > LENGTH_DIGITS_MAX or int(length) > BODY_BYTES_MAX:
            why = "missing" if length is None else f"invalid or too large: {length[:30]!r}"
            raise ProtocolViolation(f"the response's Content-Length is {why}")
        else:
            self._length = int(length)

    def _unchunk(self, held: bytes | bytearray) -> tuple[bytes, int] | None:
        """The chunked body and its end; None while the body is incomplete. Parsed chunks aren't parsed again."""
        while True:
            end = held.find(b"\r\n", self._start, self._start + CHUNK_LINE_BYTES_MAX)
            if end == -1:
                if len(held) - self._start > CHUNK_LINE_BYTES_MAX:
                    raise ProtocolViolation("a chunk of the response has no length")
                return None
            size_text = bytes(held[self._start : end]).partition(b";")[0].strip()
            if not size_text.isalnum() or size_text.strip(_HEX):
                raise ProtocolViolation(f"a chunk of the response has the invalid length {size_text[:30]!r}")
            size = int(size_text, 16)
            if size > BODY_BYTES_MAX:
                raise ProtocolViolation(f"a chunk of the response exceeds {BODY_BYTES_MAX:,} bytes")
            start = end + 2
            if size == 0:
                return self._trailers(held, start)
            if len(held) < start + size + 2:
                return None
            if held[start + size : start + size + 2] != b"\r\n":
                raise ProtocolViolation("a chunk of the response doesn't have its declared length")
            self._chunks.append(bytes(memoryview(held)[start : start + size]))
            self._start = start + size + 2

    def _trailers(self, held: bytes | bytearray, start: int) -> tuple[bytes, int] | None:
        """The end of a chunked body's trailers, which are ignored, and of the empty line after the trailers."""
        if held[start : start + 2] == b"\r\n":
            return b"".join(self._chunks), start + 2
        end = held.find(b"\r\n\r\n", start)
        return None if end == -1 else (b"".join(self._chunks), end + 4)
