"""Functions that sites share: they count IPv6 networks, keep form input, send form tokens and show amounts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette

from keyplan.errors import RequestError
from keyplan_systems.pages.settings import read_small_file
from keyplan_systems.pages.site import Visitor
from keyplan_systems.shop.site.making import LOOK
from keyplan_systems.site.limits import Limit, RateLimiter
from keyplan_systems.social import Social
from keyplan_systems.social.site.making import make_site
from tests.systems.sites.support import OPTIONS, Visit
from tests.web.support import TestClient


@pytest.fixture(scope="module")
def application() -> Iterator[Starlette]:
    with Social.open(":memory:", secret="s") as social:
        yield make_site(social, OPTIONS).application


def visit_from(application: Starlette, host: str) -> Visit:
    made = Visit(application)
    made.client = TestClient(application, follow_redirects=True, client=(host, 50000))
    made.get("/sign-in")
    return made


def test_addresses_of_one_ipv6_network_are_counted_together(application: Starlette) -> None:
    limiters = application.state.site.limiters
    limiters["sign-in from an address"] = RateLimiter(Limit(attempts=2, seconds=600), lambda: 0.0)
    statuses: list[int] = []
    for number, host in enumerate(("2001:db8::1", "2001:db8::2", "2001:db8::3:4", "2001:db8:0:1::1")):
        visit = visit_from(application, host)
        statuses.append(visit.send("/sign-in", login=f"nobody{number}", password="none of them"))
    assert statuses == [422, 422, 429, 422]


def test_the_input_of_an_expired_form_is_kept(application: Starlette) -> None:
    visit = visit_from(application, "192.0.2.1")
    assert visit.post("/posts", {"csrf": "of another session", "text": "Written for an hour"}) == 403
    assert visit.says("Your input")
    assert visit.says("Written for an hour")


def test_the_api_documentation_page_sends_the_form_token_of_the_session(application: Starlette) -> None:
    visit = visit_from(application, "192.0.2.2")
    visit.get("/sign-up")
    assert visit.send("/sign-up", login="ada", name="Ada", password="long enough") == 200
    site = application.state.site
    signed_in = site.visitors.sessions.of(visit.client.cookies["social_session"].strip('"'))
    assert Visitor(site.signer, signed_in=signed_in).knows(visit.client.cookies["social_form_token"].strip('"'))
    visit.get("/")
    visit.send("/sign-out")
    assert "social_form_token" not in visit.client.cookies


@pytest.mark.parametrize(("currency", "shown"), [("EUR", "€1,234.50"), ("USD", "$1,234.50"), ("CHF", "CHF 1,234.50")])
def test_a_shop_shows_amounts_in_its_currency(currency: str, shown: str, tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_text(f'currency = "{currency}"\n')
    look = read_small_file(path, LOOK).look
    assert look.filters["money"](123_450) == shown


@pytest.mark.parametrize("value", ['"euro"', '"JPY"', "7"])
def test_an_unknown_currency_is_rejected(value: str, tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_text(f"currency = {value}\n")
    with pytest.raises(RequestError):
        read_small_file(path, LOOK)
