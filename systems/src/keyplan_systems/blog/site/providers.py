"""Sign in with an external account: the interface of identity providers, and a demo provider without a network.

A provider redirects the browser to its own page (``authorize_url``), and converts the callback's query to an identity.
The site stores the random state in a signed cookie of this browser, and checks it before it calls ``identity``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlencode


class ProviderError(Exception):
    """The provider doesn't respond, or its response is invalid."""


@dataclass(frozen=True)
class Identity:
    """A user's identity at a provider. ``email`` only if the provider has verified it."""

    external_id: str
    email: str | None
    name: str


class Provider(Protocol):
    """An OAuth provider. ``name`` is part of URLs, ``title`` the label of buttons."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...

    def authorize_url(self, state: str, callback: str) -> str:
        """The URL of the provider's page. It redirects to ``callback`` with ``state`` and its response. Raises
        ProviderError.
        """
        ...

    def identity(self, answer: Mapping[str, str], callback: str) -> Identity | None:
        """The identity from the query of the callback; None if the user declined. Called in a worker thread."""
        ...


@dataclass(frozen=True)
class OfflineProvider:
    """A demo provider for development and tests, which accepts any identity. Public sites don't offer it.

    Its page is the site's own ``/sign-in/with/offline/choose``.
    """

    name: str = "offline"
    title: str = "a demo identity"

    def authorize_url(self, state: str, callback: str) -> str:
        return f"/sign-in/with/{self.name}/choose?{urlencode({'state': state, 'callback': callback})}"

    def identity(self, answer: Mapping[str, str], callback: str) -> Identity | None:  # noqa: ARG002
        external_id = answer.get("code", "").strip()
        if not external_id or len(external_id) > 100:
            return None
        email = answer.get("email", "").strip() or None
        return Identity(external_id, email, answer.get("name", "").strip()[:80] or external_id)
