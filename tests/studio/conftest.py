"""Small designs open on in-memory stores, for the studio."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from keyplan.studio.subject import Subject, of_design
from tests.studio.school import School, fill


@pytest.fixture
def school() -> Iterator[School]:
    """The school with some pupils, courses and enrolments."""
    with School.open(":memory:", secret="s") as opened:
        fill(opened)
        yield opened


@pytest.fixture
def subject(school: School) -> Subject:
    """The studio of the school."""
    return of_design(school)


@pytest.fixture
def empty() -> Iterator[Subject]:
    """The school without data."""
    with School.open(":memory:", secret="s") as opened:
        yield of_design(opened)
