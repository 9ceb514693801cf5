"""A small site put together: which page stands where, static files, signing in and out, errors."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from keyplan.errors import Refused
from keyplan_systems.pages.people import PASSWORD_MIN
from keyplan_systems.pages.policy import TablePolicy
from keyplan_systems.pages.site import SESSION, VISIT, Problem, SmallSite, Turn, not_found
from keyplan_systems.pages.static import STATIC, static_file
from keyplan_systems.site.guard import Guard
from keyplan_systems.site.incoming import Form, local_path
from keyplan_systems.site.passwords import hash_password, password_fits

__all__ = ["ServedSite", "small_application"]

Handler = Callable[[Turn[Any]], Response]
Pages = Sequence[tuple[str, Handler, str]]
"""Addresses with their handlers, and who may see them: anyone, person, or a role."""


class ServedSite(NamedTuple):
    """An application, what it says of the API, and what is said to whoever started it."""

    application: Starlette
    policy: TablePolicy
    told: Sequence[str]


@asynccontextmanager
async def _nothing() -> AsyncGenerator[None]:
    yield


def small_application(
    site: SmallSite[Any],
    pages: Pages,
    forms: Pages = (),
    beside: Callable[[], AbstractAsyncContextManager[None]] = _nothing,
) -> Starlette:
    """The ASGI application of a site; ``beside`` runs while it does. It leaves the design open."""
    if site.people is not None:
        pages = (*pages, ("/sign-in", _sign_in_form, "anyone"), ("/sign-up", _sign_up_form, "anyone"))
        forms = (
            *forms,
            ("/sign-in", _sign_in, "anyone"),
            ("/sign-up", _sign_up, "anyone"),
            ("/sign-out", _sign_out, "anyone"),
        )
    routes = [Route("/static/{name}", _static)]
    routes += [Route(path, site.form(handler, role), methods=["POST"]) for path, handler, role in forms]
    routes += [Route(path, site.page(handler, role)) for path, handler, role in pages]

    @asynccontextmanager
    async def lifespan(_application: Starlette) -> AsyncGenerator[None]:
        async with beside():
            yield

    made = Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Guard, hosts=site.options.hosts, secure=site.secure)],
        exception_handlers={HTTPException: _refused(site), Exception: _failed},
    )
    made.router.redirect_slashes = False
    made.state.site = site
    return made


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    content, version = static_file(name)
    fresh = request.query_params.get("v") == version
    lasting = "public, max-age=31536000, immutable" if fresh else "public, max-age=60"
    return Response(content, media_type=STATIC[name][1], headers={"cache-control": lasting})


def _refused(site: SmallSite[Any]) -> Callable[[Request, Exception], Awaitable[Response]]:
    """What the framework refuses, as a page of the site."""

    async def refused(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        problem = not_found() if status == 404 else Problem(status, "That can't be done", "This isn't answered here.")
        response = await run_in_threadpool(site.refused, request, problem)
        if isinstance(error, HTTPException) and error.headers:
            response.headers.update(error.headers)
        return response

    return refused


async def _failed(_request: Request, _error: Exception) -> Response:
    # The error itself goes on to the server that runs the site, which logs it.
    return PlainTextResponse("Something went wrong here. It has been noted; please try again later.\n", status_code=500)


# Signing in and out


def _sign_in_form(turn: Turn[Any]) -> Response:
    target = local_path(turn.query.get("next", "/"))
    return (
        turn.go(target) if turn.visitor.person is not None else turn.page("sign_in.html", form=Form({"next": target}))
    )


def _sign_in(turn: Turn[Any]) -> Response:
    form, people = turn.form, turn.site.people
    login = form.text("login", turn.site.look.login, 254)
    password = form.password("password", "Password")
    if form and people is not None:
        turn.limit("sign-in from an address", turn.address)
        turn.limit("sign-in", f"{turn.address} {login.lower()}")
        with turn.site.hashing:
            person = people.known(login)
            fits = password_fits(person.password_hash if person is not None else None, password)
        if person is not None and fits:
            turn.site.sign_in(turn.visitor, person)
            return turn.go(form["next"] or "/")
        form.fault("login", "that isn't known with this password")
    return turn.page("sign_in.html", 422)


def _sign_up_form(turn: Turn[Any]) -> Response:
    return turn.go("/") if turn.visitor.person is not None else turn.page("sign_up.html", password_min=PASSWORD_MIN)


def _sign_up(turn: Turn[Any]) -> Response:
    form, people = turn.form, turn.site.people
    login = form.text("login", turn.site.look.login, 254)
    name = form.text("name", "Name", 80)
    password = form.password("password", "Password", shortest=PASSWORD_MIN)
    if form and people is not None:
        turn.limit("sign-up", turn.address)
        try:
            with turn.site.hashing:
                person = people.join(login, name, hash_password(password))
        except Refused as error:
            form.take(error)
        else:
            turn.site.sign_in(turn.visitor, person)
            return turn.go("/", "welcome")
    return turn.page("sign_up.html", 422, password_min=PASSWORD_MIN)


def _sign_out(turn: Turn[Any]) -> Response:
    turn.visitor.changes |= {SESSION: None, VISIT: None}
    return turn.go("/")
