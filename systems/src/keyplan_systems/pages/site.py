"""A small site: what its pages share, and how a handler becomes an endpoint.

A handler is a plain function of a ``Turn``: the request, who makes it and, for a form, what was typed. It runs in a
worker thread, so it may call the store. Forms are read, and their token and origin checked, before it is called.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from keyplan import Cursor, Design
from keyplan.errors import CursorError, ItemNotFound, KeyplanError, Refused, RequestError, WriteFailed
from keyplan.systems import SiteOptions
from keyplan_systems.pages.people import SESSION_SECONDS, People, Person, Sessions
from keyplan_systems.pages.static import asset
from keyplan_systems.site.filters import FILTERS
from keyplan_systems.site.guard import is_foreign
from keyplan_systems.site.incoming import BadRequest, Form, local_path, query_of, read_form
from keyplan_systems.site.limits import Gate, Limit, RateLimiter, TooBusy
from keyplan_systems.site.signing import Signer, random_token

__all__ = ["SESSION", "VISIT", "Look", "Problem", "SmallSite", "Turn", "Visitor", "not_found"]

_LOG = logging.getLogger("keyplan.pages")
D = TypeVar("D", bound=Design)

LIMITS = {
    "sign-in": Limit(attempts=10, seconds=300),
    "sign-in from an address": Limit(attempts=40, seconds=300),
    "sign-up": Limit(attempts=10, seconds=3600),
    "write": Limit(attempts=120, seconds=600),
}
NOTICES = {"saved": "Saved.", "welcome": "Welcome!"}
"""What a page says at its top after a form has done something; ``?done=`` names it, so nobody can put words there."""
SESSION = "keyplan_session"
VISIT = "keyplan_visit"


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


def not_found() -> Problem:
    """The page for what isn't there, or isn't there for this visitor."""
    return Problem(404, "There is nothing here", "The page may have moved, or never was.")


@dataclass(frozen=True)
class Look:
    """What a site is called, and where its navigation leads: labels with addresses."""

    title: str
    tagline: str
    package: str
    """The package whose folder ``templates`` has its pages."""
    navigation: Sequence[tuple[str, str]] = ()
    search: str | None = None
    """Where its search box leads, if it has one."""
    notices: Mapping[str, str] = field(default_factory=dict[str, str])
    filters: Mapping[str, Callable[..., object]] = field(default_factory=dict[str, Callable[..., object]])
    login: str = "Email"
    """What people sign in with."""


@dataclass
class Visitor:
    """Who makes a request. ``person`` is None for those who aren't signed in."""

    signer: Signer
    person: Person | None = None
    session: str | None = None
    visit: str | None = None
    theme: str | None = None
    changes: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """Cookies to write into the response: their values, or None for those to be removed."""

    @property
    def csrf(self) -> str:
        """The token for the forms of this page. Asking for it gives a visitor without any cookie one."""
        if self.session is None and self.visit is None:
            self.visit = random_token()
            self.changes[VISIT] = self.visit
        return self.signer.signature("csrf", self._bound)

    def knows(self, token: str) -> bool:
        """Whether a form's token is this visitor's."""
        if self.session is None and self.visit is None:
            return False
        return self.signer.matches("csrf", self._bound, token)

    def may(self, role: str) -> bool:
        """Whether somebody is signed in who has this role."""
        return self.person is not None and role in self.person.roles

    @property
    def _bound(self) -> str:
        return f"visit {self.visit}" if self.session is None else f"session {self.session}"


@dataclass
class Turn(Generic[D]):
    """One request at its handler."""

    site: SmallSite[D]
    request: Request
    visitor: Visitor
    query: dict[str, str]
    form: Form

    @property
    def design(self) -> D:
        """The design, open on its store."""
        return self.site.design

    @property
    def person(self) -> Person:
        """Who is signed in; only where the endpoint asks for somebody."""
        if self.visitor.person is None:
            raise Problem(403, "Sign in first", "This page is for those who are signed in.", (("Sign in", "/sign-in"),))
        return self.visitor.person

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
        notice = self.site.notices.get(self.query.get("done", ""))
        html = self.site.html(self.request, self.visitor, template, {"form": self.form, **context}, notice)
        return HTMLResponse(html, status_code=status)

    def go(self, path: str, done: str | None = None) -> Response:
        """Go on to another page of the site, which then says what was done."""
        place = local_path(path)
        if done is not None:
            place += f"{'&' if '?' in place else '?'}done={done}"
        return RedirectResponse(place, status_code=303)

    def limit(self, action: str, *subjects: str) -> None:
        """Count an attempt for each subject. Raises Problem with status 429 when there were too many."""
        wait = self.site.limiters[action].wait_seconds(*subjects)
        if wait:
            minutes = max(1, round(wait / 60 + 0.5))
            said = f"Please wait about {minutes} {'minute' if minutes == 1 else 'minutes'}."
            raise Problem(429, "Too many at once", said)

    @property
    def address(self) -> str:
        """Where the request comes from, for rate limits."""
        return self.request.client.host if self.request.client is not None else "unknown"


class SmallSite(Generic[D]):
    """A site's pages on an open design."""

    def __init__(self, design: D, look: Look, options: SiteOptions, people: People | None = None) -> None:
        self.design = design
        self.look = look
        self.options = options
        self.people = people
        self.secure = options.origin is not None and options.origin.startswith("https:")
        self.signer = Signer(options.secret)
        self.sessions = Sessions(people, self.signer)
        self.notices = {**NOTICES, **look.notices}
        self.limiters = {name: RateLimiter(limit, time.monotonic) for name, limit in LIMITS.items()}
        self.hashing = Gate(2, 8)
        self.templates = _environment(look)
        self._prefix = "__Host-" if self.secure else ""

    def html(
        self, request: Request, visitor: Visitor, template: str, context: dict[str, Any], notice: str | None = None
    ) -> str:
        """A template filled in."""
        return self.templates.get_template(template).render(
            site=self.look,
            request=request,
            visitor=visitor,
            theme=visitor.theme,
            people=self.people is not None,
            notice=notice,
            **context,
        )

    def visitor(self, request: HTTPConnection) -> Visitor:
        """Who makes a request. A session that is forged or over is none."""
        cookies = request.cookies
        theme, visit = cookies.get("theme"), cookies.get(self._prefix + VISIT)
        made = Visitor(self.signer, theme=theme if theme in {"light", "dark"} else None)
        if visit is not None and 20 <= len(visit) <= 100 and visit.isascii():
            made.visit = visit
        signed = cookies.get(self._prefix + SESSION)
        if signed:
            made.person = self.sessions.person(signed, time.time())
            if made.person is None:
                made.changes[SESSION] = None
            else:
                made.session = signed
        return made

    @property
    def session_cookie(self) -> str:
        """The name of the cookie that holds a session."""
        return self._prefix + SESSION

    def sign_in(self, visitor: Visitor, person: Person) -> None:
        """Let the visitor's browser hold a new session."""
        visitor.changes |= {SESSION: self.sessions.open(person, time.time()), VISIT: None}

    def finish(self, visitor: Visitor, response: Response) -> Response:
        """Write the cookies that changed, and say that a page made for somebody is nobody else's."""
        for name, value in visitor.changes.items():
            response.set_cookie(
                self._prefix + name,
                value or "",
                max_age=0 if value is None else SESSION_SECONDS,
                path="/",
                secure=self.secure,
                httponly=True,
                samesite="lax",
            )
        own = visitor.person is not None or bool(visitor.changes)
        response.headers.setdefault("cache-control", "private, no-store" if own else "private, no-cache")
        return response

    def page(self, handler: Callable[[Turn[D]], Response], role: str) -> Callable[[Request], Awaitable[Response]]:
        """The endpoint of a page that is looked at."""

        async def endpoint(request: Request) -> Response:
            return await run_in_threadpool(self._run, handler, role, request, None)

        return endpoint

    def form(self, handler: Callable[[Turn[D]], Response], role: str) -> Callable[[Request], Awaitable[Response]]:
        """The endpoint of a form that is sent."""

        async def endpoint(request: Request) -> Response:
            try:
                typed = await read_form(request)
            except BadRequest as error:
                problem = Problem(error.status, "That can't be read", error.text)
                return await run_in_threadpool(self.refused, request, problem)
            return await run_in_threadpool(self._run, handler, role, request, typed)

        return endpoint

    def _run(self, handler: Callable[[Turn[D]], Response], role: str, request: Request, form: Form | None) -> Response:
        visitor = Visitor(self.signer)
        try:
            visitor = self.visitor(request)
            if form is not None and is_foreign(request.headers, self.options.origin):
                raise _foreign()
            if form is not None and not visitor.knows(form["csrf"]):
                raise _expired()
            self._admit(visitor, role, request)
            turn = Turn(self, request, visitor, query_of(request), Form() if form is None else form)
            if form is not None:
                turn.limit("write", visitor.person.user_id if visitor.person else turn.address)
            response = handler(turn)
        except Problem as error:
            response = self._problem(request, error, visitor)
        except (BadRequest, TooBusy, ValidationError, KeyplanError) as error:
            response = self._problem(request, _said(error, request), visitor)
        return self.finish(visitor, response)

    def _admit(self, visitor: Visitor, role: str, request: Request) -> None:
        """Raises Problem where the page isn't for this visitor."""
        if role == "anyone":
            return
        if visitor.person is None:
            if request.method == "POST":
                raise _expired()
            target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            raise _SignInFirst(f"/sign-in?next={quote(target, safe='')}")
        if role != "person" and not visitor.may(role):
            raise not_found()

    def refused(self, request: Request, problem: Problem) -> Response:
        """The page of a problem that was met before a handler was."""
        try:
            visitor = self.visitor(request)
        except KeyplanError:
            visitor = Visitor(self.signer)
        return self.finish(visitor, self._problem(request, problem, visitor))

    def _problem(self, request: Request, problem: Problem, visitor: Visitor) -> Response:
        if isinstance(problem, _SignInFirst):
            return RedirectResponse(problem.target, status_code=303)
        context = {
            "status": problem.status,
            "heading": problem.heading,
            "text": problem.text,
            "ways": problem.ways,
            "typed": (),
            "form": Form(),
        }
        return HTMLResponse(self.html(request, visitor, "problem.html", context), status_code=problem.status)


class _SignInFirst(Problem):
    """Somebody who isn't signed in goes to sign in, and comes back."""

    def __init__(self, target: str) -> None:
        super().__init__(303, "Sign in first", "")
        self.target = target


def _foreign() -> Problem:
    return Problem(403, "From another site", "This form was sent by a page of another site, and isn't taken.")


def _expired() -> Problem:
    return Problem(
        403,
        "This form is out of date",
        "It was made before you signed in or out, or in another browser. Open the page again, and send it from there.",
    )


def _said(error: Exception, request: Request) -> Problem:
    """An error as a page."""
    match error:
        case BadRequest():
            return Problem(error.status, "That can't be read", error.text)
        case CursorError():
            ways = (("To the beginning", local_path(request.url.path)), ("Front page", "/"))
            return Problem(400, "This page has moved on", "Its address is cut short or out of date.", ways)
        case ItemNotFound():
            return not_found()
        case RequestError():
            return Problem(400, "That can't be done", f"{error.message}.")
        case Refused():
            told = "; ".join(fault.message for fault in error.faults) or error.message
            return Problem(409, "That can't be done now", f"{told[:1].upper()}{told[1:]}.")
        case WriteFailed():
            return Problem(409, "That can't be done now", "Somebody else was faster. Look again, and try once more.")
        case TooBusy():
            return Problem(
                503, "Not just now", "Many people are here at this moment. Please try again in a few seconds."
            )
        case ValidationError():
            return Problem(400, "That can't be done", "It can't be stored.")
        case _:
            _LOG.warning("%s %s: %s", request.method, request.url.path, error)
            return Problem(503, "Not just now", "The store doesn't answer. Please try again in a moment.")


def _environment(look: Look) -> Environment:
    """The templates: the site's own, then those that all small sites share, then the blog's parts."""
    packages = (look.package, "keyplan_systems.pages", "keyplan_systems.blog.site")
    made = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    # The parts are the blog's, whose tags have addresses; no page of these sites shows them.
    made.filters.update({**FILTERS, "tag_path": str, **look.filters})
    own: Mapping[str, Any] = {"asset": asset}
    made.globals.update(own)
    return made
