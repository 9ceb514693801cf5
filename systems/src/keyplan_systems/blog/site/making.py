"""The site for a server: its application, its authorization policy for the API, and the sample's sign-in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
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
from keyplan_systems.sampling import sample_logins
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
    logins = sample_logins(list(_demo_users(blog)), DEMO_PASSWORD, public=options.origin is not None)
    if options.origin is not None and file.smtp is None:
        logins.append("Warning: no mail server is set (smtp in the settings file), so emails are written to the log")
    return BlogSite(site_application(site), BlogPolicy(site), logins)


def _demo_users(blog: Blog) -> Iterator[str]:
    """The users of the sample who still have the original password."""
    for username, _, _ in DEMO_USERS:
        with suppress(Refused):
            yield sign_in(blog, username, DEMO_PASSWORD).username
