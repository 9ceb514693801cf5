"""Settings of the blog's site: those of its file, and those of its server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import time
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from keyplan_systems.blog.site.providers import Provider
from keyplan_systems.site.mail import LoggedMail, Mail
from keyplan_systems.site.settings import Line, SiteFile

DAY_SECONDS = 24 * 3600


class ProviderSettings(BaseModel):
    """An OpenID Connect provider. ``name`` is part of URLs, ``title`` the label of the button."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern="^[a-z][a-z0-9]{0,30}$")]
    title: Line
    issuer: Annotated[str, Field(pattern=r"^(https://[^\s?#]+|http://127\.0\.0\.1:\d+[^\s?#]*)$")]
    client_id: Line
    client_secret: Annotated[Line, Field(repr=False)]


def _unique(providers: tuple[ProviderSettings, ...]) -> tuple[ProviderSettings, ...]:
    if len({provider.name for provider in providers}) < len(providers):
        raise ValueError("each provider must have a unique name")
    return providers


class BlogFile(SiteFile):
    """The settings file. ``authors`` is how readers become authors: ``open`` (immediately), ``reviewed`` (a moderator
    approves the request), or ``invited`` (only moderators make authors).
    """

    title: Line = "Marginalia"
    tagline: Line = "Notes on things made carefully, by the people who make them."
    providers: Annotated[tuple[ProviderSettings, ...], AfterValidator(_unique)] = ()
    authors: Literal["open", "reviewed", "invited"] = "reviewed"


@dataclass(frozen=True)
class Settings:
    """The settings of a running site.

    ``secret`` signs cookies and forms; ``hosts`` are the accepted host names (None: any); ``origin`` is the public URL
    without a slash at the end (None: from each request).
    """

    navigation: ClassVar[tuple[tuple[str, str], ...]] = (
        ("Latest", "/latest"),
        ("Popular", "/popular"),
        ("Tags", "/tags"),
    )
    search: ClassVar[str] = "/search"
    """The URL of the search box."""

    secret: bytes
    file: BlogFile = field(default_factory=BlogFile)
    hosts: tuple[str, ...] | None = None
    origin: str | None = None
    providers: tuple[Provider, ...] = ()
    mail: Mail = field(default_factory=LoggedMail)
    token_seconds: int = 90 * DAY_SECONDS
    clock: Callable[[], float] = field(default=time, repr=False)
    """Seconds since 1970; tests replace it."""

    @property
    def title(self) -> str:
        return self.file.title

    @property
    def tagline(self) -> str:
        return self.file.tagline

    @property
    def secure(self) -> bool:
        """Whether the site uses HTTPS, and restricts cookies to it."""
        return self.origin is not None and self.origin.startswith("https:")

    def provider(self, name: str) -> Provider | None:
        return next((provider for provider in self.providers if provider.name == name), None)
