"""Endpoints of pages and forms, for every site.

A handler is a function of a turn: the request, the visitor and, for a form, its fields. It runs in a worker thread, so
it can call the store and hash passwords without blocking other requests. The form is parsed, and its token and origin
are checked, before the handler runs. A site defines its visitors (``visitors``), authorization (``allow``), and the
context of templates (``context``).
"""

from __future__ import annotations

import hashlib
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from jinja2 import Environment
from pydantic import ValidationError
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from keyplan import Cursor, Design
from keyplan.errors import KeyplanError
from keyplan.systems import in_turn, is_foreign
from keyplan_systems.site.files import KINDS, Files, is_name
from keyplan_systems.site.incoming import BadRequest, Form, local_path, read_body, read_form
from keyplan_systems.site.limits import Gate, Limit, RateLimiter, TooBusy
from keyplan_systems.site.problems import Problem, SignInFirst, expired_form, foreign_form, not_found, problem_of
from keyplan_systems.site.repeats import Repeats, ignored
from keyplan_systems.site.signing import Signer
from keyplan_systems.site.visitors import BaseVisitor, Visitors

_LOG = logging.getLogger("keyplan.site")

HASHES_AT_ONCE = 2
"""Maximum number of concurrent hashes. Each uses memory and a core; more would only slow down each other."""
HASHES_WAITING = 8
"""The maximum number of waiting hashes, so that a flood doesn't occupy all worker threads."""
KEPT = ("title", "content", "tags", "bio", "subject", "text")
"""Fields that a rejected form keeps; never a password."""

V = TypeVar("V", bound=BaseVisitor[Any])
S = TypeVar("S", bound="BaseSite[Any, Any]")
T = TypeVar("T", bound="BaseTurn[Any, Any]")


@dataclass
class BaseTurn(Generic[S, V]):
    """One request at its handler."""

    site: S
    request: Request
    visitor: V
    query: dict[str, str]
    form: Form
    after: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    """Functions to run after the response."""

    @property
    def cursor(self) -> Cursor | None:
        given = self.query.get("cursor")
        return Cursor(given) if given else None

    def path(self, name: str) -> str:
        part: str = self.request.path_params[name]
        return part

    def page(self, template: str, status: int = 200, /, **context: Any) -> Response:
        notice = self.site.notices.get(self.query.get("done", ""))
        html = self.site.html(self.request, self.visitor, template, {"form": self.form, **context}, notice)
        return HTMLResponse(html, status_code=status)

    def go(self, path: str, done: str | None = None) -> Response:
        """Redirect to another page of the site, which shows the message ``done``."""
        place = local_path(path)
        if done is not None:
            place += f"{'&' if '?' in place else '?'}done={done}"
        return RedirectResponse(place, status_code=303)

    def limit(self, action: str, *subjects: str, cost: float = 1) -> None:
        """Count an attempt for each subject. Raises Problem with status 429 after too many."""
        wait = self.site.wait_seconds(action, *subjects, cost=cost)
        if wait:
            minutes = max(1, round(wait / 60 + 0.5))
            text = f"Try again in about {minutes} {'minute' if minutes == 1 else 'minutes'}."
            raise Problem(429, "Too many requests", text, retry_seconds=max(1, round(wait + 0.5)))

    @property
    def address(self) -> str:
        """The client's address, for rate limits."""
        return address_of(self.request)


def address_of(request: HTTPConnection) -> str:
    """The address of a request, for rate limits; for IPv6 the network (/64), which one client has."""
    host = request.client.host if request.client is not None else "unknown"
    try:
        return str(ip_network((host, 64), strict=False)) if ":" in host else host
    except ValueError:
        return host


class BaseSite(ABC, Generic[V, T]):
    """The common part of all sites. ``application`` adds URLs."""

    def __init__(
        self,
        *,
        design: Design,
        public: str | None,
        signer: Signer,
        visitors: Visitors[V, Any],
        templates: Environment,
        notices: Mapping[str, str],
        limits: Mapping[str, Limit],
        clock: Callable[[], float],
    ) -> None:
        self._design: Design = design
        self.public = public
        self.signer = signer
        self.visitors = visitors
        self.templates = templates
        self.notices = notices
        self.limiters = {name: RateLimiter(limit, clock) for name, limit in limits.items()}
        self.repeats = Repeats()
        self.hashing = Gate(HASHES_AT_ONCE, HASHES_WAITING)

    # Methods that each site implements

    @abstractmethod
    def turn(self, request: Request, visitor: V, form: Form) -> T: ...

    @abstractmethod
    def allow(self, visitor: V, role: str) -> None: ...

    @abstractmethod
    def context(self, request: Request) -> Mapping[str, Any]: ...

    def begin(self, turn: T, *, sent: bool) -> None:
        """Runs before a handler; ``sent`` is whether the request is a form. Can raise Problem."""

    def wait_seconds(self, action: str, *subjects: str, cost: float = 1) -> float:
        """Count an attempt for each subject. Returns 0, or the seconds to wait after too many attempts."""
        return self.limiters[action].wait_seconds(*subjects, cost=cost)

    # Pages and forms

    def origin(self, request: HTTPConnection) -> str:
        """The site's public URL, without a slash at the end."""
        return self.public or f"{request.url.scheme}://{request.url.netloc}"

    def html(
        self, request: Request, visitor: V, template: str, context: Mapping[str, Any], notice: str | None = None
    ) -> str:
        shared = {"request": request, "visitor": visitor, "theme": visitor.theme, "notice": notice}
        return self.templates.get_template(template).render({**shared, **self.context(request), **context})

    def page(self, handler: Callable[[T], Response], role: str = "anyone") -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            return await in_turn(self._design, self._run, handler, role, request, None)

        return endpoint

    def form(self, handler: Callable[[T], Response], role: str = "anyone") -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            try:
                typed = await read_form(request)
            except BadRequest as error:
                return await run_in_threadpool(self.refused, request, problem_of(error, request.url.path))
            return await run_in_threadpool(self._run, handler, role, request, typed)

        return endpoint

    def upload(
        self, handler: Callable[[T], Response], bytes_max: int, role: str
    ) -> Callable[[Request], Awaitable[Response]]:
        """The endpoint for file uploads by the page's script, with the CSRF token in a header."""

        async def endpoint(request: Request) -> Response:
            try:
                data = await read_body(request, bytes_max)
            except BadRequest as error:
                return JSONResponse({"error": error.text}, status_code=error.status)
            form = Form({"csrf": request.headers.get("x-csrf-token", "")}, data)
            return await run_in_threadpool(self._run, handler, role, request, form)

        return endpoint

    def _run(self, handler: Callable[[T], Response], role: str, request: Request, form: Form | None) -> Response:
        visitor = self.visitors.anonymous()
        after: list[Callable[[], None]] = []
        note: Callable[[Response | None], None] = ignored
        try:
            visitor = self.visitors.of(request)
            if form is not None:
                self._check(request, visitor, form)
            self._admit(visitor, role, request)
            turn = self.turn(request, visitor, Form() if form is None else form)
            after = turn.after
            sent = {} if form is None else form.typed
            before, note = self.repeats.location(visitor.bound, request.url.path, sent)
            if before is not None:
                response: Response = RedirectResponse(before, status_code=303)
            else:
                self.begin(turn, sent=form is not None)
                response = handler(turn)
        except (Problem, BadRequest, TooBusy, ValidationError, KeyplanError) as error:
            problem = problem_of(error, request.url.path)
            if problem.status == 503:
                _LOG.warning("%s %s: %s", request.method, request.url.path, error)
            response = self._problem(request, problem, visitor, form)
        except Exception:
            note(None)
            raise
        note(None if visitor.changes else response)  # a repeated submission would get the redirect without the cookies
        if after:
            response.background = BackgroundTask(_each, after)
        return _unless_known(request, self.visitors.finish(visitor, response))

    def _check(self, request: Request, visitor: V, form: Form) -> None:
        """Raises Problem for a form that wasn't created for this visitor on this site."""
        if is_foreign(request.method, request.headers, self.public):
            raise foreign_form()
        if not visitor.knows(form["csrf"]):
            raise expired_form()

    def _admit(self, visitor: V, role: str, request: Request) -> None:
        """Raises Problem if the visitor can't access the page."""
        if role == "anyone":
            return
        if visitor.signed_in is None:
            if request.method == "POST":
                raise expired_form()
            target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            raise SignInFirst(f"/sign-in?next={quote(target, safe='')}")
        self.allow(visitor, role)

    def refused(self, request: Request, problem: Problem) -> Response:
        """The page of a problem before a handler."""
        try:
            visitor = self.visitors.of(request)
        except KeyplanError:
            visitor = self.visitors.anonymous()
        return self.visitors.finish(visitor, self._problem(request, problem, visitor))

    def _problem(self, request: Request, problem: Problem, visitor: V, form: Form | None = None) -> Response:
        """The page of a problem, with the form's fields, so that no input is lost."""
        if isinstance(problem, SignInFirst):
            return RedirectResponse(problem.target, status_code=303)
        typed = [(name, text) for name, text in form.typed.items() if name in KEPT and text] if form is not None else []
        context = {
            "status": problem.status,
            "heading": problem.heading,
            "text": problem.text,
            "ways": problem.ways,
            "typed": typed,
            "form": Form(),
        }
        response = HTMLResponse(self.html(request, visitor, "problem.html", context), status_code=problem.status)
        if problem.retry_seconds is not None:
            response.headers["retry-after"] = str(problem.retry_seconds)
        return response


def _each(actions: Sequence[Callable[[], None]]) -> None:
    """Run the functions after a response; errors are logged."""
    for action in actions:
        try:
            action()
        except KeyplanError as error:
            _LOG.warning("after a response: %s", error)


_NOT_MODIFIED = ("cache-control", "content-location", "date", "etag", "expires", "set-cookie", "vary")
"""Headers that a 304 response repeats."""
_TAG = re.compile(r'(?:W/)?("[^"]*")')


def _unless_known(request: Request, response: Response) -> Response:
    """The response with an ETag, a hash of its body; or 304 if the client has this content (RFC 9110, section 13).

    The page is rendered in any case: only the transfer is saved. Responses that must not be stored get no ETag.
    """
    if request.method not in {"GET", "HEAD"} or response.status_code != 200:
        return response
    if "no-store" in response.headers.get("cache-control", "") or not response.body:
        return response
    tag = f'"{hashlib.blake2b(response.body, digest_size=12).hexdigest()}"'
    response.headers["etag"] = tag
    given = request.headers.get("if-none-match", "").strip()
    if given != "*" and tag not in _TAG.findall(given):
        return response
    same = Response(status_code=304, background=response.background)
    same.raw_headers = [
        (name, value) for name, value in response.raw_headers if name.decode("latin-1") in _NOT_MODIFIED
    ]
    return same


# Stored files

_SHOWN = ("image/", "audio/", "video/")
_HEADERS = {
    "cache-control": "public, max-age=31536000, immutable",  # the file name is a digest of the content
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",  # SVG can contain scripts
}


def file_response(files: Files, name: str) -> Response:
    """A stored file; kinds that pages don't show are downloads. Raises Problem if it doesn't exist."""
    content = files.get(name) if is_name(name) else None
    if content is None:
        raise not_found()
    kind = KINDS[name.rpartition(".")[2]]
    headers = _HEADERS if kind.startswith(_SHOWN) else {**_HEADERS, "content-disposition": "attachment"}
    return Response(content, media_type=kind, headers=headers)
