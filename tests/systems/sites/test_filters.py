"""Template filters that show timestamps as text and in machine-readable attributes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from keyplan_systems.site.filters import dated, iso


@given(st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 - Hypothesis wants it so
def test_the_iso_filter_shows_timestamps_to_the_second(moment: datetime) -> None:
    assert iso(moment) == moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_the_date_filter_shows_dates_in_utc() -> None:
    late = datetime(2026, 11, 21, 23, 30, tzinfo=timezone(timedelta(hours=-2)))
    assert dated(late) == Markup('<time datetime="2026-11-22T01:30:00Z">22 November 2026</time>')
