"""Every system's site and API: cross-site requests, extreme timestamps, and the public API description."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest
from starlette.routing import Route

from keyplan import Design
from keyplan.systems import system
from keyplan.web import app
from keyplan.web.application import Beside
from tests.repository.files import ROOT
from tests.systems.sites.support import OPTIONS
from tests.web.support import TestClient

NAMES = ("blog", "cms", "papers", "shop", "social")
FOREIGN = ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"})
EDGES = ("9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00")
"""Moments of which one has no name in UTC."""
NO_MOMENTS = ("10000-01-01T00:00:00Z", "2030-02-30T00:00:00Z", "soon", "")


class Served(NamedTuple):
    """A system's site with its API, the API without an access policy, the site's routes, and the path of the store."""

    public: TestClient
    own: TestClient
    routes: list[Any]
    place: str


@pytest.fixture(scope="module", params=NAMES)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    brought = system(request.param)
    assert brought.site is not None
    place = str(tmp_path_factory.mktemp("private") / f"{request.param}-table.db")
    with ExitStack() as stack:
        design: Design = stack.enter_context(brought.design.open(place, secret="s"))
        site = brought.site(design, OPTIONS)
        beside = Beside(app(design, policy=site.policy), site.application)
        public = TestClient(beside, raise_server_exceptions=False)
        yield Served(public, TestClient(app(design), raise_server_exceptions=False), site.application.routes, place)


def described(client: TestClient) -> dict[str, dict[str, Any]]:
    """Return the paths in the API description."""
    paths: dict[str, dict[str, Any]] = client.get("/openapi.json").json()["paths"]
    return paths


def test_cross_site_form_and_api_requests_are_rejected(served: Served) -> None:
    forms = [route.path for route in served.routes if isinstance(route, Route) and "POST" in (route.methods or ())]
    writes = [path for path, ways in described(served.own).items() if "post" in ways]
    assert writes
    for headers in FOREIGN:
        for path in forms:
            assert served.public.post(path, data={"csrf": "x"}, headers=headers).status_code == 403, path
        for path in writes:
            assert served.public.post(path, json={}, headers=headers).status_code == 403, path
            assert served.own.post(path, json={}, headers=headers).status_code == 403, path
    for path in writes:
        assert served.own.post(path).status_code == 415, path


def _any(schema: dict[str, Any]) -> str:
    return "2026-01-01" if schema.get("format") == "date" else str(schema.get("enum", ["1"])[0])


def test_extreme_timestamps_return_a_client_error(served: Served) -> None:
    for path, ways in described(served.own).items():
        for parameter in ways.get("get", {}).get("parameters", ()):
            if "date-time" not in str(parameter["schema"]):
                continue
            others = {
                each["name"]: _any(each["schema"])
                for each in ways["get"]["parameters"]
                if each.get("required") and each is not parameter
            }
            asked = served.own.get(path, params={**others, parameter["name"]: "2026-01-01T00:00:00Z"})
            assert asked.status_code in {200, 404}, (path, asked.text)
            for moment in (*EDGES, *NO_MOMENTS):
                status = served.own.get(path, params={**others, parameter["name"]: moment}).status_code
                assert 400 <= status < 500, (path, parameter["name"], moment, status)


def test_public_api_pages_disclose_no_file_names(served: Served) -> None:
    for path in ("/docs", "/openapi.json"):
        answer = served.public.get(path)
        assert answer.status_code == 200
        assert not [text for text in (served.place, "-table.db", str(ROOT), '.py"') if text in answer.text]


def test_api_examples_of_the_readmes_need_no_authentication(served: Served) -> None:
    name = served.place.rpartition("/")[2].removesuffix("-table.db")
    readme = (ROOT / "systems" / "src" / "keyplan_systems" / name / "README.md").read_text(encoding="utf-8")
    for line in re.findall(r"^curl .*127\.0\.0\.1:8000/api/.*", readme, re.MULTILINE):
        if "$TOKEN" not in line:
            assert "POST" not in line, line
            address = line.partition("127.0.0.1:8000")[2].partition("'")[0]
            assert served.public.get(address).status_code == 200, line
