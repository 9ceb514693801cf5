"""OpenID Connect: sign in with an account at an identity provider (Google, Entra ID, Keycloak, Auth0...).

The authorization code flow with PKCE. The provider's endpoints and keys come from its discovery document. PyJWT (the
extra ``oidc``) verifies ID tokens. Sources: OpenID Connect Core 1.0, OpenID Connect Discovery 1.0, RFC 7636.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from keyplan.errors import RequestError
from keyplan_systems.blog.site.providers import Identity, ProviderError
from keyplan_systems.blog.site.settings import ProviderSettings

if TYPE_CHECKING:
    from jwt import PyJWKClient


ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]
"""Asymmetric ones only: with a shared secret, any holder of the client's secret could sign tokens."""
ANSWER_BYTES_MAX = 256 * 1024
ANSWER_SECONDS_MAX = 10
DISCOVERY_SECONDS = 3600
LEEWAY_SECONDS = 60


class _NoRedirects(HTTPRedirectHandler):
    """Doesn't follow redirects: a token request must not be repeated elsewhere."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> None:  # noqa: ARG002
        return None


_OPENER = build_opener(_NoRedirects)


class OpenIdProvider:
    """An identity provider with OpenID Connect. ``secret`` is the site's, from which PKCE verifiers are derived.

    Raises RequestError if the extra ``oidc`` isn't installed.
    """

    def __init__(self, settings: ProviderSettings, secret: bytes) -> None:
        try:
            import jwt  # noqa: PLC0415 - an optional dependency
        except ImportError:
            hint = "pip install 'keyplan-systems[oidc]'"
            raise RequestError("PyJWT isn't installed", place="providers", hint=hint) from None
        self._jwt = jwt
        self.name = settings.name
        self.title = settings.title
        self.issuer = settings.issuer.rstrip("/")
        self._client_id = settings.client_id
        self._client_secret = settings.client_secret
        self._secret = secret
        self._lock = Lock()
        self._discovered: tuple[float, dict[str, Any], PyJWKClient] | None = None

    def authorize_url(self, state: str, callback: str) -> str:
        challenge = hashlib.sha256(self._derived("verifier", state).encode()).digest()
        query = {
            "response_type": "code",
            "scope": "openid email profile",
            "client_id": self._client_id,
            "redirect_uri": callback,
            "state": state,
            "nonce": self._derived("nonce", state),
            "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        endpoint = str(self._discovery()[0]["authorization_endpoint"])
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

    def identity(self, answer: Mapping[str, str], callback: str) -> Identity | None:
        """The identity in the ID token for the callback's code; None if the user declined or the token is invalid.

        Raises ProviderError if the provider doesn't respond.
        """
        code, state = answer.get("code", ""), answer.get("state", "")
        if not code or answer.get("iss", self.issuer).rstrip("/") != self.issuer:
            return None
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": callback,
            "code_verifier": self._derived("verifier", state),
        }
        discovery, keys = self._discovery()
        tokens = self._fetched(str(discovery["token_endpoint"]), form)
        token = None if tokens is None else tokens.get("id_token")
        if not isinstance(token, str):
            return None
        try:
            claims = self._jwt.decode(
                token,
                keys.get_signing_key_from_jwt(token).key,
                algorithms=ALGORITHMS,
                audience=self._client_id,
                issuer=str(discovery["issuer"]),
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iat", "sub"]},
            )
        except self._jwt.exceptions.PyJWKClientConnectionError as error:
            raise ProviderError(str(error)) from None
        except self._jwt.exceptions.PyJWTError:
            return None
        subject, nonce = claims["sub"], str(claims.get("nonce", ""))
        if not hmac.compare_digest(nonce, self._derived("nonce", state)) or not (0 < len(subject) <= 255):
            return None
        email = claims.get("email") if claims.get("email_verified") is True else None
        return Identity(subject, email if isinstance(email, str) else None, str(claims.get("name", ""))[:80])

    def _derived(self, purpose: str, state: str) -> str:
        """A secret value for one sign-in, derived instead of stored: ``state`` is random and used once."""
        digest = hmac.digest(self._secret, f"openid {purpose} {self.name} {state}".encode("utf-8", "replace"), "sha256")
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    def _discovery(self) -> tuple[dict[str, Any], PyJWKClient]:
        """The discovery document and the provider's keys, cached for an hour. Raises ProviderError."""
        with self._lock:
            if self._discovered is None or monotonic() - self._discovered[0] > DISCOVERY_SECONDS:
                found = self._fetched(f"{self.issuer}/.well-known/openid-configuration")
                endpoints = ("authorization_endpoint", "token_endpoint", "jwks_uri")
                if found is None or str(found.get("issuer", "")).rstrip("/") != self.issuer:
                    raise ProviderError(f"{self.issuer} has no valid discovery document")
                if not all(_is_safe(str(found.get(name, "")), self.issuer) for name in endpoints):
                    raise ProviderError(f"{self.issuer} lists an endpoint without TLS in its discovery document")
                keys = self._jwt.PyJWKClient(str(found["jwks_uri"]), timeout=ANSWER_SECONDS_MAX)
                self._discovered = monotonic(), found, keys
            return self._discovered[1], self._discovered[2]

    def _fetched(self, url: str, form: Mapping[str, str] | None = None) -> dict[str, Any] | None:
        """The JSON object of a response; None if the provider rejects the request. Raises ProviderError."""
        headers = {"accept": "application/json"}
        if form is not None:
            credentials = f"{quote(self._client_id, safe='')}:{quote(self._client_secret, safe='')}"
            headers["authorization"] = f"Basic {base64.b64encode(credentials.encode()).decode()}"
        data = None if form is None else urlencode(form).encode()
        try:
            with _OPENER.open(Request(url, data, headers), timeout=ANSWER_SECONDS_MAX) as response:  # noqa: S310
                body = response.read(ANSWER_BYTES_MAX + 1)
        except HTTPError as error:
            error.close()
            if error.code in {400, 401, 403}:
                return None
            raise ProviderError(f"{url}: {error}") from None
        except (OSError, ValueError) as error:
            raise ProviderError(f"{url}: {error}") from None
        try:
            result = json.loads(body) if len(body) <= ANSWER_BYTES_MAX else None
        except ValueError:
            result = None
        if not isinstance(result, dict):
            raise ProviderError(f"{url} returned a response that isn't a JSON object")
        return result


def _is_safe(url: str, issuer: str) -> bool:
    """Whether an endpoint uses TLS, or is on the issuer's host, which can lack TLS only on this machine."""
    return url.startswith("https://") or (bool(url) and urlsplit(url)[:2] == urlsplit(issuer)[:2])
