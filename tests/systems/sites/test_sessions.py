"""Sessions of every site that has accounts. Signing out, changing the password and signing in again end sessions on the
server, for cookies and for bearer tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple

import pytest

from keyplan import now
from keyplan.systems import system
from keyplan.web import app
from keyplan.web.application import Beside
from keyplan_systems.blog import accounts
from keyplan_systems.site.passwords import hash_password
from tests.systems.sites.support import OPTIONS, Visit
from tests.web.support import TestClient

PASSWORD = "seven quiet lamps"
PRIVATE = {
    "blog": ("/account", "post_seen?post_id=p1", 404),
    "cms": ("/password", "members", 200),
    "shop": ("/cart", "carts", 200),
    "social": ("/password", "blocks", 200),
}
"""A page and a read of the API for people who are signed in, with the read's status: the blog's finds no item."""


class Served(NamedTuple):
    """A system with one account, its site and its API."""

    name: str
    design: Any
    beside: Beside
    visitors: Any
    login: str

    def visit(self) -> Visit:
        """Return a browser in which the user is signed in."""
        made = Visit(self.beside)
        made.sign_in(self.login, PASSWORD)
        return made

    def token(self, visit: Visit) -> str:
        """Return the token in a browser's cookie."""
        return str(visit.client.cookies[f"{self.name}_session"]).strip('"')

    def page(self, token: str) -> int:
        """Return the status of a private page requested with a saved cookie."""
        client = TestClient(self.beside, cookies={f"{self.name}_session": token}, follow_redirects=False)
        return int(client.get(PRIVATE[self.name][0]).status_code)

    def api(self, token: str) -> int:
        """Return the status of a private API read with a saved bearer token."""
        client = TestClient(self.beside)
        path = f"/api/{PRIVATE[self.name][1]}"
        return int(client.get(path, headers={"authorization": f"Bearer {token}"}).status_code)


@pytest.fixture(params=PRIVATE)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    name: str = request.param
    made = system(name)
    assert made.site is not None
    design: Any
    with made.design.open(":memory:", secret="s") as design:
        site = made.site(design, OPTIONS)
        login = "ada" if name == "social" else "ada@example.com"
        if name == "blog":
            accounts.register(design, email=login, username="ada", name="Ada", password=PASSWORD)
        else:
            site.application.state.site.people.join(login, "Ada", hash_password(PASSWORD))
        beside = Beside(app(design, hosts=("testserver",), policy=site.policy), site.application)
        yield Served(name, design, beside, site.application.state.site.visitors, login)


def test_signing_out_ends_the_session_for_cookies_and_bearer_tokens(served: Served) -> None:
    visit = served.visit()
    token = served.token(visit)
    assert (served.page(token), served.api(token)) == (200, PRIVATE[served.name][2])
    other = served.token(served.visit())
    visit.get("/")
    visit.send("/sign-out")
    assert (served.page(token), served.api(token)) == (303, 403)
    assert (served.page(other), served.api(other)) == (200, PRIVATE[served.name][2])


def test_signing_in_again_ends_the_previous_session(served: Served) -> None:
    visit = served.visit()
    before, csrf = served.token(visit), visit.csrf()
    visit.post("/sign-in", {"csrf": csrf, "login": served.login, "password": PASSWORD})
    assert served.token(visit) != before
    assert (served.page(before), served.page(served.token(visit))) == (303, 200)


def test_changing_the_password_ends_all_other_sessions(served: Served) -> None:
    visit, other = served.visit(), served.token(served.visit())
    page = "/account" if served.name == "blog" else "/password"
    visit.get(page)
    visit.send("/account/password" if served.name == "blog" else page, old=PASSWORD, new="another good one")
    assert (served.page(other), served.api(other)) == (303, 403)
    assert served.page(served.token(visit)) == 200


def test_a_session_expires_after_its_lifetime(served: Served) -> None:
    token = served.token(served.visit())
    (session,) = served.design.sessions(served.visitors.sessions.of(token).person.user_id)
    served.design.put(session.model_copy(update={"expires_at": now() - timedelta(seconds=1)}))
    assert (served.page(token), served.api(token)) == (303, 403)


def test_only_tokens_signed_by_the_site_are_accepted(served: Served) -> None:
    token = served.token(served.visit())
    text, _, signature = token.rpartition(".")
    user_id, _, session_id = text.rpartition(".")
    signer = served.visitors.signer
    forged = (
        *("", ".", "a.b", "a.b.c", "é.x.y", "x" * 5000, text, f"{text}.{'A' * 43}", token[:-2]),
        f"{user_id}.{session_id[:-1]}.{signature}",
        signer.sign("session", f"{user_id}.none"),
        signer.sign("session", f"nobody.{session_id}"),
        signer.sign("join", text),
    )
    assert [each for each in forged if served.visitors.sessions.of(each) is not None] == []
    assert served.page(token) == 200


def test_a_private_page_is_never_compressed(served: Served) -> None:
    visit = served.visit()
    for path, packed in ((PRIVATE[served.name][0], False), ("/static/site.css", True)):
        answer = visit.client.get(path, headers={"accept-encoding": "gzip"})
        assert answer.status_code == 200
        assert (answer.headers.get("content-encoding") == "gzip") is packed, path
    assert Visit(served.beside).client.get("/static/site.css").headers["content-encoding"] == "gzip"


def test_the_store_contains_no_secret_of_a_session(served: Served) -> None:
    token = served.token(served.visit())
    stored = [str(session.model_dump()) for session in served.design.sessions(token.split(".")[0])]
    assert stored
    assert not [text for text in stored if token.rpartition(".")[2] in text]
