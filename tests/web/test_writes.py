"""Writes over HTTP: their request bodies, results and errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from keyplan.client.write_attempts import Attempt
from keyplan.errors import ArgumentError
from keyplan.web.request_parsing import BODY_BYTES_MAX
from tests.web.library import Library
from tests.web.support import TestClient

BOOK = {"isbn": "1", "title": "T"}


def test_the_result_of_a_write_is_returned(http: TestClient, library: Library) -> None:
    answer = http.post("/api/add_book", json={"book": {**BOOK, "topics": ["b", "a"], "kind": "essay"}})
    assert answer.status_code == 200
    assert answer.json()["topics"] == ["a", "b"]
    stored = library.book("1")
    assert stored is not None
    assert stored.kind.value == "essay"


def test_a_list_that_a_write_returns_is_in_the_member_items_of_the_response(http: TestClient) -> None:
    answer = http.post("/api/add_copies", json={"isbn": "1", "numbers": [2, 1]})
    assert [item["number"] for item in answer.json()["items"]] == [2, 1]


@pytest.mark.parametrize(
    ("path", "body"),
    [("/api/remove_book", {"isbn": "none"}), ("/api/log", {"event": {"event_id": "1", "at": "2026-01-01T00:00:00Z"}})],
)
def test_a_write_without_a_result_returns_204_and_no_body(http: TestClient, path: str, body: Any) -> None:
    answer = http.post(path, json=body)
    assert (answer.status_code, answer.content) == (204, b"")


def test_the_result_of_a_write_can_be_any_json_data(http: TestClient) -> None:
    answer = http.post("/api/count_pages", json={"sizes": {"ä": "big"}, "ratio": 2})
    assert answer.json() == {"ä": 6}


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ("application/merge-patch+json", 200),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("", 415),
    ],
)
def test_a_body_without_a_json_content_type_is_rejected(http: TestClient, kind: str, status: int) -> None:
    answer = http.post("/api/add_book", content=b'{"book":{"isbn":"1","title":"T"}}', headers={"content-type": kind})
    assert answer.status_code == status
    if status == 415:
        assert answer.json()["error"]["code"] == "UnsupportedMediaType"


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b"nothing",
        b'{"book": NaN}',
        b'{"book": 1e999}',
        b'{"book": 1e400, "book": 2}',
        b'{"book": {"isbn": "1", "isbn": "2", "title": "T"}}',
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'{"book": ' + b"9" * 5000 + b"}",
    ],
    ids=lambda body: body[:20].decode("latin-1"),
)
def test_a_body_that_is_not_a_json_object_is_rejected(http: TestClient, body: bytes) -> None:
    answer = http.post("/api/add_book", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "RequestError")


def test_the_length_of_the_body_of_a_write_is_limited(http: TestClient) -> None:
    for more, code in ((0, "KeyFieldError"), (1, "RequestTooLarge")):
        body = json.dumps({"book": {**BOOK, "shelf": ""}})
        body = body.replace('"shelf": ""', f'"shelf": "{"x" * (BODY_BYTES_MAX - len(body) + more)}"')
        answer = http.post("/api/add_book", content=body, headers={"content-type": "application/json"})
        assert (len(body) - BODY_BYTES_MAX, answer.json()["error"]["code"]) == (more, code)


def test_writing_an_item_over_the_size_limit_returns_413(http: TestClient) -> None:
    answer = http.post("/api/add_book", json={"book": {**BOOK, "cover": "A" * 600_000}})
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "ItemTooLarge")
    assert answer.json()["error"]["place"] == "Book.cover"


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({}, ["book"]),
        ({"book": {}}, ["book.isbn", "book.title"]),
        ({"book": {**BOOK, "price_cents": -1, "pages": 3}}, ["book.price_cents", "book.pages"]),
        ({"book": BOOK, "boook": 1}, ["boook"]),
        ({"book": None}, ["book"]),
        ({"book": "text"}, ["book"]),
        ({"book": BOOK, "\ud800": 1}, ["\ud800"]),
    ],
)
def test_every_error_of_a_body_is_reported_with_its_place(http: TestClient, body: Any, places: list[str]) -> None:
    content = json.dumps(body)  # a lone surrogate is sent as its escape
    answer = http.post("/api/add_book", content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert sorted(fault["place"] for fault in answer.json()["error"]["errors"]) == sorted(places)


def test_a_body_with_an_unpaired_surrogate_is_rejected(http: TestClient) -> None:
    content = json.dumps({"book": {**BOOK, "title": "\ud800"}})
    answer = http.post("/api/add_book", content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert "title" in answer.text


def test_an_empty_body_is_treated_as_an_empty_object(http: TestClient) -> None:
    answer = http.post("/api/add_book", headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "ArgumentError")


def test_values_that_an_entity_rejects_return_400(http: TestClient) -> None:
    answer = http.post("/api/add_copy", json={"isbn": "1", "number": 0})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "ArgumentError")
    assert answer.json()["error"]["errors"][0]["place"] == "number"


def test_a_write_with_a_failed_condition_returns_409(http: TestClient) -> None:
    assert http.post("/api/add_book", json={"book": BOOK}).status_code == 200
    again = http.post("/api/add_book", json={"book": BOOK})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "ItemExists")
    for reader, status in (("1", 200), ("2", 409)):
        answer = http.post("/api/register", json={"reader": {"reader_id": reader, "email": "a"}})
        assert answer.status_code == status
    assert answer.json()["error"]["code"] == "UniqueValueTaken"
    stale = http.post("/api/reprice", json={"isbn": "1", "price_cents": 5, "expected": 77})
    assert (stale.status_code, stale.json()["error"]["code"]) == (409, "ConditionFailed")
    missing = http.post("/api/add_copy", json={"isbn": "none", "number": 1})
    assert (missing.status_code, missing.json()["error"]["code"]) == (409, "ConditionFailed")


def test_a_rejected_write_returns_409_and_a_missing_item_404(http: TestClient) -> None:
    http.post("/api/add_book", json={"book": {**BOOK, "shelf": "locked"}})
    asked = {"isbn": "1", "reader_id": "r", "at": "2026-01-01T00:00:00Z"}
    refused = http.post("/api/lend", json=asked)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "Refused")
    assert refused.json()["error"]["hint"] == "ask the librarian"
    missing = http.post("/api/lend", json={**asked, "isbn": "none"})
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "ItemNotFound")


def test_a_timestamp_without_a_time_zone_is_rejected(http: TestClient) -> None:
    http.post("/api/add_book", json={"book": BOOK})
    answer = http.post("/api/lend", json={"isbn": "1", "reader_id": "r", "at": "2026-01-01T00:00:00"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "ArgumentError")


@pytest.mark.parametrize("path", ["api", "try"])
def test_values_that_cause_an_exception_in_a_write_return_400(
    http: TestClient, library: Library, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    """The message of the exception is only logged. A call in Python raises the original exception."""
    asked = {"sizes": {"a": "big"}, "ratio": 1.7e308}
    answer = http.post(f"/{path}/count_pages", json=asked)
    shown = answer.json()
    status = answer.status_code if path == "api" else shown["status"]
    assert (status, shown["error"]["code"]) == (400, "ArgumentError")
    assert shown["error"]["place"] == "Library.count_pages"
    assert shown["error"]["message"].endswith("OverflowError")
    (record,) = [each for each in caplog.records if each.name == "keyplan.web"]
    assert record.exc_info is not None
    assert record.exc_info[0] is OverflowError
    with pytest.raises(OverflowError):
        library.count_pages({"a": "big"}, 1.7e308)
    with pytest.raises(ArgumentError, match="OverflowError"):
        library.call("count_pages", asked)


def test_exceptions_in_the_store_return_500(http: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only exceptions in the write's own code are attributed to the write's arguments."""

    def fails(*_: Any) -> Any:
        raise OverflowError

    monkeypatch.setattr(Attempt, "_take", fails)
    assert http.post("/api/add_book", json={"book": BOOK}).status_code == 500


def test_a_bug_in_a_design_returns_500_without_details(http: TestClient) -> None:
    answer = http.post("/api/broken", json={"title": "T"})
    assert answer.status_code == 500
    assert answer.json() == {"error": {"code": "InternalError", "message": "the server failed; see the server's log"}}
