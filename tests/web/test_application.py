"""Errors, methods, hosts and headers of all requests to the application, and its shutdown."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from keyplan import errors
from keyplan.errors import DynamoDBError, KeyplanError, StoreError
from keyplan.web import app
from keyplan.web.application import application
from keyplan.web.request_parsing import status_of
from tests.web.library import Library
from tests.web.support import TestClient


@pytest.mark.parametrize("path", ["/nothing", "/api", "/api/", "/static/../page.py", "/static/other.js", "/api/book/1"])
def test_a_request_for_an_unknown_path_returns_404(http: TestClient, path: str) -> None:
    answer = http.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "NotFound"


@pytest.mark.parametrize("base", ["api", "try"])
def test_a_request_for_an_unknown_pattern_returns_404_with_a_suggestion(http: TestClient, base: str) -> None:
    answer = http.get(f"/{base}/boook")
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "UnknownPattern"
    assert answer.json()["error"]["hint"] == "did you mean book?"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/api/book", "GET"),
        ("DELETE", "/api/book", "GET"),
        ("GET", "/api/add_book", "POST"),
        ("PUT", "/api/add_book", "POST"),
        ("GET", "/try/add_book", "POST"),
        ("POST", "/openapi.json", "GET, HEAD"),
        ("POST", "/", "GET, HEAD"),
    ],
)
def test_a_wrong_method_returns_405_and_allowed_methods(http: TestClient, method: str, path: str, allowed: str) -> None:
    answer = http.request(method, path)
    assert answer.status_code == 405
    assert answer.json()["error"]["code"] == "MethodNotAllowed"
    assert ", ".join(sorted(answer.headers["allow"].split(", "))) == allowed


def every_error() -> list[type[KeyplanError]]:
    return [
        kind
        for name in errors.__all__
        if isinstance(kind := getattr(errors, name), type) and issubclass(kind, KeyplanError)
    ]


STATUSES = {
    "RequestError": 400,
    "UnknownDesign": 400,
    "UnknownPattern": 404,
    "ArgumentError": 400,
    "CursorError": 400,
    "KeyFieldError": 400,
    "UpdateRejected": 400,
    "TrafficError": 400,
    "PriceError": 400,
    "ItemTooLarge": 413,
    "ItemNotFound": 404,
    "WriteFailed": 409,
    "ItemExists": 409,
    "ConditionFailed": 409,
    "UniqueValueTaken": 409,
    "TransactionFailed": 409,
    "Refused": 409,
    "AccessDenied": 403,
    "AuthenticationRequired": 401,
    "StoreError": 503,
    "TooManyRequests": 429,
    "ResponseError": 500,
    "InvalidItemError": 500,
    "DesignError": 500,
    "KeyplanError": 500,
    "DynamoDBError": 503,
}


@pytest.mark.parametrize("kind", every_error())
def test_each_kind_of_error_has_the_expected_http_status(
    http: TestClient, library: Library, monkeypatch: pytest.MonkeyPatch, kind: type[KeyplanError]
) -> None:
    async def fails(*_: Any) -> Any:
        raise kind("no")

    monkeypatch.setattr(library, "call_async", fails)
    answer = http.get("/api/book?isbn=1")
    assert answer.status_code == STATUSES[kind.__name__]
    assert answer.json() == {"error": {"code": kind.code, "message": "no"}}


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("ConditionalCheckFailedException", 409),
        ("TransactionCanceledException", 409),
        ("TransactionConflictException", 409),
        ("TransactionInProgressException", 409),
        ("ItemCollectionSizeLimitExceededException", 409),
        ("ValidationException", 400),
        ("SerializationException", 400),
        ("InternalServerError", 503),
        ("LimitExceededException", 503),
        ("ResourceInUseException", 503),
        ("ResourceNotFoundException", 503),
        ("ServiceUnavailable", 503),
        ("ThrottlingException", 503),
        ("ProvisionedThroughputExceededException", 503),
        ("RequestLimitExceeded", 503),
        ("Odd", 500),
    ],
)
def test_the_http_status_of_a_dynamodb_error_depends_on_its_type(kind: str, status: int) -> None:
    assert status_of(DynamoDBError("no", type=kind)) == status


def test_a_request_returns_503_if_the_store_is_closed(http: TestClient, library: Library) -> None:
    library.close()
    answer = http.get("/api/book?isbn=1")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "StoreError")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8000", 200),
        ("localhost", 200),
        ("LOCALHOST:1", 200),
        ("evil.example", 421),
        ("evil.example:8000", 421),
        ("127.0.0.1.evil.example", 421),
    ],
)
def test_requests_to_hosts_that_are_not_allowed_are_rejected(library: Library, host: str, status: int) -> None:
    client = TestClient(app(library, hosts=["127.0.0.1", "localhost"]))
    answer = client.get("/openapi.json", headers={"host": host})
    assert answer.status_code == status
    if status == 421:
        assert answer.json()["error"]["code"] == "WrongHost"


def test_the_content_security_policy_forbids_other_hosts(http: TestClient) -> None:
    for path in ("/", "/api/book?isbn=1", "/nothing"):
        headers = http.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_shutdown_closes_the_design() -> None:
    library = Library.open(":memory:")
    with TestClient(app(library)) as client:
        assert client.get("/api/expensive?least=1").status_code == 200
    with pytest.raises(StoreError):
        library.book("1")


def test_concurrent_requests_get_their_own_responses(http: TestClient, filled: Library) -> None:
    async def all_at_once() -> list[str]:
        transport = httpx.ASGITransport(app(filled))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            answers = await asyncio.gather(*(client.get(f"/api/book?isbn=i{n % 5}") for n in range(60)))
        return [answer.json()["isbn"] for answer in answers]

    assert asyncio.run(all_at_once()) == [f"i{n % 5}" for n in range(60)]


FOREIGN: list[dict[str, str]] = [
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": ""},
    {"origin": "http://["},
    {"origin": "http://testserver@evil.example"},
    {"origin": "http://testserver:8001"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
]


@pytest.mark.parametrize("headers", FOREIGN)
def test_cross_site_writes_are_rejected(filled: Library, http: TestClient, headers: dict[str, str]) -> None:
    for base in ("api", "try"):
        answer = http.post(f"/{base}/add_copies", json={"isbn": "i1", "numbers": [9]}, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "ForeignOrigin")
    assert filled.copy("i1", 9) is None


def test_cross_site_reads_are_rejected_except_navigation(http: TestClient) -> None:
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert http.get("/docs", headers=link).status_code == 200
    assert http.get("/api/book?isbn=i0", headers={**link, "sec-fetch-mode": "no-cors"}).status_code == 403


@pytest.mark.parametrize("origin", ["http://testserver", "HTTP://TESTSERVER:80", "https://books.example"])
def test_same_origin_writes_are_allowed(filled: Library, origin: str) -> None:
    with TestClient(application(filled, hosts=None, origin="https://books.example")) as http:
        body = {"isbn": "i1", "numbers": [8]}
        assert http.post("/api/add_copies", json=body, headers={"origin": origin}).status_code < 300


def test_a_write_without_a_content_type_is_rejected_even_without_a_body(http: TestClient) -> None:
    answer = http.post("/api/add_copies")
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "UnsupportedMediaType")
