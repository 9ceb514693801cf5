"""Fixtures: the library design, open on an empty store, and an HTTP client of its REST API."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from keyplan.web import app
from tests.web.library import Book, Event, Kind, Library, Reader
from tests.web.support import TestClient


@pytest.fixture
def library() -> Iterator[Library]:
    with Library.open(":memory:", secret="s") as opened:
        yield opened


@pytest.fixture
def http(library: Library) -> Iterator[TestClient]:
    with TestClient(app(library), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def filled(library: Library) -> Library:
    """The library with items of each entity. Titles and shelves contain the delimiter and non-Latin letters."""
    start = datetime(2026, 3, 1, 12, tzinfo=UTC)
    titles = ["c# in depth", "Ä", "日本", "a&b=c?d", "plain"]
    for number, title in enumerate(titles):
        library.add_book(
            Book(
                isbn=f"i{number}",
                title=title,
                shelf="c#" if number % 2 else "Ü/+ %",
                kind=Kind.ESSAY if number == 4 else Kind.NOVEL,
                price_cents=number * 100,
                topics={"z", "a", "m"},
            )
        )
    library.add_copies("i0", [1, 2, 3])
    library.register(Reader(reader_id="r#1", email="ä@example.org", name="Ä"))
    for number in range(4):
        library.lend(f"i{number}", "r#1", start + timedelta(hours=number))
    for number in range(12):
        library.log(Event(event_id=f"e{number:02d}", at=start + timedelta(minutes=number)))
    return library
