"""The common part of all sites' applications: static files, checks of host and size, headers, error pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keyplan.systems import named_host
from keyplan_systems.site.incoming import BODY_BYTES_MAX
from keyplan_systems.site.problems import Problem, not_found
from keyplan_systems.site.serving import BaseSite
from keyplan_systems.site.templating import STATIC, static_file

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' https:",  # images in posts can be on other sites
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    (b"referrer-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)
_STRICT_TRANSPORT = (b"strict-transport-security", b"max-age=31536000")

Lifespan = Callable[[Starlette], AbstractAsyncContextManager[None]]


def application(
    site: BaseSite[Any, Any],
    routes: Sequence[Route],
    *,
    hosts: Sequence[str] | None,
    secure: bool,
    lifespan: Lifespan,
    larger: Mapping[str, int] | None = None,
    moved: Callable[[Request], str | None] | None = None,
) -> Starlette:
    """The ASGI application of a site. It doesn't close the design.

    ``larger`` has the maximum request sizes of some paths; ``moved`` returns the new address of a moved page.
    """
    made = Starlette(
        routes=[*routes, Route("/static/{name}", _static)],
        lifespan=lifespan,
        middleware=[
            Middleware(_Guard, hosts=hosts, secure=secure, larger=larger),
            Middleware(_Compression, cookie=site.visitors.session_cookie),
        ],
        exception_handlers={HTTPException: _refused(site, moved), Exception: _failed},
    )
    made.router.redirect_slashes = False
    made.state.site = site
    return made


class _Guard:
    """Rejects requests for other hosts and bodies that are too large, and adds headers to every response.

    The host check prevents DNS rebinding. ``larger`` has the maximum request sizes of some paths.
    """

    def __init__(
        self, app: ASGIApp, hosts: Sequence[str] | None, *, secure: bool, larger: Mapping[str, int] | None = None
    ) -> None:
        self.app = app
        self.larger = larger or {}
        self.hosts = None if hosts is None else frozenset(host.lower() for host in hosts)
        self.headers = (*HEADERS, _STRICT_TRANSPORT) if secure else HEADERS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self.headers]
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self.app)(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        headers = dict(scope["headers"])
        if self.hosts is not None and named_host(scope["headers"]) not in self.hosts:
            return PlainTextResponse("This server doesn't serve the host of the request.\n", status_code=421)
        length = headers.get(b"content-length", b"0")
        most = self.larger.get(scope["path"], BODY_BYTES_MAX)
        if length.isdigit() and int(length[:20]) > most:
            return PlainTextResponse(f"A request can have at most {most:,} bytes.\n", status_code=413)
        return None


class _Compression(GZipMiddleware):
    """Compresses responses, except pages for signed-in users: compressed size would reveal what a page has in common
    with text that an attacker put into the URL.
    """

    def __init__(self, app: ASGIApp, cookie: str) -> None:
        super().__init__(app, minimum_size=1000, compresslevel=6)
        self.cookie = f"{cookie}=".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        private = any(name == b"cookie" and self.cookie in value for name, value in scope.get("headers", ()))
        if private and not scope["path"].startswith("/static/"):
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    content, version = static_file(name)
    fresh = request.query_params.get("v") == version
    lasting = "public, max-age=31536000, immutable" if fresh else "public, max-age=60"
    return Response(content, media_type=STATIC[name], headers={"cache-control": lasting})


def _refused(
    site: BaseSite[Any, Any], moved: Callable[[Request], str | None] | None
) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Returns the framework's errors as pages of the site."""

    async def refused(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        if status == 404:
            place = None if moved is None else await run_in_threadpool(moved, request)
            if place is not None:
                return RedirectResponse(place, status_code=301)
            problem = not_found()
        elif status == 405:
            problem = Problem(405, "Method not allowed", "This address doesn't support the request's method.")
        else:
            problem = Problem(status, "Invalid request", "The site can't process this request.")
        response = await run_in_threadpool(site.refused, request, problem)
        if isinstance(error, HTTPException) and error.headers:
            response.headers.update(error.headers)
        return response

    return refused


async def _failed(_request: Request, _error: Exception) -> Response:
    # Starlette re-raises the error, and the server logs it.
    return PlainTextResponse("An internal error occurred and was logged. Try again later.\n", status_code=500)
