"""The scores that determine the order of rankings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan_systems.blog.scoring import heated, points_of, rating_key

MOMENT = datetime(2026, 11, 21, 9, tzinfo=UTC)


@dataclass
class Counts:
    views: int = 0
    likes: int = 0
    ratings: int = 0
    stars: int = 0


def test_the_example_in_the_design_guide_has_the_documented_score() -> None:
    at = datetime.fromtimestamp(1759086095.241, UTC)
    assert rating_key(1_000_000, at) == 10000001759086095241


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.integers(0, 7 * 10**9))
def test_posts_are_sorted_by_rating_and_then_by_time(number: int, other: int, seconds: int) -> None:
    early = datetime.fromtimestamp(seconds, UTC)
    late = early + timedelta(days=1)
    assert (rating_key(number, late) < rating_key(other, early)) == (number < other)
    assert rating_key(number, early) < rating_key(number, late)


@pytest.mark.parametrize(
    ("counts", "points"),
    [
        (Counts(), 0),
        (Counts(views=7), 7),
        (Counts(views=7, likes=2), 27),
        (Counts(views=2, ratings=2, stars=10), 22),
        (Counts(views=2, ratings=2, stars=6), 2),
        (Counts(views=2, ratings=2, stars=2), 0),
    ],
)
def test_each_user_action_has_the_expected_points(counts: Counts, points: int) -> None:
    assert points_of(counts) == points


@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 10**8)), min_size=1, max_size=20))
def test_heat_score_does_not_depend_on_the_order_of_points(gained: list[tuple[int, int]]) -> None:
    def total(order: list[tuple[int, int]]) -> int:
        rating = 0
        for points, seconds in order:
            rating = heated(rating, points, MOMENT + timedelta(seconds=seconds))
        return rating

    assert total(gained) == pytest.approx(total(gained[::-1]), abs=len(gained))
    assert total(gained) >= heated(0, *gained[0][:1], MOMENT) - 1
