"""Sign in with an external account: the interface of identity providers, and a demo provider without a network.

A provider sends the browser to its own page (``authorize_url``) and turns what comes back into an identity. The state
that goes along is random, signed and kept in a cookie of this browser; the site checks it before it asks the provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlencode

__all__ = ["Identity", "OfflineProvider", "Provider", "ProviderError"]


class ProviderError(Exception):
    """The provider doesn't respond, or its response is invalid."""


@dataclass(frozen=True)
class Identity:
    """Who somebody is at a provider. ``email`` only where the provider has verified it."""

    external_id: str
    email: str | None
    name: str


class Provider(Protocol):
    """An OAuth provider. ``name`` stands in addresses, ``title`` on buttons."""

    @property
    def name(self) -> str:
        """The name in addresses and in the store: ``github``."""
        ...

    @property
    def title(self) -> str:
        """The name on a button: ``GitHub``."""
        ...

    def authorize_url(self, state: str, callback: str) -> str:
        """Where the browser goes. The provider sends it back to ``callback`` with ``state`` and its own answer. Raises
        ProviderError.
        """
        ...

    def identity(self, answer: Mapping[str, str], callback: str) -> Identity | None:
        """Who came back, from the query of the callback; None where the provider didn't say yes.

        It is called in a worker thread, and may take its time.
        """
        ...


@dataclass(frozen=True)
class OfflineProvider:
    """A provider for development and tests: it believes whoever it is told. Never offer it on a public site.

    Its page is the site's own ``/sign-in/with/offline/choose``, which asks for a name and an address.
    """

    name: str = "offline"
    title: str = "a demo identity"

    def authorize_url(self, state: str, callback: str) -> str:
        """The site's own page."""
        return f"/sign-in/with/{self.name}/choose?{urlencode({'state': state, 'callback': callback})}"

    def identity(self, answer: Mapping[str, str], callback: str) -> Identity | None:  # noqa: ARG002
        """As the page was told."""
        external_id = answer.get("code", "").strip()
        if not external_id or len(external_id) > 100:
            return None
        email = answer.get("email", "").strip() or None
        return Identity(external_id, email, answer.get("name", "").strip()[:80] or external_id)
