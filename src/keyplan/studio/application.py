"""Serves the studio's page, static files, and JSON actions, which run in threads. Requires the extra ``web``."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import partial

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from keyplan.errors import KeyplanError, RequestError
from keyplan.studio.access import MODULES, STATIC, Access, page_html
from keyplan.studio.actions import Studio, run
from keyplan.web.api import JsonResponse, error_response, problem
from keyplan.web.request_parsing import read_object

_PATH = re.compile(r"(\w[\w-]*/)*\w[\w-]*\.\w+")
_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def studio_application(studio: Studio, access: Access) -> Starlette:
    """The studio's application, to be mounted at ``/studio``. Its shutdown doesn't close the design."""
    imports = json.dumps({"imports": {name: f"./static/{path}" for name, path in MODULES.items()}})
    digest = base64.b64encode(hashlib.sha256(imports.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'self' 'sha256-{digest}'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    headers = {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",  # a page of another site can't control a window that it opened
        "cache-control": "no-cache",
    }
    html = page_html(studio.subject.name, imports)

    async def look(request: Request) -> Response:
        if not access.knows_host(request):
            raise HTTPException(421)
        return HTMLResponse(html, headers=headers)

    async def static(request: Request) -> Response:
        content = _static(request.path_params["path"])
        if content is None:
            raise HTTPException(404)
        return Response(content[0], media_type=content[1], headers=headers)

    async def act(request: Request) -> Response:
        refused = access.refusal(request)
        if refused is not None:
            return problem(*refused, headers)
        answer = await _acted(studio, request)
        answer.headers.update({**headers, "cache-control": "no-store"})
        return answer

    routes: list[BaseRoute] = [
        Route("/", look),
        Route("/static/{path:path}", static),
        Route("/do/{action}", act, methods=["POST"]),
    ]
    return Starlette(routes=routes, middleware=[Middleware(GZipMiddleware)])


async def _acted(studio: Studio, request: Request) -> Response:
    try:
        given = await read_object(request)
        made = await run_in_threadpool(partial(run, studio, request.path_params["action"], given))
    except (KeyplanError, ValidationError) as error:
        return error_response(error)
    except RecursionError:
        return error_response(RequestError("a value is nested too deeply", hint="DynamoDB supports at most 32 levels"))
    return JsonResponse(made)


def _static(path: str) -> tuple[bytes, str] | None:
    kind = _KINDS.get(path[path.rfind(".") :])
    if kind is None or not _PATH.fullmatch(path):
        return None
    try:
        return STATIC.joinpath(*path.split("/")).read_bytes(), kind
    except OSError:
        return None


class Beside:
    """Serves the studio at its path, and at other paths another application, which also receives lifespan events."""

    def __init__(self, other: ASGIApp | None, studio: ASGIApp, at: str = "/studio") -> None:
        self.at = at

        async def enter(request: Request) -> Response:
            return RedirectResponse(f"{at}/?{request.url.query}".removesuffix("?"))

        doors = [Route(at, enter), Mount(at, studio), *([] if other is not None else [Route("/", enter)])]
        self._own = Starlette(routes=doors)
        self._other = self._own if other is None else other

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope.get("path", "")
        own = scope["type"] == "http" and (path == self.at or path.startswith(f"{self.at}/"))
        await (self._own if own else self._other)(scope, receive, send)
