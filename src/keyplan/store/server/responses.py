"""HTTP responses as bytes, with status, DynamoDB's headers and checksums, compression, and error format.

Operations raise the errors in ``keyplan.dynamodb.service_errors``. This module creates protocol errors, with the
service's messages.
"""

from __future__ import annotations

import itertools
import re
import secrets
import time
import zlib
from collections.abc import Mapping
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Any

import orjson

from keyplan.errors import DynamoDBError

_OPERATIONS = "com.amazonaws.dynamodb.v20120810#"
_SERVICE = "com.amazon.coral.service#"
_VALIDATE = "com.amazon.coral.validate#"

_NAMESPACES = {
    "ValidationException": _VALIDATE,
    **dict.fromkeys(("AccessDeniedException", "MissingAuthenticationTokenException"), _SERVICE),
    **dict.fromkeys(("IncompleteSignatureException", "InvalidSignatureException"), _SERVICE),
    **dict.fromkeys(("UnknownOperationException", "UnrecognizedClientException", "SerializationException"), _SERVICE),
    **dict.fromkeys(("InternalFailure", "ServiceUnavailableException", "ThrottlingException"), _SERVICE),
}
"""The namespaces of protocol errors; all other errors belong to operations. Recorded from the service."""

_MESSAGE_MEMBERS = {
    "TransactionCanceledException": "Message",
    "IdempotentParameterMismatchException": "Message",
    "TransactionInProgressException": "Message",
    "AccessDeniedException": "Message",
    "SerializationException": "Message",
}
"""The member for the message; ``message`` for other errors. From the API's model and recordings of the service."""

_STATUSES = {"InternalServerError": 500, "InternalFailure": 500, "ServiceUnavailableException": 503}

RETRY = "The server is receiving too much data. Retry the request."


def protocol_fault(type_: str, message: str) -> DynamoDBError:
    return DynamoDBError(message, type=type_)


def unreadable_encoding() -> DynamoDBError:
    """The error for an unknown or invalid Content-Encoding: a 500, according to public tests of the service."""
    return protocol_fault("InternalFailure", "")


def status_of(error: DynamoDBError) -> int:
    return _STATUSES.get(error.type, 400)


def body_of(error: DynamoDBError) -> bytes:
    body: dict[str, Any] = {"__type": _NAMESPACES.get(error.type, _OPERATIONS) + error.type}
    if error.message:
        body[_MESSAGE_MEMBERS.get(error.type, "message")] = error.message
    return orjson.dumps(body | error.fields)


_JSON_TYPE = b"content-type: application/x-amz-json-1.0\r\n"
PACKED_BYTES_MIN = 4096
"""Smaller bodies aren't compressed, as in the service."""
_GZIP_LEVEL = 1
_GZIP_WINDOW = 31
"""zlib's parameter for gzip's header and trailer."""

PACKINGS = (b"gzip", b"deflate")
"""Supported encodings, in order of preference."""
_WEIGHT = re.compile(rb"0(?:\.\d{0,3})?|1(?:\.0{0,3})?")

HEALTH = b"healthy: dynamodb.local.amazonaws.com "
"""The service's response to GET, including the trailing space."""
UNKNOWN = b"<UnknownOperationException/>\n"
"""The service's response to a request of another protocol."""

_STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

Headers = Mapping[bytes, bytes]


class RequestIds:
    """Request IDs in the service's form: 52 letters and digits, generated from random characters and a number."""

    def __init__(self) -> None:
        self._prefix = "".join(secrets.choice(_ALPHABET) for _ in range(36)).encode()
        self._numbers = itertools.count(secrets.randbits(40))

    def next(self) -> bytes:
        return b"%s%016X" % (self._prefix, next(self._numbers))


_ids = RequestIds()


@lru_cache(maxsize=1)
def _date_line(second: int) -> bytes:
    return f"\r\ndate: {formatdate(second, usegmt=True)}\r\n".encode()


def renew_ids() -> None:
    global _ids  # noqa: PLW0603 - each process needs its own IDs
    _ids = RequestIds()


def json_answer(status: int, body: bytes, headers: Headers, cors: bytes = b"") -> bytes:
    lines = b"content-type: application/json\r\n" if headers.get(b"content-type") == b"application/json" else _JSON_TYPE
    packing = packing_of(headers) if len(body) >= PACKED_BYTES_MIN else b""
    if packing:
        body, lines = packed(body, packing), b"%scontent-encoding: %s\r\n" % (lines, packing)
    return plain_answer(status, body, lines + cors)


def plain_answer(status: int, body: bytes, more: bytes = b"", *, closes: bool = False) -> bytes:
    """A whole response that isn't JSON. ``more`` has additional header lines, with line ends."""
    if closes:
        more += b"connection: close\r\n"
    return b"%sserver: keyplan%sx-amzn-requestid: %s\r\nx-amz-crc32: %d\r\n%scontent-length: %d\r\n\r\n%s" % (
        _STATUS_LINES[status],
        _date_line(int(time.time())),
        _ids.next(),
        zlib.crc32(body),
        more,
        len(body),
        body,
    )


def error_answer(error: DynamoDBError, headers: Headers, cors: bytes = b"") -> bytes:
    return json_answer(status_of(error), body_of(error), headers, cors)


def packing_of(headers: Headers) -> bytes:
    """The encoding for large responses to a request with these headers; an empty string if there is none.

    The encoding in ``Accept-Encoding`` with the highest ``q``, the first of several with an equal ``q``. Invalid
    entries count as rejected, because every client can read an uncompressed body (RFC 9110, 12.5.3).
    """
    accepted = headers.get(b"accept-encoding")
    if accepted is None:
        return b""
    weights: dict[bytes, float] = {}
    for choice in accepted.lower().split(b","):
        coding, *parameters = choice.split(b";")
        weights[coding.strip()] = _weight(parameters)
    known = {coding: weight for coding, weight in weights.items() if coding in PACKINGS and weight}
    coding = max(known, key=lambda each: known[each], default=b"")  # the first coding with the largest ``q``
    return coding if known.get(coding, 0.0) >= weights.get(b"identity", 0.0) else b""


def _weight(parameters: list[bytes]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition(b"=")
        if name.strip() == b"q":
            return float(value) if _WEIGHT.fullmatch(value.strip()) else 0.0
    return 1.0


def packed(body: bytes, packing: bytes) -> bytes:
    window = _GZIP_WINDOW if packing == b"gzip" else zlib.MAX_WBITS
    packer = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, window)
    return packer.compress(body) + packer.flush()


class TooLargeError(Exception):
    """A decompressed body would exceed the maximum."""


def unpacked(body: bytes | bytearray, encoding: bytes, bytes_max: int) -> bytes:
    """The decompressed body (from ``deflate``, or ``gzip`` with up to 100 members). Raises TooLargeError if the result
    exceeds ``bytes_max``, or zlib.error if the body is invalid, truncated, or followed by other data.
    """
    window, members_max = (_GZIP_WINDOW, 100) if encoding == b"gzip" else (zlib.MAX_WBITS, 1)
    result = b""
    for _ in range(members_max):
        unpacker = zlib.decompressobj(window)
        result += unpacker.decompress(body, bytes_max - len(result) + 1)
        if len(result) > bytes_max:
            raise TooLargeError
        if not unpacker.eof:
            raise zlib.error("the compressed body is truncated")
        body = unpacker.unused_data
        if not body:
            return result
    raise zlib.error("the body has data after the compressed stream")
