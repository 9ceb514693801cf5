"""The site's application: URLs, static files, error pages, startup and shutdown."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from keyplan_systems.blog.site.pages import (
    account,
    commenting,
    contact,
    feeds,
    files,
    joining,
    mailed,
    moderating,
    reading,
    signing,
    writing,
)
from keyplan_systems.blog.site.site import Handler, Role, Site
from keyplan_systems.site.application import application
from keyplan_systems.site.highlighting import prepare
from keyplan_systems.site.joining import FINISH
from keyplan_systems.site.pictures import BYTES_MAX as PICTURE_BYTES_MAX

UPLOADS = "/write/pictures"

_PAGES: tuple[tuple[str, Handler, Role], ...] = (
    ("/", reading.front, "anyone"),
    ("/latest", reading.latest, "anyone"),
    ("/popular", reading.popular, "anyone"),
    ("/authors/{username}/feed.atom", feeds.atom, "anyone"),
    ("/authors/{username}", reading.author, "anyone"),
    ("/tags", reading.tags, "anyone"),
    ("/tags/{tags}/feed.atom", feeds.atom, "anyone"),
    ("/tags/{tags:path}", reading.tagged, "anyone"),
    ("/search", reading.search, "anyone"),
    ("/search/tags", reading.suggest, "anyone"),
    ("/sign-in", signing.sign_in_form, "anyone"),
    ("/sign-in/with/{provider}", signing.go_to_provider, "anyone"),
    ("/sign-in/with/{provider}/choose", signing.choose, "anyone"),
    ("/sign-in/with/{provider}/callback", signing.callback, "anyone"),
    ("/sign-up", joining.sign_up_form, "anyone"),
    (FINISH, joining.finish_form, "anyone"),
    ("/password/forgotten", mailed.forgotten_form, "anyone"),
    ("/password/reset", mailed.reset_form, "anyone"),
    ("/email/verify", mailed.confirm_form, "anyone"),
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
    ("/inbox", moderating.inbox, "moderator"),
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
    ("/sign-up", joining.sign_up, "anyone"),
    (FINISH, joining.finish, "anyone"),
    ("/password/forgotten", mailed.forgotten, "anyone"),
    ("/password/reset", mailed.reset, "anyone"),
    ("/email/verify", mailed.confirm, "anyone"),
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
    ("/moderation/users/{user_id}", moderating.change_user, "moderator"),
    ("/inbox", moderating.handle, "moderator"),
)


def site_application(site: Site) -> Starlette:
    """The ASGI application of the site. Shutdown writes collected views, and doesn't close the design."""

    @asynccontextmanager
    async def lifespan(application: Starlette) -> AsyncGenerator[None]:
        await run_in_threadpool(prepare)
        beside = getattr(application.state, "beside", None)
        site.views.start(None if beside is None else beside.is_idle)
        try:
            yield
        finally:
            await run_in_threadpool(site.views.stop)

    return application(
        site,
        _routes(site),
        hosts=site.settings.hosts,
        secure=site.settings.secure,
        lifespan=lifespan,
        larger={UPLOADS: PICTURE_BYTES_MAX},
        moved=site.moved,
    )


def _routes(site: Site) -> list[Route]:
    routes = [
        Route("/posts/{slug}", site.page(reading.post), name="post"),
        Route(UPLOADS, site.upload(files.take_picture, PICTURE_BYTES_MAX, "author"), methods=["POST"]),
    ]
    # Pages first, because they are requested most often. Forms with the same paths have another method.
    routes += [Route(path, site.page(handler, role)) for path, handler, role in _PAGES]
    return [*routes, *(Route(path, site.form(handler, role), methods=["POST"]) for path, handler, role in _FORMS)]
