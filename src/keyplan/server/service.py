"""From a request to its answer: what is asked, by whom, and in which order it is judged, as the service does.

Knows headers and bodies; sockets, and how bytes become requests, are ``connection``'s.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from keyplan.engine import Engine
from keyplan.errors import DynamoDBError, KeyplanError
from keyplan.server import answers
from keyplan.server.faults import RETRY, protocol_fault
from keyplan.server.settings import Settings
from keyplan.server.signatures import Verifier, missing_token
from keyplan.server.writing import Inline, Writing
from keyplan.wire.operations import OPERATIONS, Api, unknown_operation

_PREFIXES: Mapping[Api, bytes] = {"DynamoDB": b"DynamoDB_20120810.", "DynamoDBStreams": b"DynamoDBStreams_20120810."}
_READING = frozenset(("read", "stream"))
_JSON_TYPES = frozenset((b"application/x-amz-json-1.0", b"application/json"))
_PATHS = frozenset((b"/", b""))
"""The protocol has one path. An absolute address without one is that too."""
_WITHOUT_ANSWER = frozenset({"TagResource", "UntagResource"})
"""Operations whose answers have no body at all."""
_CORS_AGE = b"access-control-max-age: 172800\r\n"
_EXPOSED = b"access-control-expose-headers: x-amzn-requestid, x-amz-crc32\r\n"

_log = logging.getLogger("keyplan.server")

Outcome = dict[str, Any] | Exception
"""What an operation came to: its answer, or why there is none."""
Reply = Callable[[bytes], None]


@dataclass(slots=True)
class Incoming:
    """A request as it arrived. Header names are in lower case."""

    method: bytes
    url: bytes
    headers: Mapping[bytes, bytes]
    body: bytes


class Service:
    """Answers requests from one engine.

    Reads are answered at once: they never wait, since the store's readers don't wait for its writers. Writes go
    through ``writing``, and their answers come when they are durable.
    """

    def __init__(self, engine: Engine, settings: Settings, writing: Writing | None = None) -> None:
        self._call = engine.call
        self._settings = settings
        self._writing = writing if writing is not None else Inline(engine)
        self._pending_bytes = 0
        """Of writes that are being made."""
        self._verifier = Verifier(settings.keys) if settings.keys else None
        self._targets = {
            _PREFIXES[operation.api] + name.encode(): (
                name,
                operation.kind in _READING or name.startswith(("Describe", "List")),
            )
            for name, operation in OPERATIONS.items()
        }

    def handle(self, request: Incoming, reply: Reply) -> None:
        """Answer a request by calling ``reply`` once with the whole answer, now or later."""
        headers = request.headers
        origin = headers.get(b"origin")
        cors = b"" if origin is None else self._cors(origin)
        if origin is not None and not cors:
            reply(answers.error_answer(_foreign_origin(), headers))
            return
        if request.url.partition(b"?")[0] not in _PATHS:
            reply(answers.plain_answer(404, answers.UNKNOWN, cors))
            return
        if request.method != b"POST":
            reply(self._without_body(request, cors))
            return
        content_type = headers.get(b"content-type", b"").partition(b";")[0].strip()
        if request.body and content_type not in _JSON_TYPES:
            reply(answers.plain_answer(404, answers.UNKNOWN, cors))
            return
        try:
            name, is_read, params, size_bytes = self._read(request)
        except answers.TooLargeError:
            reply(answers.plain_answer(413, b"", cors))
            return
        except DynamoDBError as error:
            reply(answers.error_answer(error, headers, cors))
            return
        if is_read:
            reply(_answer(name, outcome_of(self._call, name, params), headers, cors))
            return
        self._pending_bytes += size_bytes

        def done(outcome: Outcome) -> None:
            self._pending_bytes -= size_bytes
            reply(_answer(name, outcome, headers, cors))

        self._writing.submit(name, params, done)

    def _read(self, request: Incoming) -> tuple[str, bool, dict[str, Any], int]:
        """The operation, whether it only reads, its parameters, and their bytes.

        Raises:
            DynamoDBError: the request is not of the protocol, or not signed as it must be.
            TooLargeError: unpacked, its body is too large.
        """
        headers = request.headers
        body = request.body
        encoding = headers.get(b"content-encoding", b"identity").strip().lower()
        if encoding == b"gzip" and body:
            try:
                body = answers.gunzipped(body, self._settings.limits.body_bytes_max)
            except zlib.error:
                raise protocol_fault("SerializationException", "") from None
        elif encoding not in {b"identity", b"gzip", b""}:
            raise protocol_fault("SerializationException", "")
        if self._pending_bytes + len(body) > self._settings.limits.buffered_bytes_max:
            raise protocol_fault("ServiceUnavailableException", RETRY)
        params = _parsed(body) if body else None
        target = self._targets.get(headers.get(b"x-amz-target", b""))
        if target is None:
            raise protocol_fault("UnknownOperationException", _unknown(headers))
        if self._verifier is not None:
            self._verifier.verify(
                request.method.decode("latin-1"), request.url.decode("latin-1"), _texts(headers), request.body
            )
        elif not headers.get(b"authorization", b"").startswith(b"AWS4-"):
            raise missing_token()
        if params is None:
            raise protocol_fault("SerializationException", "")
        return (*target, params, len(body))

    def _without_body(self, request: Incoming, cors: bytes) -> bytes:
        """The answer to GET and OPTIONS, and to what isn't of the protocol."""
        if request.method == b"GET":
            return answers.plain_answer(200, answers.HEALTH, cors)
        if request.method == b"OPTIONS" and cors:
            lines = [cors, _CORS_AGE]
            for kind in (b"headers", b"method"):
                asked = request.headers.get(b"access-control-request-" + kind)
                if asked:
                    lines.append(
                        b"access-control-allow-%s: %s\r\n" % (b"methods" if kind == b"method" else kind, asked)
                    )
            return answers.plain_answer(200, b"", b"".join(lines))
        return answers.plain_answer(404, answers.UNKNOWN, cors)

    def _cors(self, origin: bytes) -> bytes:
        """The header lines for a web page of this origin; none when it isn't allowed."""
        if not self._settings.allows_origin(origin.decode("latin-1")):
            return b""
        return b"access-control-allow-origin: %s\r\nvary: origin\r\n%s" % (origin, _EXPOSED)


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        return orjson.loads(body)  # type: ignore[no-any-return] # what isn't an object is refused by validation
    except (orjson.JSONDecodeError, RecursionError):
        raise protocol_fault("SerializationException", "") from None


def outcome_of(call: Callable[[str, dict[str, Any]], dict[str, Any]], name: str, params: dict[str, Any]) -> Outcome:
    """What an operation comes to. Never raises."""
    try:
        return call(name, params)
    except Exception as error:  # noqa: BLE001 - a request must not end its server
        return error


def _answer(name: str, outcome: Outcome, headers: Mapping[bytes, bytes], cors: bytes) -> bytes:
    if isinstance(outcome, dict):
        body = b"" if name in _WITHOUT_ANSWER else orjson.dumps(outcome)
        return answers.json_answer(200, body, headers, cors)
    return answers.error_answer(_told(outcome), headers, cors)


def _told(error: Exception) -> DynamoDBError:
    """The error that is told to a client."""
    if isinstance(error, DynamoDBError):
        return error
    if isinstance(error, RecursionError):
        return protocol_fault("SerializationException", "")
    if isinstance(error, KeyplanError):
        _log.error("%s", error)
        return protocol_fault("InternalServerError", error.message)
    _log.error("A request failed", exc_info=error)
    return protocol_fault("InternalServerError", "Internal server error")


def _unknown(headers: Mapping[bytes, bytes]) -> str:
    target = headers.get(b"x-amz-target", b"")
    for prefix in _PREFIXES.values():
        name = target.removeprefix(prefix)
        if name != target and name.isalpha():
            return unknown_operation(name.decode()).message
    return "An unknown operation was requested."


def _texts(headers: Mapping[bytes, bytes]) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in headers.items()}


def _foreign_origin() -> DynamoDBError:
    return protocol_fault("AccessDeniedException", "Web pages of this origin may not talk to this server (see --cors)")
