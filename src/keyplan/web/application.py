"""The application put together: routes, errors in one shape, headers, and what happens at its end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keyplan.errors import KeyplanError, UnknownPattern
from keyplan.opening import Design
from keyplan.web.api import Endpoint, JsonResponse, error_response
from keyplan.web.openapi import openapi
from keyplan.web.page import page
from keyplan.web.policy import Offer, Policy
from keyplan.web.tracing import examples

__all__ = ["application"]

_STATIC = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
_CODES = {
    400: "BadRequest",
    404: "NotFound",
    405: "MethodNotAllowed",
    413: "RequestTooLarge",
    415: "UnsupportedMediaType",
}
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (
        b"content-security-policy",
        (
            b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
            b"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        ),
    ),
)


def application(design: Design, *, hosts: Sequence[str] | None, policy: Policy | None = None) -> Starlette:
    """The application of an opened design, under a policy or without one."""
    offer = Offer(design.compiled, policy)
    endpoints = [Endpoint(design, pattern, offer) for pattern in offer.patterns.values()]
    document = openapi(design.compiled, policy)
    html = page(design, policy)

    async def unknown(request: Request) -> Response:
        name = request.path_params["pattern"]
        pattern = design.compiled.pattern(name)
        known = next((one for one in endpoints if one.pattern is pattern), None)
        if known is None:
            raise UnknownPattern(f"{name} isn't offered here", hint="/openapi.json describes what is")
        raise HTTPException(405, headers={"Allow": known.method})

    async def describe(_request: Request) -> Response:
        return JsonResponse(document)

    async def look(_request: Request) -> Response:
        return HTMLResponse(html)

    async def stored(_request: Request) -> Response:
        return JsonResponse(await examples(design) if policy is None else {})  # what is stored isn't everybody's

    @asynccontextmanager
    async def lifespan(_application: Starlette) -> AsyncGenerator[None]:
        async with design:
            yield

    routes = [
        *(Route(f"/api/{one.pattern.name}", one.__call__, methods=[one.method]) for one in endpoints),
        *(Route(f"/try/{one.pattern.name}", one.trace, methods=[one.method]) for one in endpoints),
        *(Route(f"/{base}/{{pattern}}", unknown, methods=_METHODS) for base in ("api", "try")),
        Route("/openapi.json", describe),
        Route("/examples.json", stored),
        *(Route(path, look) for path in ("/", "/docs")),
        *(_static(name, kind) for name, kind in _STATIC.items()),
    ]
    return Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(_Guard, hosts=hosts)],
        exception_handlers={HTTPException: _http_error, KeyplanError: _keyplan_error, Exception: _unexpected},
    )


def _static(name: str, kind: str) -> Route:
    content = files("keyplan.web").joinpath("static", name).read_bytes()

    async def serve(_request: Request) -> Response:
        return Response(content, media_type=kind, headers={"cache-control": "no-cache"})

    return Route(f"/static/{name}", serve)


def _problem(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Response:
    return JsonResponse({"error": {"code": code, "message": message}}, status_code=status, headers=headers)


async def _http_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):  # pragma: no cover - registered for it alone
        raise error
    message = error.detail
    if error.status_code == 404:
        message = (
            f"there is nothing at {request.url.path}; the patterns are below /api/, their description at /openapi.json"
        )
    elif error.status_code == 405:
        message = f"{request.method} isn't answered at {request.url.path}"
    headers = dict(error.headers) if error.headers else None
    return _problem(error.status_code, _CODES.get(error.status_code, "HTTPError"), message, headers)


async def _keyplan_error(_request: Request, error: Exception) -> Response:
    if not isinstance(error, KeyplanError):  # pragma: no cover - registered for it alone
        raise error
    return error_response(error)


async def _unexpected(_request: Request, _error: Exception) -> Response:
    # The error itself goes on to the server that runs the application, which logs it.
    return _problem(500, "InternalError", "the server failed; its log says why")


class _Guard:
    """Refuses requests for other hosts, and gives every response its headers.

    Without the first, a page of another site could reach a local server by a name of its own.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str] | None) -> None:
        self.app = app
        self.hosts = None if hosts is None else {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        if self.hosts is not None and _host(scope) not in self.hosts:
            refusal = _problem(421, "WrongHost", f"this server answers for {', '.join(sorted(self.hosts))}")
            await refusal(scope, receive, with_headers)
            return
        await self.app(scope, receive, with_headers)


def _host(scope: Scope) -> str:
    """The host that a request names, without its port; empty where it names none, or several."""
    named: list[str] = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"]
    if len(named) != 1:
        return ""
    host, colon, port = named[0].rpartition(":")
    return host if colon and port.isascii() and port.isdigit() else named[0]
