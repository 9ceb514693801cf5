"""Reads over HTTP with every kind of parameter and return type, and the errors of invalid requests."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from keyplan import Put
from keyplan.errors import StoreError
from keyplan.web import app
from tests.contract.buckets import Reading, Timed
from tests.web.library import Event, Library
from tests.web.support import TestClient

pytestmark = pytest.mark.usefixtures("filled")

DAY = "2026-03-01"


def items(answer: Any, field: str) -> list[Any]:
    assert answer.status_code == 200, answer.text
    return [item[field] for item in answer.json()["items"]]


def test_a_single_item_is_returned_as_a_json_object(http: TestClient) -> None:
    answer = http.get("/api/book", params={"isbn": "i0"})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "isbn": "i0",
        "title": "c# in depth",
        "shelf": "Ü/+ %",
        "kind": "novel",
        "price_cents": 0,
        "weight": None,
        "cover": None,
        "topics": ["a", "m", "z"],
        "bought_at": None,
    }


@pytest.mark.parametrize("pattern", ["book", "book_there", "with_copies", "with_newest"])
def test_a_missing_item_returns_404_for_every_return_type(http: TestClient, pattern: str) -> None:
    answer = http.get(f"/api/{pattern}", params={"isbn": "none"})
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "ItemNotFound"


def test_several_keys_are_passed_by_repeating_the_parameter(http: TestClient) -> None:
    answer = http.get("/api/books?isbn=i3&isbn=none&isbn=i1")
    assert items(answer, "isbn") == ["i3", "i1"]
    assert list(answer.json()) == ["items"]


def test_a_cursor_returns_the_next_page(http: TestClient) -> None:
    seen: list[str] = []
    asked: dict[str, Any] = {"day": DAY, "limit": 5}
    for _ in range(3):
        page = http.get("/api/events", params=asked).json()
        seen += [item["event_id"] for item in page["items"]]
        asked["cursor"] = page["cursor"]
    assert seen == [f"e{number:02d}" for number in range(12)]
    assert asked["cursor"] is None


@pytest.mark.parametrize(("shelf", "titles"), [("c#", ["a&b=c?d", "Ä"]), ("Ü/+ %", ["c# in depth", "plain", "日本"])])
def test_special_characters_in_key_values_are_passed_unchanged(http: TestClient, shelf: str, titles: list[str]) -> None:
    assert items(http.get("/api/on_shelf", params={"shelf": shelf}), "title") == titles


def test_a_prefix_parameter_is_passed_as_plain_text(http: TestClient) -> None:
    assert items(http.get("/api/on_shelf", params={"shelf": "Ü/+ %", "title": "c#"}), "title") == ["c# in depth"]


def test_a_page_of_merged_partitions_has_one_cursor(http: TestClient) -> None:
    first = http.get("/api/on_shelves?shelf=c%23&shelf=%C3%9C/%2B%20%25&limit=3")
    rest = http.get("/api/on_shelves", params={"shelf": ["c#", "Ü/+ %"], "limit": 3, "cursor": first.json()["cursor"]})
    assert items(first, "title") + items(rest, "title") == sorted(["c# in depth", "Ä", "日本", "a&b=c?d", "plain"])


@pytest.mark.parametrize(
    ("bounds", "prices"),
    [
        ("", [0, 100, 200, 300]),
        ("&price_cents.ge=100", [100, 200, 300]),
        ("&price_cents.gt=100&price_cents.lt=300", [200]),
        ("&price_cents.ge=100&price_cents.le=200", [100, 200]),
        ("&price_cents.gt=300&price_cents.lt=0", []),
    ],
)
def test_a_range_parameter_is_passed_as_bounds(http: TestClient, bounds: str, prices: list[int]) -> None:
    assert items(http.get(f"/api/priced?kind=novel{bounds}"), "price_cents") == prices


def test_timestamps_are_returned_in_iso_8601_with_z(http: TestClient) -> None:
    answer = http.get("/api/loans", params={"reader_id": "r#1", "at.ge": "2026-03-01T15:00:00+01:00"})
    assert items(answer, "at") == ["2026-03-01T15:00:00Z", "2026-03-01T14:00:00Z"]


def test_item_collections_are_returned_as_json_objects(http: TestClient) -> None:
    whole = http.get("/api/with_copies?isbn=i0").json()
    assert whole["book"]["isbn"] == "i0"
    assert [copy["number"] for copy in whole["copies"]] == [1, 2, 3]
    assert http.get("/api/with_newest?isbn=i0").json()["newest"]["number"] == 3
    assert http.get("/api/with_newest?isbn=i1").json()["newest"] is None


def test_reads_by_claim_by_junction_and_by_scan_return_items(http: TestClient) -> None:
    assert http.get("/api/reader_by_email", params={"email": "ä@example.org"}).json()["name"] == "Ä"
    assert items(http.get("/api/books_lent", params={"reader_id": "r#1"}), "isbn") == ["i3", "i2", "i1", "i0"]
    assert items(http.get("/api/copies_lent", params={"reader_id": "r#1"}), "number") == [1, 2, 3]
    assert sorted(items(http.get("/api/expensive?least=200"), "isbn")) == ["i3", "i4"]


def test_an_iterator_is_returned_as_json_lines(http: TestClient, filled: Library) -> None:
    start = datetime(2026, 4, 1, tzinfo=UTC)
    filled.batch(Put(Event(event_id=f"{n:04d}", at=start + timedelta(seconds=n))) for n in range(250))
    answer = http.get("/api/all_events?day=2026-04-01")
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    assert [json.loads(line)["event_id"] for line in answer.text.splitlines()] == [f"{n:04d}" for n in range(250)]
    empty = http.get("/api/all_events?day=2026-04-02")
    assert (empty.status_code, empty.text) == (200, "")
    assert http.get("/api/all_events?day=yesterday").status_code == 400


def test_an_error_within_a_stream_of_json_lines_is_its_last_line(
    http: TestClient, filled: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stream(*_: Any) -> Any:
        yield {"event_id": "1"}
        raise StoreError("the disk failed")

    monkeypatch.setattr(filled, "stream_async", stream)
    lines = http.get(f"/api/all_events?day={DAY}").text.splitlines()
    assert json.loads(lines[0]) == {"event_id": "1"}
    assert json.loads(lines[1])["error"]["code"] == "StoreError"


@pytest.mark.parametrize(
    ("path", "places"),
    [
        ("/api/book", ["isbn"]),
        ("/api/book?isbn=1&isbn=2", ["isbn"]),
        ("/api/book?isbn=1&more=2", ["more"]),
        ("/api/book?isbn.ge=1", ["isbn.ge"]),
        ("/api/on_shelf?shelf=1&limit=0", ["limit"]),
        ("/api/on_shelf?shelf=1&limit=1001", ["limit"]),
        ("/api/on_shelf?shelf=1&limit=ten", ["limit"]),
        ("/api/on_shelf?shelf=1&limit=", ["limit"]),
        ("/api/on_shelf?limit=x&sheif=1", ["sheif", "shelf", "limit"]),
        ("/api/priced?kind=poem", ["kind"]),
        ("/api/priced?kind=novel&price_cents=1", ["price_cents"]),
        ("/api/priced?kind=novel&price_cents.above=1", ["price_cents.above"]),
        ("/api/priced?kind=novel&price_cents.ge=1&price_cents.ge=2", ["price_cents.ge"]),
        ("/api/copy?isbn=1&number=one", ["number"]),
        ("/api/events?day=1.3.2026", ["day"]),
    ],
)
def test_every_error_of_a_request_is_reported_with_its_place(http: TestClient, path: str, places: list[str]) -> None:
    answer = http.get(path)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == "ArgumentError"
    assert sorted(fault["place"] for fault in error["errors"]) == sorted(places)


@pytest.mark.parametrize(
    "query", ["shelf=c%23&cursor=%21%21", "shelf=c%23&cursor=AAAA", "shelf=c%23&cursor=", "shelf=c%23&cursor=%C3%A4"]
)
def test_an_invalid_cursor_is_rejected(http: TestClient, query: str) -> None:
    answer = http.get(f"/api/on_shelf?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "CursorError"


def test_a_truncated_cursor_or_one_for_other_arguments_is_rejected(http: TestClient) -> None:
    cursor = http.get("/api/on_shelf", params={"shelf": "c#", "limit": 1}).json()["cursor"]
    for asked in (
        {"shelf": "Ü/+ %", "cursor": cursor},
        {"shelf": "c#", "cursor": cursor[:-4]},
        {"shelf": "c#", "cursor": cursor + "AAAA"},
    ):
        answer = http.get("/api/on_shelf", params=asked)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "CursorError")


def test_an_empty_key_value_is_rejected(http: TestClient) -> None:
    answer = http.get("/api/book?isbn=")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "KeyFieldError")


def test_a_query_string_with_invalid_utf8_is_rejected(http: TestClient) -> None:
    answer = http.get("/api/book?isbn=%ff%fe")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "RequestError")


def test_the_number_of_values_in_a_query_string_is_limited(http: TestClient) -> None:
    answer = http.get("/api/books?" + "&".join("isbn=1" for _ in range(2001)))
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "RequestError")


def test_a_time_range_over_time_buckets_is_read() -> None:
    """Both bounds are required, unless they have defaults. The OpenAPI document has both rules."""
    with Timed.open(":memory:") as timed, TestClient(app(timed), raise_server_exceptions=False) as http:
        for month in range(1, 7):
            timed.put(Reading(sensor="1", at=datetime(2026, month, 3, tzinfo=UTC), value=month))
        asked = "/api/readings?sensor=1&at.ge=2026-02-01T00:00:00Z&at.lt=2026-06-01T00:00:00Z&limit=3"
        page = http.get(asked).json()
        assert [reading["value"] for reading in page["items"]] == [2, 3, 4]
        following = http.get(f"{asked}&cursor={page['cursor']}").json()
        assert ([reading["value"] for reading in following["items"]], following["cursor"]) == ([5], None)
        assert [reading["value"] for reading in http.get(f"{asked}&newest_first=true").json()["items"]] == [5, 4, 3]
        lines = http.get("/api/each_reading?sensor=1&at.lt=2026-03-01T00:00:00Z").text.splitlines()
        assert [json.loads(line)["value"] for line in lines] == [1, 2]  # the other bound has its default
        for query, message in (
            ("at.ge=2026-02-01T00:00:00Z", "the partitions of at are read month by month, but the range has no end"),
            ("at.ge=0001-01-01T00:00:00Z&at.lt=2026-06-01T00:00:00Z", "the range of at covers 24,305"),
        ):
            answer = http.get(f"/api/readings?sensor=1&{query}")
            assert answer.status_code == 400
            assert answer.json()["error"]["message"].startswith(message)
        paths = http.get("/openapi.json").json()["paths"]
        bounds = {bound["name"]: bound for bound in paths["/api/each_reading"]["get"]["parameters"]}
        assert bounds["at.ge"]["schema"]["default"] == "2026-01-01T00:00:00Z"
        assert "Bounds without defaults are required" in bounds["at.lt"]["description"]
        assert "at most 1,000 months apart" in paths["/api/readings"]["get"]["parameters"][1]["description"]
