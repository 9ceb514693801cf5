"""Answers HTTP requests: checks the operation and the credentials in the service's order, and calls the engine.

This module handles headers and bodies; ``connection`` handles sockets and parses requests.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from keyplan.dynamodb.operations.registry import OPERATIONS, STATEMENT_REQUESTS, Api, only_selects, unknown_operation
from keyplan.errors import DynamoDBError, KeyplanError
from keyplan.store import Engine, LongError
from keyplan.store.server import responses as answers
from keyplan.store.server.responses import RETRY, protocol_fault, unreadable_encoding
from keyplan.store.server.server_settings import Settings
from keyplan.store.server.signatures import Verifier, check_presence, query_of
from keyplan.store.server.worker_threads import (
    LARGE_BYTES_MIN,
    PACKED_BYTES_MIN,
    Aside,
    AtOnce,
    Call,
    Inline,
    Outcome,
    Writing,
    outcome_of,
)

_PREFIXES: Mapping[Api, bytes] = {"DynamoDB": b"DynamoDB_20120810.", "DynamoDBStreams": b"DynamoDBStreams_20120810."}
_READING = frozenset(("read", "stream"))
_JSON_TYPES = frozenset((b"application/x-amz-json-1.0", b"application/json"))
_PATHS = frozenset((b"/", b""))
"""The protocol has one path, which can be empty in an absolute URL."""
_WITHOUT_ANSWER = frozenset({"TagResource", "UntagResource"})
"""Operations whose responses have no body."""
_CORS_AGE = b"access-control-max-age: 172800\r\n"
_EXPOSED = b"access-control-expose-headers: x-amzn-requestid, x-amz-crc32\r\n"

_MEMBERS_MAX = 1_000_000
_SCOPE_PARTS = 5
"""Key id, day, region, service and terminator."""

_log = logging.getLogger("keyplan.server")

Reply = Callable[[bytes], None]


@dataclass(slots=True)
class Incoming:
    """A request that the server received. Header names are in lower case."""

    method: bytes
    url: bytes
    headers: Mapping[bytes, bytes]
    body: bytes | bytearray


class Service:
    """Answers requests from one engine.

    Reads, including PartiQL reads, are answered immediately, because readers don't wait for writers. Writes run in
    ``writing`` and are answered after their commit. Large requests (including their parsing), long reads, and changes
    of whole tables, during which the engine accepts other writes, run in ``aside``.
    """

    def __init__(
        self, engine: Engine, settings: Settings, writing: Writing | None = None, aside: Aside | None = None
    ) -> None:
        self._call = engine.call
        self._call_briefly = engine.call_briefly
        self._aside = aside if aside is not None else AtOnce()
        self._settings = settings
        self._writing = writing if writing is not None else Inline(engine)
        self._pending_bytes = 0
        """The size of queued writes and large requests."""
        self._verifier = Verifier(settings.keys) if settings.keys else None
        self._targets = {
            _PREFIXES[operation.api] + name.encode(): (
                name,
                operation.kind in _READING or name.startswith(("Describe", "List")),
            )
            for name, operation in OPERATIONS.items()
        }

    def handle(self, request: Incoming, reply: Reply) -> None:
        """Answer a request by calling ``reply`` once with the whole response, now or later."""
        if request.method == b"HEAD":
            reply = _without_content(reply)
        headers = request.headers
        origin = headers.get(b"origin")
        cors = b"" if origin is None else self._cors(origin)
        if origin is not None and not cors:
            text = "The server rejects requests from web pages of this origin: allow it with --cors"
            reply(answers.error_answer(protocol_fault("AccessDeniedException", text), headers))
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
        if self._pending_bytes + len(request.body) > self._settings.limits.buffered_bytes_max:
            reply(answers.error_answer(protocol_fault("ServiceUnavailableException", RETRY), headers, cors))
            return
        if len(request.body) > LARGE_BYTES_MIN or b"content-encoding" in headers:
            # Another thread parses the body and runs the operation, which commits separately.
            self._aside.submit_body(lambda: self._answer_whole(request, cors), self._counted(len(request.body), reply))
            return
        try:
            name, is_read, params, size_bytes = self._read(request)
        except answers.TooLargeError:
            reply(answers.plain_answer(413, b"", cors))
            return
        except DynamoDBError as error:
            reply(answers.error_answer(error, headers, cors))
            return
        if is_read or (name in STATEMENT_REQUESTS and only_selects(name, params)):
            outcome = self._outcome(self._call_briefly, name, params, request)
            if isinstance(outcome, LongError):
                self._aside.submit(lambda: self._answer_long(name, params, request, cors), reply)
            elif isinstance(outcome, Exception):
                reply(_answer(name, outcome, headers, cors))
            else:
                body = orjson.dumps(outcome)  # the outcome of a read is an exception or a response
                if len(body) >= PACKED_BYTES_MIN and answers.packing_of(headers):
                    self._aside.submit(lambda: answers.json_answer(200, body, headers, cors), reply)
                else:
                    reply(answers.json_answer(200, body, headers, cors))
            return
        finish = self._counted(size_bytes, reply)
        if OPERATIONS[name].kind == "write":
            self._writing.submit(name, params, lambda outcome: finish(_answer(name, outcome, headers, cors)))
        else:
            self._aside.submit_change(lambda: self._answer_long(name, params, request, cors), finish)

    def _answer_long(self, name: str, params: dict[str, Any], request: Incoming, cors: bytes) -> bytes:
        return _answer(name, self._outcome(self._call, name, params, request), request.headers, cors)

    def _outcome(self, call: Call, name: str, params: dict[str, Any], request: Incoming) -> Outcome:
        outcome = outcome_of(call, name, params)
        if name == "GetRecords" and isinstance(outcome, dict) and not self._settings.regions:
            _set_region(outcome, request)
        return outcome

    def _counted(self, size_bytes: int, reply: Reply) -> Reply:
        """Count a request's bytes as pending, until its reply."""
        self._pending_bytes += size_bytes

        def finish(answer: bytes) -> None:
            self._pending_bytes -= size_bytes
            reply(answer)

        return finish

    def _answer_whole(self, request: Incoming, cors: bytes) -> bytes:
        headers = request.headers
        try:
            name, _, params, _ = self._read(request)
        except answers.TooLargeError:
            return answers.plain_answer(413, b"", cors)
        except Exception as error:  # noqa: BLE001 - a request must be answered
            return answers.error_answer(_client_error(error), headers, cors)
        outcome = self._outcome(self._call, name, params, request)
        answer = _answer(name, outcome, headers, cors)
        if isinstance(outcome, Exception):
            outcome.__traceback__ = None  # free the parameters, which the traceback refers to
        return answer

    def _read(self, request: Incoming) -> tuple[str, bool, dict[str, Any], int]:
        """The operation, whether it only reads, its parameters, and their size in bytes. Raises DynamoDBError for an
        invalid protocol or signature, or TooLargeError if the decompressed body is too large.
        """
        headers = request.headers
        body = request.body
        encoding = headers.get(b"content-encoding", b"identity").strip().lower()
        if encoding in answers.PACKINGS:
            try:
                body = answers.unpacked(body, encoding, self._settings.limits.body_bytes_max)
            except zlib.error:
                raise unreadable_encoding() from None
        elif encoding not in {b"identity", b""}:
            raise unreadable_encoding()
        params = _parsed(body) if body else None
        target = self._targets.get(headers.get(b"x-amz-target", b""))
        if target is None:
            raise protocol_fault("UnknownOperationException", _unknown(headers))
        if self._verifier is not None:
            self._verifier.verify(
                request.method.decode("latin-1"), request.url.decode("latin-1"), _texts(headers), request.body
            )
        elif not headers.get(b"authorization", b"").startswith(b"AWS4-") or b"?" in request.url:
            check_presence(_texts(headers), query_of(request.url.decode("latin-1")))
        if params is None:
            raise protocol_fault("SerializationException", "")
        return (*target, params, len(body))

    def _without_body(self, request: Incoming, cors: bytes) -> bytes:
        if request.method == b"GET":
            return answers.plain_answer(200, answers.HEALTH, cors)
        if request.method == b"OPTIONS" and cors:
            lines = [cors, _CORS_AGE]
            for kind in (b"headers", b"method"):
                requested = request.headers.get(b"access-control-request-" + kind)
                if requested:
                    lines.append(
                        b"access-control-allow-%s: %s\r\n" % (b"methods" if kind == b"method" else kind, requested)
                    )
            return answers.plain_answer(200, b"", b"".join(lines))
        return answers.plain_answer(404, answers.UNKNOWN, cors)

    def _cors(self, origin: bytes) -> bytes:
        if not self._settings.allows_origin(origin.decode("latin-1")):
            return b""
        return b"access-control-allow-origin: %s\r\nvary: origin\r\n%s" % (origin, _EXPOSED)


def _without_content(reply: Reply) -> Reply:
    """The response to HEAD: without a body, which a client would take for the next response (RFC 9110, 9.3.2)."""

    def reply_head(answer: bytes) -> None:
        head, end, _ = answer.partition(b"\r\n\r\n")
        reply(head + end)

    return reply_head


class Regional:
    """Answers requests from the store of the region that they are signed for."""

    def __init__(self, services: Mapping[str, Service]) -> None:
        self._services = {name.encode(): service for name, service in services.items()}
        self._first = next(iter(services.values()))

    def handle(self, request: Incoming, reply: Reply) -> None:
        scope = _credential(request).split(b"/")
        region = scope[-3] if len(scope) >= _SCOPE_PARTS else None
        if region is None:  # the request is unsigned: the default region's service reports the error
            self._first.handle(request, reply)
        elif region in self._services:
            self._services[region].handle(request, reply)
        else:
            known = b", ".join(self._services).decode()
            text = f"This server doesn't serve the region {region.decode('latin-1')}, only {known} (see --regions)"
            reply(answers.error_answer(protocol_fault("UnrecognizedClientException", text), request.headers))


def _set_region(answer: dict[str, Any], request: Incoming) -> None:
    """Without ``--regions``, stream records carry the region that the request is signed for."""
    scope = _credential(request).split(b"/")
    if len(scope) >= _SCOPE_PARTS:
        for record in answer["Records"]:
            record["awsRegion"] = scope[-3].decode("latin-1")


def _credential(request: Incoming) -> bytes:
    if b"X-Amz-Credential=" in request.url:
        return query_of(request.url.decode("latin-1")).get("X-Amz-Credential", "").encode()
    return request.headers.get(b"authorization", b"").partition(b"Credential=")[2].partition(b",")[0]


def _parsed(body: bytes | bytearray) -> dict[str, Any]:
    if len(body) > LARGE_BYTES_MIN and body.count(b",") + body.count(b"{") + body.count(b"[") > _MEMBERS_MAX:
        raise protocol_fault("SerializationException", f"A request can have at most {_MEMBERS_MAX} members")
    try:
        return orjson.loads(body)  # type: ignore[no-any-return] # validation rejects non-objects
    except (orjson.JSONDecodeError, RecursionError):
        raise protocol_fault("SerializationException", "") from None


def _answer(name: str, outcome: Outcome, headers: Mapping[bytes, bytes], cors: bytes) -> bytes:
    if isinstance(outcome, dict):
        body = b"" if name in _WITHOUT_ANSWER else orjson.dumps(outcome)
        return answers.json_answer(200, body, headers, cors)
    return answers.error_answer(_client_error(outcome), headers, cors)


def _client_error(error: Exception) -> DynamoDBError:
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
