"""The site itself: what its pages share, and how a handler becomes an endpoint.

A handler is a plain function of a ``Turn``: the site, the request, its visitor and, for a form, what was typed. It runs
in a worker thread, so it may call the store and hash passwords without keeping other requests waiting. Forms are read,
and their token checked, before it is called.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any, Literal
from urllib.parse import quote

from pydantic import ValidationError
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from keyplan import Cursor
from keyplan.errors import CursorError, ItemNotFound, KeyplanError, Refused, RequestError, WriteFailed
from keyplan_systems.blog import accounts
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import ADDRESS_MAX, Post, User
from keyplan_systems.blog.files import files_of
from keyplan_systems.blog.searching import keep_found, search_of
from keyplan_systems.blog.site.rendering import environment, post_path
from keyplan_systems.blog.site.settings import Settings
from keyplan_systems.blog.site.views import Views
from keyplan_systems.blog.site.visitors import Visitor, Visitors
from keyplan_systems.site.guard import is_foreign
from keyplan_systems.site.incoming import BadRequest, Form, local_path, query_of, read_body, read_form
from keyplan_systems.site.limits import Gate, Limit, RateLimiter, TooBusy
from keyplan_systems.site.searching import Search
from keyplan_systems.site.signing import Signer
from keyplan_systems.words import address_key

__all__ = ["NOTICES", "Problem", "Site", "Turn"]

_LOG = logging.getLogger("keyplan.blog")

Role = Literal["anyone", "reader", "author", "moderator"]

NOTICES = {
    "account": "Your account is saved.",
    "archived": "The post is archived.",
    "email": "Your email address is changed.",
    "allowed": "The post may be published again.",
    "deleted": "The post is deleted.",
    "down": "The post is taken down.",
    "ended": "That session has ended.",
    "linked": "The account is linked.",
    "message": "Your message has been sent. Thank you.",
    "password": "Your password is changed. Other devices are signed out.",
    "published": "The post is published.",
    "restored": "The post is a draft again.",
    "saved": "Saved.",
    "status": "The account's status is changed.",
    "unlinked": "The account is no longer linked.",
    "unpublished": "The post is no longer published.",
    "welcome": "Welcome! This is your desk: what you write stands here.",
}
"""What a page says at its top after a form has done something; ``?done=`` names it, so nobody can put words there."""

LIMITS = {
    "sign-in": Limit(attempts=10, seconds=300),
    "sign-in from an address": Limit(attempts=40, seconds=300),
    "sign-in to an account": Limit(attempts=300, seconds=3600),
    "sign-up": Limit(attempts=10, seconds=3600),
    "contact": Limit(attempts=5, seconds=3600),
    "search": Limit(attempts=120, seconds=60),
    "export": Limit(attempts=5, seconds=3600),
    "comment": Limit(attempts=20, seconds=600),
    "respond": Limit(attempts=60, seconds=60),
    "preview": Limit(attempts=60, seconds=30),
    "write": Limit(attempts=60, seconds=600),
    "upload": Limit(attempts=40, seconds=600),
}
SHARED = frozenset(LIMITS) - {"comment", "search", "respond", "preview", "upload", "write"}
"""What is counted for all processes together: a write each time, of what is seldom done."""
HASHES_AT_ONCE = 2
"""Argon2 takes memory and a core: more of them at once would only make everybody wait."""
PICTURES_AT_ONCE = 1
"""A large picture takes some hundred megabytes while it is written anew."""
HASHES_WAITING = 8
"""More than that are sent away, so that a flood of them doesn't take the threads that pages are made in."""


class Problem(Exception):
    """A page that says what can't be done, with its HTTP status."""

    def __init__(
        self, status: int, heading: str, text: str, ways: Sequence[tuple[str, str]] = (("Front page", "/"),)
    ) -> None:
        super().__init__(heading)
        self.status = status
        self.heading = heading
        self.text = text
        self.ways = ways
        self.retry_seconds: int | None = None


def not_found() -> Problem:
    """The page for what isn't there, or isn't there for this visitor."""
    return Problem(404, "There is nothing here", "The page may have moved, or never was. The search above may find it.")


@dataclass
class Turn:
    """One request at its handler."""

    site: Site
    request: Request
    visitor: Visitor
    query: dict[str, str]
    form: Form
    after: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    """What is done when the response has gone out."""

    @property
    def blog(self) -> Blog:
        """The design, open on its store."""
        return self.site.blog

    @property
    def user(self) -> User:
        """The signed-in user; only where the endpoint asks for one."""
        if self.visitor.user is None:
            raise Problem(403, "Sign in first", "This page is for those who are signed in.", (("Sign in", "/sign-in"),))
        return self.visitor.user

    @property
    def cursor(self) -> Cursor | None:
        """Where the page before ended."""
        given = self.query.get("cursor")
        return Cursor(given) if given else None

    def path(self, name: str) -> str:
        """A part of the address."""
        found: str = self.request.path_params[name]
        return found

    def page(self, template: str, status: int = 200, /, **context: Any) -> Response:
        """A page."""
        html = self.site.html(self.request, self.visitor, template, context, NOTICES.get(self.query.get("done", "")))
        return HTMLResponse(html, status_code=status)

    def go(self, path: str, done: str | None = None) -> Response:
        """Go on to another page of the site, which then says what was done."""
        place = local_path(path)
        if done is not None:
            place += f"{'&' if '?' in place else '?'}done={done}"
        return RedirectResponse(place, status_code=303)

    def limit(self, action: str, *subjects: str, cost: float = 1) -> None:
        """Count an attempt for each subject. Raises Problem with status 429 when there were too many."""
        wait = self.site.wait_seconds(action, *subjects, cost=cost)
        if wait:
            minutes = max(1, round(wait / 60 + 0.5))
            problem = Problem(
                429, "Too many at once", f"Please wait about {minutes} {'minute' if minutes == 1 else 'minutes'}."
            )
            problem.retry_seconds = max(1, round(wait + 0.5))
            raise problem

    @property
    def address(self) -> str:
        """Where the request comes from, for rate limits. Who has one IPv6 address has a network of them (/64)."""
        host = self.request.client.host if self.request.client is not None else "unknown"
        try:
            return str(ip_network((host, 64), strict=False)) if ":" in host else host
        except ValueError:
            return host


Handler = Callable[[Turn], Response]


class Site:
    """The blog's pages on an open design. ``application.py`` gives them their addresses."""

    def __init__(self, blog: Blog, settings: Settings) -> None:
        self.blog = blog
        self.settings = settings
        self.signer = Signer(settings.secret)
        self.visitors = Visitors(blog, settings, self.signer)
        self.views = Views(blog)
        self.files = files_of(blog, settings.files)
        self.search: Search = search_of(blog)
        self.templates = environment()
        self.limiters = {name: RateLimiter(limit, settings.clock) for name, limit in LIMITS.items()}
        self.hashing = Gate(HASHES_AT_ONCE, HASHES_WAITING)
        self.pictures = Gate(PICTURES_AT_ONCE, HASHES_WAITING)
        for name in self.templates.list_templates():
            self.templates.get_template(name)  # compiled now, and not in somebody's request

    def wait_seconds(self, action: str, *subjects: str, cost: float = 1) -> float:
        """Count an attempt for each subject: 0, or how long to wait where there were too many.

        This process counts first, so that a flood writes nothing; what is shared is counted in the store then, for all
        processes together.
        """
        wait = self.limiters[action].wait_seconds(*subjects, cost=cost)
        if wait or action not in SHARED or not self.settings.shared_limits:
            return wait
        limit = LIMITS[action]
        try:
            for subject in subjects:
                accounts.limit(self.blog, action, subject, most=limit.attempts, seconds=int(limit.seconds))
        except accounts.TooMany as error:
            return float(error.retry_after_seconds)
        return 0.0

    def origin(self, request: Request) -> str:
        """The site's public address, without a slash at its end."""
        return self.settings.origin or f"{request.url.scheme}://{request.url.netloc}"

    def html(
        self, request: Request, visitor: Visitor, template: str, context: dict[str, Any], notice: str | None = None
    ) -> str:
        """A template filled in."""
        return self.templates.get_template(template).render(
            site=self.settings,
            request=request,
            visitor=visitor,
            theme=visitor.theme,
            origin=self.origin(request),
            notice=notice,
            **context,
        )

    def page(self, handler: Handler, role: Role = "anyone") -> Callable[[Request], Awaitable[Response]]:
        """The endpoint of a page that is looked at."""

        async def endpoint(request: Request) -> Response:
            return await run_in_threadpool(self._run, handler, role, request, None)

        return endpoint

    def form(self, handler: Handler, role: Role = "anyone") -> Callable[[Request], Awaitable[Response]]:
        """The endpoint of a form that is sent."""

        async def endpoint(request: Request) -> Response:
            try:
                typed = await read_form(request)
            except BadRequest as error:
                problem = Problem(error.status, "That can't be read", error.text)
                return await run_in_threadpool(self.problem, request, problem)
            return await run_in_threadpool(self._run, handler, role, request, typed)

        return endpoint

    def upload(self, handler: Handler, bytes_max: int) -> Callable[[Request], Awaitable[Response]]:
        """The endpoint that a script of an author's page sends a file to, with the form token in a header."""

        async def endpoint(request: Request) -> Response:
            try:
                data = await read_body(request, bytes_max)
            except BadRequest as error:
                return JSONResponse({"error": error.text}, status_code=error.status)
            form = Form({"csrf": request.headers.get("x-csrf-token", "")}, data)
            return await run_in_threadpool(self._run, handler, "author", request, form)

        return endpoint

    def _run(self, handler: Handler, role: Role, request: Request, form: Form | None) -> Response:
        visitor = Visitor(self.signer)
        after: list[Callable[[], None]] = []
        try:
            visitor = self.visitors.of(request)
            if form is not None:
                if is_foreign(request.headers, self.settings.origin):
                    raise _foreign()
                if not visitor.knows(form["csrf"]):
                    raise _expired()
            if request.method in {"GET", "HEAD"} or form is not None:
                self._admit(visitor, role, request)
            turn = Turn(self, request, visitor, query_of(request), Form() if form is None else form, after)
            response = handler(turn)
        except BadRequest as error:
            response = self.problem(request, Problem(error.status, "That can't be read", error.text), visitor, form)
        except Problem as error:
            response = self.problem(request, error, visitor, form)
        except CursorError:
            stale = Problem(400, "This page has moved on", "Its address is cut short or out of date.", _first(request))
            response = self.problem(request, stale, visitor, form)
        except ItemNotFound:
            response = self.problem(request, not_found(), visitor, form)
        except TooBusy:
            busy = Problem(
                503, "Not just now", "Many people are here at this moment. Please try again in a few seconds."
            )
            response = self.problem(request, busy, visitor, form)
        except ValidationError:
            response = self.problem(request, Problem(400, "That can't be done", "It can't be stored."), visitor, form)
        except RequestError as error:
            response = self.problem(request, Problem(400, "That can't be done", error.message), visitor, form)
        except (Refused, WriteFailed) as error:
            response = self.problem(request, Problem(409, "That can't be done now", _sentence(error)), visitor, form)
        except KeyplanError as error:
            _LOG.warning("%s %s: %s", request.method, request.url.path, error)
            gone = Problem(503, "Not just now", "The store doesn't answer. Please try again in a moment.")
            response = self.problem(request, gone, visitor, form)
        if after:
            response.background = BackgroundTask(_each, after)
        return self.visitors.finish(visitor, response)

    def _admit(self, visitor: Visitor, role: Role, request: Request) -> None:
        """Raises Problem where the page isn't for this visitor."""
        if role == "anyone":
            return
        if visitor.user is None:
            if request.method == "POST":
                raise _expired()
            target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            raise _SignInFirst(f"/sign-in?next={quote(target, safe='')}")
        if role == "author" and not visitor.author:
            raise Problem(
                403,
                "For authors",
                "You read here so far. Your account page makes an author of you.",
                (("Your account", "/account"),),
            )
        if role == "moderator" and not visitor.moderator:
            raise not_found()

    def changed(self, post: Post, *, listed: bool) -> None:
        """A post has been written: it is read again, and where it is or was ``listed``, the front page is made anew."""
        self.views.forget(post.post_id)
        keep_found(self.blog, self.search, post.post_id)
        if listed:
            self.blog.refresh_front_page(force=True)

    def moved(self, request: Request) -> str | None:
        """Where what had this address elsewhere is now: the path of a published post, or None."""
        path = address_key(request.url.path)
        if request.method not in {"GET", "HEAD"} or not 1 < len(path) <= ADDRESS_MAX:
            return None
        try:
            led = self.blog.redirect(path)
            post = None if led is None else self.blog.post(led.post_id)
        except KeyplanError:
            return None
        return None if post is None or post.status != "published" else post_path(post.slug)

    def refused(self, request: Request, problem: Problem) -> Response:
        """The page of a problem that was found before a handler was."""
        try:
            visitor = self.visitors.of(request)
        except KeyplanError:
            visitor = Visitor(self.signer)
        return self.visitors.finish(visitor, self.problem(request, problem, visitor))

    def problem(
        self, request: Request, problem: Problem, visitor: Visitor | None = None, form: Form | None = None
    ) -> Response:
        """The page of a problem. What was typed stands on it, so that nothing is lost."""
        if isinstance(problem, _SignInFirst):
            return RedirectResponse(problem.target, status_code=303)
        typed = [(name, text) for name, text in form.typed.items() if name in KEPT and text] if form is not None else []
        context = {
            "status": problem.status,
            "heading": problem.heading,
            "text": problem.text,
            "ways": problem.ways,
            "typed": typed,
        }
        html = self.html(request, visitor or Visitor(self.signer), "problem.html", context)
        response = HTMLResponse(html, status_code=problem.status)
        if problem.retry_seconds is not None:
            response.headers["retry-after"] = str(problem.retry_seconds)
        return response


KEPT = ("title", "content", "tags", "bio", "subject", "text")
"""The fields that are worth keeping when a form can't be taken; never a password."""


class _SignInFirst(Problem):
    """Somebody who isn't signed in goes to sign in, and comes back."""

    def __init__(self, target: str) -> None:
        super().__init__(303, "Sign in first", "")
        self.target = target


def _expired() -> Problem:
    return Problem(
        403,
        "This form is out of date",
        "It was made before you signed in or out, or in another browser. Open the page again, and send it from there.",
        (("Sign in", "/sign-in"), ("Front page", "/")),
    )


def _foreign() -> Problem:
    return Problem(403, "From another site", "This form was sent by a page of another site, and isn't taken.")


def _first(request: Request) -> tuple[tuple[str, str], ...]:
    return (("To the beginning", local_path(request.url.path)), ("Front page", "/"))


def _sentence(error: KeyplanError) -> str:
    """What a write of the design refused, in its own words; what the store refused, in ours."""
    if isinstance(error, Refused):
        told = "; ".join(fault.message for fault in error.faults) or error.message
        return told[:1].upper() + told[1:] + "."
    return "Somebody else was faster. Look at it again, and try once more."


def _each(actions: Sequence[Callable[[], None]]) -> None:
    """Do what a response didn't wait for; what fails of it is noted, since nobody waits for an answer."""
    for action in actions:
        try:
            action()
        except KeyplanError as error:
            _LOG.warning("after a response: %s", error)
