"""HTTP/1.1's answers, read from bytes: the little of it that DynamoDB's protocol needs, strictly, and without I/O.

An answer has a length or comes in chunks; anything else is garbage, since its end couldn't be told from a cut.
Source: RFC 9112.
"""

from __future__ import annotations

__all__ = ["Garbage", "Reply", "ReplyReader"]

HEAD_BYTES_MAX = 64 * 1024
BODY_BYTES_MAX = 64 * 1024 * 1024
"""Well over the 16 MB of DynamoDB's largest answers, and little enough to be held."""


class Garbage(Exception):
    """What came isn't an answer in HTTP/1.1."""


class Reply:
    """One answer: its status, its headers (names in lower case), its body as sent, and whether the connection stays."""

    __slots__ = ("body", "headers", "keep", "status")

    def __init__(self, status: int, headers: dict[bytes, bytes], body: bytes, *, keep: bool) -> None:
        self.status = status
        self.headers = headers
        self.body = body
        self.keep = keep


class ReplyReader:
    """Reads one answer: ``feed`` it bytes until it gives the answer. Raises Garbage."""

    __slots__ = ("_bytes", "_headers", "_keep", "_length", "_start", "_status")

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._headers: dict[bytes, bytes] | None = None
        self._status = 0
        self._start = 0
        self._length: int | None = None
        self._keep = True

    def feed(self, data: bytes) -> Reply | None:
        """The answer, once it is whole."""
        held: bytes | bytearray = data
        if self._bytes:
            self._bytes += data
            held = self._bytes
        if self._headers is not None or self._head(held):
            found = self._body(held)
            if found is not None:
                body, end = found
                # More than the answer was sent: whatever that is, the next answer doesn't begin with it.
                return Reply(self._status, self._headers or {}, body, keep=self._keep and end == len(held))
        if not self._bytes:
            self._bytes += data
        if len(self._bytes) > BODY_BYTES_MAX + HEAD_BYTES_MAX:
            raise Garbage(f"the answer is over {BODY_BYTES_MAX:,} bytes")
        return None

    def _body(self, held: bytes | bytearray) -> tuple[bytes, int] | None:
        """The body and where it ends, once it is whole."""
        if self._length is None:
            return _unchunk(held, self._start)
        end = self._start + self._length
        return (bytes(memoryview(held)[self._start : end]), end) if len(held) >= end else None

    def _head(self, held: bytes | bytearray) -> bool:
        """Read the status line and the headers, once they are there. Informational answers are passed over."""
        while True:
            end = held.find(b"\r\n\r\n", self._start)
            if end < 0:
                if len(held) - self._start > HEAD_BYTES_MAX or not held.startswith(b"HTTP/1."[: len(held)]):
                    raise Garbage(f"the answer isn't HTTP: {bytes(held[:60])!r}")
                return False
            lines = bytes(held[self._start : end]).split(b"\r\n")
            first = lines[0]
            if not first.startswith(b"HTTP/1.") or not first[9:12].isdigit() or first[8:9] != b" ":
                raise Garbage(f"the answer isn't HTTP: {first[:60]!r}")
            self._status = int(first[9:12])
            self._start = end + 4
            if self._status >= 200:
                break
        headers: dict[bytes, bytes] = {}
        for line in lines[1:]:
            name, colon, value = line.partition(b":")
            if not colon:
                raise Garbage(f"a header of the answer isn't one: {line[:60]!r}")
            headers[name.lower()] = value.strip()
        self._keep = first.startswith(b"HTTP/1.1") and headers.get(b"connection", b"").lower() != b"close"
        self._measure(headers)
        self._headers = headers
        return True

    def _measure(self, headers: dict[bytes, bytes]) -> None:
        length = headers.get(b"content-length")
        if b"transfer-encoding" in headers:
            if headers[b"transfer-encoding"].lower() != b"chunked" or length is not None:
                raise Garbage("the answer's length is told in a way that can't be relied on")
        elif length is None or not length.isdigit() or int(length) > BODY_BYTES_MAX:
            raise Garbage(f"the answer's length is {'missing' if length is None else length.decode('latin-1')[:30]}")
        else:
            self._length = int(length)


def _unchunk(held: bytes | bytearray, position: int) -> tuple[bytes, int] | None:
    """The body of chunks from a position on, and where it ends; None while it isn't whole."""
    parts: list[bytes] = []
    while True:
        end = held.find(b"\r\n", position)
        if end < 0:
            return None
        size_text = bytes(held[position:end]).partition(b";")[0].strip()
        try:
            size = int(size_text, 16)
        except ValueError:
            size = -1
        if not 0 <= size <= BODY_BYTES_MAX or not size_text.isalnum():
            raise Garbage(f"a chunk of the answer has the length {size_text[:30]!r}")
        position = end + 2
        if size == 0:
            # Trailers, none of which are wanted, and an empty line.
            if held[position : position + 2] == b"\r\n":
                return b"".join(parts), position + 2
            end = held.find(b"\r\n\r\n", position)
            return None if end < 0 else (b"".join(parts), end + 4)
        if len(held) < position + size + 2:
            return None
        if held[position + size : position + size + 2] != b"\r\n":
            raise Garbage("a chunk of the answer doesn't end where it says")
        parts.append(bytes(held[position : position + size]))
        position += size + 2
