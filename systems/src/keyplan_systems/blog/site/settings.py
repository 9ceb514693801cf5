"""Settings of a site: title, address, secret, identity providers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import time
from typing import ClassVar

from keyplan_systems.blog.site.providers import Provider
from keyplan_systems.site.mail import LoggedMail, Mail
from keyplan_systems.site.own_settings import SiteFile

__all__ = ["Settings"]

DAY_SECONDS = 24 * 3600


@dataclass(frozen=True)
class Settings:
    """A site's settings.

    ``secret`` signs cookies and forms; ``hosts`` are the accepted host names (None: any); ``origin`` is the public URL
    without a slash at the end (None: from each request); ``secure``: the site uses HTTPS, and restricts cookies to it.
    """

    secret: bytes
    title: str = "Marginalia"
    tagline: str = "Notes on things made carefully, by the people who make them."
    search: ClassVar[str] = "/search"
    """The URL of the search box."""
    own: SiteFile = field(default_factory=SiteFile)
    """The site's settings file: navigation, logo, colors."""
    hosts: tuple[str, ...] | None = None
    origin: str | None = None
    secure: bool = False
    providers: tuple[Provider, ...] = ()
    files: str | None = None
    """The location of images: a folder, or ``s3://bucket/prefix``; None: the default of ``blog.files``."""
    shared_limits: bool = False
    """Count rare actions (sign-in, sign-up, messages) in the store, for all processes together."""
    mail: Mail = field(default_factory=LoggedMail)
    """The mail transport; logs mail by default."""
    token_seconds: int = 90 * DAY_SECONDS
    clock: Callable[[], float] = field(default=time, repr=False)
    """Seconds since 1970; tests replace it."""

    def provider(self, name: str) -> Provider | None:
        """The provider of that name."""
        return next((provider for provider in self.providers if provider.name == name), None)
