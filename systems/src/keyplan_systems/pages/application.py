"""The application of a small site: its pages, and sign-in and sign-out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route

from keyplan.errors import KeyplanError
from keyplan_systems import sampling
from keyplan_systems.pages import joining, passwords
from keyplan_systems.pages.policy import TablePolicy
from keyplan_systems.pages.site import SmallSite, Turn
from keyplan_systems.site.application import application
from keyplan_systems.site.incoming import Form, local_path
from keyplan_systems.site.passwords import password_fits
from keyplan_systems.site.pictures import BYTES_MAX

Handler = Callable[[Turn[Any]], Response]
Pages = Sequence[tuple[str, Handler, str]]
"""URL paths with their handlers and audience: ``anyone``, ``person`` (signed in), or a role."""


class ServedSite(NamedTuple):
    """An application, its authorization policy for the API, and lines to print at startup."""

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
    uploads: Mapping[str, tuple[Handler, str]] = {},
) -> Starlette:
    """The ASGI application of a site, which doesn't close the design. ``beside`` runs in the background. ``uploads``
    are paths that accept a picture, with their role.
    """
    pages = (*pages, ("/sign-in", _sign_in_form, "anyone"), *passwords.PAGES)
    forms = (*forms, ("/sign-in", _sign_in, "anyone"), ("/sign-out", _sign_out, "anyone"), *passwords.FORMS)
    if site.people.can_join:
        pages, forms = (*pages, *joining.PAGES), (*forms, *joining.FORMS)
    if site.people.by_mail:
        pages, forms = (*pages, *passwords.FORGOTTEN_PAGES), (*forms, *passwords.FORGOTTEN_FORMS)
    routes = [
        Route(path, site.upload(handler, BYTES_MAX, role), methods=["POST"])
        for path, (handler, role) in uploads.items()
    ]
    routes += [Route(path, site.form(handler, role), methods=["POST"]) for path, handler, role in forms]
    routes += [Route(path, site.page(handler, role)) for path, handler, role in pages]

    @asynccontextmanager
    async def lifespan(_application: Starlette) -> AsyncGenerator[None]:
        async with beside():
            yield

    larger = dict.fromkeys(uploads, BYTES_MAX)
    return application(site, routes, hosts=site.options.hosts, secure=site.secure, lifespan=lifespan, larger=larger)


def again_and_again(
    seconds: float, log: logging.Logger, *jobs: Callable[[], object]
) -> Callable[[], AbstractAsyncContextManager[None]]:
    """Background jobs, which run in a thread every ``seconds``, also in several processes. A KeyplanError is logged."""

    async def keep() -> None:
        while True:
            try:
                for job in jobs:
                    await run_in_threadpool(job)
            except KeyplanError as error:
                log.warning("a background job failed: %s", error)
            await asyncio.sleep(seconds)

    @asynccontextmanager
    async def beside() -> AsyncGenerator[None]:
        task = asyncio.create_task(keep())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    return beside


def mail_warnings(site: SmallSite[Any]) -> list[str]:
    """The warning for a public site without a mail server, whose sign-up mails are only logged."""
    if site.options.origin is None or not site.joining.logged:
        return []
    return ["Warning: no mail server is set (smtp in the settings file), so emails are written to the log"]


def sample_logins(site: SmallSite[Any], logins: Iterable[str], password: str, *more: str) -> list[str]:
    """How to sign in to the sample, if it exists with the original passwords."""
    known = ((login, site.people.known(login)) for login in logins)
    fitting = [login for login, person in known if person and password_fits(person.password_hash, password)]
    return sampling.sample_logins(fitting, password, *more, public=site.options.origin is not None)


# Signing in and out


def _sign_in_form(turn: Turn[Any]) -> Response:
    target = local_path(turn.query.get("next", "/"))
    return (
        turn.go(target) if turn.visitor.person is not None else turn.page("sign_in.html", form=Form({"next": target}))
    )


def _sign_in(turn: Turn[Any]) -> Response:
    form, people = turn.form, turn.people
    login = form.text("login", turn.site.look.login, 254)
    password = form.password("password", "Password")
    if form:
        turn.limit("sign-in from an address", turn.address)
        turn.limit("sign-in", f"{turn.address} {login.lower()}")
        with turn.site.hashing:
            person = people.known(login)
            fits = password_fits(person.password_hash if person is not None else None, password)
        if person is not None and fits:
            turn.sign_in(person)
            return turn.go(form["next"] or "/")
        form.fault("login", f"the {turn.site.look.login.lower()} or password is wrong")
    return turn.page("sign_in.html", 422)


def _sign_out(turn: Turn[Any]) -> Response:
    turn.site.visitors.sign_out(turn.visitor)
    return turn.go("/")
