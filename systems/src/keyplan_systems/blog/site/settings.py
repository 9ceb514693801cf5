"""What a site is told when it is made: its title, its address, its secret, who may sign in from elsewhere.

How the secret is made and kept is in ``signing.py``; the providers' own kinds are in ``providers.py``.
"""

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

    ``secret`` signs cookies and forms; ``hosts`` are the names that requests may use (None takes any); ``origin`` is
    the public address without a slash at its end (None: as each request names it); ``secure`` says that the site is
    reached by https, so that its cookies go over nothing else.
    """

    secret: bytes
    title: str = "Marginalia"
    tagline: str = "Notes on things made carefully, by the people who make them."
    search: ClassVar[str] = "/search"
    """Where the search box leads."""
    own: SiteFile = field(default_factory=SiteFile)
    """What the site's settings file says besides: navigation, logo, colours."""
    hosts: tuple[str, ...] | None = None
    origin: str | None = None
    secure: bool = False
    providers: tuple[Provider, ...] = ()
    files: str | None = None
    """Where pictures are kept: a folder, or ``s3://bucket/prefix``; None: where ``blog.files`` says."""
    shared_limits: bool = False
    """Count what is seldom done (signing in and up, messages) in the store, for all processes together."""
    mail: Mail = field(default_factory=LoggedMail)
    """How mail is sent; into the log, unless a server is set."""
    token_seconds: int = 90 * DAY_SECONDS
    clock: Callable[[], float] = field(default=time, repr=False)
    """Seconds since 1970; tests move it."""

    def provider(self, name: str) -> Provider | None:
        """The provider of that name."""
        return next((provider for provider in self.providers if provider.name == name), None)
