"""Python values are converted to JSON data in responses."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan import Page
from keyplan.formatting.results import answer_json, plain, pretty
from tests.web.library import Book, BookWithNewest, Kind

VALUES: list[tuple[Any, Any]] = [
    (None, None),
    (True, True),
    ("ä", "ä"),
    (10**37, 10**37),
    (Decimal("1.50"), "1.50"),
    (float("nan"), None),
    (b"\xff\x00", "/wA="),
    (Kind.NOVEL, "novel"),
    (date(2026, 1, 2), "2026-01-02"),
    (datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2))), "2026-01-02T01:04:05Z"),
    (datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC), "2026-01-02T03:04:05.000006Z"),
    (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ({"b", "a"}, ["a", "b"]),
    ({10, 9}, [9, 10]),
    (("x", 1), ["x", 1]),
    ({"k": {Kind.ESSAY}}, {"k": ["essay"]}),
]


@pytest.mark.parametrize(("value", "shown"), VALUES)
def test_values_of_each_type_are_converted_to_json(value: Any, shown: Any) -> None:
    assert plain(value) == shown


def test_the_json_of_an_entity_has_its_field_names_without_excluded_fields() -> None:
    book = Book(isbn="1", title="T", cover=b"\xff", topics={"b", "a"})
    shown = plain(book)
    assert (shown["cover"], shown["topics"], shown["kind"]) == ("/w==", ["a", "b"], "novel")
    assert "secret" not in shown


def test_each_return_type_has_the_expected_json_structure() -> None:
    book = Book(isbn="1", title="T")
    assert answer_json(Page([book], None)) == {"items": [plain(book)], "cursor": None}
    assert answer_json([book]) == {"items": [plain(book)]}
    assert answer_json(BookWithNewest(book, None)) == {"book": plain(book), "newest": None}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(JSON)
def test_pretty_printed_json_is_parsed_to_the_same_value(value: Any) -> None:
    assert json.loads(pretty(value)) == value


def test_attribute_values_are_pretty_printed_on_one_line() -> None:
    assert pretty({"Key": {"pk": {"S": "A#1"}, "tags": {"SS": ["a", "b"]}}}) == (
        '{\n  "Key": {\n    "pk": {"S": "A#1"},\n    "tags": {"SS": ["a", "b"]}\n  }\n}'
    )
