"""REST endpoints of access patterns. A read is a GET request with a query string, a write a POST request with JSON.

A single item is returned as a JSON object (status 404 if it doesn't exist), a page as ``{"items": […], "cursor": …}``,
a list as ``{"items": […]}``. The items of an iterator are streamed as NDJSON, one per line. If an error occurs after
the first line, the last line is ``{"error": …}``. A write without a result returns status 204.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, NoReturn, ParamSpec, TypeVar

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from keyplan.errors import ArgumentError, ItemNotFound, KeyplanError, StoreError, TooManyRequests
from keyplan.formatting.arguments import arguments_of, check_arguments
from keyplan.formatting.results import answer_json, error_json, json_text, known_error, plain
from keyplan.model.compiled.compiled_design import WritePattern
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.session.design import Design
from keyplan.web.policy import Offer
from keyplan.web.request_parsing import object_of, query_pairs, read_body, status_of
from keyplan.web.request_queue import in_turn
from keyplan.web.tracing import traced

_log = logging.getLogger("keyplan.web")

NDJSON = "application/x-ndjson"

P = ParamSpec("P")
T = TypeVar("T")
Sent = Callable[[], bytes]


class JsonResponse(Response):
    """A response with JSON data in UTF-8."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return _bytes(content)


def _bytes(content: Any) -> bytes:
    return json_text(content).encode()


def error_response(error: KeyplanError | ValidationError) -> Response:
    known = known_error(error)
    wait = known.retry_after_s if isinstance(known, TooManyRequests) else None
    headers = None if wait is None else {"retry-after": str(wait)}
    return JsonResponse(error_json(known), status_code=status_of(known), headers=headers)


def problem(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Response:
    """An error response with a JSON body."""
    return JsonResponse({"error": {"code": code, "message": message}}, status_code=status, headers=headers)


def _response(answer: Any) -> Response:
    return Response(status_code=204) if answer is None else JsonResponse(answer_json(answer))


def _raise(error: Exception) -> NoReturn:
    raise error


class Endpoint:
    """The HTTP endpoint of one access pattern, with the policy of ``offer``, if any."""

    def __init__(self, design: Design, pattern: ReadPattern | WritePattern, offer: Offer) -> None:
        self.design = design
        self.pattern = pattern
        self.offer = offer
        self.method = "GET" if isinstance(pattern, ReadPattern) else "POST"

    async def __call__(self, request: Request) -> Response:
        return self._not_cached(await self._answer(request))

    def _not_cached(self, response: Response) -> Response:
        """With a policy, a response depends on the caller, so caches must not store the response."""
        if self.offer.policy is not None:
            response.headers["cache-control"] = "no-store"
        return response

    async def _answer(self, request: Request) -> Response:
        sent = await self._sent(request)
        try:
            if isinstance(self.pattern, ReadPattern) and self.pattern.shape.kind is ShapeKind.ITERATOR:
                arguments, caller = await self._aside(self._admitted, request, sent)
                return await self._stream(arguments, caller)
            if self.offer.policy is not None:
                if isinstance(self.pattern, ReadPattern):
                    return await in_turn(self.design, self._called, request, sent)
                return await run_in_threadpool(self._called, request, sent)  # a write may wait for the disk
            arguments, caller = self._admitted(request, sent)
            answer = await self.design.call_async(self.pattern.name, arguments)
            return _response(self._shown(answer, arguments, caller))
        except (KeyplanError, ValidationError) as error:
            return self._refused(error)

    def _called(self, request: Request, sent: Sent) -> Response:
        """Execute a whole call with a policy in one worker thread. Switching threads takes longer (decision 0023)."""
        arguments, caller = self._admitted(request, sent)
        answer = self.design.call(self.pattern.name, arguments)
        return _response(self._shown(answer, arguments, caller))

    async def _aside(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of a function that may call the policy. If the API has a policy, it runs in a worker thread."""
        if self.offer.policy is None:
            return function(*args, **kwargs)
        return await run_in_threadpool(function, *args, **kwargs)

    async def _sent(self, request: Request) -> Sent:
        """A function, for use after authorization, that returns a write's body or raises the error of reading it."""
        if isinstance(self.pattern, ReadPattern):
            return bytes
        try:
            body = await read_body(request)
        except HTTPException as error:
            return partial(_raise, error)
        return lambda: body

    async def trace(self, request: Request) -> Response:
        """Execute a call for the page. Responds with the status, the result or error, and the requests to DynamoDB."""
        log: list[Any] = []
        began = time.perf_counter()
        shown: dict[str, Any]
        is_open = False
        sent = await self._sent(request)
        try:
            arguments, caller = await self._aside(self._admitted, request, sent)
            found = await traced(self.design, self.pattern.name, arguments, log)
            answer = await self._aside(self._shown, found, arguments, caller)
            shown = {"status": 204 if answer is None else 200, "answer": answer_json(answer)}
            is_open = isinstance(self.pattern, ReadPattern) and answer == found
        except (KeyplanError, ValidationError) as error:
            refused = self._refused(error)
            shown = {"status": refused.status_code, **json.loads(bytes(refused.body))}
        shown["milliseconds"] = round((time.perf_counter() - began) * 1000, 1)
        # With a policy, requests of writes and of filtered reads are omitted: they can contain other callers' keys
        result = log if self.offer.policy is None or is_open else []
        shown["requests"] = [{"operation": value.operation, "parameters": value.parameters} for value in result]
        return self._not_cached(JsonResponse(shown))

    def _refused(self, error: KeyplanError | ValidationError) -> Response:
        """The error response. With a policy, it doesn't name the store. Exceptions of the design's code are logged."""
        if isinstance(error, ArgumentError) and not isinstance(error.__cause__, ValidationError | None):
            _log.warning("%s", error, exc_info=error.__cause__)
        if self.offer.policy is not None and isinstance(error, StoreError):
            return problem(status_of(error), error.code, "the store is unavailable")
        return error_response(error)

    def _admitted(self, request: Request, sent: Sent) -> tuple[dict[str, Any], Any]:
        """The arguments and the caller of a request. Raises an error if the request is invalid or unauthorized."""
        caller = self.offer.caller(self.pattern, request)
        if isinstance(self.pattern, ReadPattern):
            pairs = query_pairs(request)
            filled = self.offer.filled(self.pattern, [name for name, _ in pairs], caller)
            arguments = arguments_of(self.pattern.signature, [*pairs, *filled.items()])
        else:
            given = object_of(sent())
            arguments = given | dict(self.offer.filled(self.pattern, given, caller))
            check_arguments(self.pattern.signature, arguments)
        policy = self.offer.policy
        return arguments if policy is None else policy.admit(self.pattern.name, arguments, caller), caller

    def _shown(self, answer: Any, arguments: dict[str, Any], caller: Any) -> Any:
        """The part of a result that the caller may see. Raises ItemNotFound (status 404) if a read finds no item."""
        if self.offer.policy is not None:
            answer = self.offer.policy.shown(self.pattern.name, arguments, answer, caller)
        if answer is None and isinstance(self.pattern, ReadPattern):
            asked = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
            names = self.pattern.shape.entities[0].__name__
            raise ItemNotFound(f"no {names} with {asked}", place=self.pattern.place)
        return answer

    async def _stream(self, arguments: dict[str, Any], caller: Any) -> Response:
        bound = self.pattern.signature.bind((), arguments, strict=False)
        items = self._visible(self.design.stream_async(self.pattern.name, (), bound), arguments, caller)
        first = await anext(items, None)  # an error before the first item sets the response's status
        return StreamingResponse(self._lines(first, items), media_type=NDJSON)

    async def _visible(self, items: AsyncIterator[Any], arguments: dict[str, Any], caller: Any) -> AsyncIterator[Any]:
        policy = self.offer.policy
        async for item in items:
            shown = item
            if policy is not None:
                shown = await run_in_threadpool(policy.shown, self.pattern.name, arguments, item, caller)
            if shown is not None:
                yield shown

    async def _lines(self, first: Any, items: AsyncIterator[Any]) -> AsyncIterator[bytes]:
        if first is None:
            return
        yield _bytes(plain(first)) + b"\n"
        try:
            async for item in items:
                yield _bytes(plain(item)) + b"\n"
        except KeyplanError as error:
            yield _bytes(error_json(error)) + b"\n"
