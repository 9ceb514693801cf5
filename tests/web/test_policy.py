"""An API with a policy (available patterns, callers and filtered results), and an API that runs next to a site."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from keyplan.errors import AccessDenied, StoreError
from keyplan.web import app
from keyplan.web.application import Beside
from keyplan.web.openapi import openapi
from tests.web.library import Library
from tests.web.support import TestClient

FILLED = [{"place": "reader_id", "message": "is set by the server", "hint": "omit the parameter"}]
KEY = {"authorization": "key of r#1"}


class Readers:
    """A policy: books are public, loans belong to a reader, and one book and one event are hidden."""

    patterns = frozenset({"book", "loans", "register", "lend", "all_events"})
    closed = frozenset({"loans", "lend"})
    security: Mapping[str, Mapping[str, Any]] = {"key": {"type": "apiKey", "in": "header", "name": "authorization"}}

    def filled(self, pattern: str) -> Collection[str]:
        return ("reader_id",) if pattern in {"loans", "lend"} else ()

    def caller(self, request: Request) -> str | None:
        claim = request.headers.get("authorization")
        if claim is None:
            return None
        if not claim.startswith("key of "):
            raise AccessDenied("no such key")
        return claim.removeprefix("key of ")

    def fill(self, pattern: str, caller: Any) -> Mapping[str, Any]:
        return dict.fromkeys(self.filled(pattern), caller)

    def admit(self, pattern: str, arguments: dict[str, Any], caller: Any) -> dict[str, Any]:
        if pattern == "lend" and arguments["isbn"] == "i1":
            raise AccessDenied("it isn't lent")
        return arguments

    def shown(self, pattern: str, arguments: Mapping[str, Any], answer: Any, caller: Any) -> Any:
        hidden = {"book": "i4", "all_events": "e03"}
        return None if hidden.get(pattern) in {getattr(answer, "isbn", ""), getattr(answer, "event_id", "")} else answer


def names_of(library: type[Library]) -> set[str]:
    return set(library.compiled.patterns)


@pytest.fixture
def guarded(filled: Library) -> TestClient:
    policy = Readers()
    policy.patterns = policy.patterns & names_of(Library)
    return TestClient(app(filled, policy=policy), raise_server_exceptions=False)


def test_requests_for_patterns_outside_the_policy_return_404(guarded: TestClient) -> None:
    for name in names_of(Library) - Readers.patterns:
        for base in ("api", "try"):
            for method in ("GET", "POST"):
                answer = guarded.request(method, f"/{base}/{name}")
                assert (answer.status_code, answer.json()["error"]["code"]) == (404, "UnknownPattern")
        assert f'data-pattern="{name}"' not in guarded.get("/docs").text
    document = guarded.get("/openapi.json").json()
    assert set(document["paths"]) == {f"/api/{name}" for name in Readers.patterns & names_of(Library)}
    validate(document)
    assert guarded.get("/examples.json").json() == {}


def test_the_policy_sets_the_parameter_that_identifies_the_caller(guarded: TestClient) -> None:
    assert guarded.get("/api/loans").status_code == 401
    assert guarded.get("/api/loans", headers={"authorization": "x"}).status_code == 403
    loans = guarded.get("/api/loans", headers=KEY).json()["items"]
    assert loans
    assert {loan["reader_id"] for loan in loans} == {"r#1"}
    result = guarded.get("/api/loans?reader_id=other", headers=KEY)
    assert result.status_code == 400
    assert result.json()["error"]["errors"] == FILLED
    body = {"isbn": "i1", "at": "2026-03-02T12:00:00Z", "reader_id": "other"}
    result = guarded.post("/api/lend", headers=KEY, json=body)
    assert (result.status_code, result.json()["error"]["errors"]) == (400, FILLED)
    described = guarded.get("/openapi.json").json()["paths"]["/api/loans"]["get"]
    assert "reader_id" not in [parameter["name"] for parameter in described["parameters"]]
    assert described["security"] == [{"key": []}]
    assert {"401", "403"} <= set(described["responses"])


def test_server_file_paths_are_not_disclosed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = str(tmp_path / "private.db")

    def failing(*_arguments: Any) -> Any:
        raise StoreError("the disk failed", place=place)

    async def failing_async(*_arguments: Any) -> Any:
        failing()

    with Library.open(place) as library:
        public = TestClient(app(library, policy=Readers()), raise_server_exceptions=False)
        own = TestClient(app(library), raise_server_exceptions=False)
        assert "private.db" not in public.get("/docs").text
        assert "private.db" in own.get("/docs").text
        monkeypatch.setattr(library, "call", failing)
        monkeypatch.setattr(library, "call_async", failing_async)
        answer = public.get("/api/book?isbn=i0")
        assert (answer.status_code, "private.db" in answer.text) == (503, False)
        assert "private.db" in own.get("/api/book?isbn=i0").text


def test_the_policy_can_reject_calls_and_withhold_results(guarded: TestClient) -> None:
    assert guarded.get("/api/book?isbn=i0").status_code == 200
    assert guarded.get("/api/book?isbn=i4").status_code == 404
    shown = guarded.get("/try/book?isbn=i4").json()
    assert (shown["status"], "answer" in shown, shown["requests"]) == (404, False, [])
    shown = guarded.get("/try/book?isbn=i0").json()
    assert (shown["status"], len(shown["requests"])) == (200, 1)
    assert guarded.get("/try/book?isbn=none").json()["requests"] == []
    body = {"isbn": "i1", "at": "2026-03-02T12:00:00Z"}
    assert guarded.post("/api/lend", json=body, headers=KEY).status_code == 403


def test_the_policy_filters_each_item_of_a_streamed_response(guarded: TestClient) -> None:
    lines = guarded.get("/api/all_events?day=2026-03-01").text.splitlines()
    assert len(lines) == 11
    assert not [line for line in lines if "e03" in line]


def test_the_api_page_with_a_policy_shows_no_requests_of_writes(guarded: TestClient) -> None:
    shown = guarded.post("/try/lend", json={"isbn": "i2", "at": "2026-03-02T12:00:00Z"}, headers=KEY).json()
    assert shown["status"] in {200, 204}
    assert shown["requests"] == []
    assert guarded.get("/try/loans", headers=KEY).json()["requests"]


def test_responses_of_an_api_with_a_policy_are_not_cached(guarded: TestClient, filled: Library) -> None:
    open_to_all = TestClient(app(filled))
    for path in ("/api/book?isbn=i0", "/api/book?isbn=none", "/try/book?isbn=i0", "/api/all_events?day=2026-03-01"):
        assert guarded.get(path).headers["cache-control"] == "no-store"
        assert "cache-control" not in open_to_all.get(path).headers
    assert guarded.get("/try/loans").headers["cache-control"] == "no-store"


def test_without_a_policy_the_openapi_document_has_no_security(filled: Library) -> None:
    document = openapi(Library.compiled)
    assert "securitySchemes" not in document["components"]
    assert "AccessDenied" not in document["components"]["responses"]
    assert all("security" not in operation for path in document["paths"].values() for operation in path.values())


def test_an_api_runs_next_to_a_site(filled: Library) -> None:
    idle: list[bool] = []

    async def page(request: Request) -> PlainTextResponse:
        idle.append(request.app.state.beside.is_idle.is_set())
        return PlainTextResponse(f"the site at {request.url.path}")

    site = Starlette(routes=[Route("/{rest:path}", page)])
    beside = Beside(app(filled), site)
    with TestClient(beside) as both:
        assert both.get("/").text == "the site at /"
        assert both.get("/api").text == "the site at /api"
        assert both.get("/static/site.css").text == "the site at /static/site.css"
        assert both.get("/api/book?isbn=i0").json()["isbn"] == "i0"
        assert both.get("/api/nothing").json()["error"]["code"] == "UnknownPattern"
        assert "Access patterns" in both.get("/docs").text
        assert both.get("/static/page.css").headers["content-type"].startswith("text/css")
        assert (set(idle), beside.is_idle.is_set()) == ({False}, True)
    with pytest.raises(StoreError):  # the API closes its design after both have ended
        filled.book("i0")
