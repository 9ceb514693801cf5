"""The site for a server: its application, its authorization policy for the API, and the sample's sign-in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from starlette.applications import Starlette

from keyplan.errors import Refused
from keyplan.systems import SiteOptions
from keyplan_systems.blog.accounts import sign_in
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.sample import DEMO_PASSWORD, DEMO_USERS
from keyplan_systems.blog.site.application import site_application
from keyplan_systems.blog.site.openid import OpenIdProvider
from keyplan_systems.blog.site.policy import BlogPolicy
from keyplan_systems.blog.site.providers import OfflineProvider
from keyplan_systems.blog.site.settings import BlogFile, Settings
from keyplan_systems.blog.site.site import Site
from keyplan_systems.site.settings import read_settings


class BlogSite(NamedTuple):
    """An application, its policy for the API, and lines to print at startup."""

    application: Starlette
    policy: BlogPolicy
    told: Sequence[str]


def make_site(blog: Blog, options: SiteOptions) -> BlogSite:
    """The site for an open design. Raises RequestError for invalid settings.

    Without a public address, the offline provider signs in anyone.
    """
    file = read_settings(BlogFile, options.settings)
    settings = Settings(
        secret=options.secret,
        file=file,
        mail=file.mail,
        hosts=options.hosts,
        origin=options.origin,
        providers=(
            *(OpenIdProvider(each, options.secret) for each in file.providers),
            *(() if options.origin is not None else (OfflineProvider(),)),
        ),
    )
    site = Site(blog, settings)
    logins = _logins(blog, public=options.origin is not None)
    if options.origin is not None and file.smtp is None:
        logins.append("Warning: no mail server is set (smtp in the settings file), so mail is written to the log")
    return BlogSite(site_application(site), BlogPolicy(site), logins)


def _logins(blog: Blog, *, public: bool) -> list[str]:
    """How to sign in to the sample, if it exists with the original passwords.

    The password is public: a public site gets a warning.
    """
    names: list[str] = []
    for username, _, _ in DEMO_USERS:
        try:
            sign_in(blog, username, DEMO_PASSWORD)
        except Refused:
            continue
        names.append(username)
    if not names:
        return []
    result = [f"Sign in as {' or '.join(names)}; the password is: {DEMO_PASSWORD}"]
    if public:
        result.append("Warning: this password is public; change it before you publish the site")
    return result
