"""Credentials from environment variables, or from botocore (profiles, roles, SSO, instance metadata), which is imported
only if needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol

from keyplan.client.transports.urls import Location
from keyplan.errors import StoreError

_INSTALL = "pip install 'keyplan[aws]' (botocore)"


class Credentials(NamedTuple):
    """An access key, with its secrets, which the repr omits."""

    access_key: str
    secret_key: str
    token: str | None = None

    def __repr__(self) -> str:
        return f"Credentials({self.access_key!r})"


LOCAL_CREDENTIALS = Credentials("keyplan", "keyplan")
"""Credentials for a plain HTTP endpoint if none are configured, because local stores accept any credentials."""
MOCK_ACCESS_KEY = "FOOBARKEY"
"""The access key that moto's ``mock_aws`` sets while it is active. moto intercepts botocore's requests, not ours: a
design opened on AWS would send its requests to AWS.
"""


class Source(Protocol):
    """A source of credentials."""

    @property
    def due(self) -> bool:
        """Whether ``current`` may send a request and therefore block."""
        ...

    def current(self) -> Credentials:
        """Return valid credentials. Raises StoreError."""
        ...

    def renew(self) -> bool:
        """Replace credentials that the store rejected as expired. Returns False if no new credentials are available."""
        ...


class Fixed:
    """Credentials that never change."""

    due = False

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials

    def current(self) -> Credentials:
        return self._credentials

    def renew(self) -> bool:
        return False


class FromEnvironment:
    """Credentials in environment variables, read again after they expire."""

    due = False

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        credentials = from_environment(environment)
        if credentials is None:
            raise StoreError("the environment has no AWS_ACCESS_KEY_ID")
        self._credentials = credentials

    def current(self) -> Credentials:
        return self._credentials

    def renew(self) -> bool:
        credentials = from_environment(self._environment)
        if credentials is None or credentials == self._credentials:
            return False
        self._credentials = credentials
        return True


class FromBotocore:
    """Credentials that botocore provides and refreshes. ``load`` loads the credentials again."""

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load
        self._credentials = load()
        self._frozen: Any = None
        self._current: Credentials | None = None

    @property
    def due(self) -> bool:
        """Whether the credentials expire soon, or haven't been read yet."""
        refresh_needed = getattr(self._credentials, "refresh_needed", None)
        return self._current is None or (refresh_needed is not None and bool(refresh_needed()))

    def current(self) -> Credentials:
        """The credentials, refreshed if necessary. Raises StoreError."""
        try:
            frozen = self._credentials.get_frozen_credentials()
        except Exception as error:
            raise StoreError(
                f"the credentials can't be refreshed: {error}", hint="sign in again (aws sso login), or check the role"
            ) from error
        if frozen is not self._frozen or self._current is None:
            self._frozen = frozen
            self._current = Credentials(frozen.access_key, frozen.secret_key, frozen.token)
        return self._current

    def renew(self) -> bool:
        """Find the credentials again. Returns False if the credentials are unchanged."""
        before = self._current
        self._credentials = self._load()
        return self.current() != before


def from_environment(environment: Mapping[str, str]) -> Credentials | None:
    """The credentials in AWS_ACCESS_KEY_ID and related variables. Raises StoreError if the secret is missing."""
    access_key = environment.get("AWS_ACCESS_KEY_ID")
    if not access_key:
        return None
    secret_key = environment.get("AWS_SECRET_ACCESS_KEY")
    if not secret_key:
        raise StoreError("AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY isn't", hint="set both, or neither")
    return Credentials(access_key, secret_key, environment.get("AWS_SESSION_TOKEN") or None)


def find_credentials(location: Location, environment: Mapping[str, str] = os.environ) -> Source:
    """The credentials for a location: from the URL's profile, otherwise from the environment, otherwise from botocore.
    Credentials aren't required for a plain HTTP endpoint. Raises StoreError.
    """
    if location.on_aws and environment.get("AWS_ACCESS_KEY_ID") == MOCK_ACCESS_KEY:
        raise StoreError(
            f"{location.url}: moto's mock_aws is active, and it can't intercept Keyplan's requests to AWS",
            hint="open the design on ':memory:' in tests, or on moto's server (dynamodb+http://127.0.0.1:PORT/TABLE)",
        )
    if location.profile is None:
        if from_environment(environment) is not None:
            return FromEnvironment(environment)
        if not location.tls and not location.on_aws:
            return Fixed(LOCAL_CREDENTIALS)
    return FromBotocore(partial(_load, location))


def _load(location: Location) -> Any:
    try:
        credentials = _session(location).get_credentials()
    except StoreError:
        raise
    except Exception as error:
        raise StoreError(f"{location.url}: no credentials: {error}", hint="check the profile or role") from error
    if credentials is None:
        raise StoreError(
            f"{location.url}: no credentials were found",
            hint="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile (?profile=NAME), or use a role",
        )
    return credentials


def find_region(location: Location) -> str:
    """The region of the profile, for a URL without a region. Raises StoreError."""
    region = _session(location).get_config_variable("region")
    if not region:
        raise StoreError(
            f"{location.url}: no region is configured",
            hint="set the region in the URL (dynamodb://eu-west-1/TABLE) or in AWS_REGION",
        )
    return str(region)


def _session(location: Location) -> Any:
    try:
        import botocore.session  # type: ignore[import-untyped]  # noqa: PLC0415 - slow to import, rarely needed
    except ImportError:
        raise StoreError(
            f"{location.url}: the environment has no AWS_ACCESS_KEY_ID, and profiles, roles and SSO require botocore",
            hint=f"set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or {_INSTALL}",
        ) from None
    return botocore.session.Session(profile=location.profile)
