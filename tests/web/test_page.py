# mypy: disable-error-code="empty-body"
"""The page of a design: its HTML, and the requests of its forms. Browser tests of the page are in ``tests/browser``."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from html.parser import HTMLParser
from typing import Any

import pytest

from keyplan import Design, Entity, Key, Put, Table, Writes, read, write
from keyplan.web import app
from tests.web.library import Event, Library
from tests.web.support import TestClient


class Parsed(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture
def page(http: TestClient) -> Parsed:
    answer = http.get("/")
    assert answer.headers["content-type"].startswith("text/html")
    return Parsed(answer.text)


def test_the_api_page_shows_the_design_and_every_access_pattern(page: Parsed) -> None:
    flat = " ".join(page.text.split())
    assert "with every kind of parameter" in flat
    for pattern in Library.compiled.patterns.values():
        assert pattern.id in page.text
        assert pattern.name in page.text
    assert "shelf_pk = SHELF#{shelf}" in page.text
    assert 'begins_with(shelf_sk, "{title}")' in page.text
    assert [element["data-pattern"] for element in page.all("form")] == list(Library.compiled.patterns)


def test_the_root_path_and_the_docs_path_return_the_same_page(http: TestClient) -> None:
    assert http.get("/docs").text == http.get("/").text


def test_the_api_page_loads_nothing_from_other_hosts(http: TestClient, page: Parsed) -> None:
    addresses = [element.get(name) for _, element in page.tags for name in ("href", "src", "action")]
    for address in filter(None, addresses):
        assert not re.match(r"[a-z]+:|//", address), address
    for name in ("page.css", "page.js", "icon.svg"):
        answer = http.get(f"/static/{name}")
        assert answer.status_code == 200
        assert "http" not in answer.text.replace("http://www.w3.org/2000/svg", "")


def test_every_form_control_has_a_label_and_a_unique_id(page: Parsed) -> None:
    identities = [element["id"] for _, element in page.tags if "id" in element]
    assert len(identities) == len(set(identities))
    labelled = {element["for"] for element in page.all("label")}
    controls = [element for tag in ("input", "select", "textarea") for element in page.all(tag)]
    assert {control["id"] for control in controls} == labelled
    assert len(controls) > 40


def test_form_controls_match_the_parameter_types(page: Parsed) -> None:
    by_id = {element["id"]: (tag, element) for tag, element in page.tags if tag in {"input", "select", "textarea"}}
    assert by_id["on_shelf-limit"][1]["max"] == "1000"
    assert by_id["on_shelf-limit"][1]["value"] == "10"
    assert by_id["priced-kind"][0] == "select"
    assert by_id["books-isbn"][1]["data-kind"] == "lines"
    assert by_id["add_book-book"][1]["data-kind"] == "json"
    assert "priced-price_cents-ge" in by_id
    assert by_id["loans-at-lt"][1]["placeholder"] == "2026-11-21T09:00:00Z"


def test_docstrings_of_a_design_are_escaped() -> None:
    class Note(Entity):
        """A note."""

        name: str

        primary = Key("<b>#{name}", "&lt;")

    class Notes(Design):
        """<script>alert(1)</script> & more."""

        table = Table("notes")

        @read('"><img src=x>')
        def note(self, name: str) -> Note | None:
            """<i>A</i> note."""
            ...

    text = TestClient(app(Notes.open(":memory:"))).get("/").text
    parsed = Parsed(text)
    assert len(parsed.all("script")) == 1
    assert not parsed.all("img")
    assert "<script>alert(1)</script> & more." in parsed.text
    assert "pk = <b>#{name}" in parsed.text
    assert "sk = &lt;" in parsed.text


@pytest.mark.usefixtures("filled")
def test_running_a_pattern_returns_the_result_and_its_requests(http: TestClient) -> None:
    result: dict[str, Any] = http.get("/try/books_lent", params={"reader_id": "r#1", "limit": 2}).json()
    assert result["status"] == 200
    assert result["answer"] == http.get("/api/books_lent", params={"reader_id": "r#1", "limit": 2}).json()
    assert [request["operation"] for request in result["requests"]] == ["Query", "BatchGetItem"]
    assert result["requests"][0]["parameters"]["ExpressionAttributeValues"] == {":p0": {"S": "READER#r$c1#LOANS"}}
    wrote = http.post("/try/add_book", json={"book": {"isbn": "new", "title": "N"}}).json()
    assert (wrote["status"], wrote["requests"][0]["operation"]) == (200, "PutItem")
    gone = http.post("/try/remove_book", json={"isbn": "new"}).json()
    assert (gone["status"], gone["answer"]) == (204, None)


@pytest.mark.usefixtures("filled")
def test_running_a_pattern_returns_errors_with_their_status(http: TestClient) -> None:
    missing = http.get("/try/book?isbn=none").json()
    assert (missing["status"], missing["error"]["code"], len(missing["requests"])) == (404, "ItemNotFound", 1)
    wrong = http.get("/try/book").json()
    assert (wrong["status"], wrong["requests"]) == (400, [])


@pytest.mark.usefixtures("filled")
def test_running_a_pattern_returns_at_most_100_items_of_an_iterator(http: TestClient, filled: Library) -> None:
    start = datetime(2026, 5, 1, tzinfo=UTC)
    filled.batch(Put(Event(event_id=f"{n:04d}", at=start + timedelta(seconds=n))) for n in range(150))
    assert len(http.get("/try/all_events?day=2026-05-01").json()["answer"]["items"]) == 100


@pytest.mark.usefixtures("filled")
def test_initial_values_of_forms_are_read_from_stored_items(http: TestClient) -> None:
    result = http.get("/examples.json").json()
    assert set(result["isbn"]) <= {f"i{n}" for n in range(5)}
    assert result["reader_id"] == ["r#1"]
    assert result["day"] == ["2026-03-01"]


def test_forms_have_no_initial_values_if_the_table_is_empty(http: TestClient) -> None:
    assert http.get("/examples.json").json() == {}


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_color_has_enough_contrast(http: TestClient, scheme: str) -> None:
    """WCAG 2.2 requires a contrast of 4.5 to 1 for text."""
    light, dark = http.get("/static/page.css").text.split("@media (prefers-color-scheme: dark)", 1)
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", light if scheme == "light" else dark))
    grounds = [("ink", ("paper", "card", "sunk")), ("soft", ("paper", "card", "sunk")), ("red", ("card",))]
    grounds += [("blue", ("paper", "card", "sunk", "blue-wash")), ("ochre", ("card", "sunk", "ochre-wash"))]
    grounds += [("green", ("card",)), ("string", ("sunk",)), ("number", ("sunk",))]
    for name, below in grounds:
        for ground in below:
            high, low = sorted((luminance(colours[name]), luminance(colours[ground])), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, (name, ground)


class Note(Entity):
    """A note of a day."""

    day: date

    primary = Key("NOTES", "{day}")


class Diary(Design):
    """A design with access patterns without parameters."""

    table = Table("diary")

    @read("D1")
    def notes(self) -> list[Note]: ...

    @write("D2")
    def begin(self) -> Writes:
        yield Put(Note(day=date(2026, 1, 1)))


def test_patterns_without_parameters_are_shown_and_can_be_run() -> None:
    with TestClient(app(Diary.open(":memory:"))) as http:
        assert http.get("/docs").status_code == 200
        assert http.post("/api/begin", json={}).status_code == 204
        assert http.get("/api/notes").json() == {"items": [{"day": "2026-01-01"}]}
