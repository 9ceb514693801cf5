"""The blog's site: its notices, limits and visitors. ``keyplan_systems.site.serving`` has the base class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import Response

from keyplan.errors import KeyplanError
from keyplan_systems.blog import accounts
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import ADDRESS_MAX, Post, User
from keyplan_systems.blog.files import files_of
from keyplan_systems.blog.searching import keep_found, search_of
from keyplan_systems.blog.site.mailing import Mailing
from keyplan_systems.blog.site.rendering import blog_environment, post_path
from keyplan_systems.blog.site.settings import Settings
from keyplan_systems.blog.site.views import Views
from keyplan_systems.blog.site.visitors import Visitor
from keyplan_systems.site.incoming import Form, query_of
from keyplan_systems.site.limits import Gate, Limit
from keyplan_systems.site.problems import Problem, not_found
from keyplan_systems.site.searching import Search
from keyplan_systems.site.serving import HASHES_WAITING, BaseSite, BaseTurn
from keyplan_systems.site.signing import Signer
from keyplan_systems.site.visitors import Visitors
from keyplan_systems.words import address_key

Role = Literal["anyone", "reader", "author", "moderator"]

NOTICES = {
    "account": "Your account is saved.",
    "archived": "The post is archived.",
    "assigned": "An email with a link to claim the account has been sent.",
    "author-requested": "Your request has been sent. You can write posts after a moderator has approved it.",
    "email": "To confirm the new address, follow the link in the email that was sent to the new address.",
    "deleted": "The post is deleted.",
    "ended": "The session has ended.",
    "joined": "Welcome! You can like, rate and comment now.",
    "linked": "The account is linked.",
    "message": "Your message has been sent. Thank you.",
    "password": "Your password is changed. Your other sessions have ended.",
    "published": "The post is published.",
    "reset": "Your password is set. You can sign in now.",
    "restored": "The post is a draft again.",
    "saved": "Saved.",
    "sent": "If this address is registered, you will receive an email with a link.",
    "role": "The account's role is changed.",
    "status": "The account's status is changed.",
    "unlinked": "The account is no longer linked.",
    "unpublished": "The post is no longer published.",
    "verified": "Your address is confirmed.",
    "welcome": "Welcome! This page lists your posts.",
}
"""Messages after a form was processed. The URL contains only the name (``?done=saved``), never the message."""

LIMITS = {
    "sign-in": Limit(attempts=10, seconds=300),
    "sign-in from an address": Limit(attempts=40, seconds=300),
    "sign-in to an account": Limit(attempts=300, seconds=3600),
    "sign-up": Limit(attempts=10, seconds=3600),
    "contact": Limit(attempts=5, seconds=3600),
    "search": Limit(attempts=120, seconds=60),
    "read": Limit(attempts=600, seconds=60),
    "export": Limit(attempts=5, seconds=3600),
    "comment": Limit(attempts=20, seconds=600),
    "respond": Limit(attempts=60, seconds=60),
    "preview": Limit(attempts=60, seconds=30),
    "write": Limit(attempts=60, seconds=600),
    "upload": Limit(attempts=40, seconds=600),
    "mail": Limit(attempts=5, seconds=3600),
}
PICTURES_AT_ONCE = 1
"""Decoding a large picture takes about 100 MB."""


@dataclass
class Turn(BaseTurn["Site", Visitor]):
    """One request at its handler."""

    @property
    def blog(self) -> Blog:
        return self.site.blog

    @property
    def user(self) -> User:
        """The signed-in user. Raises Problem if there is none."""
        if self.visitor.user is None:
            raise Problem(403, "Sign in first", "This page requires a sign-in.", (("Sign in", "/sign-in"),))
        return self.visitor.user


Handler = Callable[[Turn], Response]


class Site(BaseSite[Visitor, Turn]):
    """The blog's pages on an open design; ``application.py`` has their URLs."""

    def __init__(self, blog: Blog, settings: Settings) -> None:
        signer = Signer(settings.secret)
        super().__init__(
            design=blog,
            public=settings.origin,
            signer=signer,
            visitors=Visitors(Visitor, accounts.sessions_of(blog, signer), signer, "blog", secure=settings.secure),
            templates=blog_environment(),
            notices=NOTICES,
            limits=LIMITS,
            clock=settings.clock,
        )
        self.blog = blog
        self.settings = settings
        self.mailing = Mailing(blog, settings, signer, settings.mail)
        self.views = Views(blog)
        self.files = files_of(blog, settings.file.files)
        self.search: Search = search_of(blog)
        self.pictures = Gate(PICTURES_AT_ONCE, HASHES_WAITING)

    def turn(self, request: Request, visitor: Visitor, form: Form) -> Turn:
        return Turn(self, request, visitor, query_of(request), form)

    def context(self, request: Request) -> Mapping[str, Any]:
        return {"site": self.settings, "origin": self.origin(request)}

    def allow(self, visitor: Visitor, role: str) -> None:
        if role == "author" and not visitor.author:
            raise Problem(
                403,
                "For authors",
                "Only authors can open this page. To become an author, open your account page.",
                (("Your account", "/account"),),
            )
        if role == "moderator" and not visitor.moderator:
            raise not_found()

    def changed(self, post: Post, *, listed: bool) -> None:
        """Update caches and the search index after a write of a post, and the front page if it is or was ``listed``."""
        self.views.forget(post.post_id)
        keep_found(self.blog, self.search, post.post_id)
        if listed:
            self.blog.refresh_front_page(force=True)
        self.views.forget_lists()

    def moved(self, request: Request) -> str | None:
        """The path of the published post that had this URL before an import, or None."""
        path = address_key(request.url.path)
        if request.method not in {"GET", "HEAD"} or not 1 < len(path) <= ADDRESS_MAX:
            return None
        try:
            led = self.blog.redirect(path)
            post = None if led is None else self.blog.post(led.post_id)
        except KeyplanError:
            return None
        return None if post is None or post.status != "published" else post_path(post.slug)
