"""Template filters: URL encoding as in Jinja2, and timestamps for people and programs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jinja2.filters import do_urlencode
from markupsafe import Markup

from keyplan_systems.site.filters import dated, iso, urlencode


@given(st.text() | st.from_regex(r"[a-z0-9._~/-]*", fullmatch=True))
@example("a b")
@example("a\n")
@example("C#")
@example("über")
@example("a+b&c=d?e")
def test_urlencode_of_strings_equals_that_of_jinja(text: str) -> None:
    assert urlencode(text) == do_urlencode(text)


@pytest.mark.parametrize("value", [7, {"q": "a b", "page": 2}, [("a", "&")], Markup("a&amp;b"), Markup("plain")])
def test_urlencode_of_other_values_equals_that_of_jinja(value: object) -> None:
    assert urlencode(value) == do_urlencode(value)  # type: ignore[arg-type] # whatever a template has


@given(st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 - Hypothesis wants it so
def test_timestamps_are_shown_in_seconds(moment: datetime) -> None:
    assert iso(moment) == moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_dates_are_in_utc() -> None:
    late = datetime(2026, 11, 21, 23, 30, tzinfo=timezone(timedelta(hours=-2)))
    assert dated(late) == Markup('<time datetime="2026-11-22T01:30:00Z">22 November 2026</time>')
