"""The site put together: which page stands where, static files, errors, and what happens at its beginning and end."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from keyplan_systems.blog.site.pages import (
    account,
    commenting,
    contact,
    feeds,
    files,
    moderating,
    reading,
    signing,
    writing,
)
from keyplan_systems.blog.site.rendering import STATIC, static_file
from keyplan_systems.blog.site.site import Handler, Problem, Role, Site, not_found
from keyplan_systems.site.guard import Guard
from keyplan_systems.site.pictures import BYTES_MAX as PICTURE_BYTES_MAX

__all__ = ["site_application"]

UPLOADS = "/write/pictures"
_LOG = logging.getLogger("keyplan.blog")

_PAGES: tuple[tuple[str, Handler, Role], ...] = (
    ("/", reading.front, "anyone"),
    ("/latest", reading.latest, "anyone"),
    ("/popular", reading.popular, "anyone"),
    ("/authors/{username}", reading.author, "anyone"),
    ("/tags", reading.tags, "anyone"),
    ("/tags/{tags:path}", reading.tagged, "anyone"),
    ("/search", reading.search, "anyone"),
    ("/search/tags", reading.suggest, "anyone"),
    ("/sign-in", signing.sign_in_form, "anyone"),
    ("/sign-in/with/{provider}", signing.go_to_provider, "anyone"),
    ("/sign-in/with/{provider}/choose", signing.choose, "anyone"),
    ("/sign-in/with/{provider}/callback", signing.callback, "anyone"),
    ("/sign-up", signing.sign_up_form, "anyone"),
    ("/account", account.show, "reader"),
    ("/desk", writing.desk, "author"),
    ("/write", writing.new_form, "author"),
    ("/write/{post_id}", writing.edit_form, "author"),
    ("/write/{post_id}/delete", writing.delete_form, "author"),
    ("/account/delete", account.delete_form, "reader"),
    ("/account/export", account.export, "reader"),
    ("/contact", contact.show, "anyone"),
    ("/moderation", moderating.users, "moderator"),
    ("/moderation/posts", moderating.posts, "moderator"),
    ("/moderation/comments", moderating.comments, "moderator"),
    ("/moderation/log", moderating.log, "moderator"),
    ("/inbox", moderating.inbox, "moderator"),
    ("/feed.rss", feeds.rss, "anyone"),
    ("/feed.atom", feeds.atom, "anyone"),
    ("/files/{name}", files.show, "anyone"),
    ("/robots.txt", feeds.robots, "anyone"),
    ("/sitemap.xml", feeds.sitemap, "anyone"),
    ("/sitemap-{year:int}.xml", feeds.sitemap_of_year, "anyone"),
    ("/sitemap-{day}.xml", feeds.sitemap_of_day, "anyone"),
)
_FORMS: tuple[tuple[str, Handler, Role], ...] = (
    ("/posts/{slug}/like", reading.like, "reader"),
    ("/posts/{slug}/rate", reading.rate, "reader"),
    ("/posts/{slug}/comments", commenting.add, "reader"),
    ("/posts/{slug}/comments/change", commenting.change, "reader"),
    ("/sign-in", signing.sign_in, "anyone"),
    ("/sign-out", signing.sign_out, "anyone"),
    ("/sign-up", signing.sign_up, "anyone"),
    ("/account", account.profile, "reader"),
    ("/account/password", account.change_password, "reader"),
    ("/account/email", account.change_email, "reader"),
    ("/account/author", account.become_author, "reader"),
    ("/account/sessions", account.end_session, "reader"),
    ("/account/unlink", account.unlink, "reader"),
    ("/account/tokens", account.make_token, "reader"),
    ("/account/delete", account.delete, "reader"),
    ("/write", writing.create, "author"),
    ("/write/preview", writing.preview, "author"),
    ("/write/{post_id}", writing.save, "author"),
    ("/write/{post_id}/delete", writing.delete, "author"),
    ("/write/{post_id}/{action}", writing.act, "author"),
    ("/contact", contact.send, "anyone"),
    ("/moderation/users/{user_id}", moderating.set_status, "moderator"),
    ("/inbox", moderating.handle, "moderator"),
)


def site_application(site: Site) -> Starlette:
    """The ASGI application of the site. Shutting it down writes what was gathered, and leaves the design open."""

    @asynccontextmanager
    async def lifespan(_application: Starlette) -> AsyncGenerator[None]:
        site.views.start()
        try:
            yield
        finally:
            await run_in_threadpool(site.views.stop)

    made = Starlette(
        routes=_routes(site),
        lifespan=lifespan,
        middleware=[
            Middleware(
                Guard,
                hosts=site.settings.hosts,
                secure=site.settings.secure,
                larger={UPLOADS: PICTURE_BYTES_MAX},
            )
        ],
        exception_handlers={HTTPException: _told(site), Exception: _failed},
    )
    made.router.redirect_slashes = False
    made.state.site = site
    return made


def _routes(site: Site) -> list[Route]:
    forms = {path: (handler, role) for path, handler, role in _FORMS}
    pages = {path for path, _, _ in _PAGES}
    routes = [
        Route("/static/own.css", _fixed(site.settings.own.style.encode(), "text/css")),
        Route("/static/logo", _fixed(*(site.settings.own.logo or (b"", "")))),
        Route("/static/{name}", _static),
    ]
    routes.append(Route("/posts/{slug}", site.page(reading.post), name="post"))
    routes.append(Route(UPLOADS, site.upload(files.take_picture, PICTURE_BYTES_MAX), methods=["POST"]))
    # A form before a page of the same path's kind: /write/preview is no post's id.
    for path, handler, role in _FORMS:
        routes.append(Route(path, site.form(handler, role), methods=["POST"]))
    for path, handler, role in _PAGES:
        routes.append(Route(path, site.page(handler, role)))
    assert len(forms) == len(_FORMS) and len(pages) == len(_PAGES)  # noqa: PT018, S101
    return routes


def _fixed(content: bytes, kind: str) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint of something that the settings say; 404 where they say nothing."""

    async def endpoint(_request: Request) -> Response:
        if not content:
            raise HTTPException(404)
        policy = {"cache-control": "public, max-age=60", "content-security-policy": "default-src 'none'; sandbox"}
        return Response(content, media_type=kind, headers=policy)

    return endpoint


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    content, version = static_file(name)
    fresh = request.query_params.get("v") == version
    lasting = "public, max-age=31536000, immutable" if fresh else "public, max-age=60"
    return Response(content, media_type=STATIC[name], headers={"cache-control": lasting})


def _told(site: Site) -> Callable[[Request, Exception], Awaitable[Response]]:
    """What the framework refuses, as a page of the site."""

    async def told(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        if status == 404:
            place = await run_in_threadpool(site.moved, request)
            if place is not None:
                return RedirectResponse(place, status_code=301)
            problem = not_found()
        elif status == 405:
            problem = Problem(405, "Not this way", "This address doesn't answer that kind of request.")
        else:
            problem = Problem(status, "That can't be done", "The request isn't one that this site answers.")
        response = await run_in_threadpool(site.refused, request, problem)
        if isinstance(error, HTTPException) and error.headers:
            response.headers.update(error.headers)
        return response

    return told


async def _failed(_request: Request, _error: Exception) -> Response:
    # The error itself goes on to the server that runs the site, which logs it.
    return PlainTextResponse("Something went wrong here. It has been noted; please try again later.\n", status_code=500)
