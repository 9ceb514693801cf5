"""The API's ASGI application: its routes, error responses, headers, and shutdown."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.resources import files
from threading import Event

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keyplan.errors import KeyplanError, UnknownPattern
from keyplan.session.design import Design
from keyplan.web.api import Endpoint, JsonResponse, error_response, problem
from keyplan.web.design_page import page
from keyplan.web.openapi import openapi
from keyplan.web.policy import Offer, Policy, is_foreign, named_host
from keyplan.web.tracing import examples

_CONTENT_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    b"form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", _CONTENT_POLICY),
)


class Guard:
    """Middleware that rejects requests for unknown hosts and from pages of other sites, and adds security headers to
    responses. Without these checks, any website's page could send requests to a local server, even by a DNS name that
    resolves to this machine. ``origin`` is the public address, if a reverse proxy changes the Host header.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str] | None, origin: str | None = None) -> None:
        self.app = app
        self.hosts = None if hosts is None else {host.lower() for host in hosts}
        self.origin = origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self.app)(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if self.hosts is not None and named_host(scope["headers"]) not in self.hosts:
            return problem(421, "WrongHost", f"the Host header must be one of {', '.join(sorted(self.hosts))}")
        if is_foreign(scope["method"], headers, self.origin):
            return problem(403, "ForeignOrigin", "requests from pages of other sites are rejected")
        return None


_STATIC = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
_CODES = {
    400: "BadRequest",
    404: "NotFound",
    405: "MethodNotAllowed",
    413: "RequestTooLarge",
    415: "UnsupportedMediaType",
}
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


def application(
    design: Design, *, hosts: Sequence[str] | None, policy: Policy | None = None, origin: str | None = None
) -> Starlette:
    """The application of an opened design. ``origin``: the API's public address, if it's behind a reverse proxy."""
    offer = Offer(design.compiled, policy)
    endpoints = [Endpoint(design, pattern, offer) for pattern in offer.patterns.values()]
    document = openapi(design.compiled, policy)
    html = page(design, policy)

    async def unknown(request: Request) -> Response:
        name = request.path_params["pattern"]
        pattern = design.compiled.pattern(name)
        known = next((endpoint for endpoint in endpoints if endpoint.pattern is pattern), None)
        if known is None:
            raise UnknownPattern(f"access pattern not found: {name}", hint="see /openapi.json")
        raise HTTPException(405, headers={"Allow": known.method})

    async def describe(_request: Request) -> Response:
        return JsonResponse(document)

    async def look(_request: Request) -> Response:
        return HTMLResponse(html)

    async def stored(_request: Request) -> Response:
        return JsonResponse(await examples(design) if policy is None else {})  # a policy makes stored values private

    @asynccontextmanager
    async def lifespan(_application: Starlette) -> AsyncGenerator[None]:
        async with design:
            yield

    routes = [
        *(Route(f"/api/{each.pattern.name}", each.__call__, methods=[each.method]) for each in endpoints),
        *(Route(f"/try/{each.pattern.name}", each.trace, methods=[each.method]) for each in endpoints),
        *(Route(f"/{base}/{{pattern}}", unknown, methods=_METHODS) for base in ("api", "try")),
        Route("/openapi.json", describe),
        Route("/examples.json", stored),
        *(Route(path, look) for path in ("/", "/docs")),
        *(_static(name, kind) for name, kind in _STATIC.items()),
    ]
    return Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Guard, hosts=hosts, origin=origin)],
        exception_handlers={HTTPException: _http_error, KeyplanError: _keyplan_error, Exception: _unexpected},
    )


def _static(name: str, kind: str) -> Route:
    content = files("keyplan.web").joinpath("static", name).read_bytes()

    async def serve(_request: Request) -> Response:
        return Response(content, media_type=kind, headers={"cache-control": "no-cache"})

    return Route(f"/static/{name}", serve)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for HTTPException
    message = error.detail
    if error.status_code == 404:
        message = f"{request.url.path} doesn't exist; /openapi.json describes the access patterns under /api/"
    elif error.status_code == 405:
        message = f"{request.url.path} doesn't support {request.method}"
    headers = dict(error.headers) if error.headers else None
    return problem(error.status_code, _CODES.get(error.status_code, "HTTPError"), message, headers)


async def _keyplan_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, KeyplanError)  # noqa: S101 - registered for KeyplanError
    return error_response(error)


async def _unexpected(_request: Request, _error: Exception) -> Response:
    # The server that runs the application logs the error.
    return problem(500, "InternalError", "the server failed; see the server's log")


class Beside:
    """Combines an API and a site. The API serves its own paths except ``/``; the site serves all other paths. The API
    starts first and stops last, because its shutdown closes the design that the site uses. The site's background work
    can wait for the event ``site.state.beside.is_idle``, which is set while no request is being processed.
    """

    def __init__(self, api: Starlette, site: Starlette) -> None:
        self.api = api
        self.site = site
        paths = [route.path for route in api.routes if isinstance(route, Route) and route.path != "/"]
        self._places = frozenset(path for path in paths if "{" not in path)
        self._folders = tuple(path.partition("{")[0] for path in paths if "{" in path)
        self.is_idle = Event()
        self.is_idle.set()
        self._in_flight = 0
        site.state.beside = self
        self._router = Router(routes=[Mount("/", self._either)], lifespan=self._lifespan)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._router(scope, receive, send)
        else:
            await self._either(scope, receive, send)

    async def _either(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope.get("path", "")
        is_api = path in self._places or path.startswith(self._folders)
        self._in_flight += 1
        self.is_idle.clear()
        try:
            await (self.api if is_api else self.site)(scope, receive, send)
        finally:
            self._in_flight -= 1
            if self._in_flight == 0:
                self.is_idle.set()

    @asynccontextmanager
    async def _lifespan(self, _application: Starlette) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            for starlette in (self.api, self.site):
                await stack.enter_async_context(starlette.router.lifespan_context(starlette))
            yield
