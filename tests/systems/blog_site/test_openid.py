"""Users sign in by OpenID Connect, with an identity provider on the local machine."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from httpx import Response

from keyplan.errors import RequestError
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.site.application import site_application
from keyplan_systems.blog.site.openid import OpenIdProvider
from keyplan_systems.blog.site.settings import BlogFile, ProviderSettings
from keyplan_systems.blog.site.site import Site
from keyplan_systems.site.settings import read_settings
from tests.systems.blog_site.conftest import SECRET
from tests.systems.blog_site.support import Visit, text_of
from tests.systems.blog_site.test_accounts import follow
from tests.systems.mailbox import Box

CLIENT, CLIENT_SECRET = "blog", "p:ss word"


class IdentityProvider:
    """An OpenID Connect provider with discovery, keys and tokens. All users give consent."""

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.claims: dict[str, Any] = {"sub": "42", "name": "Bea", "email": "bea@example.com", "email_verified": True}
        self.signed_with: tuple[Any, str] = (self.key, "RS256")
        self.works = True
        self.codes: dict[str, dict[str, str]] = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_arguments: object) -> None:
                """Suppress the log of the server."""

            def do_GET(self) -> None:
                self.answer(provider.get(self.path))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                self.answer(provider.token(self.headers["authorization"], body))

            def answer(self, answer: tuple[int, dict[str, Any]]) -> None:
                body = json.dumps(answer[1]).encode()
                self.send_response(answer[0] if provider.works else 503)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def get(self, path: str) -> tuple[int, dict[str, Any]]:
        """Return the discovery document or the keys."""
        if path == "/keys":
            key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
            return 200, {"keys": [{**key, "kid": "k1", "use": "sig", "alg": "RS256"}]}
        return 200, {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
        }

    def authorize(self, url: str) -> str:
        """Give consent at the authorization URL as a browser does, and return the callback URL with its code."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert (query["client_id"], query["response_type"], query["code_challenge_method"]) == (CLIENT, "code", "S256")
        assert {"openid", "email"} <= set(query["scope"].split())
        self.codes["c0de"] = query
        return f"{query['redirect_uri']}?code=c0de&state={query['state']}"

    def token(self, authorization: str, body: str) -> tuple[int, dict[str, Any]]:
        """Return the ID token for a code, its PKCE verifier and the client's secret."""
        form = {name: values[0] for name, values in parse_qs(body).items()}
        query = self.codes.pop(form["code"], None)
        credentials = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
        if query is None or credentials != "blog:p%3Ass%20word" or query["code_challenge"] != challenge.decode():
            return 400, {"error": "invalid_grant"}
        moment = int(time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": moment, "exp": moment + 60, "nonce": query["nonce"]}
        key, algorithm = self.signed_with
        return 200, {"id_token": jwt.encode({**claims, **self.claims}, key, algorithm, headers={"kid": "k1"})}


@pytest.fixture
def idp() -> Iterator[IdentityProvider]:
    made = IdentityProvider()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def visit_idp(site: Site, idp: IdentityProvider) -> Callable[[], Visit]:
    """Return a function that creates a visitor of a site with the identity provider."""
    settings = {"name": "idp", "title": "Idp", "issuer": idp.issuer, "client_id": CLIENT}
    provider = OpenIdProvider(ProviderSettings.model_validate({**settings, "client_secret": CLIENT_SECRET}), SECRET)
    site.settings = replace(site.settings, providers=(provider,))
    served = site_application(site)
    return lambda: Visit(served)


def come_back(visit: Visit, idp: IdentityProvider) -> Response:
    answer = visit.get("/sign-in/with/idp")
    back = urlsplit(idp.authorize(answer.headers["location"]))
    return visit.get(f"{back.path}?{back.query}")


def test_a_user_of_an_identity_provider_joins_and_signs_in_again(
    blog: Blog, idp: IdentityProvider, visit_idp: Callable[[], Visit], box: Box
) -> None:
    visitor = visit_idp()
    page = come_back(visitor, idp)
    assert "bea@example.com" in page.text
    identity = page.text.split('name="identity" value="')[1].split('"')[0]
    token = page.text.split('name="csrf" value="')[-1].split('"')[0]
    fields = {"csrf": token, "identity": identity, "name": "Bea", "username": "bea", "email": "bea@example.com"}
    assert visitor.client.post("/sign-up", data=fields).status_code == 200
    assert follow(visitor, box, password="").status_code == 303
    user = blog.user_by_provider("idp", "42")
    assert user is not None
    again = visit_idp()
    assert come_back(again, idp).headers["location"] == "/"
    assert "Bea" in again.get("/").text


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "of another sign-in"},
        {"aud": "another client"},
        {"iss": "https://other.example"},
        {"exp": 1_700_000_000},
        {"sub": ""},
    ],
    ids=lambda claims: next(iter(claims)),
)
def test_an_id_token_issued_for_another_sign_in_is_rejected(
    idp: IdentityProvider, visit_idp: Callable[[], Visit], claims: dict[str, Any]
) -> None:
    idp.claims |= claims
    assert come_back(visit_idp(), idp).status_code == 400


@pytest.mark.parametrize("algorithm", ["HS256", "none", "another key"])
def test_an_id_token_with_a_forged_signature_is_rejected(
    idp: IdentityProvider, visit_idp: Callable[[], Visit], algorithm: str
) -> None:
    idp.signed_with = {
        "HS256": (CLIENT_SECRET.ljust(32, "x"), "HS256"),
        "none": (None, "none"),
        "another key": (rsa.generate_private_key(public_exponent=65537, key_size=2048), "RS256"),
    }[algorithm]
    assert come_back(visit_idp(), idp).status_code == 400


def test_an_unverified_email_address_is_not_used_to_join(idp: IdentityProvider, visit_idp: Callable[[], Visit]) -> None:
    idp.claims["email_verified"] = False
    page = come_back(visit_idp(), idp)
    assert "One more step" in page.text
    assert "bea@example.com" not in page.text


def test_a_sign_in_callback_in_another_browser_fails(idp: IdentityProvider, visit_idp: Callable[[], Visit]) -> None:
    mine, theirs = visit_idp(), visit_idp()
    back = urlsplit(idp.authorize(theirs.get("/sign-in/with/idp").headers["location"]))
    mine.get("/sign-in/with/idp")
    assert mine.get(f"{back.path}?{back.query}").status_code == 400


def test_a_failing_identity_provider_shows_an_error_page(idp: IdentityProvider, visit_idp: Callable[[], Visit]) -> None:
    visitor = visit_idp()
    idp.works = False
    answer = visitor.get("/sign-in/with/idp")
    assert answer.status_code == 503
    assert "Try again later" in text_of(answer)
    idp.works = True
    answer = visitor.get("/sign-in/with/idp")
    back = urlsplit(idp.authorize(answer.headers["location"]))
    idp.works = False
    assert visitor.get(f"{back.path}?{back.query}").status_code == 503


def test_settings_of_identity_providers_are_validated(tmp_path: Any) -> None:
    path = tmp_path / "site.toml"
    path.write_text(
        """
[[providers]]
name = "idp"
title = "Idp"
issuer = "https://idp.example"
client_id = "blog"
client_secret = "s"
"""
    )
    assert [each.issuer for each in read_settings(BlogFile, path).providers] == ["https://idp.example"]
    path.write_text(path.read_text().replace("https://", "http://") + '\n[[providers]]\nname = "Idp 2"\n')
    with pytest.raises(RequestError) as caught:
        read_settings(BlogFile, path)
    assert [fault.place for fault in caught.value.errors] == [
        "providers.0.issuer",
        *(f"providers.1.{name}" for name in ("name", "title", "issuer", "client_id", "client_secret")),
    ]
